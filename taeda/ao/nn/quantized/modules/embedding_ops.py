"""Tables of 8 and 4 bits."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.quantized.modules.utils import _hide_packed_params_repr, _quantize_weight, check_dtype

ops: Any = taeda.ops.quantized


class EmbeddingPackedParams(nn.Module):
    """The table, (rows, columns), in the form that the kernel reads: each row with its scale and zero point."""

    _version = 1

    def __init__(self, num_embeddings: int, embedding_dim: int, dtype: Any = taeda.quint8) -> None:
        super().__init__()
        self.dtype = dtype
        check_dtype(dtype, taeda.quint8, taeda.quint4x2)
        table = taeda._empty_per_channel_affine_quantized(
            [num_embeddings, embedding_dim], scales=taeda.ones(num_embeddings, dtype=taeda.float),
            zero_points=taeda.zeros(num_embeddings, dtype=taeda.float), axis=0, dtype=dtype,
        )  # fmt: skip
        self.set_weight(table)

    def set_weight(self, weight: Tensor) -> None:
        """Packs another table."""
        self._packed_weight = ops.embedding_bag_prepack(weight)

    def _weight(self) -> Tensor:
        return ops.embedding_bag_unpack(self._packed_weight)

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_weight"] = self._weight()

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any) -> None:
        self.dtype = state_dict.pop(prefix + "dtype")
        self.set_weight(state_dict.pop(prefix + "_packed_weight"))
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    def __repr__(self) -> str:
        return repr(self._weight())


class Embedding(nn.Module):
    """``nn.Embedding`` whose rows are 8 or 4 bits wide; results are float32.

    Args:
        dtype: ``quint8`` or ``quint4x2``. The others as of ``nn.Embedding``; those about gradients do nothing.
    """

    _version = 1

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
        _weight: Tensor | None = None, dtype: Any = taeda.quint8,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.dtype = num_embeddings, embedding_dim, dtype
        self._packed_params = EmbeddingPackedParams(num_embeddings, embedding_dim, dtype)
        if _weight is not None:
            if list(_weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError(
                    f"{type(self).__name__}: the table must have shape {(num_embeddings, embedding_dim)}; got "
                    f"{tuple(_weight.shape)}"
                )
            self._packed_params.set_weight(_weight)

    def _get_name(self) -> str:
        return "QuantizedEmbedding"

    def forward(self, indices: Tensor) -> Tensor:
        """The rows, (*indices.shape, embedding_dim), float32."""
        table = self._packed_params._packed_weight
        if self.dtype == taeda.quint4x2:
            return ops.embedding_4bit(table, indices)
        return ops.embedding_byte(table, indices)

    def extra_repr(self) -> str:
        return (
            f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, "
            f"dtype={self._packed_params.dtype}, qscheme={self.weight().qscheme()}"
        )

    def __repr__(self) -> str:
        return _hide_packed_params_repr(self, EmbeddingPackedParams)

    def set_weight(self, w: Tensor) -> None:
        """Packs another table."""
        self._packed_params.set_weight(w)

    def weight(self) -> Tensor:
        """The quantised table."""
        return self._packed_params._weight()

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Of a float module whose qconfig gives rows scales and float zero points.

        Raises:
            AssertionError: the qconfig does not.
        """
        watching = getattr(mod, "weight_fake_quant", None)
        if watching is None:
            qconfig = getattr(mod, "qconfig", None)
            maker = qconfig.weight if qconfig is not None and qconfig.weight is not None else _default_observer()
            watching = maker()
        if watching.qscheme is not taeda.per_channel_affine_float_qparams:
            raise AssertionError(
                f"{cls.__name__}: tables take float_qparams_weight_only_qconfig, or one like it; got {watching.qscheme}"
            )
        watching(mod.weight)
        made = cls._like(mod, watching.dtype)
        made.set_weight(_quantize_weight(mod.weight.float().detach(), watching))
        return made

    @classmethod
    def _like(cls, mod: Any, dtype: Any) -> Any:
        return cls(mod.num_embeddings, mod.embedding_dim, dtype=dtype)

    @classmethod
    def from_reference(cls, ref_embedding: Any) -> Any:
        """Of a reference module."""
        made = cls._like(ref_embedding, ref_embedding.weight_dtype)
        made.set_weight(ref_embedding.get_quantized_weight())
        return made


def _default_observer() -> Any:
    from taeda.ao.quantization.observer import default_float_qparams_observer

    return default_float_qparams_observer


class EmbeddingBag(Embedding):
    """``nn.EmbeddingBag``, mode "sum", whose rows are 8 or 4 bits wide; results are float32."""

    _version = 1

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "sum", sparse: bool = False, _weight: Tensor | None = None,
        include_last_offset: bool = False, dtype: Any = taeda.quint8,
    ) -> None:  # fmt: skip
        super().__init__(num_embeddings, embedding_dim, _weight=_weight, dtype=dtype)
        self.mode, self.pruned_weights, self.include_last_offset = mode, False, include_last_offset

    def _get_name(self) -> str:
        return "QuantizedEmbeddingBag"

    def forward(
        self, indices: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None,
        compressed_indices_mapping: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """The sums, (bags, embedding_dim), float32."""
        table = self._packed_params._packed_weight
        if self.dtype == taeda.quint4x2:
            return ops.embedding_bag_4bit(
                table, indices, offsets, False, 0, self.pruned_weights, per_sample_weights, compressed_indices_mapping,
                self.include_last_offset,
            )  # fmt: skip
        return ops.embedding_bag_byte(
            table, indices, offsets, False, 0, self.pruned_weights, per_sample_weights, compressed_indices_mapping,
            self.include_last_offset,
        )  # fmt: skip

    @classmethod
    def _like(cls, mod: Any, dtype: Any) -> Any:
        return cls(
            mod.num_embeddings, mod.embedding_dim, max_norm=mod.max_norm, norm_type=mod.norm_type,
            scale_grad_by_freq=mod.scale_grad_by_freq, mode=mod.mode, sparse=mod.sparse,
            include_last_offset=mod.include_last_offset, dtype=dtype,
        )  # fmt: skip
