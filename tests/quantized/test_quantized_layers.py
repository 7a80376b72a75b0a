"""``taeda.ops.quantized``: products and convolutions over packed weights."""

from __future__ import annotations

import copy
import io
import itertools
from typing import Any

import numpy as np
import pytest
from quantized_twin import activations, integers, of_torch, quanta, sums_exactly

import taeda

q = taeda.ops.quantized


def rounded(sums: np.ndarray, factor: np.ndarray, zero: int) -> np.ndarray:
    return np.clip(np.rint(sums.astype(np.float32) * factor.astype(np.float32)) + zero, 0, 255)


@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (3, 70, 5), (129, 33, 64), (300, 64, 17), (0, 3, 2)])
@pytest.mark.parametrize("weight_zero", [0, 5])
def test_linear_sums_are_exact(m: int, k: int, n: int, weight_zero: int) -> None:
    rng = np.random.default_rng(k)
    x, w = rng.integers(0, 256, (m, k)).astype(np.uint8), rng.integers(-128, 128, (n, k)).astype(np.int8)
    qx = taeda._make_per_tensor_quantized_tensor(taeda.tensor(x), 0.5, 117)
    qw = taeda._make_per_tensor_quantized_tensor(taeda.tensor(w), 0.25, weight_zero)
    packed = q.linear_prepack(qw, None)
    sums = (x.astype(np.int64) - 117) @ (w.astype(np.int64) - weight_zero).T
    wanted = rounded(sums, np.float32(0.5) * np.float32(0.25) / np.float32(40.0), 100)
    np.testing.assert_array_equal(integers(q.linear(qx, packed, 40.0, 100)), wanted)
    np.testing.assert_array_equal(integers(q.linear_relu(qx, packed, 40.0, 100)), np.maximum(wanted, 100))


