"""Units of an LSTM with the smallest sums of magnitudes."""

from __future__ import annotations

from typing import Any

from taeda import nn
from taeda.ao.pruning._experimental.pruner.base_structured_sparsifier import BaseStructuredSparsifier
from taeda.ao.pruning._experimental.pruner.parametrization import FakeStructuredSparsity
from taeda.ao.pruning._experimental.pruner.saliency_pruner import saliency

__all__ = ["LSTMSaliencyPruner"]


class LSTMSaliencyPruner(BaseStructuredSparsifier):
    """Prunes the share ``sparsity_level`` of rows of each of the four gates whose 1-norm is smallest."""

    def update_mask(self, module: nn.Module, tensor_name: str, **kwargs: Any) -> None:
        """Masks as many rows of each gate."""
        norms = saliency(getattr(module, tensor_name), "LSTMSaliencyPruner")
        for part in getattr(module.parametrizations, tensor_name):
            if isinstance(part, FakeStructuredSparsity):
                gates = part.mask.data.view(4, -1)
                count = int(gates.shape[1] * kwargs["sparsity_level"])
                gates.scatter_(1, norms.view(4, -1).topk(count, dim=1, largest=False).indices, False)
