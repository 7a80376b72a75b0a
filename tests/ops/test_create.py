"""Tensors made of sizes and numbers, copies and conversions, beside PyTorch's."""

import math

import pytest
from twin import check

import taeda
from taeda.autograd import gradcheck, gradgradcheck

inf, nan = math.inf, math.nan
CREATED = [
    lambda T: T.zeros(2, 3),
    lambda T: T.zeros((2, 3), dtype=T.int8),
    lambda T: T.zeros(-1),
    lambda T: T.ones(2, dtype=T.bool),
    lambda T: T.ones((), dtype=T.complex64),
    lambda T: T.zeros(2, out=T.empty(0)),
    *(
        lambda T, layout=layout: T.zeros(2, layout=getattr(T, layout), out=T.empty(2))
        for layout in ("strided", "sparse_coo")
    ),
    lambda T: T.linspace(0, 1, 3, layout=T.sparse_coo, out=T.empty(3)),
    lambda T: T.full((2,), 3),
    lambda T: T.full((2,), True),
    lambda T: T.full((2,), 1.5),
    lambda T: T.full((2,), 1j),
    lambda T: T.full((2,), 2**63),
    lambda T: T.full((2,), 300, dtype=T.uint8),
    lambda T: T.full((2,), -1, dtype=T.uint8),
    lambda T: T.full((2,), 7, out=T.empty(2)),
    lambda T: T.scalar_tensor(3),
    lambda T: T.scalar_tensor(1j),
    lambda T: T.empty(2, 3, 4, 5, memory_format=T.channels_last).stride(),
    lambda T: T.empty(2, memory_format=T.channels_last),
    lambda T: T.empty_strided((2, 3), (1, 2)).stride(),
    lambda T: T.empty_strided((2,), (-1,)),
    lambda T: T.empty_permuted((2, 3, 4), (0, 2, 1)).stride(),
    lambda T: T.empty_like(T.ones(2, 3).t()).stride(),
    lambda T: T.empty_like(T.ones(2, 3)[:, ::2]).stride(),
    lambda T: T.empty_like(T.ones(1, 3).expand(2, 3)).stride(),
    lambda T: T.empty_like(T.ones(2, 6, 4)[:, ::2].permute(1, 0, 2)).stride(),
    lambda T: T.zeros_like(T.ones(2, 3).t()),
    lambda T: T.ones_like(T.ones(2), dtype=T.int64),
    lambda T: T.full_like(T.ones(2, dtype=T.int32), 2.7),
    lambda T: T.full_like(T.ones(2), 2, device="meta").shape,
    lambda T: T.ones(2, dtype=T.float64).new_zeros(3),
    lambda T: T.ones(2, dtype=T.float64).new_zeros(3, 2, dtype=T.int8),
    lambda T: T.ones(2).new_ones((2, 2)),
    lambda T: T.ones(2, dtype=T.int16).new_full((2,), 3.9),
    lambda T: T.ones(2).new_empty((2, 3)).shape,
    lambda T: T.ones(2).new_empty_strided((2, 3), (1, 2)).stride(),
]

