"""What a program fails with: an exception of the class that Python raises, and of TorchScript's."""

from __future__ import annotations

import functools


@functools.cache
def _combined(cls: type[BaseException]) -> type[BaseException]:
    from taeda.jit import Error

    others = [base for base in (Error, RuntimeError) if not issubclass(cls, base)]
    members = {"__str__": _text, "__module__": cls.__module__, "__qualname__": cls.__qualname__}
    try:
        made = type(cls.__name__, (cls, *others), members)
    except TypeError:  # classes whose objects are laid out in different ways
        return _combined(RuntimeError)
    return made


def _text(self: BaseException) -> str:
    return str(self.args[0]) if self.args else ""


def raised(cls: type[BaseException], message: str) -> BaseException:
    """An exception of the class that is a ``jit.Error`` and a ``RuntimeError``, too."""
    try:
        return _combined(cls)(message)  # type: ignore[arg-type]
    except TypeError:  # a program's own, which wants other arguments
        return _combined(RuntimeError)(message)
