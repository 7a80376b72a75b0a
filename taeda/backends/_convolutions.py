"""By which of PyTorch's names a convolution goes: its profilers and compilers ask."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda.backends import mkldnn

_ConvBackend = enum.IntEnum(
    "_ConvBackend",
    {
        "CudaDepthwise2d": 0, "CudaDepthwise3d": 1, "Cudnn": 2, "CudnnTranspose": 3, "Empty": 4, "Miopen": 5,
        "MiopenDepthwise": 6, "MiopenTranspose": 7, "Mkldnn": 8, "MkldnnTranspose": 9, "MkldnnEmpty": 10,
        "NnpackSpatial": 11, "Overrideable": 12, "Slow2d": 13, "Slow3d": 14, "SlowDilated2d": 15,
        "SlowDilated3d": 16, "SlowTranspose2d": 17, "SlowTranspose3d": 18, "Winograd3x3Depthwise": 19,
        "Xnnpack2d": 20, "Mps": 21, "MpsTranspose": 22,
    },
)  # fmt: skip
_ONEDNN_DTYPES = (taeda.float32, taeda.bfloat16, taeda.float16)


def _select_conv_backend(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    bias_sizes: Sequence[int] | None = None,
) -> _ConvBackend:
    """The name of the kernel that PyTorch would run on the CPU for ``convolution`` of these arguments. Here oneDNN
    computes each of them that it has a dtype for, whatever its switch says.

    Raises:
        RuntimeError: the shapes do not fit each other.
    """
    x, kernels = (taeda.empty(t.shape, dtype=t.dtype, device="meta") for t in (input, weight))
    offsets = None if bias is None else taeda.empty(bias.shape, dtype=bias.dtype, device="meta")
    taeda.convolution(x, kernels, offsets, stride, padding, dilation, transposed, output_padding, groups)
    is_opaque = input.is_mkldnn
    if not input.shape[0] or not input.shape[1]:
        return _ConvBackend.MkldnnEmpty if is_opaque else _ConvBackend.Empty
    if is_opaque or (mkldnn.enabled and input.dtype in _ONEDNN_DTYPES):
        return _ConvBackend.MkldnnTranspose if transposed else _ConvBackend.Mkldnn
    rank = "3d" if input.dim() == 5 else "2d"
    dilated = "Dilated" if any(d != 1 for d in dilation) else ""
    return _ConvBackend[f"Slow{'Transpose' if transposed else dilated}{rank}"]
