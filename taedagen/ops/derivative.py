"""Ops that only derivatives call."""

from taedagen.opdef import *


@composite(
    "unreduce(Tensor grad, SymInt[] sizes, int[]? dim, bool keepdim) -> Tensor",
    files="derivative",
    unbound=True,
)
def unreduce(grad, sizes, dim, keepdim):
    """The gradient of a sum: ``grad`` repeated along the dimensions that were reduced (all without ``dim``)."""


@composite("no_derivative(str what) -> Tensor", files="derivative", unbound=True)
def no_derivative(what):
    """Raises NotImplementedError: there is no derivative of ``what``."""
