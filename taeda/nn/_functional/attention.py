"""Multi-head attention (Vaswani et al., 2017) over separate query, key and value."""

from __future__ import annotations

import math
import warnings
from typing import Any

import taeda
from taeda import Tensor
from taeda._C import _nn

_NAME = "taeda.nn.functional.multi_head_attention_forward"


def as_float_mask(mask: Tensor | None, name: str, other: Tensor | None, other_name: str, dtype: Any) -> Tensor | None:
    """A mask to add to the scores: of a boolean one, -inf where it is true.

    Raises:
        AssertionError: the mask is neither boolean nor floating.
    """
    if mask is None:
        return None
    if mask.dtype != taeda.bool and not mask.is_floating_point():
        raise AssertionError(f"{_NAME}: {name} must be boolean or floating; got {mask.dtype}")
    if other is not None and other.dtype != mask.dtype:
        warnings.warn(
            f"{name} is {mask.dtype} and {other_name} is {other.dtype}: masks of different dtypes are deprecated",
            stacklevel=3,
        )
    if mask.is_floating_point():
        return mask
    return taeda.zeros_like(mask, dtype=dtype).masked_fill_(mask, -math.inf)


def _check_shapes(query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Any, attn_mask: Any, heads: int) -> bool:
    """Whether there is a batch dimension; AssertionError if the dimensions do not agree on that."""
    if query.dim() not in (2, 3):
        raise AssertionError(f"{_NAME}: query must have 2 dimensions, or 3 with a batch; got {query.dim()}")
    batched = query.dim() == 3
    if key.dim() != query.dim() or value.dim() != query.dim():
        raise AssertionError(
            f"{_NAME}: key and value must have as many dimensions as query, {query.dim()}; got {key.dim()} and "
            f"{value.dim()}"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != (2 if batched else 1):
        raise AssertionError(
            f"{_NAME}: key_padding_mask must be {'(N, S)' if batched else '(S)'}; got {tuple(key_padding_mask.shape)}"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(f"{_NAME}: attn_mask must have 2 or 3 dimensions; got {attn_mask.dim()}")
        if not batched and attn_mask.dim() == 3:
            wanted = (heads, query.shape[0], key.shape[0])
            if tuple(attn_mask.shape) != wanted:
                raise AssertionError(f"{_NAME}: attn_mask must have shape {wanted}; got {tuple(attn_mask.shape)}")
    return batched


def _project(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor | None, bias: Tensor | None, same: bool
) -> tuple[Tensor, ...]:
    """The packed projection; one product when all three inputs are the same tensor, two when key and value are."""
    if key.shape != value.shape:
        raise AssertionError(f"{_NAME}: key {tuple(key.shape)} and value {tuple(value.shape)} differ in shape")
    if weight is None:
        raise AssertionError(f"{_NAME}: in_proj_weight is None; pass it, or use_separate_proj_weight=True")
    if same:
        return _nn.linear(query, weight, bias).chunk(3, dim=-1)
    width = query.size(-1)
    if key is value:
        sizes = [width, 2 * width]
        q_bias, kv_bias = (None, None) if bias is None else bias.split(sizes)
        q_weight, kv_weight = weight.split(sizes)
        keys, values = _nn.linear(key, kv_weight, kv_bias).chunk(2, dim=-1)
        return _nn.linear(query, q_weight, q_bias), keys, values
    weights = weight.chunk(3)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(_nn.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))


def _project_separately(
    inputs: tuple[Tensor, Tensor, Tensor], weights: tuple[Any, Any, Any], bias: Tensor | None
) -> tuple[Tensor, ...]:
    _, key, value = inputs
    if key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"{_NAME}: key {tuple(key.shape)} and value {tuple(value.shape)} differ in length")
    names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    for x, weight, name in zip(inputs, weights, names, strict=True):
        if weight is None:
            raise AssertionError(f"{_NAME}: use_separate_proj_weight is True but {name} is None")
        if weight.shape != (inputs[0].size(-1), x.size(-1)):
            raise AssertionError(
                f"{_NAME}: {name} must have shape {(inputs[0].size(-1), x.size(-1))}; got {tuple(weight.shape)}"
            )
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(_nn.linear(x, w, b) for x, w, b in zip(inputs, weights, biases, strict=True))


