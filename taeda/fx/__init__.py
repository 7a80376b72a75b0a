"""Graphs of programs: record what a module does, look at it, change it, and run it as a module again.

traced = fx.symbolic_trace(model)   # run once on proxies: a GraphModule
print(traced.graph)                 # its steps, one Node each
print(traced.code)                  # the Python that was made of them
"""

from __future__ import annotations

from taeda.fx import _symbolic_trace as _symbolic_trace
from taeda.fx import graph as graph
from taeda.fx import graph_module as graph_module
from taeda.fx import immutable_collections as immutable_collections
from taeda.fx import interpreter as interpreter
from taeda.fx import node as node
from taeda.fx import proxy as proxy
from taeda.fx import subgraph_rewriter as subgraph_rewriter
from taeda.fx import traceback as traceback
from taeda.fx._symbolic_trace import PH as PH
from taeda.fx._symbolic_trace import ProxyableClassMeta as ProxyableClassMeta
from taeda.fx._symbolic_trace import Tracer, symbolic_trace, wrap
from taeda.fx.graph import CodeGen as CodeGen
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.interpreter import Interpreter, Transformer
from taeda.fx.node import Node, has_side_effect, map_arg
from taeda.fx.proxy import Proxy
from taeda.fx.subgraph_rewriter import replace_pattern

__all__ = [
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]