RANGES = [
    lambda T: T.arange(5),
    lambda T: T.arange(70001) * 1,
    lambda T: T.arange(70001, -3, -2, dtype=T.float64),
    lambda T: T.arange(0, 7, 1e-4),
    lambda T: T.arange(-120, 120, dtype=T.int8),
    lambda T: T.arange(2.5),
    lambda T: T.arange(1, 5),
    lambda T: T.arange(5, 0, -2),
    lambda T: T.arange(0, 1, 0.1),
    lambda T: T.arange(0.5, 3, dtype=T.int64),
    lambda T: T.arange(0.5, 3, dtype=T.int32),
    lambda T: T.arange(5, 0),
    lambda T: T.arange(0, 5, 0),
    lambda T: T.arange(0, inf),
    lambda T: T.arange(0, nan),
    lambda T: T.arange(True),
    lambda T: T.arange(3, dtype=T.bool),
    lambda T: T.arange(3, dtype=T.complex64),
    lambda T: T.arange(300, dtype=T.uint8),
    lambda T: T.arange(2.5, dtype=T.half),
    lambda T: T.arange(2**62, 2**62 + 3),
    lambda T: T.arange(1000, dtype=T.float32) * 1,
    lambda T: T.arange(0, 3, out=T.empty(0)),
    lambda T: T.arange(start=1, end=7, step=3),
    lambda T: T.range(0, 3),
    lambda T: T.range(0, 3.5),
    lambda T: T.range(3, 0),
    lambda T: T.range(5, 0, -1, dtype=T.int32),
    lambda T: T.linspace(0, 1, 11),
    lambda T: T.linspace(-3, 7, 1000, dtype=T.float64),
    lambda T: T.linspace(-3, 7, 70001),
    lambda T: T.linspace(-3, 7, 70001, dtype=T.float64),
    lambda T: T.linspace(-3, 700, 70001, dtype=T.int16),
    lambda T: T.linspace(-3, 7, 1001, dtype=T.half),
    lambda T: T.linspace(0, 1, 0),
    lambda T: T.linspace(3, 1, 1),
    lambda T: T.linspace(0, 1, -1),
    lambda T: T.linspace(0, 10, 5, dtype=T.int32),
    lambda T: T.linspace(0, 2.5, 6, dtype=T.int32),
    lambda T: T.linspace(-7.3, 10, 6, dtype=T.int64),
    lambda T: T.linspace(1j, 2, 3),
    lambda T: T.linspace(1j, 2, 3, dtype=T.float32),
    lambda T: T.linspace(0, 1, 3, dtype=T.bool),
    lambda T: T.linspace(T.tensor(1), T.tensor(5.0), 3),
    lambda T: T.linspace(T.tensor(1.0), 2, 3),
    lambda T: T.linspace(1, T.tensor([2.0]), 3),
    lambda T: T.linspace(T.tensor(1.0, requires_grad=True), T.tensor(5.0, requires_grad=True), 3).requires_grad,
    lambda T: T.logspace(1, T.tensor(5.0, requires_grad=True), 3).requires_grad,
    lambda T: T.logspace(0, 2, 5),
    lambda T: T.logspace(0, 2, 3, base=2, dtype=T.int32),
    lambda T: T.logspace(1j, 2, 3),
    lambda T: T.logspace(0, 2, -3),
    lambda T: T.eye(3),
    lambda T: T.eye(2, 3, dtype=T.bool),
    lambda T: T.eye(-1),
    lambda T: T.tril(T.arange(12).reshape(3, 4)),
    lambda T: T.triu(T.arange(12).reshape(3, 4), 1),
    lambda T: T.tril(T.arange(24.0).reshape(2, 3, 4).transpose(1, 2), -1),
    lambda T: T.arange(12).reshape(3, 4).triu_(-1),
    lambda T: T.triu(T.arange(12).reshape(3, 4), 9),
    lambda T: T.triu(T.arange(12).reshape(3, 4), -9),
    lambda T: T.tril(T.ones(3)),
    lambda T: T.tril(T.ones(0, 3)),
    lambda T: T.tril_indices(3, 4, -1).clone(),
    lambda T: T.triu_indices(3, 4, 1).clone(),
    lambda T: T.tril_indices(2, 2, dtype=T.int32).dtype,
    lambda T: T.tril_indices(2, 2, dtype=T.float32),
    lambda T: T.tril_indices(-1, 2),
]

WINDOWS = [
    *(
        lambda T, name=name, n=n: getattr(T, name)(n)
        for name in ("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window")
        for n in (0, 1, 7, -1)
    ),
    lambda T: T.hann_window(5, False, dtype=T.float64),
    lambda T: T.hamming_window(5, True, 0.6),
    lambda T: T.hamming_window(5, False, 0.6, 0.3),
    lambda T: T.kaiser_window(6, False, 5.0),
    lambda T: T.hann_window(5, dtype=T.int32),
]


def x(T):
    return T.arange(6.0).reshape(2, 3) - 2


COPIES = [
    lambda T: T.zeros(2, 3).copy_(x(T)),
    lambda T: T.zeros(3, 2).copy_(x(T).t()),
    lambda T: T.zeros(3, 2).t().copy_(x(T)),
    lambda T: T.zeros(2, 3, dtype=T.int32).copy_(x(T)[0]),
    lambda T: T.zeros(2, 3, dtype=T.bool).copy_(x(T)),
    lambda T: T.zeros(2, 3, dtype=T.complex64).copy_(x(T)),
    lambda T: T.zeros(2, 3).copy_(T.ones(2)),
    lambda T: T.zeros(2, 3).copy_(T.ones(2, 3, device="meta")),
    lambda T: T.zeros(2, 3, device="meta").copy_(x(T)).shape,
    lambda T: T.zeros(2, 3, device="meta").copy_(T.ones(4)),
    lambda T: T.zeros(1, 3).expand(2, 3).copy_(x(T)),
    lambda T: T.arange(6)[1:].copy_(T.arange(6)[:-1]),
    lambda T: x(T).t().clone(),
    lambda T: x(T).t().clone(memory_format=T.contiguous_format),
    lambda T: x(T)[:, ::2].clone(),
    lambda T: x(T)[0].expand(4, 3).clone(),
    lambda T: x(T).fill_(7),
    lambda T: x(T).fill_(T.tensor(3)),
    lambda T: x(T).int().fill_(T.tensor(3.7)),
    lambda T: x(T).fill_(T.ones(1)),
    lambda T: x(T).fill_(1j),
    lambda T: x(T).t()[1:].zero_(),
    lambda T: T.fill(x(T), 3.0),
    *(
        lambda T, d=dtype, v=value: T.zeros((), dtype=getattr(T, d)).fill_(v)
        for dtype in ("uint8", "int8", "int32", "int64", "uint16", "float16", "float32", "float64", "bool", "complex64")
        for value in (300, -1, -129, -300, 1.5, 1e6, 1e39, inf, nan, 2**40, 2**63, 1j, 1 + 0j, -1e30)
    ),
]

