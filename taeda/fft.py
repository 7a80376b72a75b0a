"""Fourier transforms: the natives named ``fft_*`` under their short names."""

from __future__ import annotations

from taeda import _C
from taeda import Tensor as Tensor

globals().update({name.removeprefix("fft_"): value for name, value in vars(_C._fft).items() if name.startswith("fft_")})
__all__ = sorted(name for name in globals() if not name.startswith("_") and name != "annotations")


def __getattr__(name: str) -> object:
    from taeda._main.absent import missing

    raise missing(__name__, name)
