"""`_LazyGraphModule`: a GraphModule whose code is made when it is called or looked at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from taeda.fx.graph_module import GraphModule

_use_lazy_graph_module_flag = False
_force_skip_lazy_graph_module_flag = False


@contextmanager
def _use_lazy_graph_module(should_use: bool) -> Iterator[None]:
    """Within, tracers make lazy modules, or do not."""
    global _use_lazy_graph_module_flag
    before = _use_lazy_graph_module_flag
    _use_lazy_graph_module_flag = should_use and not _force_skip_lazy_graph_module_flag
    try:
        yield
    finally:
        _use_lazy_graph_module_flag = before


@contextmanager
def _force_skip_lazy_graph_module() -> Iterator[None]:
    """Within, tracers make no lazy modules, whoever asks for them."""
    global _force_skip_lazy_graph_module_flag
    before, _force_skip_lazy_graph_module_flag = _force_skip_lazy_graph_module_flag, True
    try:
        with _use_lazy_graph_module(False):
            yield
    finally:
        _force_skip_lazy_graph_module_flag = before


def _get_graph_module_cls() -> type[GraphModule]:
    """The class that tracers make modules of."""
    return _LazyGraphModule if _use_lazy_graph_module_flag else GraphModule


def _make_graph_module(*args: Any, graph_module_cls: type[GraphModule] | None = None, **kwargs: Any) -> GraphModule:
    """A module of the given class, by default of the one that tracers make."""
    return (graph_module_cls or _get_graph_module_cls())(*args, **kwargs)


class _LazyGraphModule(GraphModule):
    """A module whose code is made when it is called or looked at: most graphs are only read."""

    @classmethod
    def from_graphmodule(cls, gm: GraphModule) -> _LazyGraphModule:
        """``gm`` itself if it is lazy, else one of its graph."""
        return gm if isinstance(gm, _LazyGraphModule) else cls(gm, gm.graph)

    @staticmethod
    def force_recompile(gm: Any) -> None:
        """Makes the code of ``gm`` if it is lazy and waits for it."""
        if isinstance(gm, _LazyGraphModule):
            gm.real_recompile()

    def real_recompile(self) -> None:
        """Makes the code if it waits for it."""
        if self._needs_recompile():
            super().recompile()

    def _needs_recompile(self) -> bool:
        """Whether the code waits for somebody who wants it."""
        return type(self).forward is _LazyGraphModule.forward

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Makes the code and calls it."""
        self.real_recompile()
        return type(self).forward(self, *args, **kwargs)

    def recompile(self) -> Any:
        """The code is out of date; a new one is made when it is needed."""
        type(self).forward = _LazyGraphModule.forward  # type: ignore[method-assign]

    @property
    def code(self) -> str:
        """The source text of ``forward``."""
        self.real_recompile()
        return super().code

    def __str__(self) -> str:
        self.real_recompile()
        return super().__str__()