REAL = ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
NAMES = [*REAL, "complex64", "complex128", "bool"]
CONVERSIONS = [
    *(
        lambda T, a=a, b=b: (T.tensor([0, 1, 2, 100]).to(getattr(T, a)) * 1).to(getattr(T, b))
        for a in NAMES
        for b in NAMES
    ),
    *(
        lambda T, name=name: getattr(x(T), name)()
        for name in ["float", "double", "half", "bfloat16", "int", "long", "short", "char", "bool", "cfloat", "cpu"]
    ),
    lambda T: x(T).abs().byte(),
    lambda T: x(T).to("cpu", T.float64),
    lambda T: x(T).to("meta").shape,
    lambda T: x(T).to(T.ones(1, dtype=T.int32)),
    lambda T: x(T).to(dtype=T.float64, copy=True),
    lambda T: x(T).t().to(T.float64),
    lambda T: T.arange(120.0).reshape(2, 3, 4, 5).to(memory_format=T.channels_last),
    lambda T: x(T).to(memory_format=T.channels_last),
    lambda T: x(T).type_as(T.ones(1, dtype=T.int16)),
    lambda T: x(T).contiguous(memory_format=T.preserve_format),
    lambda T: [
        x(T).is_contiguous(),
        (lambda t: t.to(T.float32) is t and t.float() is t and t.to("cpu") is t and t.contiguous() is t)(x(T)),
        (lambda t: t.to(t.dtype, copy=True) is t)(x(T)),
    ],
]


@pytest.mark.torch
@pytest.mark.parametrize("case", CREATED + RANGES + COPIES + CONVERSIONS)
def test_like_torch(case):
    check(case)


@pytest.mark.torch
@pytest.mark.parametrize("case", WINDOWS)
def test_windows_like_torch(case):
    check(case, rtol=2e-6)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("sizes", [(70, 130), (3, 500), (500, 3), (2, 3, 5, 7), (1, 1000), (33, 17, 19)])
def test_transposed_copies(dtype, sizes):
    def case(T):
        t = T.arange(math.prod(sizes)).to(getattr(T, dtype)).reshape(sizes)
        return [
            t.transpose(0, -1).clone(memory_format=T.contiguous_format),
            t.transpose(0, -1).to(T.float64).contiguous(),
        ]

    check(case)


GRADIENTS = [
    lambda x: x.clone() * x,
    lambda x: x.to(taeda.complex128).real * x,
    lambda x: taeda.zeros(2, 3, dtype=x.dtype).copy_(x[0]) * x,
    lambda x: (x * 1).fill_(2.0) * x,
    lambda x: (x * 1).fill_(x[0, 0]) * x,
    lambda x: (x * 1).zero_() + x,
    lambda x: x.tril(1) * x.triu(-1),
]


@pytest.mark.parametrize("function", GRADIENTS)
def test_gradients(function):
    x = (taeda.arange(6.0, dtype=taeda.float64) / 5 - 0.4).reshape(2, 3).requires_grad_()
    assert gradcheck(function, (x,))
    assert gradgradcheck(function, (x,))


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "complex64"])
@pytest.mark.parametrize("steps", [1, 8, 28, 1001])
def test_evenly_spaced_numbers_are_the_same_bits(dtype, steps):
    torch = pytest.importorskip("torch")
    for start, end in ((-1, 1), (0, 10), (3, -7), (0.1, 9.97)):
        for function in ("linspace", "logspace") if "float" in dtype else ("linspace",):
            made = [getattr(T, function)(start, end, steps, dtype=getattr(T, dtype)).tolist() for T in (taeda, torch)]
            assert made[0] == made[1], (function, start, end)


@pytest.mark.torch
@pytest.mark.parametrize("align_corners", [False, True])
def test_points_of_an_identity_are_the_same_bits(align_corners):
    """A spatial transformer begins with them: they lie on pixels, where the gradient jumps."""
    torch = pytest.importorskip("torch")
    for shape in ((1, 1, 8, 28), (1, 1, 3, 13, 5)):
        made = [
            T.nn.functional.affine_grid(T.eye(len(shape) - 2, len(shape) - 1)[None], shape, align_corners=align_corners)
            for T in (taeda, torch)
        ]
        assert made[0].tolist() == made[1].tolist()


def test_facts():
    assert taeda.arange(0, 10, 4).tolist() == [0, 4, 8]
    assert taeda.linspace(0, 1, 5).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert taeda.eye(2).tolist() == [[1, 0], [0, 1]]
    assert taeda.tensor([1.7, -1.7]).int().tolist() == [1, -1]
    assert taeda.ones(3, 2).triu().tolist() == [[1, 1], [0, 1], [0, 0]]
