"""Products of 8-bit integers: exact sums, and the same results by every kernel and with any number of threads."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import taeda
from taeda.nn import functional as F

LINEARS = [(1, 5, 3), (7, 64, 64), (13, 33, 70), (100, 130, 17), (3, 256, 200), (5, 0, 4), (0, 8, 4)]
# Images, channels, sizes, filters, kernel, stride, padding, dilation, groups.
CONVS = [
    (2, 3, (9, 8), 5, (3, 3), 1, 1, 1, 1), (1, 64, (7, 7), 70, (1, 1), 1, 0, 1, 1), (2, 8, (12,), 4, (5,), 2, 2, 1, 1),
    (1, 4, (9, 9), 6, (3, 2), 1, 2, 3, 1), (2, 70, (6, 5), 70, (3, 3), 2, 1, 1, 70),
    (1, 3, (5, 4, 6), 4, (2, 2, 3), 1, 1, 1, 1), (1, 12, (5, 5), 6, (3, 3), 1, 1, 1, 3),
    (1, 6, (5, 5), 12, (3, 3), 1, 0, 1, 6), (1, 130, (8, 8), 130, (5, 5), 1, 4, 2, 130),
    (1, 256, (28, 28), 1024, (1, 1), 1, 0, 1, 2), (2, 38, (7, 9), 38, (3, 3), 1, 1, 1, 38),
    (1, 20, (30,), 20, (9,), 1, 4, 1, 20), (2, 40, (9, 8), 24, (1, 1), 2, 0, 1, 1),
    (1, 8, (7, 7), 8, (1, 1), 3, 1, 1, 2), (1, 8, (7, 6), 8, (1, 1), 2, 0, 1, 2), (2, 6, (7, 6), 6, (1, 1), 3, 0, 1, 6),
]  # fmt: skip


def _integers(low: int, high: int, *sizes: int) -> taeda.Tensor:
    return taeda.randint(low, high, sizes)


@pytest.mark.parametrize(("low", "high"), [(0, 256), (0, 130), (0, 129), (-128, 128)])
@pytest.mark.parametrize("shape", LINEARS)
def test_sums_of_a_product_are_exact(shape: tuple[int, int, int], low: int, high: int) -> None:
    m, k, n = shape
    taeda.manual_seed(0)
    x, w = _integers(low, high, m, k), _integers(-128, 128, n, k)
    x[:, 1:4], w[:, 1:4] = high - 1, -128  # where sums of 16 bits would end
    weight, ones = w.to(taeda.int8), taeda.ones(n)
    packed = taeda.ops.quantized._pack_matrix(weight)
    args = (
        x.to(taeda.int8 if low else taeda.uint8),
        weight,
        packed,
        0,
        w.sum(1, dtype=taeda.int32),
        None,
        ones,
        None,
    )
    assert taeda.equal(taeda.ops.quantized._matmul(*args, taeda.int32, 0, False).long(), x @ w.T)


def _layers() -> list[taeda.Tensor]:
    """Results of all kinds of layers on quantised tensors."""
    ops, found = taeda.ops.quantized, []
    for dtype, zero in ((taeda.quint8, 3), (taeda.quint8, 120), (taeda.qint8, 3)):  # the first are small
        for m, k, n in LINEARS:
            x = taeda.quantize_per_tensor(taeda.randn(m, k), 0.05, zero, dtype)
            for weight in _weights(n, k):
                packed = ops.linear_prepack(weight, taeda.randn(n))
                found += [ops.linear(x, packed, 0.2, 7).int_repr(), ops.linear_relu(x, packed, 0.2, 7).int_repr()]
                found.append(ops.linear_dynamic(x.dequantize(), packed))
        for images, c, sizes, filters, kernel, stride, padding, dilation, groups in CONVS:
            rank = len(sizes)
            x = taeda.quantize_per_tensor(taeda.randn(images, c, *sizes), 0.05, zero, dtype)
            for weight in _weights(filters, c // groups, *kernel):
                packed = getattr(ops, f"conv{rank}d_prepack")(
                    weight, taeda.randn(filters), [stride] * rank, [padding] * rank, [dilation] * rank, groups
                )
                found.append(getattr(ops, f"conv{rank}d_relu")(x, packed, 0.2, 7).int_repr())
                found.append(getattr(ops, f"conv{rank}d")(x, packed, 0.2, 7).int_repr())
                found.append(getattr(ops, f"conv{rank}d_dynamic")(x.dequantize(), packed))
    return found


def _weights(n: int, *rest: int) -> list[taeda.Tensor]:
    whole = taeda.quantize_per_tensor(taeda.randn(n, *rest), 0.02, 0, taeda.qint8)
    zeros = taeda.arange(n) % 5 - 2
    return [whole, taeda.quantize_per_channel(taeda.randn(n, *rest), taeda.rand(n) + 0.01, zeros, 0, taeda.qint8)]


def _digest() -> str:
    taeda.manual_seed(1)
    total = hashlib.sha256()
    for t in _layers():
        total.update(t.contiguous().numpy().tobytes())
    return total.hexdigest()


def test_every_kernel_and_any_number_of_threads_give_the_same_results() -> None:
    here, threads = _digest(), taeda.get_num_threads()
    try:
        taeda.set_num_threads(3)
        assert _digest() == here
    finally:
        taeda.set_num_threads(threads)
    folder = Path(__file__).parents[2]
    for capability in ("avx2", "default"):
        environment = os.environ | {"TAEDA_CPU_CAPABILITY": capability}
        run = subprocess.run([sys.executable, __file__], env=environment, cwd=folder, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert run.stdout.strip() == here, capability


@pytest.mark.parametrize("zero", [3, 120])
@pytest.mark.parametrize("case", CONVS)
def test_a_convolution_is_that_of_the_numbers(case: Any, zero: int) -> None:
    """To one step of the result, as floats are added in another order."""
    images, c, sizes, filters, kernel, stride, padding, dilation, groups = case
    rank, ops = len(sizes), taeda.ops.quantized
    taeda.manual_seed(2)
    x = taeda.quantize_per_tensor(taeda.randn(images, c, *sizes), 0.05, zero, taeda.quint8)
    for weight in _weights(filters, c // groups, *kernel):
        bias = taeda.randn(filters)
        packed = getattr(ops, f"conv{rank}d_prepack")(
            weight, bias, [stride] * rank, [padding] * rank, [dilation] * rank, groups
        )
        y = getattr(ops, f"conv{rank}d")(x, packed, 0.5, 128)
        floats = getattr(F, f"conv{rank}d")(
            x.dequantize().double(), weight.dequantize().double(), bias.double(), stride, padding, dilation, groups
        )
        wanted = taeda.quantize_per_tensor(floats.float(), 0.5, 128, taeda.quint8)
        assert (y.int_repr().int() - wanted.int_repr().int()).abs().max() <= 1


if __name__ == "__main__":
    print(_digest())
