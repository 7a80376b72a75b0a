"""Tables that are rounded while training."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.nn import functional as F


def _rounding(name: str, qconfig: Any) -> Any:
    if not qconfig:
        raise AssertionError(f"{name}: a module that rounds while training needs a qconfig")
    made = qconfig.weight()
    if made.qscheme is not taeda.per_channel_affine_float_qparams:
        raise AssertionError(f"{name}: tables take default_embedding_qat_qconfig, or one like it; got {made.qscheme}")
    return made


def _assert_quantisable(mod: Any, kind: type) -> None:
    """Raises AssertionError for what is not of the float class, or has no qconfig."""
    if type(mod) is not kind:
        raise AssertionError(f"qat.{kind.__name__}.from_float: takes an {kind.__name__}; got a {type(mod).__name__}")
    if getattr(mod, "qconfig", None) is None:
        raise AssertionError(f"qat.{kind.__name__}.from_float: the module has no qconfig; set one first")


class Embedding(nn.Embedding):
    """``nn.Embedding`` with a table that ``weight_fake_quant`` rounds."""

    _FLOAT_MODULE: Any = nn.Embedding

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Tensor | None = None,
        device: Any = None, dtype: Any = None, qconfig: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight,
            device=device, dtype=dtype,
        )  # fmt: skip
        self.qconfig = qconfig
        self.weight_fake_quant = _rounding("Embedding", qconfig)

    def forward(self, input: Tensor) -> Tensor:
        """As ``nn.Embedding``, with the rounded table."""
        return F.embedding(
            input, self.weight_fake_quant(self.weight), self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq, self.sparse,
        )  # fmt: skip

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Embedding:
        """Of a float module with a qconfig; its table is taken over, not copied."""
        _assert_quantisable(mod, nn.Embedding)
        made = cls(
            mod.num_embeddings, mod.embedding_dim, mod.padding_idx, mod.max_norm, mod.norm_type,
            mod.scale_grad_by_freq, mod.sparse, mod.weight, qconfig=mod.qconfig,
        )  # fmt: skip
        made.weight = mod.weight
        return made

    def to_float(self) -> nn.Embedding:
        """A float module with a copy of the table."""
        made = nn.Embedding(self.num_embeddings, self.embedding_dim, self.padding_idx)
        made.weight = nn.Parameter(self.weight.detach())
        return made.train(self.training)


class EmbeddingBag(nn.EmbeddingBag):
    """``nn.EmbeddingBag`` with a table that ``weight_fake_quant`` rounds."""

    _FLOAT_MODULE: Any = nn.EmbeddingBag

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Tensor | None = None,
        include_last_offset: bool = False, padding_idx: int | None = None, qconfig: Any = None, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            num_embeddings, embedding_dim, max_norm, norm_type, scale_grad_by_freq, mode, sparse, _weight,
            include_last_offset, padding_idx, device=device, dtype=dtype,
        )  # fmt: skip
        self.qconfig = qconfig
        self.weight_fake_quant = _rounding("EmbeddingBag", qconfig)

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """As ``nn.EmbeddingBag``, with the rounded table."""
        return F.embedding_bag(
            input, self.weight_fake_quant(self.weight), offsets, self.max_norm, self.norm_type,
            self.scale_grad_by_freq, self.mode, self.sparse, per_sample_weights, self.include_last_offset,
            self.padding_idx,
        )  # fmt: skip

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> EmbeddingBag:
        """Of a float module with a qconfig; its table is taken over, not copied."""
        _assert_quantisable(mod, nn.EmbeddingBag)
        made = cls(
            mod.num_embeddings, mod.embedding_dim, mod.max_norm, mod.norm_type, mod.scale_grad_by_freq, mod.mode,
            mod.sparse, mod.weight, mod.include_last_offset, mod.padding_idx, qconfig=mod.qconfig,
        )  # fmt: skip
        made.weight = mod.weight
        return made

    def to_float(self) -> nn.EmbeddingBag:
        """A float module with a copy of the table."""
        made = nn.EmbeddingBag(
            self.num_embeddings, self.embedding_dim, mode=self.mode, include_last_offset=self.include_last_offset
        )
        made.weight = nn.Parameter(self.weight.detach())
        return made.train(self.training)
