"""Fourier transforms against NumPy and SciPy, and short-time ones against themselves and PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import fft as scipy_fft

import taeda
from taeda.autograd import gradcheck, gradgradcheck

LENGTHS = [*range(1, 65), 97, 101, 128, 360, 1000, 1001, 1009, 2187, 4096, 5040]
LONG = [16807, 65536, 98304, 100003, 131072, 262144 + 1]
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
REAL_IN = ("rfft", "ihfft")
NORMS = (None, "backward", "ortho", "forward")
TOLERANCE = {"float32": 3e-6, "float64": 4e-15}


def signal(shape: Any, *, real: bool, precision: str = "float64", seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if real:
        return values.astype(precision)
    return (values + 1j * rng.standard_normal(shape)).astype("complex64" if precision == "float32" else "complex128")


def check(got: taeda.Tensor, wanted: np.ndarray, precision: str = "float64") -> None:
    """Errors are measured by the largest result: transforms of n numbers lose about sqrt(log n) bits' worth."""
    values = got.resolve_conj().numpy()
    assert values.shape == wanted.shape and values.dtype == wanted.astype(values.dtype).dtype
    size = np.sqrt(np.mean(np.abs(wanted) ** 2)) if wanted.size else 0.0
    assert np.abs(values - wanted).max(initial=0) <= TOLERANCE[precision] * max(size, 1e-300) * 3


def reference(name: str) -> Callable[..., Any]:
    return getattr(scipy_fft, name)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", ONE)
def test_every_length_agrees_with_scipy(name: str, precision: str) -> None:
    for n in LENGTHS:
        x = signal(n, real=name in REAL_IN, precision=precision, seed=n)
        wanted = reference(name)(x.astype("float64" if name in REAL_IN else "complex128"), n=n)
        check(getattr(taeda.fft, name)(taeda.from_numpy(x), n=n), wanted, precision)


@pytest.mark.parametrize("n", LONG)
def test_long_lines_agree_with_scipy(n: int) -> None:
    for precision in ("float32", "float64"):
        x = signal(n, real=False, precision=precision)
        check(taeda.fft.fft(taeda.from_numpy(x)), scipy_fft.fft(x.astype("complex128")), precision)
        check(taeda.fft.ifft(taeda.from_numpy(x)), scipy_fft.ifft(x.astype("complex128")), precision)
    r = signal(n, real=True)
    half = taeda.fft.rfft(taeda.from_numpy(r))
    check(half, scipy_fft.rfft(r))
    check(taeda.fft.irfft(half, n=n), r)


@pytest.mark.parametrize("n", [3, 8, 15, 16, 64, 97, 100, 360, 1009])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_batches_of_any_size_along_any_dimension(name: str, n: int) -> None:
    for batch in (1, 2, 7, 8, 16, 37):
        for precision in ("float32", "float64"):
            x = signal((batch, n), real=name == "rfft", precision=precision)
            wide = x.astype("float64" if name == "rfft" else "complex128")
            transform = getattr(taeda.fft, name)
            check(transform(taeda.from_numpy(x), n=n), reference(name)(wide, n=n), precision)
            columns = taeda.from_numpy(np.ascontiguousarray(x.T))
            check(transform(columns, n=n, dim=0), reference(name)(wide.T, n=n, axis=0), precision)
            strided = taeda.from_numpy(np.stack([x, x], -1))[..., 0]
            check(transform(strided, n=n), reference(name)(wide, n=n), precision)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [None, 4, 5, 8, 11])
def test_lengths_and_norms(n: int | None, norm: str | None) -> None:
    for name in ONE:
        x = signal((3, 7, 2), real=name in REAL_IN)
        for dim in (0, 1, -2):
            wanted = reference(name)(x, n=n, axis=dim, norm=norm)
            check(getattr(taeda.fft, name)(taeda.from_numpy(x), n, dim, norm), wanted)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    "s, dim", [(None, None), ((4, 6), None), (None, (0, 2)), ((5, 3), (2, 0)), ((2, 9, 4), (1, 2, 0)), ((6,), (1,))]
)
def test_several_dimensions(s: Any, dim: Any, norm: str | None) -> None:
    for name in ONE:
        x = signal((3, 4, 5), real=name in REAL_IN)
        for layout in (x, np.asfortranarray(x)):
            wanted = reference(f"{name}n")(x, s, dim, norm=norm)
            check(getattr(taeda.fft, f"{name}n")(taeda.from_numpy(layout), s, dim, norm), wanted)
        if dim is None and s is None:
            wanted = reference(f"{name}2")(x, norm=norm)
            check(getattr(taeda.fft, f"{name}2")(taeda.from_numpy(x), norm=norm), wanted)


