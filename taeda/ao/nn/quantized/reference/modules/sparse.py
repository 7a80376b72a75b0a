"""The references of tables."""

from __future__ import annotations

from typing import Any

from taeda import Tensor, nn
from taeda.ao.nn.quantized.reference.modules.utils import QuantizedWeights
from taeda.nn import functional as F


class Embedding(QuantizedWeights, nn.Embedding):
    """``nn.Embedding`` over its table as quantisation leaves it."""

    def __init__(self, *args: Any, weight_qparams: dict[str, Any] | None = None, **kwargs: Any) -> None:
        nn.Embedding.__init__(self, *args, **kwargs)
        self._describe("weight", weight_qparams)

    def forward(self, input: Tensor) -> Tensor:
        """The float rows."""
        return F.embedding(input, self.get_weight(), self.padding_idx, self.max_norm, self.norm_type)

    @classmethod
    def from_float(cls, mod: Any, weight_qparams: dict[str, Any]) -> Embedding:
        """Of a float module; its table is taken over."""
        return cls(
            mod.num_embeddings, mod.embedding_dim, mod.padding_idx, mod.max_norm, mod.norm_type,
            mod.scale_grad_by_freq, mod.sparse, mod.weight.detach(), weight_qparams=weight_qparams,
        )  # fmt: skip


class EmbeddingBag(QuantizedWeights, nn.EmbeddingBag):
    """``nn.EmbeddingBag`` over its table as quantisation leaves it."""

    def __init__(self, *args: Any, weight_qparams: dict[str, Any] | None = None, **kwargs: Any) -> None:
        nn.EmbeddingBag.__init__(self, *args, **kwargs)
        self._describe("weight", weight_qparams)

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """The float sums."""
        return F.embedding_bag(
            input, self.get_weight(), offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode,
            self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    @classmethod
    def from_float(cls, mod: Any, weight_qparams: dict[str, Any]) -> EmbeddingBag:
        """Of a float module; its table is taken over."""
        return cls(
            mod.num_embeddings, mod.embedding_dim, mod.max_norm, mod.norm_type, mod.scale_grad_by_freq, mod.mode,
            mod.sparse, mod.weight.detach(), mod.include_last_offset, mod.padding_idx, weight_qparams=weight_qparams,
        )  # fmt: skip
