"""Ops of the main namespace on quantised tensors: on the integers, or on the numbers that they stand for."""

from __future__ import annotations

from typing import Any

import pytest
from quantized_twin import of_torch, quanta

import taeda

F = "nn.functional."
# Name, further arguments.
CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("relu", ()), ("clamp", (-0.3, 0.7)), (F + "hardtanh", ()), (F + "leaky_relu", (0.1,)), ("threshold", (0.2, 0.5)),
    (F + "gelu", ()), ("sigmoid", ()), ("tanh", ()), (F + "hardsigmoid", ()), (F + "relu6", ()),
    (F + "max_pool2d", (2, 1)), (F + "avg_pool2d", (2, 1)), (F + "adaptive_avg_pool2d", (2,)),
    (F + "interpolate", ((7, 5),)), (F + "interpolate", ((7, 5), None, "bilinear")), ("mean", ()), ("mean", ((2, 3),)),
    ("max", ()), ("min", ()), ("sort", (2,)), ("topk", (2, 3)), ("flip", ((1,),)), ("index_select", (1, [2, 0])),
    ("eq", (0.1,)), ("gt", (0.1,)), ("std", (1,)), (F + "pad", ((1, 1),)), (F + "pad", ((1, 1, 1, 1), "reflect")),
    ("masked_fill", ("mask", 1.0)), ("stack", ()), ("cat", ()), ("channel_shuffle", (2,)), ("unsqueeze", (0,)),
    ("transpose", (1, 2)), ("ones_like", ()),
]  # fmt: skip


def call(space: Any, name: str, q: Any, args: tuple[Any, ...]) -> Any:
    for part in name.split("."):
        space = getattr(space, part)
    if name.endswith(("stack", "cat")):
        return space([q, q])
    tensor = lambda a: (q.dequantize() > 0) if a == "mask" else q.new_tensor(a) if isinstance(a, list) else a
    return space(q, *(taeda.tensor(a) if isinstance(a, list) and isinstance(q, taeda.Tensor) else
                      __import__("torch").tensor(a) if isinstance(a, list) else tensor(a) for a in args))  # fmt: skip


CASES = [(dtype, *call) for dtype in ("quint8", "qint8") for call in CALLS]
CASES.remove(("qint8", "channel_shuffle", (2,)))  # PyTorch shuffles unsigned integers only


@pytest.mark.torch
@pytest.mark.parametrize(("dtype", "name", "args"), CASES, ids=[f"{d}-{n.removeprefix(F)}{a}" for d, n, a in CASES])
def test_as_pytorch(dtype: str, name: str, args: tuple[Any, ...]) -> None:
    import torch

    torch.manual_seed(1)
    q = torch.quantize_per_tensor(torch.randn(2, 4, 5, 6), 0.05, 3, getattr(torch, dtype))
    wanted = call(torch, name, q, args)
    got = call(taeda, name, of_torch(q), args)
    for g, w in zip(*((r,) if hasattr(r, "shape") else r for r in (got, wanted)), strict=True):
        assert quanta(g, w) <= 1 if w.is_quantized else (of_torch(w) == g).all()


# Arguments of sums and products: another tensor with the result's scale and zero point, or a number.
OPERANDS = [("b", 1.5, 2), (3.0,), (-3.0,), (0.0,)]


@pytest.mark.torch
@pytest.mark.parametrize("args", OPERANDS, ids=str)
@pytest.mark.parametrize("name", ["add", "add_relu", "mul", "mul_relu"])
@pytest.mark.parametrize("dtype", ["quint8", "qint8", "qint32"])
def test_sums_and_products_as_pytorch(dtype: str, name: str, args: tuple[Any, ...]) -> None:
    import torch

    a, b = (torch.quantize_per_tensor(torch.arange(n, n + 40.0), s, 3, getattr(torch, dtype))
            for n, s in ((-20, 2.0), (0, 0.5)))  # fmt: skip
    wanted = getattr(torch.ops.quantized, name)(a, *(b if arg == "b" else arg for arg in args))
    got = getattr(taeda.ops.quantized, name)(of_torch(a), *(of_torch(b) if arg == "b" else arg for arg in args))
    assert quanta(got, wanted) == 0


def test_signed_channels_are_shuffled_too() -> None:
    q = taeda.quantize_per_tensor(taeda.randn(2, 4, 3), 0.05, 3, taeda.qint8)
    assert taeda.equal(taeda.channel_shuffle(q, 2).int_repr(), taeda.channel_shuffle(q.int_repr(), 2))


@pytest.mark.parametrize("name", ["relu", "sigmoid", "tanh"])
def test_a_function_of_one_element_is_that_of_its_number(name: str) -> None:
    for dtype in (taeda.quint8, taeda.qint8):
        q = taeda.quantize_per_tensor(taeda.randn(3, 50), 0.03, 5, dtype)
        got = getattr(taeda, name)(q)
        wanted = getattr(taeda, name)(q.dequantize())
        assert float((got.dequantize() - wanted).abs().max()) <= got.q_scale()


def test_in_place_and_out() -> None:
    q = taeda.quantize_per_tensor(taeda.tensor([-1.0, 2.0]), 0.1, 20, taeda.quint8)
    address = q.data_ptr()
    assert q.relu_() is q and q.dequantize().tolist() == pytest.approx([0, 2]) and q.data_ptr() == address
    out = taeda.empty(2, dtype=taeda.bool)
    assert taeda.gt(q, 1.0, out=out) is out and out.tolist() == [False, True]


@pytest.mark.parametrize("name", ["softmax", "exp", "neg", "matmul"])
def test_what_is_not_computed_says_what_is_missing(name: str) -> None:
    q = taeda.quantize_per_tensor(taeda.randn(2, 2), 0.1, 0, taeda.quint8)
    with pytest.raises(NotImplementedError, match="DeQuantStub"):
        getattr(taeda, name)(*([q, q] if name == "matmul" else [q, 0] if name == "softmax" else [q]))


def test_joining_takes_no_scales_by_channel() -> None:
    x = taeda.quantize_per_channel(taeda.ones(2, 2), taeda.ones(2), taeda.zeros(2), 0, taeda.qint32)
    with pytest.raises(RuntimeError):
        taeda.ops.quantized.cat([x, x], 0, 1.0, 0)


@pytest.mark.parametrize("number", [1e30, -1e30, float("nan"), float("inf"), 2**62, 1e9])
@pytest.mark.parametrize("name", ["add_scalar", "add_scalar_relu", "add"])
def test_numbers_of_too_many_steps_are_refused(name: str, number: float) -> None:
    q = taeda.quantize_per_tensor(taeda.ones(3), 0.1, 3, taeda.qint8)
    with pytest.raises(RuntimeError, match="as many steps of the scale 0.1 as an int32 holds"):
        getattr(taeda.ops.quantized, name)(q, number)
