"""Pipes that leave samples out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from taeda.utils.data.datapipes._decorator import functional_datapipe
from taeda.utils.data.datapipes.datapipe import IterDataPipe
from taeda.utils.data.datapipes.utils.common import _check_unpickable_fn, validate_input_col

__all__ = ["FilterIterDataPipe"]
_T_co = TypeVar("_T_co", covariant=True)


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe[_T_co]):
    """The samples for which a function gives True (functional name: ``filter``).

    Args:
        datapipe: the pipe before it.
        filter_fn: the function; must give a bool.
        input_col: the index or key, or a list of them, of what it is given instead of the whole sample.

    Raises:
        ValueError: it takes another number of arguments; when iterated, it gives no bool.

    Example:
        >>> list(IterableWrapper(range(5)).filter(lambda x: x > 2))
        [3, 4]
    """

    def __init__(self, datapipe: Any, filter_fn: Callable[..., Any], input_col: Any = None) -> None:
        super().__init__()
        _check_unpickable_fn(filter_fn)
        validate_input_col(filter_fn, input_col)
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col

    def _apply_filter_fn(self, data: Any) -> Any:
        if self.input_col is None:
            return self.filter_fn(data)
        if isinstance(self.input_col, (list, tuple)):
            return self.filter_fn(*(data[column] for column in self.input_col))
        return self.filter_fn(data[self.input_col])

    def __iter__(self) -> Iterator[_T_co]:
        for data in self.datapipe:
            keep, kept = self._returnIfTrue(data)
            if keep:
                yield kept

    def _returnIfTrue(self, data: Any) -> tuple[bool, Any]:
        answer = self._apply_filter_fn(data)
        if not isinstance(answer, bool):
            raise ValueError(f"Filter: filter_fn must give a bool; got {answer!r} of type {type(answer).__name__}")
        return answer, data
