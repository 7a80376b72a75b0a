"""Arguments that would lead a kernel outside its memory, or for ever on, and values at the edge of a dtype."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import taeda
from taeda import nan, tensor
from taeda.nn import functional as F

INF = float("inf")
ones, zeros, eye = taeda.ones, taeda.zeros, taeda.eye


def pivots(*numbers: int) -> taeda.Tensor:
    return tensor(numbers, dtype=taeda.int32)


REFUSED = {
    "taeda.index_add(zeros(2, 9), 0, tensor([0]), tensor(6.))": "as many dimensions",
    "taeda.index_add(zeros(9), 0, tensor([0]), tensor(6.))": "as many dimensions",
    "taeda.index_add(zeros(1, 1), 0, tensor([0]), tensor(6.))": "as many dimensions",
    "taeda.index_add(tensor(1.), 0, tensor([0]), tensor([6.]))": "as many dimensions",
    "taeda.index_reduce(zeros(2, 9), 0, tensor([0]), tensor(6.), 'prod')": "as many dimensions",
    "taeda.index_reduce(tensor(1.), 0, tensor([0]), tensor([[6.]]), 'amax')": "as many dimensions",
    "taeda.index_copy(zeros(2, 9), 0, tensor([0]), tensor(6.))": "as many dimensions",
    "taeda.index_copy(tensor(1.), 0, tensor([0]), tensor([[6.]]))": "as many dimensions",
    "taeda.index_copy(zeros(2, 9), 0, tensor([0]), ones(1, 8))": "along dimension 1",
    "tensor(8.).unflatten(0, [1])": "without dimensions",
    "tensor(8.).unflatten(-1, [1])": "without dimensions",
    "taeda.linalg.ldl_solve(eye(3), pivots(10**9, 0, -5), ones(3, 1))": "ldl_factor",
    "taeda.linalg.ldl_solve(eye(3), pivots(1, 0, 3), ones(3, 1))": "got 0 in place 1",
    "taeda.linalg.ldl_solve(eye(3), pivots(4, 2, 3), ones(3, 1))": "got 4 in place 0",
    "taeda.linalg.ldl_solve(eye(3), pivots(1, 2, -3), ones(3, 1))": "pairs",
    "taeda.linalg.ldl_solve(eye(3), pivots(-2, 2, 3), ones(3, 1))": "pairs",
    "taeda.linalg.ldl_solve(eye(3), pivots(-2, -2, -2), ones(3, 1))": "pairs",
    "taeda.linalg.ldl_solve(eye(3), pivots(1, 2), ones(3, 1))": "one for each row",
    "taeda.linalg.lu_solve(eye(3), pivots(1, 2), ones(3, 1))": "one for each row",
    "taeda.linalg.lu_solve(eye(3), pivots(), ones(3, 1))": "one for each row",
    "taeda.linalg.lu_solve(eye(3), tensor([1, 2, 3]), ones(3, 1))": "int32",
    "taeda.linalg.lu_solve(ones(3, 4), pivots(1, 2, 3), ones(3, 1))": "square",
    "taeda.lu_solve(ones(3, 1), eye(3), pivots(1, 2))": "one for each row",
    "taeda.lu_unpack(eye(3), pivots(1, 2))": "3 pivots",
    "taeda.linalg.lu_factor(zeros(2, 2))": "pivot is zero",
    "taeda.ops.aten._fft_c2c(zeros(1000, dtype=taeda.complex32), [0], 2, True)": "complex64 or complex128",
    "taeda.ops.aten._fft_c2c_backward(zeros(1000, dtype=taeda.complex32), [0], 2, True)": "complex64 or complex128",
    "taeda.ops.aten._fft_c2r(zeros(10, dtype=taeda.complex32), [0], 2, 18)": "complex64 or complex128",
    "taeda.trapz(ones(3), ones(2, 3))": "from 1 to 1 dimensions",
    "taeda.cumulative_trapezoid(ones(2, 3), ones(1, 2, 3))": "from 1 to 2 dimensions",
    "taeda.trapz(ones(2, 3), ones(2, 1))": "broadcast",
    "taeda.cumulative_trapezoid(ones(2, 3), dx=1j)": "real",
    "taeda.index_select(zeros(0, 3), 0, tensor([0]))": "outside dimension 0",
    "taeda.index_select(zeros(0, 3), 1, tensor([5]))": "outside dimension 1",
    "taeda.index_select(tensor(1.), 0, tensor([0, 0]))": "one element",
    "taeda.histogram(ones(3), 1, out=(zeros(0), zeros(0, dtype=taeda.double)))": "float64",
    "taeda.Tensor(device='meta')": "CPU",
    "taeda.Tensor(ones(2), device='cpu')": "leave device=",
    "F.adaptive_avg_pool2d(ones(1, 2, 3, 3, requires_grad=True), 0).sum().backward()": "no element",
    "F.adaptive_max_pool1d(ones(2, 3, requires_grad=True), 0).sum().backward()": "no element",
    "taeda.empty_like(eye(2).to_sparse(), memory_format=taeda.preserve_format)": "strided",
    "taeda.empty_like(eye(2).to_sparse_csr(), memory_format=taeda.preserve_format)": "strided",
    "taeda.cuda.FloatStorage(2)": "no CUDA",
    "taeda.cuda.ByteStorage.from_buffer()": "no CUDA",
    "taeda.mvlgamma(ones(5, 5), 2**31 - 1)": "bytes",
    "zeros(2, dtype=taeda.half).fill_(1e6)": "does not fit",
    "zeros(2, dtype=taeda.half).masked_fill_(tensor([True, False]), -1e6)": "does not fit",
    "zeros(2, dtype=taeda.half).index_fill_(0, tensor([1]), 1e6)": "does not fit",
    "zeros(2, dtype=taeda.half).scatter_(0, tensor([1]), 1e6)": "does not fit",
    "zeros(2, dtype=taeda.half).fill_(10**6)": "does not fit",
    "zeros(2, dtype=taeda.bfloat16).fill_(3.4e38)": "does not fit",
    "zeros(2, dtype=taeda.complex32).fill_(1e6)": "does not fit",
    "taeda.full((2,), 1e6, dtype=taeda.half)": "does not fit",
    "taeda.linspace(-3e38, 3e38, 5, dtype=taeda.float16)": "does not fit",
    "taeda.linspace(0, 300, 5, dtype=taeda.int8)": "does not fit",
    "taeda.logspace(0, 1e6, 5, dtype=taeda.float16)": "does not fit",
}


@pytest.mark.parametrize("code", REFUSED)
def test_refused(code: str) -> None:
    with pytest.raises(RuntimeError, match=re.escape(REFUSED[code])):
        eval(code)


@pytest.mark.parametrize("name", ["eq", "add", "clamp_min", "logical_and", "maximum", "pow"])
@pytest.mark.parametrize("shape", [(2,), (1, 2)])
def test_an_out_that_is_read_is_not_resized(name: str, shape: tuple[int, ...]) -> None:
    b = ones(shape)
    with pytest.raises(RuntimeError, match="a tensor that is read"):
        getattr(taeda, name)(ones(3, 2), b, out=b)
    assert getattr(taeda, name)(ones(shape), b, out=b) is b and b.shape == shape


@pytest.mark.parametrize(
    ("source", "target"), [(tensor(6.0), zeros(3)), (tensor(6.0), tensor(0.0)), (tensor([6.0]), tensor(0.0))]
)
def test_numbers_are_copied_as_vectors_of_one(source: taeda.Tensor, target: taeda.Tensor) -> None:
    assert taeda.index_copy(target, 0, tensor([0]), source).flatten()[0] == 6


def test_group_norm_backward_without_gradients() -> None:
    o = taeda.ones
    found = taeda.ops.aten.group_norm_backward(
        None, None, None, o(3, 4, 4), o(3, 4), o(3, 4), None, 4, 1e-5, [True, True, True]
    )
    assert found == (None, None, None)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("mode", ["replicate", "reflect"])
@pytest.mark.parametrize("pad", [[a, b] for a in range(-9, 5) for b in range(-9, 5)])
def test_paddings_that_cut_off_more_than_there_is(pad: list[int], mode: str, dtype: str) -> None:
    x = taeda.arange(5.0, dtype=getattr(taeda, dtype))
    places = range(-pad[0], 5 + pad[1])
    if not places:
        with pytest.raises(RuntimeError, match="leaves nothing"):
            F.pad(x[None, None], pad, mode=mode)
        return
    mirrored = [-i if i < 0 else 8 - i if i > 4 else i for i in places]
    wanted = [min(max(i, 0), 4) for i in places] if mode == "replicate" else mirrored
    for shape in ((1, 1, 5), (2, 3, 5)):
        assert (F.pad(x.expand(shape), pad, mode=mode) == tensor(wanted, dtype=x.dtype)).all()


def test_scans_of_nothing_end() -> None:
    names = ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "sort", "argsort", "softmax", "log_softmax")
    program = f"import taeda as t; x = t.empty(2**62, 0); [getattr(t, n)(x, d) for n in {names} for d in (0, 1)]"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


WIDTHS = {"uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64}


@pytest.mark.parametrize("dtype", WIDTHS)
def test_shifts_by_the_width_or_more_leave_the_sign(dtype: str) -> None:
    width, kind = WIDTHS[dtype], getattr(taeda, dtype)
    low, high = (0, 254) if dtype == "uint8" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
    x = tensor([high, low, 1, 0] * 10, dtype=kind)
    for by in (0, 1, width - 1, width, width + 1, 100, -1, -3):
        good = 0 <= by < width
        right = [n >> by if good else -(n < 0) for n in (high, low, 1, 0)]
        left = [n << by if good else 0 for n in (high, low, 1, 0)]
        left = [(n - low) % 2**width + low for n in left]
        amounts = tensor(by).to(kind) if dtype != "uint8" or by >= 0 else tensor(by % 256, dtype=kind)
        for shift in (by, amounts):
            assert (x >> shift).tolist() == right * 10, (by, "right")
            assert (x << shift).tolist() == left * 10, (by, "left")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
def test_moments_of_huge_numbers(dtype: str) -> None:
    huge = 1e308 if dtype == "float64" else 1e38
    x = taeda.full((3, 5), huge, dtype=getattr(taeda, dtype))
    for dim in (None, 0, 1):
        assert (x.var(dim) == 0).all() and (x.std(dim) == 0).all()
        var, mean = taeda.var_mean(x, dim)
        assert (var == 0).all() and (mean == x[0, 0]).all()
    assert tensor([INF, 1.0]).var().isnan() and tensor([nan, 1e38, 1e38, 1e38, 1e38]).var().isnan()


def test_the_norm_of_nothing_is_zero_for_a_nan_order() -> None:
    assert taeda.linalg.vector_norm(zeros(0), ord=nan) == 0
    assert taeda.linalg.vector_norm(zeros(0, 3), ord=nan, dim=0).tolist() == [0, 0, 0]
    assert taeda.linalg.vector_norm(ones(3), ord=nan).isnan()


def test_what_fits_a_half() -> None:
    x = zeros(1, dtype=taeda.half)
    assert x.fill_(65504).item() == 65504 and x.fill_(INF).item() == INF and x.fill_(nan).isnan()
    assert x.fill_(tensor(1e6)).item() == INF and x.fill_(1e6).item() == INF and x.fill_(10**6).item() == INF
    several = zeros(3, dtype=taeda.half)
    several[:2] = 1e6
    assert several.tolist() == [INF, INF, 0]
    assert zeros(1, dtype=taeda.bfloat16).fill_(3.38e38).isfinite()


def test_primitives_refuse_what_their_functions_never_give():
    aten = taeda.ops.aten
    with pytest.raises(IndexError, match="too many indices"):
        aten._index_at(taeda.tensor(False), [taeda.tensor(1)])
    with pytest.raises(RuntimeError, match="0 dimensions"):
        aten._fft_r2c_backward(taeda.tensor(1.0), [], [-1], 0, True)
