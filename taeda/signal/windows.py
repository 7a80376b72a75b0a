"""Windows: the weights by which a signal is multiplied before its spectrum is taken.

Every function gives a tensor of size ``(M,)``. With ``sym=True`` the window is symmetric, for filters; with
``sym=False`` it is one period of a window that goes on, for spectra: the symmetric one of ``M + 1`` without its last
value. The values are computed in double precision and then rounded to ``dtype``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import taeda
from taeda import Tensor

if TYPE_CHECKING:
    from taeda.types import Device, _dtype

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
]  # fmt: skip


def _window(
    name: str, M: Any, shape: Callable[[Tensor, float], Tensor], *, sym: bool = True, dtype: _dtype | None = None,
    layout: Any = taeda.strided, device: Device = None, requires_grad: bool = False, **unknown: Any,
) -> Tensor:  # fmt: skip
    """``shape(n, period)`` at the points ``n`` = 0, 1, ... M - 1, for a window of that period.

    Raises:
        TypeError: ``M`` is no integer, or there is no option of a name.
        ValueError: ``M`` is negative, ``dtype`` is neither float32 nor float64, or ``layout`` is not strided.
    """
    function = f"taeda.signal.windows.{name}"
    if unknown:
        raise TypeError(f"{function}: there is no option {next(iter(unknown))!r}")
    try:
        size = operator.index(M)
    except TypeError:
        raise TypeError(f"{function}: M must be an integer; got {type(M).__name__}") from None
    if size < 0:
        raise ValueError(f"{function}: M must not be negative; got {size}")
    dtype = taeda.get_default_dtype() if dtype is None else dtype
    if dtype not in (taeda.float32, taeda.float64):
        raise ValueError(f"{function}: dtype must be float32 or float64; got {dtype}")
    if layout is not taeda.strided:
        raise ValueError(f"{function}: layout must be strided; got {layout}")
    with taeda.no_grad():
        points = taeda.arange(size, dtype=taeda.float64, device=device)
        values = taeda.ones_like(points) if size < 2 else shape(points, size - 1 if sym else size)
        return values.to(dtype).requires_grad_(requires_grad)


def _positive(function: str, name: str, value: Any) -> float:
    if value <= 0:
        raise ValueError(f"taeda.signal.windows.{function}: {name} must be positive; got {value}")
    return float(value)


def bartlett(M: int, **options: Any) -> Tensor:
    """A triangle from 0 up to 1 and down to 0. ``options``: ``sym``, ``dtype``, ``layout``, ``device`` and
    ``requires_grad``, as everywhere here."""
    return _window("bartlett", M, lambda n, period: 1 - (2 * n / period - 1).abs(), **options)


def blackman(M: int, **options: Any) -> Tensor:
    """Three terms of cosines: `general_cosine` with 0.42, 0.5, 0.08."""
    return _cosines("blackman", M, [0.42, 0.5, 0.08], **options)


def cosine(M: int, **options: Any) -> Tensor:
    """Half a period of a sine, none of whose values is 0."""
    return _window("cosine", M, lambda n, period: (math.pi * (n + 0.5) / (period + 1)).sin(), **options)


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Any) -> Tensor:
    """``exp(-abs(n - center) / tau)``; ``center`` is the middle unless given.

    Raises:
        ValueError: ``tau`` is not positive, or a ``center`` is given with ``sym=True``.
    """
    tau = _positive("exponential", "tau", tau)
    if sym and center is not None:
        raise ValueError("taeda.signal.windows.exponential: a symmetric window takes no center")

    def shape(n: Tensor, period: float) -> Tensor:
        return (-(n - (period / 2 if center is None else center)).abs() / tau).exp()

    return _window("exponential", M, shape, sym=sym, **options)


def gaussian(M: int, *, std: float = 1.0, **options: Any) -> Tensor:
    """``exp(-((n - middle) / std)**2 / 2)``.

    Raises:
        ValueError: ``std`` is not positive.
    """
    std = _positive("gaussian", "std", std)
    return _window("gaussian", M, lambda n, period: (-(((n - period / 2) / std) ** 2) / 2).exp(), **options)


def general_cosine(M: int, *, a: Iterable[float], **options: Any) -> Tensor:
    """``a[0] - a[1] cos(x) + a[2] cos(2 x) - ...`` with ``x`` from 0 to 2 pi.

    Raises:
        TypeError: ``a`` holds no numbers.
        ValueError: ``a`` is empty.
    """
    if not isinstance(a, Iterable):
        raise TypeError(f"taeda.signal.windows.general_cosine: a must be a list of numbers; got {type(a).__name__}")
    return _cosines("general_cosine", M, [float(weight) for weight in a], **options)


def _cosines(name: str, M: int, weights: list[float], **options: Any) -> Tensor:
    if not weights:
        raise ValueError(f"taeda.signal.windows.{name}: a must not be empty")

    def shape(n: Tensor, period: float) -> Tensor:
        x = n * (2 * math.pi / period)
        total = taeda.zeros_like(x)
        for k, weight in enumerate(weights):
            total = total + (-1) ** k * weight * (k * x).cos()
        return total

    return _window(name, M, shape, **options)


def general_hamming(M: int, *, alpha: float = 0.54, **options: Any) -> Tensor:
    """``alpha - (1 - alpha) cos(x)`` with ``x`` from 0 to 2 pi."""
    return _cosines("general_hamming", M, [float(alpha), 1.0 - float(alpha)], **options)


def hamming(M: int, **options: Any) -> Tensor:
    """`general_hamming` with 0.54: its ends are 0.08."""
    return _cosines("hamming", M, [0.54, 0.46], **options)


def hann(M: int, **options: Any) -> Tensor:
    """`general_hamming` with 0.5: its ends are 0."""
    return _cosines("hann", M, [0.5, 0.5], **options)


def kaiser(M: int, *, beta: float = 12.0, **options: Any) -> Tensor:
    """``i0(beta sqrt(1 - y**2)) / i0(beta)`` with ``y`` from -1 to 1.

    Raises:
        ValueError: ``beta`` is negative.
    """
    if beta < 0:
        raise ValueError(f"taeda.signal.windows.kaiser: beta must not be negative; got {beta}")
    beta = float(beta)

    def shape(n: Tensor, period: float) -> Tensor:
        y = 2 * n / period - 1
        i0 = taeda.special.i0
        return i0(beta * (1 - y * y).clamp(min=0).sqrt()) / i0(taeda.full((), beta, dtype=y.dtype, device=y.device))

    return _window("kaiser", M, shape, **options)


def nuttall(M: int, **options: Any) -> Tensor:
    """Four terms of cosines: `general_cosine` with 0.3635819, 0.4891775, 0.1365995, 0.0106411."""
    return _cosines("nuttall", M, [0.3635819, 0.4891775, 0.1365995, 0.0106411], **options)
