"""Forward mode: tangents that travel with tensors through the calls made on them."""

from __future__ import annotations

from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda._C import _autograd

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

_current_level = -1
_NAME = "taeda.autograd.forward_ad.make_dual"


class UnpackedDualTensor(NamedTuple):
    """The value of a dual tensor, and its tangent or None."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Opens a level; RuntimeError inside another, as forward mode does not nest."""
    global _current_level
    _current_level = _autograd._enter_dual_level()
    return _current_level


def exit_dual_level(*, level: int | None = None) -> None:
    """Closes the level. Tensors lose the tangents that they got in it."""
    global _current_level
    _autograd._exit_dual_level(_current_level if level is None else level)
    _current_level = -1


class dual_level:
    """A dual level as a scope."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *args: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Any:
    """A view of ``tensor`` that carries ``tangent``.

    Args:
        tensor: any floating-point or complex tensor.
        tangent: of the same shape and dtype.
        level: the open level, which is the only one.

    Raises:
        RuntimeError: no level is open, or the two do not fit.
        ValueError: a tensor that has no derivatives.
    """
    chosen = _current_level if level is None else level
    if chosen < 0:
        raise RuntimeError(f"{_NAME}: no dual level is open; use it within forward_ad.dual_level()")
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"{_NAME}: tensor must be floating-point or complex; got {tensor.dtype}")
    if not (tangent.is_floating_point() or tangent.is_complex()):
        raise ValueError(f"{_NAME}: tangent must be floating-point or complex; got {tangent.dtype}")
    if tensor.shape != tangent.shape:
        raise RuntimeError(f"{_NAME}: tensor and tangent must agree in shape; got {tensor.shape} and {tangent.shape}")
    if tensor.dtype != tangent.dtype:
        raise RuntimeError(f"{_NAME}: tensor and tangent must agree in dtype; got {tensor.dtype} and {tangent.dtype}")
    if _autograd._get_tangent(tangent, chosen) is not None:
        raise RuntimeError(f"{_NAME}: tangent is a dual tensor of level {chosen} itself, whose tangent would be lost")
    dual = tensor.view_as(tensor)
    _autograd._set_tangent(dual, _laid_out(tangent, tensor), chosen)
    return dual


def _laid_out(tangent: Tensor, tensor: Tensor) -> Tensor:
    """The tangent such that each view of ``tensor`` is one of it: of the same bits, over as much memory."""
    if any(x.layout is not taeda.strided for x in (tangent, tensor)):
        return tangent
    if not type(tangent) is type(tensor) is Tensor:  # of a batch, which vmap must not give back as the tangent it got
        return tangent if tangent.stride() == tensor.stride() else tangent.clone()
    count = tensor.untyped_storage().nbytes() // tensor.itemsize
    reaches = tensor.numel() == count or tangent.untyped_storage().nbytes() // tangent.itemsize == count
    if reaches and tensor.is_conj() == tangent.is_conj() and tensor.is_neg() == tangent.is_neg():
        return tangent
    if any(step == 0 and size > 1 for size, step in zip(tensor.shape, tensor.stride(), strict=True)):
        made = tangent.new_zeros(tensor.shape)  # expanded: there is no memory of its own for each element
    else:
        made = tangent.new_zeros(count).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    made = made.conj() if tensor.is_conj() else made
    return (made._neg_view() if tensor.is_neg() else made).copy_(tangent)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """A dual tensor's value, which keeps its history, and tangent; the tensor itself and None for one without a
    tangent."""
    chosen = _current_level if level is None else level
    tangent = _autograd._get_tangent(tensor, chosen) if chosen >= 0 else None
    return UnpackedDualTensor(tensor if tangent is None else _autograd._primal(tensor, chosen), tangent)


_enabled = True


class _set_fwd_grad_enabled:
    """Whether calls in the scope carry tangents on."""

    def __init__(self, mode: bool) -> None:
        global _enabled
        self.before = _autograd._see_dual_levels(_current_level + 1 if mode else 0), _enabled
        _enabled = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: object) -> None:
        global _enabled
        levels, _enabled = self.before
        _autograd._see_dual_levels(levels)


def _is_fwd_grad_enabled() -> bool:
    """Whether calls carry tangents, if a level is open."""
    return _enabled and (_current_level < 0 or _autograd._dual_levels() > 0)
