"""Objects of compiled classes, which annotations and questions of ``isinstance`` name."""

from __future__ import annotations

from typing import Any, NoReturn

from taeda.jit._script import no_compiler


class _Compiled:
    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        no_compiler(cls.__name__)


class ScriptObject(_Compiled):
    """An object of a class that was compiled, or that a C++ extension registered."""
