"""Moving and casting all tensors of a module."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import taeda
from taeda import _C, Tensor
from taeda._main.module_conversion import (
    get_overwrite_module_params_on_conversion,
    get_swap_module_params_on_conversion,
)
from taeda.nn.parameter import Parameter
from taeda.types import Device, _dtype


def _can_take_data(old: Any, new: Any) -> bool:
    """Whether ``old.data = new`` keeps a working tensor: the same class, layout and kind of storage."""
    return type(new) in (Tensor, type(old)) and taeda._has_compatible_shallow_copy_type(old, new)


def _wraps(tensor: Any) -> bool:
    """Whether a subclass keeps its values in tensors of its own, which ``data`` would not reach."""
    return type(tensor) is not Parameter and type(tensor).__torch_dispatch__ is not Tensor.__torch_dispatch__


@_C._overridable
def _parse_to(
    *args: Any,
    device: Device = None,
    dtype: _dtype | None = None,
    non_blocking: bool = False,
    tensor: Any = None,
    memory_format: Any = None,
) -> tuple[Any, Any, bool, Any]:
    """The device, dtype, non_blocking and memory format that the arguments of `Module.to` ask for; None: as before.

    The positional forms are (device, dtype), (dtype) and (tensor), each with non_blocking.
    """
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        tensor = rest.pop(0)
    elif rest and isinstance(rest[0], taeda.dtype):
        dtype = rest.pop(0)
    elif rest:
        device = rest.pop(0)
        if rest and not (rest[0] is None or isinstance(rest[0], taeda.dtype)):
            raise TypeError(f"Module.to: a dtype is expected after a device; got {type(rest[0]).__name__}")
        if rest:
            dtype = rest.pop(0)
    if rest:
        non_blocking = rest.pop(0)
    if rest or not isinstance(non_blocking, bool) or not isinstance(dtype, taeda.dtype | None):
        raise TypeError(
            f"Module.to: expected (device, dtype, non_blocking), (dtype, non_blocking) or (tensor, non_blocking); "
            f"got {', '.join(type(arg).__name__ for arg in args)}"
        )
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    if args and args[0] is None and isinstance(args[-1], bool):
        raise TypeError("Module.to: non_blocking needs a device, a dtype or a tensor before it; got None")
    if device is not None and not isinstance(device, taeda.device):
        if not isinstance(device, (str, int)):
            raise TypeError(f"Module.to: cannot read a device, a dtype or a tensor from a {type(device).__name__}")
        device = taeda.device(device)
    return device, dtype, non_blocking, memory_format


def _swap_parameter(param: Any, value: Tensor, new_grad: Tensor | None) -> None:
    """Exchanges ``param`` with ``value`` as a parameter, and its gradient with ``new_grad``."""
    grad, param.grad = param.grad, None
    value = value if isinstance(value, Parameter) else Parameter(value, param.requires_grad)
    taeda.utils.swap_tensors(param, value)
    if new_grad is not None:
        taeda.utils.swap_tensors(grad, new_grad.requires_grad_(grad.requires_grad))
        param.grad = grad


class ConvertMixin:
    """`to`, `half`, `cuda` and the like; all end in `_apply`."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    children: Callable[[], Any]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replaces every tensor ``t`` by ``fn(t)``; a parameter stays the same object wherever it can."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is not None:
                self._apply_to_parameter(name, param, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def _apply_to_parameter(self, name: str, param: Any, fn: Callable[[Tensor], Tensor]) -> None:
        with taeda.no_grad():
            value = fn(param)
            grad = param.grad
            new_grad = None if grad is None else fn(grad)
        if get_swap_module_params_on_conversion() or _wraps(param):
            _swap_parameter(param, value, new_grad)
            return
        in_place = not get_overwrite_module_params_on_conversion() and _can_take_data(param, value)
        if in_place:
            param.grad = None
            param.data = value
        else:
            param = self._parameters[name] = Parameter(value, param.requires_grad)
        if new_grad is None:
            return
        if in_place and _can_take_data(grad, new_grad):
            grad.data = new_grad
            param.grad = grad
        else:
            param.grad = new_grad.requires_grad_(grad.requires_grad)

    def to(
        self,
        *args: Any,
        device: Device = None,
        dtype: _dtype | None = None,
        non_blocking: bool = False,
        tensor: Any = None,
        memory_format: Any = None,
        copy: bool = False,
    ) -> Self:
        """Moves and casts all parameters and buffers, in place; returns this module.

        Called as ``to(device, dtype)``, ``to(dtype)``, ``to(tensor)`` or ``to(memory_format=...)``. Integer tensors are
        moved, never cast; ``memory_format`` is for tensors of 4 or 5 dimensions.

        Raises:
            TypeError: ``dtype`` is neither floating nor complex, or an argument is none of these.
            RuntimeError: ``copy``, which tensors have, is asked for: a module is converted in place.
        """
        if copy:
            raise RuntimeError("Module.to: a module is converted in place and cannot be copied here; use copy.deepcopy")
        device, dtype, non_blocking, memory_format = _parse_to(
            *args, device=device, dtype=dtype, non_blocking=non_blocking, tensor=tensor, memory_format=memory_format
        )
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"Module.to: a module is cast to floating or complex dtypes only; got {dtype}")
        if dtype is not None and dtype.is_complex:
            warnings.warn("Module.to: not every module computes with complex numbers; a few raise", stacklevel=2)

        def convert(t: Tensor) -> Tensor:
            cast = dtype if t.is_floating_point() or t.is_complex() else None
            if memory_format is not None and t.dim() in (4, 5):
                return t.to(device, cast, non_blocking, memory_format=memory_format)
            return t.to(device, cast, non_blocking)

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Moves all tensors to ``device`` without their values, which are undefined after."""
        return self._apply(lambda t: taeda.empty_like(t, device=device), recurse=recurse)

    def type(self, dst_type: Any) -> Self:
        """Casts all parameters and buffers, integer ones included."""
        return self._apply(lambda t: t.type(dst_type))

    def _cast_floats(self, cast: Callable[[Tensor], Tensor]) -> Self:
        return self._apply(lambda t: cast(t) if t.is_floating_point() else t)

    def float(self) -> Self:
        """Casts floating parameters and buffers to float32."""
        return self._cast_floats(lambda t: t.float())

    def double(self) -> Self:
        """Casts floating parameters and buffers to float64."""
        return self._cast_floats(lambda t: t.double())

    def half(self) -> Self:
        """Casts floating parameters and buffers to float16."""
        return self._cast_floats(lambda t: t.half())

    def bfloat16(self) -> Self:
        """Casts floating parameters and buffers to bfloat16."""
        return self._cast_floats(lambda t: t.bfloat16())

    def cpu(self) -> Self:
        """Moves all parameters and buffers to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Device = None) -> Self:
        """Moves all parameters and buffers to a GPU, by default the current one."""
        return self._apply(lambda t: t.cuda(device))

    def share_memory(self) -> Self:
        """Moves all parameters and buffers to shared memory."""
        return self._apply(lambda t: t.share_memory_())
