"""``finfo`` and ``iinfo``: the limits of the number types."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import dtype

# By name: bits, the gap after 1, the smallest normal number, the largest number, decimal digits.
_FORMATS = {
    "float16": (16, 2.0**-10, 2.0**-14, 65504.0, 3),
    "bfloat16": (16, 2.0**-7, 2.0**-126, (2 - 2.0**-7) * 2.0**127, 2),
    "float32": (32, 2.0**-23, 2.0**-126, (2 - 2.0**-23) * 2.0**127, 6),
    "float64": (64, 2.0**-52, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023, 15),
    "float8_e4m3fn": (8, 2.0**-3, 2.0**-6, 448.0, 0),
    "float8_e4m3fnuz": (8, 2.0**-3, 2.0**-7, 240.0, 0),
    "float8_e5m2": (8, 2.0**-2, 2.0**-14, 57344.0, 0),
    "float8_e5m2fnuz": (8, 2.0**-3, 2.0**-15, 57344.0, 0),  # the gap is 1/4, but programs know PyTorch's 1/8
    "float8_e8m0fnu": (8, 1.0, 2.0**-127, 2.0**127, 0),
}

_INTEGERS = frozenset(f"torch.{sign}int{bits}" for sign in ("u", "") for bits in (8, 16, 32, 64)) | {
    "torch.quint8", "torch.qint8", "torch.qint32",
}  # fmt: skip


class _Info:
    """What both share: equal by dtype, not hashable."""

    __slots__ = ("bits", "dtype", "max", "min")
    __hash__ = None  # type: ignore[assignment]

    bits: int
    dtype: str
    max: Any
    min: Any

    def __eq__(self, other: object) -> bool:
        return self.dtype == other.dtype if isinstance(other, type(self)) else NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (getattr(taeda, self.dtype),)


class finfo(_Info):
    """The limits of a floating-point dtype; of a complex one, those of its parts.

    Args:
        type: a dtype, the Python type ``float``, or None for the default dtype.

    Attributes: ``bits``; ``eps``, the gap after 1; ``max`` and ``min``; ``smallest_normal`` (also called ``tiny``);
    ``resolution``, the decimal digits that are sure to survive; ``dtype``, the name.

    Raises:
        TypeError: the dtype is not floating-point.
    """

    __module__ = "taeda"

    __slots__ = ("eps", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: Any = None) -> None:
        given = taeda.get_default_dtype() if type is None else taeda.float64 if type is float else type
        if not isinstance(given, dtype) or not (given.is_floating_point or given.is_complex):
            raise TypeError(f"taeda.finfo: takes a floating-point dtype (taeda.iinfo is for integers); got {given!r}")
        self.dtype = str(given.to_real()).rpartition(".")[2]
        self.bits, self.eps, self.smallest_normal, self.max, digits = _FORMATS[self.dtype]
        self.tiny = self.smallest_normal
        self.min = -self.max if given.is_signed else self.tiny
        self.resolution = float(f"1e-{digits}")

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return "finfo(" + "".join(f"{name}={getattr(self, name):g}, " for name in names) + f"dtype={self.dtype})"


class iinfo(_Info):
    """The limits of an integer dtype.

    Args:
        type: a dtype or the Python type ``int``.

    Attributes: ``bits``, ``max``, ``min``; ``dtype``, the name.

    Raises:
        TypeError: the dtype is not an integer type.
    """

    __module__ = "taeda"

    __slots__ = ()

    def __init__(self, type: Any) -> None:
        given = taeda.int64 if type is int else type
        if not isinstance(given, dtype) or str(given) not in _INTEGERS:
            raise TypeError(f"taeda.iinfo: takes an integer dtype (taeda.finfo is for floating point); got {given!r}")
        self.dtype = str(given).rpartition(".")[2]
        self.bits = 8 * given.itemsize
        signed = "uint" not in self.dtype  # quantised ones, too
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -self.max - 1 if signed else 0

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
