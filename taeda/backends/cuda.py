"""CUDA: this build has none. The switches keep what they are told, for programs that set them wherever they run."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

from taeda import Tensor
from taeda._main import precision
from taeda._main.absent_devices import BUILT, Absent

__all__ = [
    "SDPAParams",
    "allow_fp16_bf16_reduction_math_sdp",
    "can_use_cudnn_attention",
    "can_use_efficient_attention",
    "can_use_flash_attention",
    "cudnn_sdp_enabled",
    "cufft_plan_cache",
    "enable_cudnn_sdp",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "fp16_bf16_reduction_math_sdp_allowed",
    "is_built",
    "is_ck_sdpa_available",
    "is_flash_attention_available",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
    "preferred_blas_library",
    "preferred_linalg_library",
    "preferred_rocm_fa_library",
    "sdp_kernel",
]


def is_built() -> bool:
    """Whether this build can use CUDA: no."""
    return BUILT["cuda"]


class _Matmul(precision.Precision):
    """What matrix products may do for speed."""

    __slots__ = (
        "allow_bf16_reduced_precision_reduction",
        "allow_fp16_accumulation",
        "allow_fp16_reduced_precision_reduction",
    )

    def __init__(self) -> None:
        super().__init__("cuda", "matmul")
        self.allow_fp16_accumulation = False
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True

    @property
    def allow_tf32(self) -> bool:
        """Whether they may take TF32: the older name of ``fp32_precision = "tf32"``."""
        return self.fp32_precision == "tf32"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        self.fp32_precision = "tf32" if allowed else "ieee"


matmul = _Matmul()


_preferred = {"linalg": "default", "blas": "default", "rocm_fa": "default"}


def _prefer(kind: str, backend: Any, known: tuple[str, ...]) -> str:
    if backend is not None:
        if str(backend).lower() not in known:
            raise RuntimeError(
                f"taeda.backends.cuda.preferred_{kind}_library: takes one of {', '.join(known)}; got {backend!r}"
            )
        _preferred[kind] = str(backend).lower()
    return _preferred[kind]


def preferred_linalg_library(backend: Any = None) -> str:
    """Which library factorises on a GPU; remembered."""
    return _prefer("linalg", backend, ("default", "cusolver", "magma"))


def preferred_blas_library(backend: Any = None) -> str:
    """Which library multiplies on a GPU; remembered."""
    return _prefer("blas", backend, ("default", "cublas", "cublaslt", "ck", "hipblaslt"))


def preferred_rocm_fa_library(backend: Any = None) -> str:
    """Which library computes attention on an AMD GPU; remembered."""
    return _prefer("rocm_fa", backend, ("default", "aotriton", "ck"))


# --- ways to compute attention, which `taeda.nn.attention.sdpa_kernel` chooses among

attention_ways = dict.fromkeys(("cudnn", "flash", "mem_efficient", "math", "overrideable"), True)
_allowed = {"fp16_bf16_reduction_math_sdp": False}


def flash_sdp_enabled() -> bool:
    """Whether attention may be computed by the algorithm called Flash."""
    return attention_ways["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Sets whether it may."""
    attention_ways["flash"] = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """Whether attention may be computed by the algorithm that takes little memory."""
    return attention_ways["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Sets whether it may."""
    attention_ways["mem_efficient"] = bool(enabled)


def math_sdp_enabled() -> bool:
    """Whether attention may be computed by the formula, step by step."""
    return attention_ways["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Sets whether it may."""
    attention_ways["math"] = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """Whether attention may be computed by cuDNN."""
    return attention_ways["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Sets whether it may."""
    attention_ways["cudnn"] = bool(enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Whether the formula may add up in half precision."""
    return _allowed["fp16_bf16_reduction_math_sdp"]


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Sets whether it may."""
    _allowed["fp16_bf16_reduction_math_sdp"] = bool(enabled)


class SDPAParams(NamedTuple):
    """The arguments of an attention, to ask who can compute it."""

    query: Tensor
    key: Tensor
    value: Tensor
    attn_mask: Tensor | None
    dropout: float
    is_causal: bool
    enable_gqa: bool


def is_flash_attention_available() -> bool:
    """Whether this build has Flash for CUDA: no."""
    return False


def is_ck_sdpa_available() -> bool:
    """Whether this build has attention by Composable Kernel: no."""
    return False


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether Flash on a GPU can compute it: no."""
    return False


def can_use_efficient_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether the algorithm of little memory on a GPU can compute it: no."""
    return False


def can_use_cudnn_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether cuDNN can compute it: no."""
    return False


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[dict[Any, Any]]:
    """The older form of `taeda.nn.attention.sdpa_kernel`; the newer one warns of nothing."""
    warnings.warn("taeda.backends.cuda.sdp_kernel: use taeda.nn.attention.sdpa_kernel", FutureWarning, stacklevel=3)
    before = dict(attention_ways)
    attention_ways.update(
        flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn, overrideable=False
    )
    try:
        yield {}
    finally:
        attention_ways.update(before)


# --- the cache of cuFFT's plans


class _PlanCache:
    """The plans of one device: how many there are (``size``), may be (``max_size``), and ``clear()``."""

    def __getitem__(self, device: Any) -> _PlanCache:
        return self

    def __getattr__(self, name: str) -> Any:
        if name not in ("size", "max_size", "clear"):
            raise AttributeError(f"taeda.backends.cuda.cufft_plan_cache has no attribute '{name}'")
        return Absent("cuda").refuse(f"cufft_plan_cache.{name}")


cufft_plan_cache = _PlanCache()
