"""How tensors go through plain ``pickle``; files of ``save`` have ways of their own."""

from __future__ import annotations

from typing import Any

from taeda import _C


def rebuild_tensor(storage: Any, dtype: Any, offset: int, size: tuple[int, ...], stride: tuple[int, ...],
                   requires_grad: bool, conj: bool = False, neg: bool = False) -> Any:  # fmt: skip
    """A tensor over ``storage`` (an UntypedStorage; None: on meta) with the given geometry in elements, lazily
    conjugated or negated."""
    if storage is None:
        tensor = _C._functions.empty_strided(size, stride, dtype=dtype, device="meta")
    else:
        tensor = _C._functions.empty(0, dtype=dtype, device=storage.device).set_(storage, offset, size, stride)
    tensor = with_bits(tensor, conj, neg)
    return tensor.requires_grad_() if requires_grad else tensor


def reduce_quantized(tensor: Any) -> tuple[Any, tuple[Any, ...]]:
    """How a quantised tensor goes: its integers, and what makes numbers of them."""
    from taeda._main.schemes import parameters_of

    _, *numbers = parameters_of(tensor)
    return rebuild_quantized, (tensor.int_repr(), tensor.dtype, tuple(tensor.shape), *numbers)


def rebuild_quantized(integers: Any, dtype: Any, size: tuple[int, ...], *numbers: Any) -> Any:
    """A quantised tensor of the given integers, or of the bytes that its elements share."""
    if tuple(integers.shape) == size and dtype not in (_C.quint4x2, _C.quint2x4):
        return _C._functions._as_quantized(integers, dtype, *numbers)
    if len(numbers) == 2:
        made = _C._functions._empty_affine_quantized(size, dtype=dtype, scale=numbers[0], zero_point=numbers[1])
    else:
        made = _C._functions._empty_per_channel_affine_quantized(
            size, scales=numbers[0], zero_points=numbers[1], axis=numbers[2], dtype=dtype
        )
    _C._functions._integers(made).copy_(integers)
    return made


def bits(tensor: Any) -> tuple[bool, ...]:
    """The last arguments of `rebuild_tensor`."""
    return (tensor.is_conj(), tensor.is_neg()) if tensor.is_conj() or tensor.is_neg() else ()


def with_bits(tensor: Any, conj: bool, neg: bool) -> Any:
    """``tensor``, lazily conjugated and negated as asked, and not as a view."""
    if conj:
        tensor = _C._functions._conj(tensor).detach()
    return _C._functions._neg_view(tensor).detach() if neg else tensor


def rebuild_with_state(cls: type, arguments: tuple[Any, ...], state: dict[str, Any]) -> Any:
    """A subclass instance and its attributes."""
    untracked = (*arguments[:5], False, *arguments[6:])
    tensor: Any = _C.TensorBase._make_subclass(cls, rebuild_tensor(*untracked), arguments[5])
    tensor.__setstate__(state)
    return tensor
