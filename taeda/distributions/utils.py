"""What distributions share: broadcasting of parameters, the two forms of a probability, attributes made on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from numbers import Real
from typing import Any

import taeda
from taeda import Tensor
from taeda.overrides import is_tensor_like

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant = 0.57721566490153286060
SCALAR = taeda.Size()
"""The shape of a single draw, the default of every ``sample_shape`` and ``batch_shape``."""


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """The values as tensors of one shape. Numbers, which must be real, get dtype and device of the first tensor, if
    there is one, else the default dtype; tensors keep theirs.

    Raises ``ValueError`` for anything else.
    """
    for value in values:
        if not (is_tensor_like(value) or isinstance(value, Real)):
            raise ValueError(f"broadcast_all takes real numbers and tensors, got {value!r}, a {type(value).__name__}")
    tensors = [value for value in values if is_tensor_like(value)]
    if len(tensors) < len(values):
        pattern: dict[str, Any] = {"dtype": taeda.get_default_dtype()}
        if tensors:
            pattern = {"dtype": tensors[0].dtype, "device": tensors[0].device}
        values = tuple(value if is_tensor_like(value) else taeda.tensor(value, **pattern) for value in values)
    return tuple(taeda.broadcast_tensors(*values))


def _standard_normal(shape: Sequence[int], dtype: Any, device: Any) -> Tensor:
    return taeda.normal(taeda.zeros(shape, dtype=dtype, device=device), taeda.ones(shape, dtype=dtype, device=device))


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last ``dim`` dimensions."""
    return value if dim == 0 else value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """The probabilities kept away from 0 and 1 by the machine epsilon of their dtype, so that logarithms are finite."""
    eps = taeda.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of log-odds (``is_binary``), or of log-probabilities along the last dimension up to a constant."""
    return taeda.sigmoid(logits) if is_binary else taeda.softmax(logits, dim=-1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """The log-odds of probabilities (``is_binary``), or their logarithms; finite at 0 and 1, see ``clamp_probs``."""
    inner = clamp_probs(probs)
    return inner.log() - (-inner).log1p() if is_binary else inner.log()


class lazy_property:
    """A method made an attribute: computed when it is first read, with gradients, and kept in the instance."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        with taeda.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def _lower_mask(side: int, diag: int, device: Any) -> Tensor:
    """Which elements of a square matrix lie on or below the diagonal ``diag``."""
    index = taeda.arange(side, device=device)
    return index <= index.unsqueeze(-1) + diag


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements on and below diagonal ``diag`` of square matrices, row after row, as vectors.

    Raises ``ValueError`` if the matrices have no such diagonal.
    """
    side = mat.shape[-1]
    if not -side <= diag < side:
        raise ValueError(f"tril_matrix_to_vec: diag must be in [{-side}, {side - 1}], got {diag}")
    return mat[..., _lower_mask(side, diag, mat.device)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The square matrices whose elements on and below diagonal ``diag`` are those of ``vec``, the rest 0.

    Raises ``ValueError`` if no square matrix has that many.
    """
    count, offset = vec.shape[-1], 2 * diag + 1
    # A matrix of side n keeps (n + diag) * (n + diag + 1) / 2 elements, less the triangle that diag > 0 cuts off.
    side = round((-offset + (offset**2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2)
    mask = _lower_mask(side, diag, vec.device)
    if int(mask.sum()) != count:
        raise ValueError(f"vec_to_tril_matrix: no square matrix has {count} elements on and below diagonal {diag}")
    mat = vec.new_zeros(vec.shape[:-1] + (side, side))
    mat[..., mask] = vec
    return mat
