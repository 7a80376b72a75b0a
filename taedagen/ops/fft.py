"""Discrete Fourier transforms: three primitives with kernels, and the family that is made of them.

A primitive transforms the dimensions ``dim``. ``normalization`` 0 leaves the sums as they are, 1 divides them by the
square root of the number of elements that are transformed together, 2 by that number.
"""

from taedagen.opdef import *

# --- the primitives


@kernel(
    "_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
    variants="function out",
    shape="fft_c2c",
    files="fft",
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


@composite(
    "_fft_c2c_backward(Tensor grad, SymInt[] dim, int normalization, bool forward) -> Tensor",
    files="fft",
    unbound=True,
)
def _fft_c2c_backward(grad, dim, normalization, forward):
    """The transform in the other direction."""


@kernel(
    "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
    variants="function out",
    shape="fft_r2c",
    files="fft",
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


@composite(
    "_fft_c2r_backward(Tensor grad, int[] dim, int normalization) -> Tensor",
    files="fft",
    unbound=True,
)
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


def _declare(schema, doc):
    def fft(*_): ...

    fft.__doc__ = doc
    composite(f"{schema} -> Tensor", variants="function out", module="fft", files="fft")(fft)


for _name, _doc in _ONE.items():
    _declare(f"fft_{_name}(Tensor self, SymInt? n=None, int dim=-1, str? norm=None)", _doc)
for _name, _doc in _MANY.items():
    _declare(f"fft_{_name}2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None)",
             _doc.format(dims="two dimensions", suffix="2"))  # fmt: skip
    _declare(f"fft_{_name}n(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None)",
             _doc.format(dims="``dim`` (the last, as many as ``s`` has; else all)", suffix="n"))  # fmt: skip

# --- frequencies

_FREQUENCIES = (
    "int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
)


@composite(
    f"fft_fftfreq({_FREQUENCIES}) -> Tensor",
    variants="function out",
    module="fft",
    files="fft",
)
def fft_fftfreq(n, d, dtype, layout, device, pin_memory):
    """The frequencies that ``fft_fft`` gives for ``n`` samples taken ``d`` apart: 0 and up, then the negative ones."""


@composite(
    f"fft_rfftfreq({_FREQUENCIES}) -> Tensor",
    variants="function out",
    module="fft",
    files="fft",
)
def fft_rfftfreq(n, d, dtype, layout, device, pin_memory):
    """The frequencies that ``fft_rfft`` gives for ``n`` samples taken ``d`` apart."""


@composite("fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor", module="fft", files="fft")
def fft_fftshift(self, dim):
    """Results of a transform with the zero frequency moved to the middle of ``dim`` (all dimensions)."""


@composite("fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor", module="fft", files="fft")
def fft_ifftshift(self, dim):
    """The inverse of ``fft_fftshift``."""


# --- signals that change with time


@composite(
    "stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
    "bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
    files="stft",
)
def stft(
    self,
    n_fft,
    hop_length,
    win_length,
    window,
    normalized,
    onesided,
    return_complex,
    align_to_window,
):
    """The transforms of stretches of the signals ``self`` (..., time), ``n_fft`` samples each and ``hop_length``
    apart, weighted by ``window``: (..., frequency, stretch)."""


@composite(
    "stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
    "bool center=True, str pad_mode='reflect', bool normalized=False, bool? onesided=None, "
    "bool? return_complex=None, bool? align_to_window=None) -> Tensor",
    files="stft",
)
def stft_center(
    self,
    n_fft,
    hop_length,
    win_length,
    window,
    center,
    pad_mode,
    normalized,
    onesided,
    return_complex,
    align_to_window,
):
    """``stft`` of signals that are padded by ``n_fft // 2`` at both ends if ``center``, so that stretch t has its
    middle at ``t * hop_length``."""


@composite(
    "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
    "bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) "
    "-> Tensor",
    variants="function method",
    files="stft",
)
def istft(
    self,
    n_fft,
    hop_length,
    win_length,
    window,
    center,
    normalized,
    onesided,
    length,
    return_complex,
):
    """The signals of which ``stft`` made ``self`` (..., frequency, stretch), in the sense of least squares."""
