"""`annotate`: the type of a traced value."""

from __future__ import annotations

from typing import Any

from taeda.fx.proxy import Proxy

__all__ = ["annotate"]


def annotate(val: Any, type: Any) -> Any:
    """``val``; if it is a proxy, its node has the type from now on.

    Raises:
        RuntimeError: the node has a type already.
    """
    if isinstance(val, Proxy):
        if val.node.type is not None:
            raise RuntimeError(f"taeda.fx.annotate: {val.node} has the type {val.node.type} already; got {type}")
        val.node.type = type
    return val
