"""The ``reduction`` argument of losses: names, the native numbers, and the older pair of booleans."""

from __future__ import annotations

import warnings

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """The number that native losses take; ValueError for an unknown name."""
    number = _NUMBERS.get(reduction)
    if number is None:
        if reduction == "elementwise_mean":
            return 1
        raise ValueError(f"taeda.nn.functional: reduction must be 'none', 'mean' or 'sum'; got {reduction!r}")
    return number


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The reduction that the deprecated ``size_average`` and ``reduce`` mean; ``None`` counts as true."""
    if reduce is False:
        name = "none"
    else:
        name = "sum" if size_average is False else "mean"
    if emit_warning:
        warnings.warn(f"size_average and reduce are deprecated; use reduction='{name}'", UserWarning, stacklevel=3)
    return name


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """`get_enum` of `legacy_get_string`."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))


def resolve(reduction: str, size_average: bool | None, reduce: bool | None) -> int:
    """The native number for a loss's three arguments."""
    if size_average is not None or reduce is not None:
        return legacy_get_enum(size_average, reduce)
    return get_enum(reduction)