def test_a_size_of_minus_one_is_the_inputs() -> None:
    x = taeda.from_numpy(signal((3, 4), real=True))
    assert taeda.equal(taeda.fft.fftn(x, (5, -1)), taeda.fft.fftn(x, (5, 4)))
    assert taeda.fft.irfftn(x, (5, -1)).shape == (5, 6)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "bool"])
def test_integers_become_floating(dtype: str) -> None:
    x = taeda.tensor([[1, 0, 3], [4, 1, 6]]).to(getattr(taeda, dtype))
    check(taeda.fft.fft2(x), np.fft.fft2(x.numpy()).astype("complex64"), "float32")
    assert taeda.fft.rfft(x).dtype == taeda.complex64 and taeda.fft.irfft(x).dtype == taeda.float32


def test_shifts_and_frequencies() -> None:
    x = np.arange(60.0).reshape(3, 4, 5)
    for dim in (None, 0, (1, 2), -1):
        assert np.array_equal(taeda.fft.fftshift(taeda.from_numpy(x), dim).numpy(), np.fft.fftshift(x, dim))
        assert np.array_equal(taeda.fft.ifftshift(taeda.from_numpy(x), dim).numpy(), np.fft.ifftshift(x, dim))
    for n in (1, 2, 5, 8):
        for d in (1.0, 0.25):
            np.testing.assert_allclose(taeda.fft.fftfreq(n, d, dtype=taeda.float64).numpy(), np.fft.fftfreq(n, d))
            np.testing.assert_allclose(taeda.fft.rfftfreq(n, d, dtype=taeda.float64).numpy(), np.fft.rfftfreq(n, d))


def test_empty_batches_have_empty_results() -> None:
    assert taeda.fft.fft(taeda.zeros(0, 4)).shape == (0, 4)
    assert taeda.fft.rfft2(taeda.zeros(0, 4, 6)).shape == (0, 4, 4)
    assert taeda.fft.irfft(taeda.zeros(2, 0, 4), dim=-1).shape == (2, 0, 6)


