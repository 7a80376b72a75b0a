"""How quantised tensors make numbers of integers: ``per_tensor_affine`` and its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taeda import _C

if TYPE_CHECKING:
    from taeda import Tensor


class qscheme:
    """One of the schemes that ``Tensor.qscheme`` gives; there is one object of each."""

    __module__ = "taeda"

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


per_tensor_affine = qscheme("per_tensor_affine")
per_channel_affine = qscheme("per_channel_affine")
per_tensor_symmetric = qscheme("per_tensor_symmetric")
per_channel_symmetric = qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")
# In the order of core/quantized.h.
SCHEMES = (
    per_tensor_affine,
    per_channel_affine,
    per_tensor_symmetric,
    per_channel_symmetric,
    per_channel_affine_float_qparams,
)


def scheme_of(tensor: Tensor) -> qscheme:
    """``Tensor.qscheme``."""
    return SCHEMES[_C._functions._qscheme(tensor)]


def parameters_of(tensor: Tensor) -> tuple[Any, ...]:
    """The scheme of a quantised tensor and its numbers: scale and zero point, or those by channel and the axis."""
    scheme = scheme_of(tensor)
    if scheme is per_tensor_affine:
        return scheme, tensor.q_scale(), tensor.q_zero_point()
    return scheme, tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points(), tensor.q_per_channel_axis()
