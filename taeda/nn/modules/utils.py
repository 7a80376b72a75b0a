"""Small helpers for writing modules, under the names that programs import."""

from __future__ import annotations

from typing import Any

from taeda.nn._functional.sizes import ntuple as _named_ntuple

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(count: int, name: str = "parse") -> Any:
    return _named_ntuple(count, name)


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(values: Any, times: int) -> tuple[Any, ...]:
    """Each value ``times`` times, the last value first: the order in which `pad` takes its widths."""
    return tuple(value for value in reversed(values) for _ in range(times))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Removes ``prefix`` from the keys of ``state_dict`` and of its metadata, in place."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is None:
        return
    for key in list(metadata):
        if key and (key == prefix.rstrip(".") or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)
