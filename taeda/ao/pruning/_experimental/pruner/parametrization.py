"""Masks over the rows of a weight, and the bias that goes with them."""

from __future__ import annotations

from typing import Any

from taeda import Tensor, nn
from taeda.ao.pruning.sparsifier.utils import module_contains_param

__all__ = ["BiasHook", "FakeStructuredSparsity", "module_contains_param"]


class FakeStructuredSparsity(nn.Module):
    """Rows of a weight times a mask of as many bools. The mask is not in state dicts: pruners keep it."""

    mask: Tensor

    def __init__(self, mask: Tensor) -> None:
        super().__init__()
        self.register_buffer("mask", mask)

    def forward(self, x: Tensor) -> Tensor:
        assert len(self.mask) == len(x), f"FakeStructuredSparsity: the mask has {len(self.mask)} rows, not {len(x)}"
        return self.mask.reshape(-1, *[1] * (x.dim() - 1)) * x

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Empty."""
        return {}


class BiasHook:
    """A forward hook that adds the bias ``module._bias``, with ``prune_bias`` only that of the rows that stay."""

    def __init__(self, parametrization: FakeStructuredSparsity, prune_bias: bool) -> None:
        self.param = parametrization
        self.prune_bias = prune_bias

    def __call__(self, module: nn.Module, input: Any, output: Tensor) -> Tensor:
        bias = getattr(module, "_bias", None)
        if bias is None:
            return output
        bias = bias * self.param.mask if self.prune_bias else bias
        spatial = 2 if isinstance(module, nn.Conv2d) else 0
        return output + bias.reshape(-1, *[1] * spatial)
