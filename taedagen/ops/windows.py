"""Window functions: weights that fade towards both ends."""

from taedagen.opdef import *
from taedagen.opdef.samples import S


@composite(
    "hann_window(int window_length, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="windows",
    samples=[S(7), S(8), S(1), S(0)],
)
def hann_window(window_length, dtype, layout, device, pin_memory):
    """Half a cosine wave, ``0.5 - 0.5 cos(2 pi n / (N - 1))``; periodic: N + 1 for N, the last one dropped."""


@composite(
    "hann_window.periodic(int window_length, bool periodic, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="windows",
    samples=[S(7, True), S(7, False), S(1, False)],
)
def hann_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """Half a cosine wave, ``0.5 - 0.5 cos(2 pi n / (N - 1))``; periodic: N + 1 for N, the last one dropped."""


@composite(
    "hamming_window(int window_length, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="windows",
    samples="hann_window",
)
def hamming_window(window_length, dtype, layout, device, pin_memory):
    """``alpha - beta cos(2 pi n / (N - 1))``; periodic: N + 1 for N, the last one dropped."""


@composite(
    "hamming_window.periodic(int window_length, bool periodic, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="windows",
    samples="hann_window.periodic",
)
def hamming_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """``alpha - beta cos(2 pi n / (N - 1))``; periodic: N + 1 for N, the last one dropped."""


@composite(
    "hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="windows",
    samples=[S(7, True, 0.6)],
)
def hamming_window_alpha(window_length, periodic, alpha, dtype, layout, device, pin_memory):
    """``alpha - beta cos(2 pi n / (N - 1))``; beta is 0.46."""


@composite(
    "hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="windows",
    samples=[S(7, True, 0.6, 0.4)],
)
def hamming_window_alpha_beta(window_length, periodic, alpha, beta, dtype, layout, device, pin_memory):
    """``alpha - beta cos(2 pi n / (N - 1))``."""


@composite(
    "blackman_window(int window_length, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="windows",
    samples="hann_window",
)
def blackman_window(window_length, dtype, layout, device, pin_memory):
    """``0.42 - 0.5 cos(2 pi n / (N - 1)) + 0.08 cos(4 pi n / (N - 1))``; periodic: N + 1 for N, the last one
    dropped."""


@composite(
    "blackman_window.periodic(int window_length, bool periodic, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="windows",
    samples="hann_window.periodic",
)
def blackman_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """``0.42 - 0.5 cos(2 pi n / (N - 1)) + 0.08 cos(4 pi n / (N - 1))``; periodic: N + 1 for N, the last one
    dropped."""


@composite(
    "bartlett_window(int window_length, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="windows",
    samples="hann_window",
)
def bartlett_window(window_length, dtype, layout, device, pin_memory):
    """A triangle, ``1 - |2 n / (N - 1) - 1|``; periodic: N + 1 for N, the last one dropped."""


@composite(
    "bartlett_window.periodic(int window_length, bool periodic, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="windows",
    samples="hann_window.periodic",
)
def bartlett_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """A triangle, ``1 - |2 n / (N - 1) - 1|``; periodic: N + 1 for N, the last one dropped."""


@composite(
    "kaiser_window(int window_length, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="windows",
    samples="hann_window",
)
def kaiser_window(window_length, dtype, layout, device, pin_memory):
    """``i0(beta sqrt(1 - (2 n / (N - 1) - 1)^2)) / i0(beta)``; periodic: N + 1 for N, the last one dropped."""


@composite(
    "kaiser_window.periodic(int window_length, bool periodic, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="windows",
    samples="hann_window.periodic",
)
def kaiser_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """``i0(beta sqrt(1 - (2 n / (N - 1) - 1)^2)) / i0(beta)``; periodic: N + 1 for N, the last one dropped."""


@composite(
    "kaiser_window.beta(int window_length, bool periodic, float beta, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="windows",
    samples=[S(7, True, 8.0)],
)
def kaiser_window_beta(window_length, periodic, beta, dtype, layout, device, pin_memory):
    """``i0(beta sqrt(1 - (2 n / (N - 1) - 1)^2)) / i0(beta)``; a larger ``beta`` makes it narrower."""
