"""Discrete Fourier transforms: three primitives with kernels, and the family that is made of them.

A primitive transforms the dimensions ``dim``. ``normalization`` 0 leaves the sums as they are, 1 divides them by the
square root of the number of elements that are transformed together, 2 by that number.
"""

from taedagen.opdef import *
from taedagen.opdef.samples import Fill, Name, S, f

_Z = Fill((3, 5), "complex128")

# --- the primitives


@kernel(
    "_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
    variants="function out",
    shape="fft_c2c",
    files="fft",
    batch="along",
)
def _fft_c2c(self, dim, normalization, forward):
    """The transform of complex numbers, with ``exp(-2 pi i j k / n)`` if ``forward``, else with ``exp(2 pi i j k /
    n)``."""


@_fft_c2c.backward
def _(grad, dim, normalization, forward):
    return {"self": op._fft_c2c_backward(grad, dim, normalization, forward)}


@_fft_c2c.forward
def _(self_tangent, dim, normalization, forward):
    return op._fft_c2c(self_tangent, dim, normalization, forward)


_fft_c2c.samples([
    S(_Z, [1], 0, True), S(_Z, [0, 1], 1, False),
    S(_Z, [0], 2, True), S(_Z, [], 0, True),
])  # fmt: skip


@composite(
    "_fft_c2c_backward(Tensor grad, SymInt[] dim, int normalization, bool forward) -> Tensor", files="fft", unbound=True
)
def _fft_c2c_backward(grad, dim, normalization, forward):
    """The transform in the other direction."""


@kernel(
    "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
    variants="function out",
    shape="fft_r2c",
    files="fft",
    batch="along",
    samples=[S(f(3, 6), [1], 0, True), S(f(3, 6), [0, 1], 1, False), S(f(3, 6), [1, 0], 2, True)],
)
def _fft_r2c(self, dim, normalization, onesided):
    """The forward transform of real numbers; ``onesided`` leaves out the second half of the last of ``dim``, which
    mirrors the first."""


@_fft_r2c.backward
def _(grad, self, dim, normalization, onesided):
    return {"self": op._fft_r2c_backward(grad, self.sizes(), dim, normalization, onesided)}


@_fft_r2c.forward
def _(self_tangent, dim, normalization, onesided):
    return op._fft_r2c(self_tangent, dim, normalization, onesided)


@composite(
    "_fft_r2c_backward(Tensor grad, SymInt[] sizes, int[] dim, int normalization, bool onesided) -> Tensor",
    files="fft",
    unbound=True,
)
def _fft_r2c_backward(grad, sizes, dim, normalization, onesided):
    """The gradient of ``_fft_r2c`` for real numbers of shape ``sizes``."""


@kernel(
    "_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
    variants="function out",
    shape="fft_c2r",
    files="fft",
    batch="along",
)
def _fft_c2r(self, dim, normalization, last_dim_size):
    """The backward transform to real numbers, ``last_dim_size`` of them in the last of ``dim``, where ``self`` holds
    one half, ``last_dim_size // 2 + 1`` numbers, of what mirrors itself."""


@_fft_c2r.backward
def _(grad, dim, normalization):
    return {"self": op._fft_c2r_backward(grad, dim, normalization)}


@_fft_c2r.forward
def _(self_tangent, dim, normalization, last_dim_size):
    return op._fft_c2r(self_tangent, dim, normalization, last_dim_size)


_fft_c2r.samples([
    S(_Z, [1], 0, 8), S(_Z, [0, 1], 1, 9),
    S(_Z, [1, 0], 2, 5), S(_Z, [1], 0, 20),
])  # fmt: skip


@composite("_fft_c2r_backward(Tensor grad, int[] dim, int normalization) -> Tensor", files="fft", unbound=True)
def _fft_c2r_backward(grad, dim, normalization):
    """The gradient of ``_fft_c2r``: what is mirrored counts twice."""


# --- one dimension, two, any number. ``norm`` "forward" scales the forward transform by 1/n, "ortho" both by 1/sqrt(n),
# "backward" (the default) the backward one by 1/n.

_ONE = {
    "fft": "The transform of ``self`` along ``dim``, cut or padded with zeros to ``n`` numbers first.",
    "ifft": "The inverse of ``fft_fft``.",
    "rfft": "``fft_fft`` of real numbers: of the results, which mirror themselves, the first ``n // 2 + 1``.",
    "irfft": "The inverse of ``fft_rfft``, ``n`` real numbers; ``n`` is even unless it is given.",
    "hfft": "``fft_fft`` of a signal that mirrors itself, of which ``self`` holds the first half: ``n`` real numbers.",
    "ihfft": "The inverse of ``fft_hfft``.",
}
_MANY = {
    "fft": "The transform of ``self`` along {dims}, cut or padded with zeros to the sizes ``s`` first.",
    "ifft": "The inverse of ``fft_fft{suffix}``.",
    "rfft": "``fft_fft{suffix}`` of real numbers, half of the last dimension, which the other half mirrors.",
    "irfft": "The inverse of ``fft_rfft{suffix}``; the last of ``s`` is even unless it is given.",
    "hfft": "``fft_fft{suffix}`` of a signal that mirrors itself, of which ``self`` holds half of the last dimension.",
    "ihfft": "The inverse of ``fft_hfft{suffix}``.",
}


