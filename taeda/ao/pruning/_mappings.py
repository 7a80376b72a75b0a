"""Which modules with sparse quantised weights take the place of dense ones: there are none of them here."""

from __future__ import annotations

from taeda import nn

__all__ = ["get_dynamic_sparse_quantized_mapping", "get_static_sparse_quantized_mapping"]


def get_static_sparse_quantized_mapping() -> dict[type[nn.Module], type[nn.Module]]:
    """For quantised inputs.

    Raises:
        NotImplementedError: quantised layers are dense.
    """
    raise NotImplementedError(f"get_static_sparse_quantized_mapping: {_WHY}")


def get_dynamic_sparse_quantized_mapping() -> dict[type[nn.Module], type[nn.Module]]:
    """For float inputs.

    Raises:
        NotImplementedError: quantised layers are dense.
    """
    raise NotImplementedError(f"get_dynamic_sparse_quantized_mapping: {_WHY}")


_WHY = "there are no quantised layers with sparse weights; squash_mask and quantise as usual: zeros stay zeros"
