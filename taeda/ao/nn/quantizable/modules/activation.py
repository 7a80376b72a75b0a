"""Multi-head attention made of linear layers and functions that can be observed and quantised one by one."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.quantized.modules.functional_modules import FloatFunctional
from taeda.nn import functional as F


class MultiheadAttention(nn.MultiheadAttention):
    """``nn.MultiheadAttention`` whose projections can be quantised; what is between them computes in float.

    For the arguments and shapes see there.
    """

    _FLOAT_MODULE: Any = nn.MultiheadAttention

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        factory = {"device": device, "dtype": dtype}
        super().__init__(
            embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim, batch_first, **factory
        )
        self.linear_Q = nn.Linear(embed_dim, embed_dim, bias=bias, **factory)
        self.linear_K = nn.Linear(self.kdim, embed_dim, bias=bias, **factory)
        self.linear_V = nn.Linear(self.vdim, embed_dim, bias=bias, **factory)
        self.out_proj: Any = nn.Linear(embed_dim, embed_dim, bias=bias, **factory)
        self.q_scaling_product = FloatFunctional()
        stubs = taeda.ao.quantization
        self.quant_attn_output, self.quant_attn_output_weights = stubs.QuantStub(), stubs.QuantStub()
        self.dequant_q, self.dequant_k, self.dequant_v = (stubs.DeQuantStub() for _ in range(3))

    def _get_name(self) -> str:
        return "QuantizableMultiheadAttention"

    def _heads(self, x: Tensor) -> Tensor:
        """(L, N, E) to (N, heads, L, E / heads)."""
        return x.reshape(x.size(0), x.size(1), self.num_heads, self.head_dim).permute(1, 2, 0, 3)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
        need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """The attended values, and the weights if they are needed."""
        if self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        q = self.q_scaling_product.mul_scalar(self.linear_Q(query), 1.0 / math.sqrt(self.head_dim))
        q, k, v = self.dequant_q(q), self.dequant_k(self.linear_K(key)), self.dequant_v(self.linear_V(value))
        if self.bias_k is not None and self.bias_v is not None:
            k = taeda.cat([k, self.bias_k.repeat(1, k.size(1), 1)])
            v = taeda.cat([v, self.bias_v.repeat(1, v.size(1), 1)])
        if self.add_zero_attn:
            k, v = (taeda.cat([x, x.new_zeros((1, *x.shape[1:]))]) for x in (k, v))
        more = k.size(0) - key.size(0)
        scores = self._heads(q) @ self._heads(k).transpose(-2, -1)
        for mask in self._masks(attn_mask, key_padding_mask, more):
            scores = scores.masked_fill(mask, float("-inf")) if mask.dtype == taeda.bool else scores + mask
        weights = F.dropout(scores.softmax(-1), self.dropout, self.training)
        attended = (weights @ self._heads(v)).permute(2, 0, 1, 3).flatten(2)
        if self.batch_first:
            attended = attended.transpose(0, 1)
        output = self.out_proj(self.quant_attn_output(attended))
        if not need_weights:
            return output, None
        shown = self.quant_attn_output_weights(weights)
        return output, shown.mean(dim=1) if average_attn_weights else shown

    def _masks(self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, more: int) -> list[Tensor]:
        """The masks, in shapes that go with scores (N, heads, L, S); ``more`` keys came behind and are seen."""
        masks = []
        if attn_mask is not None:
            mask = F.pad(attn_mask, (0, more))
            masks.append(mask if mask.dim() == 2 else mask.reshape(-1, self.num_heads, *mask.shape[1:]))
        if key_padding_mask is not None:
            masks.append(F.pad(key_padding_mask, (0, more))[:, None, None])
        return masks

    @classmethod
    def from_float(cls, other: Any) -> Any:
        """Of an ``nn.MultiheadAttention`` with a qconfig, with what observes its parts.

        Raises:
            AssertionError: it has no qconfig.
        """
        if type(other) is not cls._FLOAT_MODULE or not hasattr(other, "qconfig"):
            raise AssertionError("MultiheadAttention.from_float: takes an nn.MultiheadAttention with a qconfig")
        made: Any = cls(
            other.embed_dim, other.num_heads, other.dropout, other.in_proj_bias is not None, other.bias_k is not None,
            other.add_zero_attn, other.kdim, other.vdim, other.batch_first,
        )  # fmt: skip
        made.bias_k, made.bias_v, made.qconfig = other.bias_k, other.bias_v, other.qconfig
        made.out_proj.weight, made.out_proj.bias = other.out_proj.weight, other.out_proj.bias
        if other._qkv_same_embed_dim:
            weights = other.in_proj_weight.chunk(3)
        else:
            weights = (other.q_proj_weight, other.k_proj_weight, other.v_proj_weight)
        biases = (None,) * 3 if other.in_proj_bias is None else other.in_proj_bias.chunk(3)
        for layer, weight, bias in zip((made.linear_Q, made.linear_K, made.linear_V), weights, biases, strict=True):
            layer.weight = nn.Parameter(weight)
            layer.bias = None if bias is None else nn.Parameter(bias)
        return taeda.ao.quantization.prepare(made.eval(), inplace=True)

    @classmethod
    def from_observed(cls, other: Any) -> Any:
        """Raises NotImplementedError: what is observed becomes `taeda.ao.nn.quantized.MultiheadAttention`."""
        raise NotImplementedError("an observed attention becomes a quantized.MultiheadAttention")
