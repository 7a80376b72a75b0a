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
