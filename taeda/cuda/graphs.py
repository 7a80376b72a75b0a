"""Recorded work of CUDA devices, of which there are none."""

from taeda._main.absent_devices import NeedsDevice, is_current_stream_capturing
from taeda.cuda._absent import absent

__all__ = ["CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables"]

graph_pool_handle = absent.graph_pool_handle
make_graphed_callables = absent.make_graphed_callables


class CUDAGraph(NeedsDevice):
    """Recorded work that runs again at once."""


class graph(NeedsDevice):
    """A context that records a graph."""
