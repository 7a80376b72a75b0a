"""The libraries and devices that may compute: which of them this build has, and their switches."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from taeda._main import precision

_PARTS = ("cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized")


if TYPE_CHECKING:
    from taeda.backends import cpu as cpu
    from taeda.backends import cuda as cuda
    from taeda.backends import cudnn as cudnn
    from taeda.backends import mha as mha
    from taeda.backends import mkl as mkl
    from taeda.backends import mkldnn as mkldnn
    from taeda.backends import mps as mps
    from taeda.backends import openmp as openmp
    from taeda.backends import opt_einsum as opt_einsum
    from taeda.backends import quantized as quantized

    fp32_precision: str
else:
    sys.modules[__name__].__class__ = precision.Switches

    def __getattr__(name: str) -> Any:
        if name in _PARTS:
            import importlib

            return importlib.import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def set_flags(_fp32_precision: str = precision.NONE) -> tuple[str]:
    """Sets how exactly all libraries may compute with float32, unless it is ``"none"``; gives what was before."""
    return (precision.set_flags("generic", _fp32_precision),)


@contextlib.contextmanager
def flags(fp32_precision: str = precision.NONE) -> Iterator[None]:
    """The switch set for a scope."""
    with precision.kept():
        set_flags(fp32_precision)
        yield


def __dir__() -> list[str]:
    return sorted({*globals(), *_PARTS, "fp32_precision"})
