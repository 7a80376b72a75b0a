"""`HigherOrderOperator`: ops that take functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_known: dict[str, HigherOrderOperator] = {}


class HigherOrderOperator:
    """An op that takes functions, which are graphs, or another op."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = "torch.ops.higher_order"
        self._function = function
        _known[name] = self
        self.__doc__ = function.__doc__

    namespace = "higher_order"

    def name(self) -> str:
        """The op's name."""
        return self.__name__

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return self.__name__

    def __deepcopy__(self, memo: Any) -> HigherOrderOperator:
        return self

    def __reduce__(self) -> Any:
        return _named, (self.__name__, self._function)  # with the function comes the module that makes the op


def _named(name: str, function: Callable[..., Any]) -> HigherOrderOperator:
    return _known[name]