@pytest.mark.parametrize("make, error", [
    (lambda x: taeda.fft.fft(x, 0), RuntimeError),
    (lambda x: taeda.fft.fft(x, -3), RuntimeError),
    (lambda x: taeda.fft.fft(x, dim=2), IndexError),
    (lambda x: taeda.fft.fft(x.sum()), IndexError),
    (lambda x: taeda.fft.fft(x.half()), RuntimeError),
    (lambda x: taeda.fft.fft(x, norm="both"), RuntimeError),
    (lambda x: taeda.fft.fft(taeda.zeros(0)), RuntimeError),
    (lambda x: taeda.fft.irfft(taeda.zeros(1)), RuntimeError),
    (lambda x: taeda.fft.rfft(x + 1j), RuntimeError),
    (lambda x: taeda.fft.ihfftn(x + 1j), RuntimeError),
    (lambda x: taeda.fft.fftn(x, (2,), (0, 1)), RuntimeError),
    (lambda x: taeda.fft.fftn(x, (2, 2, 2)), RuntimeError),
    (lambda x: taeda.fft.fftn(x, dim=(0, -2)), RuntimeError),
    (lambda x: taeda.fft.rfftn(x, dim=()), RuntimeError),
    (lambda x: taeda.fft.fft(x, out=taeda.zeros(3)), RuntimeError),
    (lambda x: taeda.fft.fftfreq(4, dtype=taeda.int64), RuntimeError),
    (lambda x: taeda.fft.fftfreq(-1), RuntimeError),
])  # fmt: skip
def test_mistakes_raise(make: Callable[[Any], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        make(taeda.zeros(3, 4))


def test_results_are_written_to_out() -> None:
    x = taeda.from_numpy(signal((3, 4), real=False))
    out = taeda.empty(3, 4, dtype=taeda.complex128)
    assert taeda.fft.fft2(x, out=out) is out
    check(out, np.fft.fft2(x.numpy()))
    wanted = np.fft.fft(x.numpy())
    check(taeda.fft.fft(x, out=x), wanted)


@pytest.mark.parametrize(
    "shape, dim", [((64, 256), -1), ((256, 64), 0), ((3, 1009), -1), ((1 << 17,), -1), ((40, 48), None)]
)
def test_threads_do_not_change_results(shape: Any, dim: int | None) -> None:
    x = taeda.from_numpy(signal(shape, real=False, precision="float32"))
    dims = None if dim is None else (dim,)
    before = taeda.get_num_threads()
    try:
        results = []
        for count in (1, 2, 3):
            taeda.set_num_threads(count)
            results.append(
                [taeda.fft.fftn(x, dim=dims), taeda.fft.rfftn(x.real, dim=dims), taeda.fft.irfftn(x, dim=dims)]
            )
    finally:
        taeda.set_num_threads(before)
    assert all(taeda.equal(a, b) for other in results[1:] for a, b in zip(results[0], other))


def test_nothing_finite_comes_of_what_is_not() -> None:
    for n in (5, 16, 37, 360):
        x = taeda.zeros(n, dtype=taeda.complex128)
        x[n // 2] = float("nan")
        assert taeda.fft.fft(x).real.isnan().all()


@pytest.mark.parametrize("name", ONE)
def test_derivatives(name: str) -> None:
    real = name in REAL_IN
    for n, norm in ((None, None), (4, "ortho"), (7, "forward")):
        x = taeda.from_numpy(signal((2, 5), real=real)).requires_grad_()
        transform = lambda t, n=n, norm=norm: getattr(taeda.fft, name)(t, n, -1, norm)
        assert gradcheck(transform, (x,)) and gradgradcheck(transform, (x,))
    x = taeda.from_numpy(signal((3, 4, 2), real=real)).requires_grad_()
    for dims in ((0, 1), (2, 0), (0, 1, 2)):
        several = lambda t, dims=dims: getattr(taeda.fft, f"{name}n")(t, dim=dims)
        assert gradcheck(several, (x,)) and gradgradcheck(several, (x,))


@pytest.mark.parametrize("name", ONE)
def test_transforms_are_linear_forward(name: str) -> None:
    from taeda.autograd import forward_ad

    x, tangent = (taeda.from_numpy(signal((3, 6), real=name in REAL_IN, seed=k)) for k in (0, 1))
    transform = getattr(taeda.fft, name)
    with forward_ad.dual_level():
        result = forward_ad.unpack_dual(transform(forward_ad.make_dual(x, tangent)))
        assert taeda.equal(result.tangent, transform(tangent))


# --- short-time transforms


def stretches(x: np.ndarray, n_fft: int, hop: int, window: np.ndarray) -> np.ndarray:
    frames = np.lib.stride_tricks.sliding_window_view(x, n_fft, axis=-1)[..., ::hop, :]
    return np.swapaxes(np.fft.rfft(frames * window), -1, -2)


@pytest.mark.parametrize("shape", [(40,), (3, 40)])
@pytest.mark.parametrize("n_fft, hop, win", [(8, 2, 8), (9, 3, 9), (16, 4, 10), (7, 7, 7), (40, 5, 33)])
def test_stft_transforms_stretches(shape: Any, n_fft: int, hop: int, win: int) -> None:
    x, window = signal(shape, real=True), signal(win, real=True, seed=1)
    left = (n_fft - win) // 2
    whole = np.pad(window, (left, n_fft - win - left))
    args = (n_fft, hop, win, taeda.from_numpy(window))
    got = taeda.stft(taeda.from_numpy(x), *args, center=False, return_complex=True)
    check(got, stretches(x, n_fft, hop, whole))
    for mode, numpy_mode in (
        ("reflect", "reflect"),
        ("constant", "constant"),
        ("replicate", "edge"),
        ("circular", "wrap"),
    ):
        padded = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)], mode=numpy_mode)  # type: ignore[call-overload]
        got = taeda.from_numpy(x).stft(*args, pad_mode=mode, return_complex=True, normalized=True)
        check(got, stretches(padded, n_fft, hop, whole) / np.sqrt(n_fft))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("onesided", [True, False])
