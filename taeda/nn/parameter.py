"""Parameters and buffers: tensors that a module knows as its own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Self

import taeda
from taeda import Tensor
from taeda._C import _disabled_torch_function_impl
from taeda.types import Device, _dtype

__all__ = [
    "Parameter",
    "UninitializedParameter",
    "is_lazy",
    "Buffer",
    "UninitializedBuffer",
    "UninitializedTensorMixin",
]


class _MarkedMeta(type(Tensor)):  # type: ignore[misc]
    """Makes ``isinstance`` also accept a tensor of another subclass that carries the class's mark."""

    _mark: str

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        mark = cls.__dict__.get("_mark")
        return mark is not None and isinstance(instance, Tensor) and getattr(instance, mark, False)


class Parameter(Tensor, metaclass=_MarkedMeta):
    """A tensor that, set as an attribute of a `Module`, becomes one of its parameters.

    Args:
        data: the values; shared, not copied. ``None`` means an empty tensor.
        requires_grad: whether gradients are recorded; note the default, ``True``, which ``no_grad`` does not change.

    ``Parameter(x)`` for an ``x`` of a tensor subclass of its own keeps that subclass; ``isinstance`` still says yes.
    """

    _mark = "_is_param"

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Self:
        if data is None:
            data = taeda.empty(0)
        if type(data) is Tensor or type(data) is Parameter:
            return Tensor._make_subclass(cls, data, requires_grad)
        wrapped = data.detach()
        if type(wrapped) is not type(data):
            raise RuntimeError(
                f"taeda.nn.Parameter: detach() of a {type(data).__name__} gave a {type(wrapped).__name__}; a tensor "
                "subclass used as a parameter must return its own type from detach()"
            )
        wrapped.requires_grad = requires_grad
        wrapped._is_param = True
        return wrapped

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            copied = self.data.clone(memory_format=taeda.preserve_format)
            memo[id(self)] = type(self)(copied, self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:  # type: ignore[override]
        # Printed as a plain tensor: the class stands in the first line.
        shown = self.data
        shown.requires_grad = self.requires_grad
        return f"Parameter containing:\n{shown!r}"

    def __reduce_ex__(self, proto: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        attributes = vars(self)
        if not attributes:
            return _rebuild_parameter, (self.data, self.requires_grad, OrderedDict())
        return _rebuild_parameter_with_state, (self.data, self.requires_grad, OrderedDict(), dict(attributes))

    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    param = Parameter(data, requires_grad)
    param._backward_hooks = backward_hooks
    return param


def _rebuild_parameter_with_state(
    data: Tensor, requires_grad: bool, backward_hooks: Any, state: dict[str, Any]
) -> Parameter:
    param = _rebuild_parameter(data, requires_grad, backward_hooks)
    for name, value in state.items():
        setattr(param, name, value)
    return param


class Buffer(Tensor, metaclass=_MarkedMeta):
    """A tensor that, set as an attribute of a `Module`, becomes one of its buffers.

    Args:
        data: the values; shared, not copied. ``None`` means an empty tensor.
        persistent: whether the buffer is part of the module's ``state_dict``.
    """

    _mark = "_is_buffer"

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Self:
        if data is None:
            data = taeda.empty(0)
        buffer = data.detach()
        buffer.requires_grad = data.requires_grad
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer

    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]


class UninitializedTensorMixin:
    """A tensor without a shape yet: a lazy module gives it one at its first forward."""

    _allowed_methods = frozenset(
        {"__hash__", "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char", "short",
         "int", "long", "cuda", "cpu", "to", "get_device", "_has_compatible_shallow_copy_type"}
    )  # fmt: skip
    cls_to_become: Any

    def materialize(self, shape: Any, device: Device = None, dtype: _dtype | None = None) -> None:
        """Gives the tensor its shape: from here on it is an ordinary parameter or buffer of undefined values."""
        this: Any = self
        device = this.data.device if device is None else device
        dtype = this.data.dtype if dtype is None else dtype
        this.data = taeda.empty(shape, device=device, dtype=dtype)
        this.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            f"taeda.nn: a {type(self).__name__} has no shape before its lazy module ran forward once (or materialize())"
        )

    def share_memory_(self) -> Any:
        raise RuntimeError(
            f"taeda.nn: a {type(self).__name__} has no memory to share before its lazy module ran forward once"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, proto: Any) -> Any:
        this: Any = self
        return type(self), (this.requires_grad,)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        # A property getter arrives as the bare slot method `__get__`; a setter of `data` arrives as `__set__`.
        if name in cls._allowed_methods or name in {"__get__", "__set__", "__delete__"}:
            return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[misc]
        raise ValueError(
            f"taeda.{name}: a {cls.__name__} has no values yet; run the lazy module's forward once before using its "
            "parameters"
        )


def is_lazy(param: Any) -> bool:
    """Whether ``param`` still waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A `Parameter` whose shape a lazy module finds at its first forward."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Device = None, dtype: _dtype | None = None) -> Self:
        return Tensor._make_subclass(cls, taeda.empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> UninitializedParameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """A buffer whose shape a lazy module finds at its first forward."""

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Device = None, dtype: _dtype | None = None, persistent: bool = True
    ) -> Any:
        buffer: Any = Tensor._make_subclass(cls, taeda.empty(0, device=device, dtype=dtype), requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer
