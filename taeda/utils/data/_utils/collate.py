"""Making one batch out of a list of samples."""

from __future__ import annotations

import collections.abc
import copy
import re
import sys
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

np_str_obj_array_pattern = re.compile(r"[SaUO]")

_CollateMap = dict[type | tuple[type, ...], Callable[..., Any]]


def _numpy_kind(value: Any) -> str | None:
    """``"array"`` or ``"scalar"`` for a numpy value; numpy itself is not loaded, for whoever has such a value did."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    return "array" if isinstance(value, numpy.ndarray) else "scalar" if isinstance(value, numpy.generic) else None


def is_text(value: Any) -> bool:
    """Whether it is a sequence that nobody looks into."""
    return isinstance(value, (str, bytes))


def _is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _rebuild_mapping(original: Any, items: dict[Any, Any]) -> Any:
    """``items`` as a mapping of the type of ``original``, with its other attributes; a dict where that fails."""
    try:
        if isinstance(original, collections.abc.MutableMapping):
            clone = copy.copy(original)
            clone.update(items)
            return clone
        return type(original)(items)  # type: ignore[call-arg]
    except TypeError:
        return items


def _rebuild_sequence(original: Any, items: list[Any]) -> Any:
    """``items`` as a sequence of the type of ``original``; a list where that fails."""
    try:
        if isinstance(original, collections.abc.MutableSequence):
            clone = copy.copy(original)
            for i, item in enumerate(items):
                clone[i] = item
            return clone
        return type(original)([*items])  # type: ignore[call-arg]
    except TypeError:
        return items


def map_parts(data: Any, function: Callable[[Any], Any], tuples_as_lists: bool = False) -> Any:
    """``function`` of each part of a mapping or sequence, which keeps its type; NotImplemented for anything else."""
    if isinstance(data, collections.abc.Mapping):
        return _rebuild_mapping(data, {key: function(data[key]) for key in data})
    if _is_namedtuple(data):
        return type(data)(*map(function, data))
    if tuples_as_lists and isinstance(data, tuple):
        return list(map(function, data))
    if isinstance(data, collections.abc.Sequence):
        return _rebuild_sequence(data, list(map(function, data)))
    return NotImplemented


def default_convert(data: Any) -> Any:
    """``data`` with its numpy arrays and scalars turned into tensors, inside dicts, sequences and namedtuples too."""
    if isinstance(data, Tensor) or is_text(data):  # NumPy's text scalars are both
        return data
    kind = _numpy_kind(data)
    if kind is not None:
        holds_text = kind == "array" and np_str_obj_array_pattern.search(data.dtype.str)
        return data if holds_text else taeda.as_tensor(data)
    converted = map_parts(data, default_convert, tuples_as_lists=True)
    return data if converted is NotImplemented else converted


def collate(batch: Any, *, collate_fn_map: _CollateMap | None = None) -> Any:
    """Collates ``batch`` by the type of its first sample.

    ``collate_fn_map`` maps types (or tuples of them) to functions ``fn(batch, *, collate_fn_map)``. Mappings,
    namedtuples and sequences without an entry are collated field by field.

    Raises:
        TypeError: a sample of a type nobody collates.
        RuntimeError: sequences of different lengths.
    """
    sample = batch[0]
    if collate_fn_map is not None:
        function = collate_fn_map.get(type(sample))
        if function is None:
            function = next((fn for kind, fn in collate_fn_map.items() if isinstance(sample, kind)), None)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(sample, collections.abc.Mapping):
        fields = {key: collate([d[key] for d in batch], collate_fn_map=collate_fn_map) for key in sample}
        return _rebuild_mapping(sample, fields)
    if _is_namedtuple(sample):
        columns = zip(*batch, strict=True)
        return type(sample)(*(collate(column, collate_fn_map=collate_fn_map) for column in columns))
    if isinstance(sample, collections.abc.Sequence):
        lengths = {len(item) for item in batch}
        if len(lengths) > 1:
            raise RuntimeError(f"collate: sequences in a batch must have one length; got lengths {sorted(lengths)}")
        items = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=True)]
        return items if isinstance(sample, tuple) else _rebuild_sequence(sample, items)
    raise TypeError(
        "default_collate: samples must be tensors, numpy arrays, numbers, strings, dicts or sequences; got"
        f" {type(sample).__name__} (give the loader a collate_fn)"
    )


def collate_tensor_fn(batch: Any, *, collate_fn_map: _CollateMap | None = None) -> Tensor:
    """Stacks tensors of one shape along a new first dimension."""
    return taeda.stack(list(batch), 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: _CollateMap | None = None) -> Tensor:
    """Stacks numpy arrays into a tensor."""
    if np_str_obj_array_pattern.search(batch[0].dtype.str) is not None:
        raise TypeError(f"default_collate: cannot make a tensor of a numpy array of dtype {batch[0].dtype}")
    return collate([taeda.as_tensor(item) for item in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: _CollateMap | None = None) -> Tensor:
    """Makes a 1-D tensor of numpy scalars, in their dtype."""
    return taeda.as_tensor(sys.modules["numpy"].asarray(batch))


def collate_float_fn(batch: Any, *, collate_fn_map: _CollateMap | None = None) -> Tensor:
    """Makes a 1-D float64 tensor."""
    return taeda.tensor(batch, dtype=taeda.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: _CollateMap | None = None) -> Tensor:
    """Makes a 1-D int64 (or for bools, bool) tensor."""
    return taeda.tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: _CollateMap | None = None) -> Any:
    """Leaves strings and bytes as they are."""
    return batch


default_collate_fn_map: _CollateMap = {
    Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Any) -> Any:
    """One batch of a list of samples: tensors and arrays are stacked, numbers become 1-D tensors, strings stay.

    Dicts, namedtuples and sequences are collated field by field and keep their type (a tuple becomes a list).

    Raises:
        TypeError: a sample of another type.
        RuntimeError: tensors or sequences of different sizes.
    """
    _add_numpy_types()
    return collate(batch, collate_fn_map=default_collate_fn_map)


def _add_numpy_types() -> None:
    """Enters numpy's types once something has loaded numpy; before that no sample can be of them."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and numpy.ndarray not in default_collate_fn_map:
        default_collate_fn_map[numpy.ndarray] = collate_numpy_array_fn
        default_collate_fn_map[(numpy.bool_, numpy.number, numpy.object_)] = collate_numpy_scalar_fn
