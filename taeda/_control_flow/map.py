"""A function applied to each slice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda._control_flow.capture import current_capture, recorders
from taeda._control_flow.scan import leaves_along
from taeda.utils import _pytree as pytree


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """``f(x, *args)`` for each slice ``x`` of ``xs`` along the first dimension, stacked.

    Raises:
        RuntimeError: ``f`` cannot be called, or ``xs`` does not fit together.
    """
    if not callable(f):
        raise RuntimeError("taeda.map: f must be callable")
    leaves, spec, _, count = leaves_along("map", xs, 0)
    capture = current_capture()
    if capture is not None:
        return recorders["map"](capture, f, leaves, spec, args)
    results = [f(spec.unflatten(leaf[i] for leaf in leaves), *args) for i in range(count)]
    return pytree.tree_map(lambda *each: taeda.stack(each), *results)
