"""Windows, against SciPy's and PyTorch's."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import taeda
from taeda.signal import windows

CASES = [
    ("bartlett", {}, ("bartlett",)), ("blackman", {}, ("blackman",)), ("cosine", {}, ("cosine",)),
    ("hamming", {}, ("hamming",)), ("hann", {}, ("hann",)), ("nuttall", {}, ("nuttall",)),
    ("exponential", {}, ("exponential", None, 1.0)), ("exponential", {"tau": 2.5}, ("exponential", None, 2.5)),
    ("gaussian", {}, ("gaussian", 1.0)), ("gaussian", {"std": 0.7}, ("gaussian", 0.7)),
    ("general_cosine", {"a": [0.4, 0.3, 0.2, 0.1]}, ("general_cosine", [0.4, 0.3, 0.2, 0.1])),
    ("general_hamming", {}, ("general_hamming", 0.54)), ("general_hamming", {"alpha": 0.7}, ("general_hamming", 0.7)),
    ("kaiser", {}, ("kaiser", 12.0)), ("kaiser", {"beta": 0.0}, ("kaiser", 0.0)),
]  # fmt: skip
SIZES = (0, 1, 2, 3, 8, 51)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize(("name", "options", "theirs"), CASES)
def test_values_are_scipys(name, options, theirs, sym, dtype):
    scipy_windows = pytest.importorskip("scipy.signal.windows")
    for size in SIZES:
        window = getattr(windows, name)(size, sym=sym, dtype=getattr(taeda, dtype), **options)
        wanted = getattr(scipy_windows, theirs[0])(size, *theirs[1:], sym=sym)
        assert window.dtype == getattr(taeda, dtype) and window.shape == (size,)
        np.testing.assert_allclose(window.numpy(), wanted, rtol=2e-7, atol=1e-15 if dtype == "float64" else 1e-8)


def test_a_center_of_its_own():
    scipy_windows = pytest.importorskip("scipy.signal.windows")
    window = windows.exponential(9, center=3, tau=2.0, sym=False, dtype=taeda.float64)
    np.testing.assert_allclose(window.numpy(), scipy_windows.exponential(9, 3, 2.0, sym=False))


@pytest.mark.torch
@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize(("name", "options", "_"), CASES)
def test_values_are_torchs(name, options, _, sym):
    torch = pytest.importorskip("torch")
    for size in SIZES:
        mine, theirs = (getattr(T.signal.windows, name)(size, sym=sym, **options) for T in (taeda, torch))
        assert str(mine.dtype) == str(theirs.dtype)
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=2e-5, atol=3e-7)


@pytest.mark.parametrize("name", windows.__all__)
def test_options(name):
    function = getattr(windows, name)
    options = {"a": [0.5, 0.5]} if name == "general_cosine" else {}
    assert function(4, requires_grad=True, **options).requires_grad and not function(4, **options).requires_grad
    meta = function(4, device="meta", **options)
    assert meta.device.type == "meta" and meta.shape == (4,)
    taeda.set_default_dtype(taeda.float64)
    try:
        assert function(3, **options).dtype == taeda.float64
    finally:
        taeda.set_default_dtype(taeda.float32)
    for mistake, error in (
        ({"M": -1}, ValueError), ({"M": 2.5}, TypeError), ({"dtype": taeda.int64}, ValueError),
        ({"dtype": taeda.bfloat16}, ValueError), ({"dtype": taeda.complex64}, ValueError),
        ({"layout": taeda.sparse_coo}, ValueError),
    ):  # fmt: skip
        with pytest.raises(error, match=f"windows.{name}"):
            function(**{"M": 4, **options, **mistake})
    with pytest.raises(TypeError):
        function(4, True, **options)
    assert inspect.signature(function).parameters["M"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD


@pytest.mark.parametrize(
    ("mistake", "error"),
    [
        (lambda: windows.gaussian(5, std=0), ValueError),
        (lambda: windows.gaussian(5, std=-1.0), ValueError),
        (lambda: windows.exponential(5, tau=0), ValueError),
        (lambda: windows.exponential(5, center=1), ValueError),
        (lambda: windows.kaiser(5, beta=-1), ValueError),
        (lambda: windows.general_cosine(5, a=[]), ValueError),
        (lambda: windows.general_cosine(5, a=3), TypeError),
        (lambda: windows.hann(5, window=3), TypeError),
    ],
)
def test_mistakes(mistake, error):
    with pytest.raises(error, match=r"taeda\.signal\.windows\.\w+: "):
        mistake()