def _split_heads(x: Tensor, batch: int, heads: int) -> Tensor:
    """(L, N, E) to (N * heads, L, E / heads)."""
    return x.reshape(x.shape[0], batch * heads, x.shape[2] // heads).transpose(0, 1)


def _static(given: Tensor, name: str, query: Tensor) -> Tensor:
    rows, _, width = query.shape
    if given.size(0) != rows or given.size(2) != width:
        raise AssertionError(f"{_NAME}: {name} must be ({rows}, S, {width}); got {tuple(given.shape)}")
    return given


def _append(mask: Tensor | None) -> Tensor | None:
    """The mask for one more key, which everyone may see."""
    return None if mask is None else _nn.pad(mask, (0, 1))


def _merge_masks(attn_mask: Any, key_padding_mask: Any, batch: int, heads: int, keys: int) -> Any:
    if key_padding_mask is None:
        return attn_mask
    if key_padding_mask.shape != (batch, keys):
        raise AssertionError(
            f"{_NAME}: key_padding_mask must have shape {(batch, keys)}; got {tuple(key_padding_mask.shape)}"
        )
    spread = key_padding_mask.view(batch, 1, 1, keys).expand(-1, heads, -1, -1).reshape(batch * heads, 1, keys)
    return spread if attn_mask is None else attn_mask + spread


def _check_attn_mask(mask: Tensor, batch: int, heads: int, queries: int, keys: int) -> Tensor:
    """The mask as (1 or N * heads, L, S); RuntimeError for any other shape."""
    wanted = (queries, keys) if mask.dim() == 2 else (batch * heads, queries, keys)
    if tuple(mask.shape) != wanted:
        raise RuntimeError(f"{_NAME}: a {mask.dim()}-dimensional attn_mask must be {wanted}; got {tuple(mask.shape)}")
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _explicit(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float) -> tuple[Tensor, Tensor]:
    """Attention that also returns the weights."""
    scores = q * math.sqrt(1.0 / q.size(-1))
    if mask is None:
        weights = taeda.bmm(scores, k.transpose(-2, -1))
    else:
        weights = taeda.baddbmm(mask, scores, k.transpose(-2, -1))
    weights = weights.softmax(dim=-1)
    if dropout_p > 0.0:
        weights = taeda.dropout(weights, dropout_p, True)
    return taeda.bmm(weights, v), weights


def _fused(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool, batch: int, heads: int
) -> Tensor:
    """Attention without weights, from and to (N * heads, L, E / heads)."""
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.size(0) == 1 else mask.view(batch, heads, -1, mask.size(-1))
    q, k, v = (x.view(batch, heads, x.size(1), x.size(2)) for x in (q, k, v))
    return _nn.scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal).flatten(0, 1)


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """`taeda.nn.MultiheadAttention` as a function.

    Shapes: query (L, N, E), key and value (S, N, ...), or all without N; key_padding_mask (N, S); attn_mask (L, S) or
    (N * num_heads, L, S). Boolean masks are true where attention is forbidden, floating ones are added to the scores.

    Returns:
        the output, (L, N, E), and with ``need_weights`` the weights: (N, L, S), unless averaged (N, num_heads, L, S).
    """
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    same = query is key and key is value
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    queries, batch, embed_dim = query.shape
    if embed_dim != embed_dim_to_check:
        raise AssertionError(f"{_NAME}: query has {embed_dim} features; expected {embed_dim_to_check}")
    if embed_dim % num_heads:
        raise AssertionError(f"{_NAME}: {embed_dim} features cannot be split among {num_heads} heads")
    if is_causal and attn_mask is None:
        raise RuntimeError(f"{_NAME}: is_causal is a hint about attn_mask, which is None; pass the causal mask too")

    key_padding_mask = as_float_mask(key_padding_mask, "key_padding_mask", attn_mask, "attn_mask", query.dtype)
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = as_float_mask(attn_mask, "attn_mask", None, "", query.dtype)
        is_causal = False
    if attn_mask is not None:
        attn_mask = _check_attn_mask(attn_mask, batch, num_heads, queries, key.shape[0])

    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        q, k, v = _project_separately((query, key, value), weights, in_proj_bias)
    else:
        q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias, same)
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError(f"{_NAME}: bias_k and bias_v do not go with static_k and static_v")
        k = taeda.cat([k, bias_k.repeat(1, batch, 1)])
        v = taeda.cat([v, bias_v.repeat(1, batch, 1)])
        attn_mask, key_padding_mask = _append(attn_mask), _append(key_padding_mask)
    elif bias_k is not None or bias_v is not None:
        raise AssertionError(f"{_NAME}: bias_k and bias_v are given both or not at all")

    q = _split_heads(q, batch, num_heads)
    k = _split_heads(k, batch, num_heads) if static_k is None else _static(static_k, "static_k", q)
    v = _split_heads(v, batch, num_heads) if static_v is None else _static(static_v, "static_v", q)
    if add_zero_attn:
        k, v = (taeda.cat([x, x.new_zeros(x.size(0), 1, x.size(-1))], dim=1) for x in (k, v))
        attn_mask, key_padding_mask = _append(attn_mask), _append(key_padding_mask)

    mask = _merge_masks(attn_mask, key_padding_mask, batch, num_heads, k.size(1))
    dropout_p = dropout_p if training else 0.0
    attention: Tensor | None = None
    if need_weights:
        heads, attention = _explicit(q, k, v, mask, dropout_p)
    else:
        heads = _fused(q, k, v, mask, dropout_p, is_causal, batch, num_heads)
    joined = heads.transpose(0, 1).reshape(queries * batch, num_heads * heads.size(-1))
    output = _nn.linear(joined, out_proj_weight, out_proj_bias)
    output = output.view(queries, batch, output.size(-1))

    if attention is not None:
        attention = attention.view(batch, num_heads, queries, attention.size(-1))
        if average_attn_weights:
            attention = attention.mean(dim=1)
    if batched:
        return output, attention
    return output.squeeze(1), None if attention is None else attention.squeeze(0)
