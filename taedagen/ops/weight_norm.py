"""Weights as a length times a direction (Salimans and Kingma, 2016)."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@composite(
    "norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor",
    files="weight_norm",
    samples=[S(f(3, 2, 4)), S(f(3, 2, 4), 2, 1), S(f(3, 2, 4), 3, -2), S(f(3, 2), 2, -1), S(f(3), 2, 0)],
)
def norm_except_dim(v, pow, dim):
    """The ``pow``-norms of the slices of ``v`` along ``dim``, the other dimensions kept as 1; -1 is of all of ``v``."""


@composite(
    "_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor",
    files="weight_norm",
    samples=[S(f(3, 4), f(3, 1)), S(f(3, 2, 2), f(1, 2, 1), 1), S(f(3, 4), f(), -1)],
)
def _weight_norm(v, g, dim):
    """``v * (g / norm_except_dim(v, 2, dim))``."""


@composite(
    "_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)",
    variants="function out",
    files="weight_norm",
    samples=[S(f(3, 4), f(3, 1)), S(f(3, 4), f(1, 4), 1)],
)
def _weight_norm_interface(v, g, dim):
    """``_weight_norm`` along the first or last dimension, and the norms, in float32 for the half types."""