def test_istft_gives_the_signal_back(center: bool, normalized: bool, onesided: bool) -> None:
    window = taeda.hann_window(16, dtype=taeda.float64) + 0.01
    options: dict[str, Any] = {"center": center, "normalized": normalized, "onesided": onesided}
    for shape in ((64,), (3, 64)):
        x = taeda.from_numpy(signal(shape, real=True))
        spectra = taeda.stft(x, 16, 4, 16, window, **options, return_complex=True)
        taeda.testing.assert_close(taeda.istft(spectra, 16, 4, 16, window, **options, length=64), x)
        taeda.testing.assert_close(spectra.istft(16, 4, 16, window, **options), x)


def test_complex_signals_have_two_sides() -> None:
    x = taeda.from_numpy(signal((2, 32), real=False))
    window = taeda.hann_window(8, dtype=taeda.float64) + 0.01
    spectra = taeda.stft(x, 8, window=window)
    assert spectra.shape == (2, 8, 17)
    taeda.testing.assert_close(taeda.istft(spectra, 8, window=window, return_complex=True), x)
    pairs = taeda.stft(x, 8, window=window, return_complex=False)
    assert taeda.equal(taeda.view_as_complex(pairs.contiguous()), spectra)


def test_stft_derivatives() -> None:
    x = taeda.from_numpy(signal((2, 12), real=True)).requires_grad_()
    window = (taeda.hann_window(4, dtype=taeda.float64) + 0.1).requires_grad_()
    there = lambda x, w: taeda.stft(x, 4, 2, 4, w, return_complex=True)
    assert gradcheck(there, (x, window)) and gradgradcheck(there, (x, window))
    spectra = there(x, window).detach().requires_grad_()
    back = lambda z, w: taeda.istft(z, 4, 2, 4, w)
    assert gradcheck(back, (spectra, window)) and gradgradcheck(back, (spectra, window))


@pytest.mark.parametrize("make, error", [
    (lambda x, z: taeda.stft(x, 8), RuntimeError),
    (lambda x, z: taeda.stft(x, 0, return_complex=True), RuntimeError),
    (lambda x, z: taeda.stft(x, 8, 0, return_complex=True), RuntimeError),
    (lambda x, z: taeda.stft(x, 8, 2, 9, return_complex=True), RuntimeError),
    (lambda x, z: taeda.stft(x, 8, window=taeda.ones(7), return_complex=True), RuntimeError),
    (lambda x, z: taeda.stft(x, 50, center=False, return_complex=True), RuntimeError),
    (lambda x, z: taeda.stft(x.long(), 8, return_complex=True), RuntimeError),
    (lambda x, z: taeda.stft(x + 0j, 8, onesided=True), RuntimeError),
    (lambda x, z: taeda.stft(x, 8, pad_mode="none", return_complex=True), NotImplementedError),
    (lambda x, z: taeda.stft(x, 8, align_to_window=True, return_complex=True), RuntimeError),
    (lambda x, z: taeda.istft(z.real, 8), RuntimeError),
    (lambda x, z: taeda.istft(z, 10), RuntimeError),
    (lambda x, z: taeda.istft(z, 8, 9), RuntimeError),
    (lambda x, z: taeda.istft(z, 8, window=taeda.zeros(8)), RuntimeError),
    (lambda x, z: taeda.istft(z, 8, return_complex=True), RuntimeError),
    (lambda x, z: taeda.istft(z, 8, length=0), RuntimeError),
    (lambda x, z: taeda.istft(z[:, :0], 8), RuntimeError),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_stft_mistakes_raise(make: Callable[[Any, Any], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        make(taeda.zeros(40), taeda.zeros(5, 6, dtype=taeda.complex64))
