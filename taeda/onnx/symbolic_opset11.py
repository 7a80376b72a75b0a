"""Ops in the words of ONNX's operator set 11.

Each function adds nodes to ``g``, any object whose ``op(name, *inputs, **attributes)`` makes one and returns its
result; an attribute's name ends with its type, ``axis_i`` for one integer.
"""

from __future__ import annotations

from typing import Any


def unsqueeze(g: Any, self: Any, dim: int) -> Any:
    """``self`` with a dimension of size 1 at ``dim``."""
    return g.op("Unsqueeze", self, axes_i=[dim])


def squeeze(g: Any, self: Any, dim: int | None = None) -> Any:
    """``self`` without its dimension ``dim``, which must be of size 1; without all such dimensions by default."""
    return g.op("Squeeze", self) if dim is None else g.op("Squeeze", self, axes_i=[dim])


def select(g: Any, self: Any, dim: int, index: Any) -> Any:
    """What ``index``, a value of the graph, picks along ``dim``."""
    return g.op("Gather", self, index, axis_i=dim)
