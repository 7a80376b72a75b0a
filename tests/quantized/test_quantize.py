"""Quantising and back, and what a quantised tensor can be asked."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest
from quantized_twin import integers, of_torch, quanta

import taeda

DTYPES = {"qint8": (-128, 127), "quint8": (0, 255), "qint32": (-(2**31), 2**31 - 1)}


def reference(x: np.ndarray, scale: float, zero_point: int, dtype: str) -> np.ndarray:
    """Rounding to nearest, ties to even, after the zero point is added in one step with the product."""
    inverse = np.float32(1) / np.float32(scale)
    shifted = (x.astype(np.float64) * np.float64(inverse) + zero_point).astype(np.float32)
    return np.clip(np.rint(shifted).astype(np.float64), *DTYPES[dtype]).astype(np.int64)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 7, 16, 1000, 70000])
def test_values_and_ties_are_rounded_as_vector_instructions_do(dtype: str, size: int) -> None:
    rng = np.random.default_rng(size)
    for scale, zero_point in ((0.1, 3), (0.0731, 0), (1 / 128, 77)):
        ties = ((rng.integers(-300, 300, size) + 0.5) * scale).astype(np.float32)
        for x in (rng.normal(0, scale * 60, size).astype(np.float32), ties):
            q = taeda.quantize_per_tensor(taeda.tensor(x), scale, zero_point, getattr(taeda, dtype))
            np.testing.assert_array_equal(integers(q), reference(x, scale, zero_point, dtype))
            wanted = (integers(q).astype(np.int64) - zero_point).astype(np.float32) * np.float32(scale)
            np.testing.assert_array_equal(q.dequantize().numpy(), wanted)


def test_infinities_and_nan_become_the_ends_of_the_range() -> None:
    x = taeda.tensor([float("nan"), float("inf"), -float("inf"), 1e30, -1e30])
    assert taeda.quantize_per_tensor(x, 0.1, 2, taeda.quint8).int_repr().tolist() == [255, 255, 0, 255, 0]
    assert taeda.quantize_per_tensor(x, 0.1, 2, taeda.qint8).int_repr().tolist() == [127, 127, -128, 127, -128]


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("strided", [False, True])
def test_by_channel(axis: int, strided: bool) -> None:
    x = taeda.randn(3, 4, 5, 2)
    x = x.to(memory_format=taeda.channels_last) if strided else x
    scales, zeros = taeda.rand(x.shape[axis]) + 0.1, taeda.arange(x.shape[axis])
    q = taeda.quantize_per_channel(x, scales, zeros, axis, taeda.qint8)
    assert q.q_per_channel_axis() == axis and q.qscheme() is taeda.per_channel_affine
    for i in range(x.shape[axis]):
        alone = taeda.quantize_per_tensor(x.select(axis, i), scales[i], zeros[i], taeda.qint8)
        assert int((alone.int_repr().int() - q.int_repr().select(axis, i).int()).abs().max()) <= 1
        part = q.select(axis, i)
        assert part.q_scale() == pytest.approx(float(scales[i])) and part.q_zero_point() == i
        assert taeda.equal(part.dequantize(), q.dequantize().select(axis, i))


@pytest.mark.parametrize("view", [
    lambda t: t.transpose(0, 2), lambda t: t.permute(2, 0, 1), lambda t: t[1:, :, 1:4], lambda t: t.unsqueeze(1),
    lambda t: t[:, :, 1], lambda t: t[:, 1], lambda t: t.unbind(2)[3], lambda t: t.view(6, 4), lambda t: t[..., ::2],
    lambda t: t.reshape(3, 2, 4), lambda t: t.detach(), lambda t: t[:, :, :1],
])  # fmt: skip
@pytest.mark.parametrize("by_channel", [False, True])
def test_views_keep_what_makes_numbers_of_them(view: Any, by_channel: bool) -> None:
    x = taeda.randn(2, 3, 4)
    if by_channel:
        q = taeda.quantize_per_channel(x, taeda.rand(4) + 0.1, taeda.arange(4), 2, taeda.quint8)
    else:
        q = taeda.quantize_per_tensor(x, 0.1, 7, taeda.quint8)
    assert taeda.equal(view(q).dequantize(), view(q.dequantize()))
    assert view(q).untyped_storage().data_ptr() == q.untyped_storage().data_ptr()


def test_a_view_that_mixes_channels_is_refused() -> None:
    q = taeda.quantize_per_channel(taeda.randn(2, 3), taeda.ones(3), taeda.zeros(3).long(), 1, taeda.qint8)
    for refused in (
        lambda: q.as_strided((2, 2), (1, 1)),
        lambda: q.q_scale(),
        lambda: q.relu(),
        lambda: q.view(1, 3, 2)[0],
    ):
        with pytest.raises(RuntimeError):
            refused()


def test_a_shape_without_channels_shows_integers_only() -> None:
    """As in PyTorch; what would be other numbers is refused, and another shape brings them back."""
    q = taeda.quantize_per_channel(taeda.randn(2, 3), taeda.rand(3) + 0.1, taeda.arange(3), 1, taeda.qint8)
    flat = q.flatten()
    assert taeda.equal(flat.int_repr(), q.int_repr().flatten())
    for refused in (flat.dequantize, lambda: flat[1:], lambda: q.view(1, 3, 2), lambda: q.view(3, 2).dequantize()):
        with pytest.raises(RuntimeError):
            refused()
    assert taeda.equal(flat.view(2, 3).dequantize(), q.dequantize())
    weight = taeda.quantize_per_channel(taeda.randn(2, 3), taeda.ones(2), taeda.zeros(2).long(), 0, taeda.qint8)
    with pytest.raises(RuntimeError):
        taeda.ops.quantized.linear_prepack(weight.view(3, 2), None)


def test_dimensions_of_size_one_beside_channels() -> None:
    x = taeda.randn(2, 3)
    q = taeda.quantize_per_channel(x, taeda.rand(2) + 0.1, taeda.zeros(2).long(), 0, taeda.qint8)
    for view in (lambda t: t.unsqueeze(2), lambda t: t.unsqueeze(0), lambda t: t.view(1, 2, 3, 1), taeda.atleast_3d):
        assert taeda.equal(view(q).dequantize(), view(q.dequantize()))
    assert q[:1].qscheme() is taeda.per_tensor_affine and q.split(1)[1].q_zero_point() == 0
    assert taeda.equal(q.unsafe_split(1)[1].dequantize(), q.dequantize()[1:])


def some() -> list[taeda.Tensor]:
    x = taeda.randn(3, 4)
    return [
        taeda.quantize_per_tensor(x, 0.1, 3, taeda.quint8),
        taeda.quantize_per_tensor(x, 0.1, -3, taeda.qint8)[:, 1:],
        taeda.quantize_per_tensor(x, 1e-6, 0, taeda.qint32).t(),
        taeda.quantize_per_channel(x, taeda.rand(4) + 0.1, taeda.arange(4), 1, taeda.qint8),
        taeda.quantize_per_channel(x, taeda.rand(3) + 0.1, taeda.rand(3), 0, taeda.quint8),
        taeda.quantize_per_channel(x, taeda.rand(3) + 0.1, taeda.rand(3), 0, taeda.quint4x2),
        taeda.quantize_per_channel(x, taeda.rand(3) + 0.1, taeda.rand(3), 0, taeda.quint2x4),
    ]


def saved(value: Any) -> Any:
    file = io.BytesIO()
    taeda.save(value, file)
    file.seek(0)
    return taeda.load(file)


@pytest.mark.parametrize("through", [saved, copy.deepcopy, lambda q: pickle.loads(pickle.dumps(q)), taeda.clone])
def test_copies_are_the_same(through: Any) -> None:
    for q in some():
        again = through(q)
        assert again.dtype == q.dtype and again.qscheme() is q.qscheme() and again.shape == q.shape
        assert taeda.equal(again.dequantize(), q.dequantize()) and repr(again) == repr(q)
        assert again.untyped_storage().data_ptr() != q.untyped_storage().data_ptr()


def test_elements_of_less_than_a_byte_share_bytes() -> None:
    q = taeda.quantize_per_channel(taeda.arange(10.0).view(2, 5), taeda.ones(2), taeda.zeros(2), 0, taeda.quint4x2)
    assert q.int_repr().tolist() == [0x10, 0x32, 0x54, 0x76, 0x98] and q.shape == (2, 5)
    assert q.dequantize().tolist() == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_text_shows_scheme_and_numbers() -> None:
    q = taeda.quantize_per_tensor(taeda.tensor([1.0, -0.5]), 0.5, 1, taeda.quint8)
    assert repr(q) == (
        "tensor([ 1.0000, -0.5000], size=(2,), dtype=torch.quint8,\n"
        "       quantization_scheme=torch.per_tensor_affine, scale=0.5, zero_point=1)"
    )


def test_writes() -> None:
    q = taeda.quantize_per_tensor(taeda.zeros(4), 0.5, 1, taeda.quint8)
    q[1] = 2.1
    q[2:].fill_(1.0)
    assert q.int_repr().tolist() == [1, 5, 3, 3]
    q.copy_(taeda.quantize_per_tensor(taeda.ones(4), 0.25, 0, taeda.quint8))
    assert q.q_scale() == 0.25 and q.dequantize().tolist() == [1, 1, 1, 1]
    assert q[0].item() == 1.0 and bool(q[0])
    with pytest.raises(RuntimeError):
        taeda.zeros(4).copy_(q)


def test_lists_and_tensors_of_parameters() -> None:
    x = [taeda.randn(3), taeda.randn(2)]
    q = taeda.quantize_per_tensor(x, taeda.tensor([0.1, 0.2]), taeda.tensor([0, 5]), taeda.quint8)
    assert [t.q_scale() for t in q] == pytest.approx([0.1, 0.2]) and q[1].q_zero_point() == 5
    assert taeda.equal(taeda.dequantize(q)[1], q[1].dequantize())
    assert taeda.quantize_per_tensor(x[0], taeda.tensor(0.1), taeda.tensor(3), taeda.qint8).q_zero_point() == 3
    with pytest.raises(RuntimeError, match="on the CPU"):
        taeda.quantize_per_tensor(x, taeda.ones(2, device="meta"), taeda.tensor([0, 5]), taeda.quint8)


@pytest.mark.parametrize(("make", "error"), [
    (lambda: taeda.quantize_per_tensor(taeda.zeros(2).double(), 1.0, 0, taeda.qint8), RuntimeError),
    (lambda: taeda.quantize_per_tensor(taeda.zeros(2), 1.0, 300, taeda.quint8), RuntimeError),
    (lambda: taeda.quantize_per_tensor(taeda.zeros(2), 1.0, 0, taeda.int8), RuntimeError),
    (lambda: taeda.empty(2, dtype=taeda.qint8), RuntimeError),
    (lambda: taeda.quantize_per_tensor(taeda.zeros(2), 1.0, 0, taeda.qint8).float(), RuntimeError),
    (lambda: taeda.zeros(2).q_scale(), NotImplementedError),
    (lambda: taeda.zeros(2).int_repr(), NotImplementedError),
    (lambda: taeda.quantize_per_tensor(taeda.zeros(2), 1.0, 0, taeda.qint8) + taeda.ones(2), NotImplementedError),
    (lambda: taeda.quantize_per_tensor(taeda.zeros(2), 1.0, 0, taeda.qint8).requires_grad_(), RuntimeError),
    (lambda: taeda.quantize_per_channel(taeda.ones(2, 3), taeda.ones(2), taeda.ones(2), 1, taeda.qint8), RuntimeError),
])  # fmt: skip
def test_what_cannot_be_is_refused(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


@pytest.mark.torch
@pytest.mark.parametrize("seed", range(20))
def test_as_pytorch(seed: int) -> None:
    import torch

    torch.manual_seed(seed)
    x = torch.randn(6, 1 + 37 * seed % 200)
    for dtype in (torch.quint8, torch.qint8):
        for wide in (False, True):
            wanted = torch.quantize_per_tensor_dynamic(x, dtype, wide)
            assert quanta(taeda.quantize_per_tensor_dynamic(of_torch(x), of_torch(dtype), wide), wanted) == 0
    scales, zeros = torch.rand(6) / 20 + 0.01, torch.randint(-20, 20, (6,))
    for args in ((x, scales, zeros, 0, torch.qint8), (x, scales, zeros.float() / 3, 0, torch.quint8)):
        assert quanta(taeda.quantize_per_channel(*map(of_torch, args)), torch.quantize_per_channel(*args)) == 0
    four = torch.quantize_per_channel(x, scales, zeros.float(), 0, torch.quint4x2)
    got = taeda.quantize_per_channel(of_torch(x), of_torch(scales), of_torch(zeros.float()), 0, taeda.quint4x2)
    np.testing.assert_array_equal(got.int_repr().numpy(), four.int_repr().numpy())
    np.testing.assert_array_equal(got.dequantize().numpy(), four.dequantize().numpy())


@pytest.mark.torch
def test_files_go_both_ways() -> None:
    import torch

    for q in some():
        file = io.BytesIO()
        taeda.save({"q": q}, file)
        file.seek(0)
        theirs = torch.load(file)["q"]
        np.testing.assert_array_equal(theirs.dequantize().numpy(), q.dequantize().numpy())
        back = io.BytesIO()
        torch.save(theirs, back)
        back.seek(0)
        assert repr(taeda.load(back)) == repr(q) == repr(theirs)


@pytest.mark.parametrize("dtype", [taeda.quint4x2, taeda.quint2x4])
def test_zero_points_of_packed_elements_are_bytes(dtype):
    assert taeda.quantize_per_tensor(taeda.ones(5), 0.1, 200, dtype).q_zero_point() == 200
    with pytest.raises(RuntimeError, match="zero point"):
        taeda.quantize_per_tensor(taeda.ones(5), 0.1, 256, dtype)
