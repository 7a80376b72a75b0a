"""Helpers around parameters, gradients and sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taeda.nn.utils import rnn
from taeda.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from taeda.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from taeda.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from taeda.nn.utils.init import skip_init
from taeda.nn.utils.memory_format import convert_conv2d_weight_memory_format, convert_conv3d_weight_memory_format
from taeda.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from taeda.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]

_LOADED_ON_FIRST_USE = ("parametrizations", "parametrize", "prune", "stateless")


if TYPE_CHECKING:
    from taeda.nn.utils import parametrizations as parametrizations
    from taeda.nn.utils import parametrize as parametrize
    from taeda.nn.utils import prune as prune
    from taeda.nn.utils import stateless as stateless
else:

    def __getattr__(name: str) -> Any:
        if name not in _LOADED_ON_FIRST_USE:
            from taeda._main.absent import missing

            raise missing(__name__, name)
        import importlib

        return importlib.import_module(f"taeda.nn.utils.{name}")
