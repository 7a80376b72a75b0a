"""Attention whose scores and mask are functions of a query and a key."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, TypedDict

import taeda
from taeda import Tensor
from taeda.nn.attention._block_mask import (
    DEFAULT_BLOCK_SIZE,
    BlockMask,
    MaskMod,
    ScoreMod,
    and_masks,
    create_block_mask,
    create_mask,
    noop_mask,
    or_masks,
)
from taeda.nn.attention._grid import call_on_grid, grid_indices

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "FlexKernelOptions",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

# Libraries import these, too.
_DEFAULT_SPARSE_BLOCK_SIZE = DEFAULT_BLOCK_SIZE
_mask_mod_signature = MaskMod
_score_mod_signature = ScoreMod

_LARGE_SPARSE_BLOCK_SIZE = 1 << 30  # of one block that holds scores of any size


class FlexKernelOptions(TypedDict, total=False):
    """Choices for fused kernels. There is one way to compute here, so none changes anything."""

    num_warps: int
    num_stages: int
    BLOCK_M: int
    BLOCK_N: int
    BLOCK_M1: int
    BLOCK_N1: int
    BLOCK_M2: int
    BLOCK_N2: int
    PRESCALE_QK: bool
    ROWS_GUARANTEED_SAFE: bool
    BLOCKS_ARE_CONTIGUOUS: bool
    WRITE_DQ: bool
    FORCE_USE_FLEX_ATTENTION: bool
    USE_TMA: bool
    kpack: int
    matrix_instr_nonkdim: int
    waves_per_eu: int
    BACKEND: Literal["AUTO", "TRITON", "FLASH", "TRITON_DECODE"]


class AuxRequest(NamedTuple):
    """What to return beside the output."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was returned beside the output: None where it was not asked for."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def _identity(score: Tensor, batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """The function of scores that leaves them."""
    return score


def _create_empty_block_mask(query: Tensor, key: Tensor) -> BlockMask:
    """One block, that holds the scores of all queries and keys."""
    one = taeda.ones(1, 1, 1, dtype=taeda.int32, device=query.device)
    return BlockMask.from_kv_blocks(
        one, one.new_zeros(1, 1, 1, 1), BLOCK_SIZE=_LARGE_SPARSE_BLOCK_SIZE, seq_lengths=(1, 1)
    )


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Attention with scores changed by ``score_mod`` and masked by the ``mask_mod`` of ``block_mask``.

    It is not fused: all scores are in memory, B x Hq x L x S of float32 (float64 for float64 queries), several times
    over where gradients are wanted. Blocks that the mask leaves empty are computed, too. Both functions may capture
    tensors, which get gradients; they are called once for all queries and keys, so they must not branch on values.

    Args:
        query: (B, Hq, L, E), floating-point.
        key: (B, Hkv, S, E). The batch may be 1 if that of ``block_mask`` is the query's.
        value: (B, Hkv, S, Ev).
        score_mod: ``(score, b, h, q_idx, kv_idx)``, all scalars, gives the score to use; the indices are int64.
        block_mask: which scores count. It must be made for L queries and S keys.
        scale: what scores are multiplied by before ``score_mod``; None for ``1 / sqrt(E)``.
        enable_gqa: Hq may be a multiple of Hkv: each head of keys and values serves neighbouring heads of queries.
        return_lse: return the logarithms of the rows' sums of exponentials, too.
        kernel_options: changes nothing.
        return_aux: what to return beside the output; instead of ``return_lse``.

    Returns:
        (B, Hq, L, Ev), of the query's dtype, in its order of dimensions in memory; zeros for queries that attend to
        nothing. With ``return_lse`` a pair of it and the logarithms, (B, Hq, L), -inf for such queries; with
        ``return_aux`` a pair of it and an ``AuxOutput``, whose largest scores have no gradient.

    Raises:
        NotImplementedError: a tensor has other than 4 dimensions.
        ValueError: shapes or devices do not fit each other or the mask; both ``return_lse`` and ``return_aux`` are
            given; ``score_mod`` returns something other than a tensor.
        RuntimeError: ``score_mod`` or the mask reads a value, draws random numbers or returns more than a scalar; the
            mask returns no bools or is on another device; the value's shape does not fit the key's.
    """
    _check_tensors(query, key, value)
    _check_heads(query, key, enable_gqa)
    _check_batches(query, key, block_mask)
    if block_mask is not None:
        _check_mask(query, key, block_mask)
    if return_aux is not None and return_lse:
        raise ValueError("taeda.nn.attention.flex_attention: return_aux=AuxRequest(lse=True) replaces return_lse=True")
    request = AuxRequest(lse=return_lse) if return_aux is None else return_aux

    shared = query.shape[1] // key.shape[1] if enable_gqa else 1
    if shared != 1:
        key, value = key.repeat_interleave(shared, 1), value.repeat_interleave(shared, 1)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = _scores(query, key, factor, score_mod, block_mask)
    idle = (scores == -math.inf).all(-1, keepdim=True)
    safe = scores.masked_fill(idle, 0.0)  # a row of -inf has no softmax
    weights = safe.softmax(-1).masked_fill(idle, 0.0)
    output = _laid_out_as(query, (weights.to(value.dtype) @ value).to(query.dtype))
    if return_aux is None and not return_lse:
        return output

    lse = safe.logsumexp(-1).masked_fill(idle.squeeze(-1), -math.inf) if request.lse else None
    if return_aux is None:
        return output, lse
    return output, AuxOutput(lse, scores.detach().amax(-1) if request.max_scores else None)


def _scores(
    query: Tensor,
    key: Tensor,
    factor: float,
    score_mod: ScoreMod | None,
    block_mask: BlockMask | None,
) -> Tensor:
    """The scores, changed and masked: at least float32."""
    work = taeda.float64 if query.dtype == taeda.float64 else taeda.float32
    scores = query.to(work) @ key.to(work).mT * factor
    sizes = tuple(scores.shape)
    indices = grid_indices(sizes, query.device)
    if score_mod is not None:
        scores = call_on_grid(score_mod, [scores, *indices]).expand(sizes)
        scores = scores.to(taeda.promote_types(scores.dtype, work))
    if block_mask is not None:
        mask = call_on_grid(block_mask.mask_mod, indices)
        if mask.dtype != taeda.bool:
            raise RuntimeError(f"taeda.nn.attention.flex_attention: mask_mod must return bools; got {mask.dtype}")
        scores = scores.masked_fill(~mask, -math.inf)
    return scores


def _laid_out_as(query: Tensor, output: Tensor) -> Tensor:
    """The output with its dimensions in memory in the query's order, which programs' views count on."""
    order = sorted(range(query.dim()), key=lambda dim: -query.stride(dim))
    back = [order.index(dim) for dim in range(len(order))]
    return output.permute(order).contiguous().permute(back)


def _check_tensors(query: Tensor, key: Tensor, value: Tensor) -> None:
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if not isinstance(tensor, Tensor):
            raise AttributeError(f"taeda.nn.attention.flex_attention: {name} must be a tensor; got {tensor!r}")
        if tensor.dim() != 4:
            raise NotImplementedError(
                f"taeda.nn.attention.flex_attention: {name} must be (batch, heads, length, size); got shape "
                f"{tuple(tensor.shape)}"
            )
        if not tensor.is_floating_point():
            raise ValueError(f"taeda.nn.attention.flex_attention: {name} must be floating-point; got {tensor.dtype}")
    if not query.device == key.device == value.device:
        raise ValueError(
            "taeda.nn.attention.flex_attention: query, key and value must be on one device; got "
            f"{query.device}, {key.device} and {value.device}"
        )
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "taeda.nn.attention.flex_attention: query and key must agree in the last dimension; got shapes "
            f"{tuple(query.shape)} and {tuple(key.shape)}"
        )


def _check_heads(query: Tensor, key: Tensor, enable_gqa: bool) -> None:
    of_query, of_key = query.shape[1], key.shape[1]
    if not enable_gqa and of_query != of_key:
        raise ValueError(
            f"taeda.nn.attention.flex_attention: query has {of_query} heads, key {of_key}; with enable_gqa=True "
            "several heads of queries may share one of keys"
        )
    if enable_gqa and of_query % of_key:
        raise ValueError(
            f"taeda.nn.attention.flex_attention: the {of_query} heads of queries must be a multiple of the {of_key} of "
            "keys"
        )


def _check_batches(query: Tensor, key: Tensor, block_mask: Any) -> None:
    of_query, of_key = query.shape[0], key.shape[0]
    of_mask = None if block_mask is None else _block_mask(block_mask).kv_num_blocks.shape[0]
    if of_query == of_key or (of_key == 1 and of_mask == of_query):
        return
    error = RuntimeError if of_mask == of_query else ValueError
    raise error(
        "taeda.nn.attention.flex_attention: query and key must have one batch size, or the key 1 and the mask the "
        f"query's; got {of_query}, {of_key} and {of_mask}"
    )


def _block_mask(given: Any) -> BlockMask:
    if not isinstance(given, BlockMask):
        raise AttributeError(
            f"taeda.nn.attention.flex_attention: block_mask must be a BlockMask; got {type(given).__name__}. "
            "create_block_mask makes one"
        )
    return given


def _check_mask(query: Tensor, key: Tensor, block_mask: BlockMask) -> None:
    lengths = query.shape[-2], key.shape[-2]
    is_for_any = tuple(block_mask.BLOCK_SIZE) == (_LARGE_SPARSE_BLOCK_SIZE, _LARGE_SPARSE_BLOCK_SIZE)
    if not is_for_any and block_mask.shape[-2:] != lengths:
        raise ValueError(
            f"taeda.nn.attention.flex_attention: block_mask is for {block_mask.shape[-2:]} queries and keys; got "
            f"{lengths}"
        )
    if block_mask.kv_indices.device != query.device:
        raise RuntimeError(
            f"taeda.nn.attention.flex_attention: block_mask is on {block_mask.kv_indices.device}, query on "
            f"{query.device}"
        )
