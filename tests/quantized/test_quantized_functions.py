"""Functions of the main namespace on quantised tensors, beside PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from quantized_twin import of_torch, quanta

import taeda

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "avg_pool2d": lambda t, q: t.nn.functional.avg_pool2d(q, 2, 2),
    "avg_pool2d padded": lambda t, q: t.nn.functional.avg_pool2d(q, 3, 2, 1),
    "avg_pool2d uncounted": lambda t, q: t.nn.functional.avg_pool2d(q, 2, 2, 1, count_include_pad=False),
    "avg_pool2d divided": lambda t, q: t.nn.functional.avg_pool2d(q, 3, divisor_override=4),
    "avg_pool3d": lambda t, q: t.nn.functional.avg_pool3d(q.unsqueeze(0), 2),
    "adaptive_avg_pool2d": lambda t, q: t.nn.functional.adaptive_avg_pool2d(q, (4, 3)),
    "adaptive_avg_pool3d": lambda t, q: t.nn.functional.adaptive_avg_pool3d(q, (2, 3, 2)),
    "interpolate": lambda t, q: t.nn.functional.interpolate(q, scale_factor=2, mode="bilinear"),
    "gelu": lambda t, q: t.nn.functional.gelu(q),
    "fill": lambda t, q: t.fill(q, 1),
    "select_scatter": lambda t, q: t.select_scatter(q, q[:, 1], 1, 0),
    "slice_scatter": lambda t, q: t.slice_scatter(q, q[:, :2], 1, 1),
    "diagonal_scatter": lambda t, q: t.diagonal_scatter(q, t.diagonal(q)),
    "unsafe_chunk": lambda t, q: t.unsafe_chunk(q, 2, 1)[1],
    "ones_like": lambda t, q: t.ones_like(q),
    "full_like": lambda t, q: t.full_like(q, -0.3),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("dtype", "zero_point"), [("quint8", 111), ("qint8", -3), ("qint32", 7)])
def test_as_pytorch_in_integers(name: str, dtype: str, zero_point: int) -> None:
    import torch

    torch.manual_seed(0)
    theirs = torch.quantize_per_tensor(torch.randn(2, 3, 12, 8) * 4, 0.07, zero_point, getattr(torch, dtype))
    ours = of_torch(theirs)
    most = 1 if name == "interpolate" else 0  # whose sums of fractions are rounded in another order
    assert quanta(CALLS[name](taeda, ours), CALLS[name](torch, theirs)) <= most


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_answers_do_not_fit_quantised_elements(name: str) -> None:
    q = taeda.quantize_per_tensor(taeda.randn(3, 4), 0.1, 10, taeda.quint8)
    before = q.int_repr()
    for write in (lambda: getattr(q, f"{name}_")(q.clone()), lambda: getattr(taeda, name)(q, q, out=q)):
        with pytest.raises(RuntimeError, match="bool"):
            write()
    assert taeda.equal(q.int_repr(), before)
    answer = taeda.empty(3, 4, dtype=taeda.bool)
    getattr(taeda, name)(q, q, out=answer)
    assert taeda.equal(answer, getattr(taeda, name)(q.dequantize(), q.dequantize()))


def test_likenesses_by_channel() -> None:
    q = taeda.quantize_per_channel(taeda.randn(2, 3), taeda.tensor([0.5, 0.25]), taeda.tensor([0, 3]), 0, taeda.qint8)
    assert taeda.ones_like(q).int_repr().tolist() == [[2] * 3, [7] * 3]
    assert taeda.full_like(q, 2).dequantize().tolist() == [[2] * 3] * 2
    assert taeda.fill(q, -1).dequantize().tolist() == [[-1] * 3] * 2
    assert taeda.ones_like(q, dtype=taeda.float32).tolist() == [[1] * 3] * 2
