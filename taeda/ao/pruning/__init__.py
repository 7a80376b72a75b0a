"""Pruning: sparsifiers say which elements of a weight are zero, schedulers how many, step by step."""

from taeda.ao.pruning._mappings import get_dynamic_sparse_quantized_mapping, get_static_sparse_quantized_mapping
from taeda.ao.pruning.scheduler.base_scheduler import BaseScheduler
from taeda.ao.pruning.scheduler.cubic_scheduler import CubicSL
from taeda.ao.pruning.scheduler.lambda_scheduler import LambdaSL
from taeda.ao.pruning.sparsifier.base_sparsifier import BaseSparsifier
from taeda.ao.pruning.sparsifier.nearly_diagonal_sparsifier import NearlyDiagonalSparsifier
from taeda.ao.pruning.sparsifier.utils import (
    FakeSparsity,
    fqn_to_module,
    get_arg_info_from_tensor_fqn,
    module_to_fqn,
)
from taeda.ao.pruning.sparsifier.weight_norm_sparsifier import WeightNormSparsifier

__all__ = [
    "BaseScheduler", "BaseSparsifier", "CubicSL", "FakeSparsity", "LambdaSL", "NearlyDiagonalSparsifier",
    "WeightNormSparsifier", "fqn_to_module", "get_arg_info_from_tensor_fqn", "get_dynamic_sparse_quantized_mapping",
    "get_static_sparse_quantized_mapping", "module_to_fqn",
]  # fmt: skip
