"""Weights as a length times a direction (Salimans and Kingma, 2016)."""

from taedagen.opdef import *


@composite("norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor", files="weight_norm")
def norm_except_dim(v, pow, dim):
    """The ``pow``-norms of the slices of ``v`` along ``dim``, the other dimensions kept as 1; -1 is of all of ``v``."""


@composite("_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", files="weight_norm")
def _weight_norm(v, g, dim):
    """``v * (g / norm_except_dim(v, 2, dim))``."""


@composite(
    "_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)",
    variants="function out",
    files="weight_norm",
)
def _weight_norm_interface(v, g, dim):
    """``_weight_norm`` along the first or last dimension, and the norms, in float32 for the half types."""
