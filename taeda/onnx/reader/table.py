"""Which function is which of ONNX's ops.

A function takes the node's inputs in order, None for those left out, and its attributes as keywords. Where its meaning
changed it also takes ``opset``, the version; ``outputs``, how many results are wanted; ``run``, which runs a graph.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A function, and which of the special keywords it takes."""

    function: Callable[..., Any]
    wants: frozenset[str]


OPS: dict[tuple[str, str], Entry] = {}
_SPECIAL = ("opset", "outputs", "run")


def op(*names: str, domain: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a function the meaning of ops."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(function).parameters
        entry = Entry(function, frozenset(name for name in _SPECIAL if name in parameters))
        for name in names:
            OPS[domain, name] = entry
        return function

    return decorate
