"""The tensors that a function has besides its arguments, where others would see what it writes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from taeda import Tensor
from taeda.utils._pytree import tree_leaves


class Captured:
    """Tensors with what was written to them until now."""

    def __init__(self, leaves: Iterable[Any]) -> None:
        self.tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor) and not leaf.is_inference()]
        self.versions = [t._version for t in self.tensors]

    def written(self) -> list[Tensor]:
        """Those that were written to since."""
        return [t for t, version in zip(self.tensors, self.versions, strict=True) if t._version != version]

    def check_plain(self, depends: Callable[[Tensor], bool], function: str) -> None:
        """Raises where one was written what depends on the arguments that ``function`` differentiates by."""
        found = list(filter(depends, self.written()))
        for tensor in found:
            if not tensor._is_view():
                tensor.detach_()  # so that it can be used again
        if found:
            raise RuntimeError(
                f"taeda.func.{function}: the function writes what depends on its arguments to a tensor of shape "
                f"{tuple(found[0].shape)} that is none of them, where it would outlive the derivative; return it with "
                "has_aux=True, or pass the tensor as an argument"
            )


def captured(func: Any, parameters: bool = True) -> list[Any]:
    """What a function brings along: in its closure, its bound arguments, its module, the globals that it names."""
    if isinstance(func, functools.partial):
        return [*captured(func.func, parameters), *tree_leaves((func.args, func.keywords))]
    owner, function = getattr(func, "__self__", None), getattr(func, "__func__", func)
    cells = []
    for cell in getattr(function, "__closure__", None) or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            continue
    names, known = getattr(getattr(function, "__code__", None), "co_names", ()), getattr(function, "__globals__", {})
    values = [*tree_leaves(cells), *(known[name] for name in names if name in known)]
    modules = [m for m in [func, owner, *values] if _is_module(m)]
    return [*values, *(t for m in modules for t in [*(m.parameters() if parameters else ()), *m.buffers()])]


def _is_module(value: Any) -> bool:
    import sys

    nn = sys.modules.get("taeda.nn")  # where it was never loaded there is none
    return nn is not None and isinstance(value, nn.Module)
