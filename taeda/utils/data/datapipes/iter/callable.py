"""Pipes that apply functions."""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from taeda.utils.data._utils.collate import default_collate
from taeda.utils.data.datapipes._decorator import functional_datapipe
from taeda.utils.data.datapipes.datapipe import IterDataPipe
from taeda.utils.data.datapipes.utils.common import _check_unpickable_fn, validate_input_col

__all__ = ["CollatorIterDataPipe", "MapperIterDataPipe"]
_T_co = TypeVar("_T_co", covariant=True)


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe[_T_co]):
    """What a function makes of each sample (functional name: ``map``).

    Args:
        datapipe: the pipe before it.
        fn: the function; one with a name in a module can go to spawned workers.
        input_col: the index or key, or a list of them, of what ``fn`` is given instead of the whole sample.
        output_col: where the result is put, -1 behind the last. In place of the first input without it, and the other
            inputs are taken out.

    Raises:
        ValueError: ``fn`` takes another number of arguments, or ``output_col`` is a list or stands alone.

    Example:
        >>> list(IterableWrapper(range(3)).map(float))
        [0.0, 1.0, 2.0]
    """

    def __init__(self, datapipe: Any, fn: Callable[..., Any], input_col: Any = None, output_col: Any = None) -> None:
        super().__init__()
        _check_unpickable_fn(fn)
        if input_col is None and output_col is not None:
            raise ValueError("Mapper: output_col wants an input_col; without, the result is the sample")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) != 1:
                raise ValueError(f"Mapper: output_col must be one place; got {output_col!r}")
            output_col = output_col[0]
        validate_input_col(fn, input_col)
        self.datapipe, self.fn, self.input_col, self.output_col = datapipe, fn, input_col, output_col

    def _apply_fn(self, data: Any) -> Any:
        columns = self.input_col
        if columns is None:
            return self.fn(data)
        many = isinstance(columns, (list, tuple))
        result = self.fn(*(data[c] for c in columns)) if many else self.fn(data[columns])
        parts = list(data) if isinstance(data, tuple) else data
        if self.output_col is None:
            if many:
                parts[columns[0]] = result
                for column in sorted(columns[1:], reverse=True):
                    del parts[column]
            else:
                parts[columns] = result
        elif self.output_col == -1:
            parts.append(result)
        else:
            parts[self.output_col] = result
        return tuple(parts) if isinstance(data, tuple) else parts

    def __iter__(self) -> Iterator[_T_co]:
        for data in self.datapipe:
            yield self._apply_fn(data)

    def __len__(self) -> int:
        return _length(self, self.datapipe)


def _length(datapipe: Any, source: Any) -> int:
    if not hasattr(source, "__len__"):
        raise TypeError(f"{type(datapipe).__name__} instance doesn't have valid length: what it reads from has none")
    return len(source)


def _collate_helper(conversion: dict[Any, Any], item: Any) -> Any:
    """A named tuple of what the functions make of the columns of a chunk's one dataframe."""
    if len(item.items) > 1:
        raise Exception(f"Collator: a dict of functions is for batches of one dataframe; got {len(item.items)}")
    frame = item.items[0]
    columns = list(frame.columns)
    for name, function in conversion.items():
        if name not in columns or not callable(function):
            raise Exception(
                f"Collator: a function for each of the columns {columns} is wanted; got {name!r}: {function!r}"
            )
    missing = [name for name in columns if name not in conversion]
    if missing:
        raise Exception(f"Collator: there is no function for the columns {missing}")
    return namedtuple("CollateResult", map(str, columns))(*(conversion[n](frame[n]) for n in columns))  # type: ignore[misc]


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe[Any]):
    """Tensors made of each sample, or batch of samples (functional name: ``collate``).

    Args:
        datapipe: the pipe before it.
        conversion: what makes them; a dict of functions for the columns of dataframes.
        collate_fn: the same, before ``conversion``.

    Example:
        >>> list(IterableWrapper([[1, 2], [3, 4]]).collate())
        [tensor([1, 2]), tensor([3, 4])]
    """

    def __init__(
        self,
        datapipe: Any,
        conversion: Callable[..., Any] | dict[Any, Any] | None = default_collate,
        collate_fn: Callable[..., Any] | None = None,
    ) -> None:
        fn = collate_fn if collate_fn is not None else conversion
        super().__init__(datapipe, fn if callable(fn) else functools.partial(_collate_helper, fn))  # type: ignore[arg-type]
