"""The libraries and devices that may compute: which of them this build has, and their switches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
else:

    def __getattr__(name: str) -> Any:
        if name in _PARTS:
            import importlib

            return importlib.import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PARTS})
