"""Rows with the smallest sums of magnitudes."""

from __future__ import annotations

from typing import Any

from taeda import Tensor, nn
from taeda.ao.pruning._experimental.pruner.base_structured_sparsifier import BaseStructuredSparsifier

__all__ = ["SaliencyPruner", "saliency"]


def saliency(weight: Tensor, who: str) -> Tensor:
    """The 1-norm of each row."""
    if weight.dim() <= 1:
        raise RuntimeError(f"{who}: a weight must have rows and columns; got the shape {list(weight.shape)}")
    return weight.detach().abs().flatten(1).sum(1)


class SaliencyPruner(BaseStructuredSparsifier):
    """Prunes the share ``sparsity_level`` of rows whose 1-norm is smallest."""

    def update_mask(self, module: nn.Module, tensor_name: str, **kwargs: Any) -> None:
        """Masks the rows of least saliency."""
        norms = saliency(getattr(module, tensor_name), "SaliencyPruner")
        mask = getattr(module.parametrizations, tensor_name)[0].mask
        mask.data[norms.topk(int(len(mask) * kwargs["sparsity_level"]), largest=False).indices] = False
