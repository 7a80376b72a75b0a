"""Gradients at zeros, infinities and numbers near the limits of float32, beside PyTorch's in double precision."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import taeda

INF, NAN = float("inf"), float("nan")
POINTS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 5.0, 1e-40, 1e-20, 1e-8, 1e10, -1e10, 1e20, -1e20, INF, -INF]
PAIRS = list(itertools.product(POINTS, [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, INF, -INF, -30.0, 1e20]))
RTOL = 1e-4
UNARY = [
    "asinh",
    "atan",
    "exp",
    "expm1",
    "log",
    "log1p",
    "sigmoid",
    "tanh",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "erf",
    "sinh",
    "cosh",
    "lgamma",
    "angle",
    "abs",
    "i0",
    "special.i1",
    "special.i1e",
    "special.entr",
    "special.ndtr",
    "nn.functional.softplus",
    "nn.functional.logsigmoid",
    "nn.functional.silu",
    "nn.functional.mish",
    "nn.functional.elu",
    "nn.functional.hardswish",
    "nn.functional.softsign",
]
BINARY = [
    "add",
    "mul",
    "div",
    "atan2",
    "hypot",
    "pow",
    "float_power",
    "maximum",
    "fmin",
    "logaddexp",
    "logaddexp2",
    "xlogy",
    "copysign",
]
# What overflows or vanishes in PyTorch's float32 and in its double is left to the formula.
OVERFLOWS = 1e-37, 1e37


def named(library, path):
    for part in path.split("."):
        library = getattr(library, part)
    return library


def gradients(library, path, columns, dtype):
    inputs = [library.tensor(c, dtype=getattr(library, dtype), requires_grad=True) for c in columns]
    named(library, path)(*inputs).sum().backward()
    return [np.array(i.grad.tolist()) for i in inputs]


def differing(path, columns):
    torch = pytest.importorskip("torch")
    ours = gradients(taeda, path, columns, "float32")
    theirs, exact = (gradients(torch, path, columns, dtype) for dtype in ("float32", "float64"))
    for index, (a, b, c) in enumerate(zip(ours, theirs, exact)):
        extreme = (np.abs(c) < OVERFLOWS[0]) & (c != 0) | (np.abs(c) > OVERFLOWS[1]) & np.isfinite(c)
        agrees = np.isclose(a, b, RTOL, 1e-12, equal_nan=True) | np.isclose(a, c, RTOL, 1e-12, equal_nan=True)
        for i in np.flatnonzero(~agrees & ~extreme):
            yield f"gradient {index} at {[column[i] for column in columns]}: {a[i]}, wanted {c[i]}"


@pytest.mark.torch
@pytest.mark.parametrize("path", UNARY)
def test_of_one(path: str) -> None:
    assert not list(differing(path, [POINTS]))


@pytest.mark.torch
@pytest.mark.parametrize("path", BINARY)
def test_of_two(path: str) -> None:
    assert not list(differing(path, list(zip(*PAIRS))))


@pytest.mark.parametrize(
    ("path", "at", "wanted"),
    [
        ("atan2", (0.0, 0.0), (0, 0)),
        ("pow", (0.0, 0.0), (0, 0)),
        ("logaddexp", (INF, 1.0), (1, 0)),
        ("logaddexp2", (1.0, INF), (0, 1)),
        ("digamma", (INF,), (0,)),
        ("digamma", (-0.5,), (np.pi**2 / 2 + 4,)),
        ("digamma", (-1e9 - 0.5,), (np.pi**2,)),  # at once, not after as many steps
        ("special.i1e", (1e-40,), (0.5,)),
    ],
)
def test_facts(path, at, wanted):
    found = gradients(taeda, path, [[x] for x in at], "float64" if path == "digamma" else "float32")
    assert np.allclose(found, np.reshape(wanted, (-1, 1)), 1e-6)
