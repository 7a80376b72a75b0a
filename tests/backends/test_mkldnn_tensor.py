"""Tensors in the layout that oneDNN chooses, and the names of convolutions' kernels."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda.nn import functional as F


def test_a_tensor_goes_there_and_back() -> None:
    dense = taeda.randn(2, 3)
    opaque = dense.to_mkldnn()
    assert opaque.is_mkldnn and opaque.layout == taeda._mkldnn and str(opaque.layout) == "torch._mkldnn"
    assert opaque.shape == (2, 3) and opaque.to_mkldnn() is opaque and "layout=torch._mkldnn" in repr(opaque)
    assert opaque.to_dense().equal(dense) and not opaque.to_dense().is_mkldnn
    assert opaque.to_dense(taeda.float64).dtype == taeda.float64
    for wrong in (dense.double(), taeda.ones(2, dtype=taeda.int64), dense.to("meta")):
        with pytest.raises(RuntimeError):
            wrong.to_mkldnn()
    with pytest.raises(RuntimeError, match="to_dense"):
        opaque.sort()


def test_gradients_pass_through() -> None:
    x = taeda.randn(2, 3, 5, 5, requires_grad=True)
    weight, bias = taeda.randn(4, 3, 3, 3, requires_grad=True), taeda.randn(4, requires_grad=True)
    made = F.relu(F.conv2d(x.to_mkldnn(), weight, bias))
    assert made.is_mkldnn
    made.to_dense().sum().backward()
    found = [t.grad for t in (x, weight, bias)]
    wanted = taeda.autograd.grad(F.relu(F.conv2d(x, weight, bias)).sum(), (x, weight, bias))
    for one, other in zip(found, wanted, strict=True):
        taeda.testing.assert_close(one, other)


@pytest.mark.parametrize(
    ("shape", "options", "name"),
    [
        ((2, 6, 7), {}, "Slow2d"),
        ((2, 6, 7, 8), {"dilation": 2}, "SlowDilated2d"),
        ((2, 6, 7, 8, 9), {}, "Slow3d"),
        ((2, 6, 7, 8), {"transposed": True}, "SlowTranspose2d"),
        ((0, 6, 7), {}, "Empty"),
    ],
)
def test_kernels_have_names(shape: tuple[int, ...], options: dict[str, Any], name: str) -> None:
    rank = len(shape) - 2
    arguments = [[1] * rank, [0] * rank, [options.get("dilation", 1)] * rank, options.get("transposed", False)]
    x, weight = taeda.randn(shape), taeda.randn(6, 6, *[3] * rank)
    with taeda.backends.mkldnn.flags(enabled=False):
        assert taeda._C._select_conv_backend(x, weight, None, *arguments, [0] * rank, 1).name == name
    found = taeda._C._select_conv_backend(x.to_mkldnn(), weight, None, *arguments, [0] * rank, 1)
    assert found.name.startswith("Mkldnn")
    with pytest.raises(RuntimeError):
        taeda._C._select_conv_backend(x[:, :5], weight, None, *arguments, [0] * rank, 1)
