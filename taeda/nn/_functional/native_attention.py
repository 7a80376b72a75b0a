"""Attention and encoder layers as one call, for inference: the names under which PyTorch's fast path has them."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda.backends.cuda import attention_ways

_nn = _C._nn
_NAME = "taeda._native_multi_head_attention"
_SOURCE, _PADDING, _WHOLE = range(3)  # what a mask is for: all sequences alike, each one's keys, everything


def _fused_sdp_choice(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> int:
    """Which way of ``taeda.nn.attention.SDPBackend`` attention takes for these arguments, as its number.

    Raises:
        RuntimeError: ``sdpa_kernel`` allows none that could.
    """
    if attention_ways["flash"] and _is_fused(query, key, value, attn_mask, dropout_p, enable_gqa):
        return 1
    if not attention_ways["math"]:
        raise RuntimeError(
            "taeda._fused_sdp_choice: none of the ways that sdpa_kernel allows computes this; allow SDPBackend.MATH"
        )
    return 0


def _is_fused(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float, shared: bool) -> bool:
    tensors = (query, key, value)
    if dropout_p or any(x.is_nested or x.dim() != 4 or x.dtype != query.dtype for x in tensors):
        return False
    if mask is not None and (mask.requires_grad or mask.dim() not in (2, 4)):
        return False
    heads = key.size(1) == value.size(1) and key.size(1) > 0
    heads = heads and (query.size(1) % key.size(1) == 0 if shared else query.size(1) == key.size(1))
    return (
        query.is_floating_point()
        and query.device.type == "cpu"
        and heads
        and query.size(0) == key.size(0) == value.size(0)
        and query.size(3) == key.size(3) == value.size(3)
        and query.size(2) > 0
        and key.size(2) == value.size(2) > 0
        and all(x.stride(3) == 1 for x in tensors)
    )


def _transform_bias_rescale_qkv(qkv: Tensor, qkv_bias: Tensor, num_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values (N, heads, L, E) of packed ones (N, L, 3 * heads * E), with the bias; the queries are
    divided by the root of E.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    name = "taeda._transform_bias_rescale_qkv"
    if qkv.is_nested:
        qkv = qkv.to_padded_tensor(0.0)
    if qkv.dim() != 3 or num_heads < 1 or qkv.size(2) % (3 * num_heads):
        raise RuntimeError(
            f"{name}: qkv must be (N, L, 3 * num_heads * E), here with {num_heads} heads; got {tuple(qkv.shape)}"
        )
    if qkv_bias.shape != qkv.shape[2:] or qkv_bias.dtype != qkv.dtype or not qkv.is_floating_point():
        raise RuntimeError(
            f"{name}: qkv_bias must be of {qkv.size(2)} elements and of the floating dtype of qkv; got "
            f"{tuple(qkv_bias.shape)} of {qkv_bias.dtype} for {qkv.dtype}"
        )
    width = qkv.size(2) // (3 * num_heads)
    q, k, v = (_heads(part, num_heads).contiguous() for part in (qkv + qkv_bias).chunk(3, dim=-1))
    return q / math.sqrt(width), k, v


def _heads(x: Tensor, count: int) -> Tensor:
    """(N, L, heads * E) as (N, heads, L, E)."""
    return x.unflatten(-1, (count, -1)).transpose(1, 2)


def _native_multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    """What ``nn.MultiheadAttention`` computes with ``batch_first=True`` in evaluation, and its weights or None.

    Args:
        query: (N, L, embed_dim), as ``key`` and ``value``; or all three nested, where each sequence has its own length.
        mask: nonzero where nothing is seen.
        mask_type: what the mask is for: 0 for (L, L), 1 for the keys of each sequence (N, L), 2 for (N, heads, L, L).

    Raises:
        RuntimeError: the shapes do not fit, or there is a mask and no ``mask_type``.
    """
    _check_widths(embed_dim, num_head, qkv_weight, qkv_bias)
    lengths = [part.size(0) for part in query.unbind()] if query.is_nested else None
    if lengths is not None and mask is not None:
        raise RuntimeError(f"{_NAME}: nested tensors take no mask: their lengths say what is there")
    given: Any = query
    hidden = _hidden_keys(key) if key.is_nested else None
    packed = query is key is value
    query, key, value = (x.to_padded_tensor(0.0) if x.is_nested else x for x in (query, key, value))
    _check_sequences(query, key, value, embed_dim)
    if mask is not None:
        hidden = _hidden(mask, mask_type, (query.size(0), num_head, query.size(1)))
    if packed:
        parts = list(_nn.linear(query, qkv_weight, qkv_bias).chunk(3, dim=-1))
    else:
        weights = zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3), strict=True)
        parts = [_nn.linear(x, weight, bias) for x, weight, bias in weights]
    q, k, v = (_heads(part, num_head) for part in parts)
    attended, scores = _attended(q, k, v, hidden, need_weights)
    result: Any = _nn.linear(attended.transpose(1, 2).flatten(2), proj_weight, proj_bias)
    if lengths is not None:
        result = given.like([row[:length] for row, length in zip(result, lengths, strict=True)])
    if scores is not None and hidden is not None and lengths is not None:
        scores = scores.masked_fill(hidden.mT, 0.0)  # queries that are not there
    return result, scores.mean(1) if scores is not None and average_attn_weights else scores


def _attended(
    q: Tensor, k: Tensor, v: Tensor, hidden: Tensor | None, need_weights: bool
) -> tuple[Tensor, Tensor | None]:
    """Attention of heads, and its weights if wanted."""
    if hidden is None and not need_weights:
        return _nn.scaled_dot_product_attention(q, k, v), None
    scores = (q / math.sqrt(q.size(-1))) @ k.mT
    if hidden is not None:
        scores = scores.masked_fill(hidden, -math.inf)
    weights = scores.softmax(-1)
    return weights @ v, weights if need_weights else None


def _check_widths(width: int, heads: int, weight: Tensor, bias: Tensor) -> None:
    if heads < 1 or width % heads:
        raise RuntimeError(f"{_NAME}: embed_dim {width} must be a multiple of num_head; got {heads}")
    if weight.shape != (3 * width, width) or bias.shape != (3 * width,):
        raise RuntimeError(
            f"{_NAME}: qkv_weight must be {(3 * width, width)} and qkv_bias {(3 * width,)}; got {tuple(weight.shape)} "
            f"and {tuple(bias.shape)}"
        )


def _check_sequences(query: Tensor, key: Tensor, value: Tensor, width: int) -> None:
    if query.dim() != 3 or query.size(2) != width or key.shape != query.shape or value.shape != query.shape:
        shapes = ", ".join(str(tuple(x.shape)) for x in (query, key, value))
        raise RuntimeError(f"{_NAME}: query, key and value must all be (N, L, {width}); got {shapes}")


def _hidden_keys(key: Tensor) -> Tensor:
    """Where shorter sequences have no key: (N, 1, 1, L)."""
    lengths = taeda.tensor([part.size(0) for part in key.unbind()], device=key.device)
    places = taeda.arange(int(lengths.max()), device=key.device)
    return (places >= lengths.unsqueeze(1))[:, None, None]


def _hidden(mask: Tensor, kind: int | None, sizes: tuple[int, int, int]) -> Tensor:
    """The mask as bools that broadcast to (N, heads, L, L)."""
    batch, heads, length = sizes
    shapes = {_SOURCE: (length, length), _PADDING: (batch, length), _WHOLE: (batch, heads, length, length)}
    if kind not in shapes:
        raise RuntimeError(
            f"{_NAME}: with a mask, mask_type must be 0 for (L, L), 1 for (N, L) or 2 for (N, heads, L, L); got {kind}"
        )
    if tuple(mask.shape) != shapes[kind]:
        raise RuntimeError(f"{_NAME}: a mask of type {kind} must be {shapes[kind]}; got {tuple(mask.shape)}")
    hidden = mask != 0
    return hidden[:, None, None] if kind == _PADDING else hidden


def _transformer_encoder_layer_fwd(
    src: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> Tensor:
    """What ``nn.TransformerEncoderLayer`` computes with ``batch_first=True`` in evaluation, from its parameters.

    ``mask`` and ``mask_type`` are those of `_native_multi_head_attention`, and so is what is raised.
    """

    def normed(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return taeda.layer_norm(x, (embed_dim,), weight, bias, eps)

    def attended(x: Tensor) -> Tensor:
        parameters = qkv_weight, qkv_bias, proj_weight, proj_bias
        return _native_multi_head_attention(
            x, x, x, embed_dim, num_heads, *parameters, mask=mask, need_weights=False, mask_type=mask_type
        )[0]

    def fed(x: Tensor) -> Tensor:
        inner = _nn.linear(x, ffn_weight_1, ffn_bias_1)
        return _nn.linear(_nn.gelu(inner) if use_gelu else inner.relu(), ffn_weight_2, ffn_bias_2)

    if norm_first:
        x = src + attended(normed(src, norm_weight_1, norm_bias_1))
        return x + fed(normed(x, norm_weight_2, norm_bias_2))
    x = normed(src + attended(src), norm_weight_1, norm_bias_1)
    return normed(x + fed(x), norm_weight_2, norm_bias_2)
