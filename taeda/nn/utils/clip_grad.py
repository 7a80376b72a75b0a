"""Limiting gradients before an optimiser's step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import taeda
from taeda import Tensor
from taeda._main.listed import iterated

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _as_list(tensors: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else iterated("taeda.nn.utils: parameters", tensors)


def _grads(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [param.grad for param in _as_list(parameters) if param.grad is not None]


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The ``norm_type``-norm of all tensors as if they were one vector; on the first one's device.

    Raises:
        RuntimeError: the norm is not finite and ``error_if_nonfinite``.
    """
    tensors = _as_list(tensors)
    if not tensors:
        return taeda.tensor(0.0)
    norm_type = float(norm_type)
    first = tensors[0].device
    norms = [taeda.linalg.vector_norm(tensor, norm_type).to(first) for tensor in tensors]
    total = taeda.linalg.vector_norm(taeda.stack(norms), norm_type)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"taeda.nn.utils.get_total_norm: the {norm_type}-norm of the gradients is {total.item()}; pass "
            "error_if_nonfinite=False to go on all the same"
        )
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scales the gradients by ``max_norm / total_norm``, in place, unless that is above 1."""
    with taeda.no_grad():
        scale = taeda.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
        for grad in _grads(parameters):
            grad.mul_(scale.to(grad.device))


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales the gradients, in place, so that their common norm is at most ``max_norm``; returns the norm before."""
    parameters = _as_list(parameters)
    with taeda.no_grad():
        total_norm = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total_norm, foreach)
    return total_norm


def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """Deprecated: `clip_grad_norm_`."""
    import warnings

    warnings.warn("taeda.nn.utils.clip_grad_norm is deprecated; use clip_grad_norm_", FutureWarning, stacklevel=2)
    return clip_grad_norm_(*args, **kwargs)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Limits each element of the gradients to ``-clip_value`` .. ``clip_value``, in place."""
    limit = float(clip_value)
    with taeda.no_grad():
        for grad in _grads(parameters):
            grad.clamp_(-limit, limit)