_OF_REAL = ("rfft", "ihfft")
_LINES = [
    S(f(6)), S(f(2, 5), 7), S(f(5, 3), 4, 0, "ortho"), S(f(4, 3), None, -2, "forward"), S(f(3), 0), S(f(3), norm="no"),
    S(f(3), dim=1), S(f()), S(_Z),
]  # fmt: skip
_PLANES = [
    S(f(3, 4)), S(f(2, 3, 4), [5, 2], [0, -1], "ortho"), S(f(2, 5), norm="forward"), S(f(5)), S(f(2, 3), [2]), S(_Z),
]  # fmt: skip
_SPACES = [
    S(f(3, 4)), S(f(2, 3, 4), [2, 5]), S(f(2, 3, 4), None, [2, 0], "ortho"), S(f(2, 5), [-1, 4], norm="forward"),
    S(f(2, 3), None, [0, 0]), S(f(2, 3), [2], [0, 1]), S(_Z),
]  # fmt: skip


def _declare(schema, doc, samples, complex_samples):
    def fft(*_): ...

    fft.__doc__ = doc
    samples = samples if schema.startswith(tuple(f"fft_{name}" for name in _OF_REAL)) else [*samples, *complex_samples]
    composite(f"{schema} -> Tensor", variants="function out", module="fft", files="fft", samples=samples)(fft)


for _name, _doc in _ONE.items():
    _declare(f"fft_{_name}(Tensor self, SymInt? n=None, int dim=-1, str? norm=None)", _doc,
             _LINES, [S(_Z, 7, 0), S(_Z, 3, -1, "ortho")])  # fmt: skip
for _name, _doc in _MANY.items():
    _declare(f"fft_{_name}2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None)",
             _doc.format(dims="two dimensions", suffix="2"), _PLANES, [S(_Z, [2, 7], [1, 0])])  # fmt: skip
    _declare(f"fft_{_name}n(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None)",
             _doc.format(dims="``dim`` (the last, as many as ``s`` has; else all)", suffix="n"), _SPACES,
             [S(_Z, [2, 7], [1, 0])])  # fmt: skip

# --- frequencies

_FREQUENCIES = (
    "int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
)


@composite(
    f"fft_fftfreq({_FREQUENCIES}) -> Tensor",
    variants="function out",
    module="fft",
    files="fft",
    samples=[S(5), S(6, 0.5), S(4, dtype=Name("float64")), S(4, dtype=Name("int64"))],
)
def fft_fftfreq(n, d, dtype, layout, device, pin_memory):
    """The frequencies that ``fft_fft`` gives for ``n`` samples taken ``d`` apart: 0 and up, then the negative ones."""


@composite(
    f"fft_rfftfreq({_FREQUENCIES}) -> Tensor", variants="function out", module="fft", files="fft", samples="fft_fftfreq"
)
def fft_rfftfreq(n, d, dtype, layout, device, pin_memory):
    """The frequencies that ``fft_rfft`` gives for ``n`` samples taken ``d`` apart."""


@composite(
    "fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor",
    module="fft",
    files="fft",
    samples=[S(f(5, 4)), S(f(5, 4), [0]), S(f(5, 4), [-1, 0]), S(f(3), [1])],
)
def fft_fftshift(self, dim):
    """Results of a transform with the zero frequency moved to the middle of ``dim`` (all dimensions)."""


@composite("fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor", module="fft", files="fft", samples="fft_fftshift")
def fft_ifftshift(self, dim):
    """The inverse of ``fft_fftshift``."""


# --- signals that change with time


@composite(
    "stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
    "bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
    files="stft",
)
def stft(self, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window):
    """The transforms of stretches of the signals ``self`` (..., time), ``n_fft`` samples each and ``hop_length``
    apart, weighted by ``window``: (..., frequency, stretch)."""


stft.samples([
    S(f(20), 4, return_complex=True), S(f(2, 20), 5, 2, 4, f(4), onesided=False, return_complex=True),
    S(f(3), 4, return_complex=True), S(_Z, 4, window=f(4)),
    S(f(20), 4, 3, 2, f(2), True, align_to_window=True, return_complex=True), S(f(20), 4),
])  # fmt: skip


@composite(
    "stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
    "bool center=True, str pad_mode='reflect', bool normalized=False, bool? onesided=None, "
    "bool? return_complex=None, bool? align_to_window=None) -> Tensor",
    files="stft",
)
def stft_center(
    self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex, align_to_window
):
    """``stft`` of signals that are padded by ``n_fft // 2`` at both ends if ``center``, so that stretch t has its
    middle at ``t * hop_length``."""


stft_center.samples([
    S(f(20), 4, center=True, pad_mode="reflect", return_complex=True),
    S(f(20), 4, center=False, pad_mode="reflect", return_complex=True),
    S(f(2, 12), 5, 2, 4, f(4), True, "constant", True, return_complex=True),
    S(f(12), 4, pad_mode="no", return_complex=True),
])  # fmt: skip


@composite(
    "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
    "bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) "
    "-> Tensor",
    variants="function method",
    files="stft",
)
def istft(self, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex):
    """The signals of which ``stft`` made ``self`` (..., frequency, stretch), in the sense of least squares."""


_fade = f(4, low=0.5, high=1.5)
_narrow, _wide = Fill((3, 6), "complex128"), Fill((4, 6), "complex128")
istft.samples([
    S(_narrow, 4, window=_fade), S(Fill((2, 3, 6), "complex128"), 4, 2, 3, f(3, low=0.5, high=1.5), length=9),
    S(_narrow, 4, 1, 4, _fade, False, True), S(_wide, 4, window=_fade, return_complex=True),
    S(_wide, 4, window=_fade), S(_wide, 9), S(f(3, 6), 4),
])  # fmt: skip
