"""What optimisers that follow PyTorch's are built of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import taeda
from taeda import Tensor
from taeda.utils._foreach_utils import _get_foreach_kernels_supported_devices, _get_fused_kernels_supported_devices

__all__ = [
    "_capturable_doc", "_device_dtype_check_for_fused", "_differentiable_doc", "_disable_dynamo_if_unsupported",
    "_foreach_doc", "_fused_doc", "_get_capturable_supported_devices", "_get_foreach_kernels_supported_devices",
    "_get_fused_kernels_supported_devices", "_get_scalar_dtype", "_get_value", "_maximize_doc", "_params_doc",
    "_stack_if_compiling", "_to_scalar", "_view_as_real",
]  # fmt: skip

_F = TypeVar("_F", bound=Callable[..., Any])

_params_doc = "params (iterable): parameters, groups of them as dicts, or pairs of names and parameters"
_foreach_doc = "foreach (bool, optional): update all parameters by functions of lists (default: None)"
_fused_doc = "fused (bool, optional): update in one kernel (default: None)"
_capturable_doc = "capturable (bool, optional): steps are safe in a CUDA graph (default: False)"
_differentiable_doc = "differentiable (bool, optional): steps record gradients (default: False)"
_maximize_doc = "maximize (bool, optional): ascend instead of descend (default: False)"


def _get_value(x: Any) -> Any:
    """The number in a tensor of one element; anything else as it is."""
    return x.item() if isinstance(x, Tensor) else x


def _stack_if_compiling(x: Any) -> Any:
    """``x``: nothing is being compiled."""
    return x


def _to_scalar(x: Any) -> Any:
    """A tensor of one element without dimensions; anything else as it is."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() else x


def _view_as_real(params: list[Any], *state_and_grads: list[Any]) -> None:
    """Puts views of real numbers in place of complex parameters, and of what stands beside them in the other lists."""
    for index, param in enumerate(params):
        if taeda.is_complex(param):
            for one in (params, *state_and_grads):
                one[index] = taeda.view_as_real(one[index])


def _get_scalar_dtype(is_fused: bool | None = None) -> taeda.dtype:
    """Of step counts."""
    double = taeda.get_default_dtype() == taeda.float64 and not is_fused
    return taeda.float64 if double else taeda.float32


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Types of devices with graphs that can be captured."""
    devices = ["cuda", "xpu", "hpu", taeda._C._get_privateuse1_backend_name()]
    return [*devices, "xla"] if supports_xla else devices


def _device_dtype_check_for_fused(p: Tensor, cuda_unsupported: bool = False) -> None:
    """RuntimeError for a parameter that has no fused step."""
    supported = [name for name in _get_fused_kernels_supported_devices() if not (cuda_unsupported and name == "cuda")]
    if p.device.type not in supported or not taeda.is_floating_point(p):
        raise RuntimeError(
            f"taeda.optim: fused=True takes floating point parameters on {', '.join(supported)}; got {p.dtype} on "
            f"{p.device}"
        )


def _disable_dynamo_if_unsupported(single_tensor_fn: Any = None) -> Callable[[_F], _F]:
    """What leaves a function as it is: there is no Dynamo."""
    return lambda function: function
