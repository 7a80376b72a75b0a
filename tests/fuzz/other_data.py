"""Operands that are not plain dense tensors: quantised and sparse ones, and packed weights."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import taeda

QUANTISED = (taeda.qint8, taeda.quint8, taeda.qint32, taeda.quint4x2)


def quantised(rng: random.Random, t: Any) -> Any:
    """The numbers of ``t``, quantised with one scale, or by one of its dimensions."""
    dtype = rng.choice(QUANTISED)
    numbers = t.float() if not t.is_complex() else t.abs().float()
    if numbers.dim() and (dtype == taeda.quint4x2 or rng.random() < 0.3):
        axis = rng.randrange(numbers.dim())
        count = numbers.shape[axis]
        zeros = taeda.zeros(count, dtype=taeda.float32 if dtype == taeda.quint4x2 else taeda.int64)
        return taeda.quantize_per_channel(numbers, taeda.full((count,), 0.5), zeros, axis, dtype)
    return taeda.quantize_per_tensor(numbers, rng.choice((0.5, 1e-3, 0.0, float("nan"))), rng.choice((0, 3)), dtype)


SPARSE: tuple[Callable[[Any], Any], ...] = (
    lambda t: t.to_sparse(), lambda t: t.to_sparse(1), lambda t: t.to_sparse_csr(), lambda t: t.to_sparse_csc(),
    lambda t: t.to_sparse_bsr((1, 1)), lambda t: t.to_sparse_bsc((1, 1)),
    lambda t: taeda.sparse_coo_tensor(taeda.zeros(t.dim(), 3, dtype=taeda.int64), [1.0, 2.0, 3.0], t.shape),
    lambda t: taeda.sparse_coo_tensor(size=t.shape),
    # Indices that are wrong, which kernels must see.
    lambda t: taeda.sparse_coo_tensor(taeda.full((t.dim(), 2), 7), [1.0, 2.0], t.shape, check_invariants=False),
    lambda t: taeda.sparse_csr_tensor([0, 1, 9, 2], [0, 99], [1.0, 2.0], (3, 4), check_invariants=False),
    lambda t: taeda.sparse_csc_tensor([0, -1, 2], [0, 2**40], [1.0, 2.0], (3, 2), check_invariants=False),
)  # fmt: skip


def sparse(rng: random.Random, t: Any) -> Any:
    return rng.choice(SPARSE)(t)


def _cell() -> Any:
    ops = taeda.ops.quantized
    return ops.make_quantized_cell_params_dynamic(
        _linear(), _linear(), taeda.zeros(12), taeda.zeros(12), False
    )  # fmt: skip


def _linear() -> Any:
    weight = taeda.quantize_per_tensor(taeda.ones(12, 3), 0.02, 0, taeda.qint8)
    return taeda.ops.quantized.linear_prepack(weight, taeda.zeros(12))


def _filter(*sizes: int) -> Any:
    scales, zeros = taeda.full((sizes[0],), 0.1), taeda.zeros(sizes[0], dtype=taeda.int64)
    return taeda.quantize_per_channel(taeda.ones(sizes), scales, zeros, 0, taeda.qint8)


PACKED: dict[str, tuple[Callable[[], Any], ...]] = {
    "LinearPackedParamsBase": (
        _linear,
        lambda: taeda.ops.quantized.linear_prepack_fp16(taeda.ones(4, 3)),
    ),
    "Conv2dPackedParamsBase": (
        lambda: taeda.ops.quantized.conv2d_prepack(_filter(4, 3, 1, 2), None, [1, 1], [0, 1], [1, 1], 1),
        lambda: taeda.ops.quantized.conv1d_prepack(_filter(4, 3, 1), None, [1], [0], [1], 1),
        lambda: taeda.ops.quantized.conv_transpose2d_prepack(
            taeda.quantize_per_tensor(taeda.ones(3, 2, 2, 2), 0.1, 0, taeda.qint8), None, [2, 1], [0, 1], [1, 0],
            [1, 1], 1,
        ),
    ),
    "Conv3dPackedParamsBase": (
        lambda: taeda.ops.quantized.conv3d_prepack(_filter(2, 3, 1, 1, 1), None, [1] * 3, [0] * 3, [1] * 3, 1),
    ),
    "EmbeddingPackedParamsBase": (
        lambda: taeda.ops.quantized.embedding_bag_prepack(
            taeda.quantize_per_channel(taeda.ones(5, 4), taeda.ones(5), taeda.zeros(5), 0, taeda.quint4x2)
        ),
        lambda: taeda.ops.quantized.embedding_bag_prepack(
            taeda.quantize_per_channel(taeda.ones(5, 4), taeda.ones(5), taeda.zeros(5), 0, taeda.quint8)
        ),
    ),
    "CellParamsBase": (_cell,),
}  # fmt: skip
ATTRIBUTES = ("_weight", "_bias", "_packed", "_sums", "_zero_points", "_scales", "_stride", "_padding", "_groups",
              "_filter", "_dilation", "_output_padding", "_bytes", "_bit_rate", "_w_ih", "_kind")  # fmt: skip


def packed(rng: random.Random, name: str, junk: Callable[[random.Random], Any]) -> Any:
    """An object of the class of that name, one of whose attributes may be something else."""
    made = rng.choice(PACKED.get(name.rpartition(".")[2], (lambda: None,)))()
    if rng.random() < 0.3:
        try:
            setattr(made, rng.choice(ATTRIBUTES), junk(rng))
        except Exception:  # it has none of that name, or takes no such value
            pass
    return made
