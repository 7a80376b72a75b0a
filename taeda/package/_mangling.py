"""Names of modules of packages: ``<torch_package_0>.models.net``, so that those of two packages never meet."""

from __future__ import annotations

import itertools
import re

_number = itertools.count()
_MANGLED = re.compile(r"<torch_package_\d+>")


class PackageMangler:
    """Gives names a prefix that no other mangler gives."""

    def __init__(self) -> None:
        self._parent = f"<torch_package_{next(_number)}>"

    def mangle(self, name: str) -> str:
        """A name with the prefix; AssertionError if it is empty."""
        if not name:
            raise AssertionError("taeda.package: an empty name cannot be mangled")
        return f"{self._parent}.{name}"

    def demangle(self, mangled: str) -> str:
        """A name without the prefix, if it is this mangler's."""
        return mangled.removeprefix(f"{self._parent}.")

    def parent_name(self) -> str:
        """The prefix."""
        return self._parent


def is_mangled(name: str) -> bool:
    """Whether a name is that of a module in a package."""
    return _MANGLED.match(name) is not None


def demangle(name: str) -> str:
    """A name without the prefix of any package; nothing of the prefix alone."""
    return name.partition(".")[2] if is_mangled(name) else name


def get_mangle_prefix(name: str) -> str:
    """The prefix of a name that has one, else the name."""
    return name.partition(".")[0] if is_mangled(name) else name
