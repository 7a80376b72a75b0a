"""Sharing memory with other array libraries through DLPack."""

from __future__ import annotations

import enum
from typing import Any

from taeda import _C, Tensor

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """The numbers by which DLPack knows kinds of devices."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule, to be taken once by another library; ``from_dlpack`` of that library takes the tensor itself too."""
    return tensor.__dlpack__()


from_dlpack = _C.from_dlpack
