"""Importers: where modules come from, and by which names objects are found again."""

from __future__ import annotations

import importlib
import pickle
from abc import ABC, abstractmethod
from types import ModuleType
from typing import Any

from taeda.package._mangling import demangle, get_mangle_prefix, is_mangled

__all__ = ["Importer", "ObjMismatchError", "ObjNotFoundError", "OrderedImporter", "sys_importer"]


class ObjNotFoundError(Exception):
    """An importer has nothing by the name that an object says it has."""


class ObjMismatchError(Exception):
    """An importer has something else by the name that an object says it has."""


class Importer(ABC):
    """An environment to import from. A subclass says how, in `import_module`.

    Attributes:
        modules: what it has imported, by name.
    """

    modules: dict[str, ModuleType]

    @abstractmethod
    def import_module(self, module_name: str) -> ModuleType:
        """The module of that name, imported if need be; ModuleNotFoundError if there is none."""

    def get_name(self, obj: Any, name: str | None = None) -> tuple[str, str]:
        """By which name this importer finds an object: its module, and its name there.

        Args:
            obj: a class, a function, or what else has a name.
            name: that name, if the object does not tell it.

        Raises:
            ObjNotFoundError: there is nothing by that name.
            ObjMismatchError: there is something else.
        """
        name = name or _own_name(obj)
        told = self.whichmodule(obj, name)
        module = demangle(told)
        try:
            found: Any = self.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, KeyError, AttributeError) as error:
            raise ObjNotFoundError(
                f"taeda.package: {self} does not find {module}.{name}, which {obj!r} says it is ({error}). Objects of "
                "packages are found where their PackageImporter is among the exporter's importers; what is defined in "
                "a function is not found at all"
            ) from None
        if found is not obj:
            raise ObjMismatchError(
                f"taeda.package: {self} finds another object than {obj!r} as {module}.{name}: that one is "
                f"{_home(found, name)}, this one is {_home(obj, name)}. Put the importer of the right one first, as "
                "in PackageExporter(file, importer=(package, sys_importer))"
            )
        return module, name

    def whichmodule(self, obj: Any, name: str) -> str:
        """The name of the module that an object is of; ``__main__`` if nobody knows."""
        told = getattr(obj, "__module__", None)
        if told is not None:
            return str(told)
        for module_name, module in list(self.modules.items()):
            if module_name in ("__main__", "__mp_main__", "torch_package_importer") or module is None:
                continue
            if _has(module, name, obj):
                return module_name
        return "__main__"


def _own_name(obj: Any) -> str:
    """A name as pickle would use it: what ``__reduce__`` gives if that is a text, else the one that is its own."""
    if not isinstance(obj, type) and getattr(type(obj), "__reduce__", None) is not object.__reduce__:
        try:
            reduced = obj.__reduce__()
        except Exception:  # it has another way to be pickled
            reduced = None
        if isinstance(reduced, str):
            return reduced
    return getattr(obj, "__qualname__", None) or obj.__name__  # type: ignore[no-any-return]


def _has(module: Any, name: str, obj: Any) -> bool:
    try:
        for part in name.split("."):
            module = vars(module)[part]  # not getattr: a module's __getattr__ may import
    except (TypeError, KeyError):
        return False
    return module is obj


def _home(obj: Any, name: str) -> str:
    told = str(getattr(obj, "__module__", None))
    return f"of the package {get_mangle_prefix(told)}" if is_mangled(told) else f"{told}.{name} of this process"


class _SysImporter(Importer):
    """Python's own environment."""

    def import_module(self, module_name: str) -> ModuleType:
        return importlib.import_module(module_name)

    def whichmodule(self, obj: Any, name: str) -> str:
        return pickle.whichmodule(obj, name)  # type: ignore[attr-defined, no-any-return]

    def __repr__(self) -> str:
        return "sys_importer"


sys_importer = _SysImporter()


class OrderedImporter(Importer):
    """Several importers; the first that has a module is asked for it.

    Args:
        args: the importers.
    """

    def __init__(self, *args: Importer) -> None:
        self._importers = list(args)

    def __repr__(self) -> str:
        return f"OrderedImporter({', '.join(map(repr, self._importers))})"

    def import_module(self, module_name: str) -> ModuleType:
        error = None
        for importer in self._importers:
            if not isinstance(importer, Importer):
                raise TypeError(
                    f"taeda.package.OrderedImporter: wants Importers (PackageImporter, sys_importer); got {importer!r}"
                )
            try:
                module = importer.import_module(module_name)
            except ModuleNotFoundError as missing:
                error = missing
                continue
            if not _is_dummy(module):
                return module
        raise error or ModuleNotFoundError(f"no importer has the module {module_name!r}", name=module_name)

    def whichmodule(self, obj: Any, name: str) -> str:
        told = (importer.whichmodule(obj, name) for importer in self._importers)
        return next((module for module in told if module != "__main__"), "__main__")


def _is_dummy(module: Any) -> bool:
    """Whether a package has the module only because others are below it; another importer may have the real one."""
    return hasattr(module, "__torch_package__") and getattr(module, "__file__", None) is None and hasattr(
        module, "__path__"
    )  # fmt: skip
