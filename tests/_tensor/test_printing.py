"""How tensors print: recorded texts, and PyTorch's own where it is installed."""

import math
import random

import pytest

import taeda
from taeda._tensor.printing import get_printoptions, printoptions, set_printoptions, tensor_str

nan, inf = math.nan, math.inf


class Masked(taeda.Tensor):
    pass


@pytest.fixture(autouse=True)
def default_options():
    set_printoptions(profile="default")
    yield
    set_printoptions(profile="default")


@pytest.mark.parametrize(
    ("values", "dtype", "text"),
    [
        (1, None, "tensor(1)"),
        (1.0, None, "tensor(1.)"),
        (0.5, None, "tensor(0.5000)"),
        (-0.0, None, "tensor(-0.)"),
        (True, None, "tensor(True)"),
        (1 + 2j, None, "tensor(1.+2.j)"),
        ([], None, "tensor([])"),
        ([1.0, 2.5], None, "tensor([1.0000, 2.5000])"),
        ([1.0, 20.0], None, "tensor([ 1., 20.])"),
        ([1, -20], None, "tensor([  1, -20])"),
        ([True, False], None, "tensor([ True, False])"),
        ([1e-10, 1.0], None, "tensor([1.0000e-10, 1.0000e+00])"),
        ([1e9, 1.0], None, "tensor([1.0000e+09, 1.0000e+00])"),
        ([nan, inf, -inf], None, "tensor([nan, inf, -inf])"),
        ([nan, 1.5], None, "tensor([   nan, 1.5000])"),
        ([0.0, nan], None, "tensor([0., nan])"),
        ([[1, 2], [3, 4]], None, "tensor([[1, 2],\n        [3, 4]])"),
        ([1.5], "float64", "tensor([1.5000], dtype=torch.float64)"),
        ([1.5], "bfloat16", "tensor([1.5000], dtype=torch.bfloat16)"),
        ([1], "uint8", "tensor([1], dtype=torch.uint8)"),
        ([], "int64", "tensor([], dtype=torch.int64)"),
        ([[], []], None, "tensor([], size=(2, 0))"),
        ([1 - 2.5j], "complex128", "tensor([1.-2.5000j], dtype=torch.complex128)"),
    ],
)
def test_values(values, dtype, text):
    assert tensor_str(taeda.tensor(values, dtype=dtype and getattr(taeda, dtype))) == text


def test_suffixes():
    x = taeda.ones(2, requires_grad=True)
    assert tensor_str(x) == "tensor([1., 1.], requires_grad=True)"
    assert tensor_str(x + 1) == "tensor([2., 2.], grad_fn=<AddBackward0>)"
    assert tensor_str(taeda.nn.Parameter(taeda.ones(1))) == "tensor([1.], requires_grad=True)"
    assert tensor_str(taeda.ones(1).as_subclass(Masked)) == "Masked([1.])"
    meta = taeda.empty(2, 3, dtype=taeda.float64, device="meta")
    assert tensor_str(meta) == "tensor(..., device='meta', size=(2, 3), dtype=torch.float64)"
    long = taeda.full((4,), 1e-7, dtype=taeda.float64)
    assert tensor_str(long.requires_grad_()).endswith("dtype=torch.float64,\n       requires_grad=True)")


def test_summary():
    assert tensor_str(taeda.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    text = tensor_str(taeda.zeros(40, 50))
    assert text.splitlines()[3] == "        ..." + "," and text.count("...,") == 7


def test_options():
    with printoptions(precision=2, sci_mode=True):
        assert tensor_str(taeda.tensor([1.5])) == "tensor([1.50e+00])"
    with printoptions(sci_mode=False):
        assert tensor_str(taeda.tensor([1e-6])) == "tensor([0.0000])"
    set_printoptions(profile="short", linewidth=20)
    assert tensor_str(taeda.arange(6)) == "tensor([0, 1, 2, 3,\n        4, 5])"
    assert get_printoptions()["precision"] == 2
    set_printoptions(profile="full")
    assert "..." not in tensor_str(taeda.arange(2000))
    with pytest.raises(ValueError, match="profile"):
        set_printoptions(profile="none")


def test_history_and_recording_are_left_alone():
    x = taeda.ones(2, requires_grad=True)
    y = x * 2
    tensor_str(y)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


OPTIONS = [
    {},
    {"profile": "short"},
    {"precision": 0},
    {"precision": 8},
    {"linewidth": 40},
    {"linewidth": 140},
    {"threshold": 20},
    {"threshold": 20, "edgeitems": 1},
    {"sci_mode": True},
    {"sci_mode": False},
]
DTYPES = [
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "int8", "bool", "complex64",
    "complex128",
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_prints_as_torch_does(options):
    torch = pytest.importorskip("torch")
    rng = random.Random(str(options))
    torch.set_printoptions(profile="default")
    torch.set_printoptions(**options)
    set_printoptions(**options)
    try:
        for _ in range(150):
            values, dtype = random_values(rng)
            theirs = torch.tensor(values).to(getattr(torch, dtype))
            ours = taeda.tensor(values).to(getattr(taeda, dtype))
            if theirs.is_floating_point() and rng.random() < 0.3:
                theirs, ours = theirs.requires_grad_() * 1, ours.requires_grad_() * 1
            assert tensor_str(ours) == repr(theirs)
    finally:
        torch.set_printoptions(profile="default")


def random_values(rng):
    dtype = rng.choice(DTYPES)
    scale = 10.0 ** rng.choice([-9, -4, -1, 0, 0, 0, 1, 3, 6])
    whole = rng.random() < 0.4
    special = rng.choice([0, 0, 0.1, 1]) if "float" in dtype or "complex" in dtype else 0

    def number():
        if rng.random() < special:
            return rng.choice([nan, inf, -inf, 0.0, -0.0])
        value = rng.gauss(0, 1) * scale
        value = float(round(value * 5)) if whole else value
        return (
            min(abs(value), 250.0) if dtype == "uint8" else max(-120.0, min(120.0, value)) if dtype == "int8" else value
        )

    def element():
        return complex(number(), number()) if "complex" in dtype else number()

    def build(sizes):
        return [build(sizes[1:]) for _ in range(sizes[0])] if sizes else element()

    sizes = [rng.choice([0, 1, 2, 3, 7, 12]) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    return build(sizes), dtype


def test_options_as_an_object() -> None:
    from taeda._tensor_str import PRINT_OPTS, _tensor_str

    with printoptions(precision=2, threshold=7):
        assert (PRINT_OPTS.precision, PRINT_OPTS.threshold, PRINT_OPTS.sci_mode) == (2, 7, None)
        assert _tensor_str(taeda.tensor([[1.5], [2.0]]), indent=1) == "[[1.50],\n  [2.00]]"
    assert PRINT_OPTS.precision == 4
