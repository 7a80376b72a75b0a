"""What a pipe is made of."""

from __future__ import annotations

import io
import pickle
import warnings
from typing import Any

from taeda.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe, _DataPipeSerializationWrapper

__all__ = ["traverse", "traverse_dps"]

DataPipe = IterDataPipe[Any] | MapDataPipe[Any]
DataPipeGraph = dict[int, tuple[DataPipe, Any]]
_KINDS = (IterDataPipe, MapDataPipe)
_COLLECTIONS = (list, tuple, set, frozenset, dict)


def _stub() -> str:
    return ""


class _Finder(pickle.Pickler):
    """Pickles a pipe up to the pipes it holds, and notes those."""

    def __init__(self, root: Any, only_datapipe: bool, seen: set[int]) -> None:
        super().__init__(io.BytesIO())
        self.root, self.only_datapipe, self.seen, self.found = root, only_datapipe, set(seen), []  # type: ignore[var-annotated]

    def reducer_override(self, obj: Any) -> Any:
        """Stands for pipes, and for all but collections if nothing else is asked for."""
        if isinstance(obj, _KINDS):
            if obj is self.root or id(obj) in self.seen:
                return NotImplemented
            self.seen.add(id(obj))
            self.found.append(obj)
            return _stub, ()
        if obj is _stub or isinstance(obj, _COLLECTIONS) or not self.only_datapipe or obj is type(self.root):
            return NotImplemented
        return NotImplemented if isinstance(obj, type) or callable(obj) and _by_name(obj) else (_stub, ())


def _by_name(obj: Any) -> bool:
    """Whether it is what pickling makes objects with, and no function of the pipe's user that has no name."""
    return getattr(obj, "__module__", None) in ("copyreg", "builtins")


def traverse_dps(datapipe: DataPipe) -> DataPipeGraph:
    """The pipes that a pipe holds, itself or in collections: ``{id: (pipe, the same of that one)}``.

    Raises:
        RuntimeError: it is no pipe.
    """
    return _traverse(datapipe, True, set())


def traverse(datapipe: DataPipe, only_datapipe: bool | None = None) -> DataPipeGraph:
    """As :func:`traverse_dps`, which is to be used; without ``only_datapipe`` in all attributes.

    Raises:
        RuntimeError: it is no pipe.
    """
    warnings.warn("traverse is deprecated: use traverse_dps, which looks at pipes only", FutureWarning, stacklevel=2)
    return _traverse(datapipe, bool(only_datapipe), set())


def _held(datapipe: Any, only_datapipe: bool, seen: set[int]) -> list[Any]:
    if isinstance(datapipe, _DataPipeSerializationWrapper):
        return [datapipe._datapipe]
    finder = _Finder(datapipe, only_datapipe, seen)
    finder.dump(datapipe)
    return finder.found


def _traverse(datapipe: Any, only_datapipe: bool, seen: set[int]) -> DataPipeGraph:
    if not isinstance(datapipe, _KINDS):
        raise RuntimeError(f"an IterDataPipe or MapDataPipe is wanted; got {type(datapipe).__name__}")
    if id(datapipe) in seen:
        return {}
    seen = {*seen, id(datapipe)}
    inner: DataPipeGraph = {}
    for held in _held(datapipe, only_datapipe, seen):
        inner.update(_traverse(held, only_datapipe, seen))
    return {id(datapipe): (datapipe, inner)}
