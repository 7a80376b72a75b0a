"""Multi-head attention as a module."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.nn import init
from taeda.nn.modules.linear import NonDynamicallyQuantizableLinear
from taeda.nn.modules.module import Module
from taeda.nn.parameter import Parameter
from taeda.types import Device, _dtype

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention of ``num_heads`` heads (Vaswani et al., 2017).

    Args:
        embed_dim: features of the query and the output; ``num_heads`` divides it.
        dropout: probability with which attention weights are dropped in training.
        bias: whether the projections have one.
        add_bias_kv: one more, learnt, key and value for all.
        add_zero_attn: one more key and value of zeros.
        kdim, vdim: features of key and value; ``embed_dim`` by default.
        batch_first: inputs are (N, L, E) instead of (L, N, E).
    """

    bias_k: Tensor | None
    bias_v: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "taeda.nn.MultiheadAttention: embed_dim and num_heads must be greater than 0; got "
                f"{embed_dim} and {num_heads}"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(
                f"taeda.nn.MultiheadAttention: num_heads {num_heads} does not divide embed_dim {embed_dim}"
            )
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(taeda.empty((3 * embed_dim, embed_dim), **factory))
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = Parameter(taeda.empty((embed_dim, embed_dim), **factory))
            self.k_proj_weight = Parameter(taeda.empty((embed_dim, self.kdim), **factory))
            self.v_proj_weight = Parameter(taeda.empty((embed_dim, self.vdim), **factory))
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = Parameter(taeda.empty(3 * embed_dim, **factory))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **factory)
        if add_bias_kv:
            self.bias_k = Parameter(taeda.empty((1, 1, embed_dim), **factory))
            self.bias_v = Parameter(taeda.empty((1, 1, embed_dim), **factory))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            assert self.out_proj.bias is not None
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The output and, with ``need_weights``, the attention weights.

        Args:
            query: (L, N, embed_dim), with ``batch_first`` (N, L, embed_dim), or (L, embed_dim); key, value likewise.
            key_padding_mask: (N, S) or (S): true, or -inf, for keys to ignore.
            attn_mask: (L, S) or (N * num_heads, L, S): true where attention is forbidden, or a number to add.
            need_weights: without them a faster kernel is used.
            average_attn_weights: weights (N, L, S), averaged over the heads, instead of (N, num_heads, L, S).
            is_causal: a hint that ``attn_mask`` is the causal one.
        """
        swap = self.batch_first and query.dim() == 3 and not query.is_nested
        if swap:
            query, key, value = _batch_second(query, key, value)
        separate = not self._qkv_same_embed_dim
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=separate,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (output.transpose(0, 1) if swap else output), weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Both masks as one of shape (N, num_heads, L, S) with its kind: 0 attention, 1 padding, 2 both; or Nones."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length, _ = query.shape
        if attn_mask.dim() == 3:
            attn_mask = attn_mask.view(batch, -1, length, length)
        else:
            attn_mask = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is None:
            return attn_mask, 2
        padding = key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return attn_mask + padding, 2


def _batch_second(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Swaps the first two dimensions; inputs that are one tensor stay one, which the projection makes use of."""
    swapped = query.transpose(0, 1)
    if key is query:
        return swapped, swapped, swapped if value is query else value.transpose(0, 1)
    key_swapped = key.transpose(0, 1)
    return swapped, key_swapped, key_swapped if value is key else value.transpose(0, 1)
