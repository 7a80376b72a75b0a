"""Stopping in the code of a graph."""

from __future__ import annotations

from taeda.fx.graph_module import GraphModule

__all__ = ["set_trace"]


def set_trace(gm: GraphModule) -> GraphModule:
    """Gives a module a breakpoint at the beginning of its generated code, so that ``pdb`` steps through it.

    Returns:
        ``gm``.
    """
    gm.graph.on_generate_code(
        lambda before: lambda body: ["import pdb; pdb.set_trace()\n", *(before(body) if before is not None else body)]
    )
    gm.recompile()
    return gm
