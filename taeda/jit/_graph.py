"""The classes of compiled programs, which annotations and questions of ``isinstance`` name.

This release compiles nothing, so that they have no instances.
"""

from __future__ import annotations

from typing import Any, NoReturn

from taeda.jit._script import no_compiler


class _Compiled:
    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        no_compiler(cls.__name__)


class Graph(_Compiled):
    """A compiled function's ops and the values between them."""


class Node(_Compiled):
    """One op of a graph."""


class Value(_Compiled):
    """What goes into an op of a graph or comes out of one."""


class ScriptObject(_Compiled):
    """An object of a class that was compiled, or that a C++ extension registered."""
