"""Sparsifiers of tensors that need not be weights of one model."""

from taeda.ao.pruning._experimental.data_sparsifier.base_data_sparsifier import BaseDataSparsifier
from taeda.ao.pruning._experimental.data_sparsifier.data_norm_sparsifier import DataNormSparsifier

__all__ = ["BaseDataSparsifier", "DataNormSparsifier"]
