"""CUDA: this build has none. The switches keep what they are told, for programs that set them wherever they run."""

from __future__ import annotations

from taeda._main.absent_devices import BUILT

__all__ = ["is_built", "matmul"]


def is_built() -> bool:
    """Whether this build can use CUDA: no."""
    return BUILT["cuda"]


class _Matmul:
    """What matrix products may do for speed."""

    __slots__ = (
        "allow_bf16_reduced_precision_reduction",
        "allow_fp16_accumulation",
        "allow_fp16_reduced_precision_reduction",
        "allow_tf32",
    )

    def __init__(self) -> None:
        self.allow_tf32 = False
        self.allow_fp16_accumulation = False
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True


matmul = _Matmul()
