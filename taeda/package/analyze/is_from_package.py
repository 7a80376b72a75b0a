"""Whether something came out of a package."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from taeda.package._mangling import is_mangled


def is_from_package(obj: Any) -> bool:
    """Whether a module, or the class of an object, was imported from a package."""
    return is_mangled(obj.__name__ if isinstance(obj, ModuleType) else str(type(obj).__module__))