def test_results_do_not_depend_on_threads() -> None:
    x = taeda.quantize_per_tensor(taeda.randn(300, 64), 0.05, 100, taeda.quint8)
    w = q.linear_prepack(taeda.quantize_per_tensor(taeda.randn(40, 64), 0.02, 0, taeda.qint8), taeda.randn(40))
    image = taeda.quantize_per_tensor(taeda.randn(3, 8, 9, 9), 0.05, 100, taeda.quint8)
    filter = taeda.quantize_per_tensor(taeda.randn(16, 8, 3, 3), 0.02, 0, taeda.qint8)
    c = q.conv2d_prepack(filter, None, [1, 1], [1, 1], [1, 1], 1)
    results = []
    for threads in (1, 2, 3):
        taeda.set_num_threads(threads)
        results.append((q.linear(x, w, 0.3, 9).int_repr(), q.conv2d(image, c, 0.3, 9).int_repr(),
                        q.linear_dynamic(x.dequantize(), w)))  # fmt: skip
    for other in results[1:]:
        assert all(taeda.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_packed_weights_show_their_parts_and_are_copied() -> None:
    w, b = taeda.quantize_per_tensor(taeda.randn(3, 4), 0.1, 0, taeda.qint8), taeda.randn(3)
    filter = taeda.quantize_per_tensor(taeda.randn(4, 2, 3, 3), 0.1, 0, taeda.qint8)
    conv = q.conv2d_prepack(filter, b.new_ones(4), [2, 1], [1, 0], [1, 1], 1)
    assert list(conv.stride()) == [2, 1] == list(q.conv2d_stride(conv)) and conv.groups() == 1
    for packed, weight in ((q.linear_prepack(w, b), w), (conv, filter)):
        assert isinstance(packed, taeda.ScriptObject)
        file = io.BytesIO()
        taeda.save(packed, file)
        file.seek(0)
        for again in (copy.deepcopy(packed), taeda.load(file, weights_only=False)):
            assert taeda.equal(again.unpack()[0].int_repr(), weight.int_repr()) and again.unpack()[1] is not None


@pytest.mark.parametrize("call", [
    lambda w: q.linear(taeda.randn(2, 4), w, 1.0, 0),
    lambda w: q.linear_dynamic(taeda.quantize_per_tensor(taeda.randn(2, 4), 0.1, 0, taeda.quint8), w),
])  # fmt: skip
def test_a_missing_stub_is_named(call: Any) -> None:
    packed = q.linear_prepack(taeda.quantize_per_tensor(taeda.randn(3, 4), 0.1, 0, taeda.qint8), None)
    with pytest.raises(NotImplementedError, match="QuantStub"):
        call(packed)


def test_mistakes_are_refused() -> None:
    packed = q.linear_prepack(taeda.quantize_per_tensor(taeda.randn(3, 4), 0.1, 0, taeda.qint8), None)
    x = taeda.quantize_per_tensor(taeda.randn(2, 5), 0.1, 0, taeda.quint8)
    for wrong in (lambda: q.linear(x, packed, 1.0, 0), lambda: q.linear_prepack(taeda.randn(3, 4), None),
                  lambda: q.conv2d_prepack(x, None, [1, 1], [0, 0], [1, 1], 1)):  # fmt: skip
        with pytest.raises(RuntimeError):
            wrong()


@pytest.mark.torch
@pytest.mark.parametrize(("m", "k", "n"), [(1, 8, 4), (5, 33, 17), (64, 64, 64), (130, 100, 70)])
@pytest.mark.parametrize("by_channel", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_linear_as_pytorch(m: int, k: int, n: int, by_channel: bool, with_bias: bool) -> None:
    import torch

    torch.manual_seed(m)
    theirs = torch.ops.quantized
    x = activations(2, m, k)
    w, b = torch.randn(n, k), torch.randn(n) if with_bias else None
    if by_channel:
        w = torch.quantize_per_channel(w, torch.rand(n) / 50 + 0.01, torch.zeros(n).long(), 0, torch.qint8)
    else:
        w = torch.quantize_per_tensor(w, 0.02, 3, torch.qint8)
    packed, wanted = q.linear_prepack(of_torch(w), of_torch(b)), theirs.linear_prepack(w, b)
    for name in ("linear", "linear_relu"):
        assert quanta(getattr(q, name)(of_torch(x), packed, 0.2, 100), getattr(theirs, name)(x, wanted, 0.2, 100)) == 0
    bits = (False, True) if sums_exactly() else (True,)
    for name, reduce in itertools.product(("linear_dynamic", "linear_relu_dynamic"), bits):
        floats = torch.randn(m, k)
        quanta(getattr(q, name)(of_torch(floats), packed, reduce), getattr(theirs, name)(floats, wanted, reduce))


@pytest.mark.torch
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_as_pytorch(rank: int, transpose: bool, groups: int) -> None:
    import torch

    torch.manual_seed(rank)
    theirs = torch.ops.quantized
    for stride, padding, dilation, by_channel in itertools.product((1, 2), (0, 1), (1, 2), (False, True)):
        if transpose and by_channel:
            continue
        x = activations(2, 4, *(9, 8, 7)[:rank])
        w = torch.randn(*((4, 6 // groups) if transpose else (6, 4 // groups)), *(3, 3, 2)[:rank])
        if by_channel:
            w = torch.quantize_per_channel(w, torch.rand(6) / 50 + 0.01, torch.zeros(6).long(), 0, torch.qint8)
        else:
            w = torch.quantize_per_tensor(w, 0.02, 0, torch.qint8)
        each = lambda n: [n] * rank
        more = [each(stride - 1)] if transpose else []
        args = (torch.randn(6), each(stride), each(padding), *more, each(dilation), groups)
        name = f"conv{'_transpose' if transpose else ''}{rank}d"
        wanted = getattr(theirs, f"{name}_prepack")(w, *args)
        packed = getattr(q, f"{name}_prepack")(of_torch(w), *map(of_torch, args))
        for form in (name,) if transpose else (name, f"{name}_relu"):
            got = getattr(q, form)(of_torch(x), packed, 0.1, 100)
            assert quanta(got, getattr(theirs, form)(x, wanted, 0.1, 100)) == 0
        assert quanta(getattr(q, f"{name}_unpack")(packed)[0], w) == 0


@pytest.mark.torch
def test_files_with_packed_weights_go_both_ways() -> None:
    import torch

    w = torch.quantize_per_tensor(torch.randn(4, 3), 0.1, 0, torch.qint8)
    f = torch.quantize_per_tensor(torch.randn(3, 4, 3, 3), 0.1, 0, torch.qint8)
    theirs = torch.ops.quantized
    args = ([2, 2], [1, 1], [1, 1], [1, 1], 1)
    file = io.BytesIO()
    torch.save([theirs.linear_prepack(w, torch.randn(4)), theirs.conv_transpose2d_prepack(f, None, *args)], file)
    file.seek(0)
    linear, conv = taeda.load(file, weights_only=False)
    assert quanta(linear.unpack()[0], w) == 0 == quanta(conv.unpack()[0], f) and list(conv.stride()) == [2, 2]
    back = io.BytesIO()
    taeda.save([linear, conv], back)
    back.seek(0)
    linear, conv = torch.load(back, weights_only=False)
    assert torch.equal(linear.unpack()[0].int_repr(), w.int_repr())
    assert torch.equal(conv.unpack()[0].int_repr(), f.int_repr()) and conv.output_padding() == [1, 1]


def test_the_module_that_lacks_a_stub_is_named() -> None:
    class Block(taeda.nn.Module):
        def forward(self, x: Any) -> Any:
            return q.linear(x, packed, 1.0, 0)

    packed = q.linear_prepack(taeda.quantize_per_tensor(taeda.randn(4, 4), 0.1, 0, taeda.qint8), None)
    with pytest.raises(NotImplementedError, match="'1', a Block"):
        taeda.nn.Sequential(taeda.nn.ReLU(), Block())(taeda.randn(2, 4))
    with pytest.raises(NotImplementedError, match="'0', a Softmax"):
        taeda.nn.Sequential(taeda.nn.Softmax(1))(taeda.quantize_per_tensor(taeda.randn(2, 4), 0.1, 0, taeda.quint8))
