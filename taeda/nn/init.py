"""Initial values for parameters: each function fills its tensor in place, without recording gradients, and returns it.

With the same seed the values are PyTorch's.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]

_LINEAR = frozenset(
    {"linear", "sigmoid"} | {f"conv{n}d" for n in (1, 2, 3)} | {f"conv_transpose{n}d" for n in (1, 2, 3)}
)

# Below this share of accepted draws, proposals come from a uniform distribution instead of the normal one.
_LEAST_ACCEPTANCE = 0.3


def calculate_gain(nonlinearity: str, param: int | float | None = None) -> float:
    """The factor by which to widen initial weights before ``nonlinearity``; ``param`` is leaky_relu's slope.

    Raises:
        ValueError: an unknown non-linearity, or a slope that is no number.
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity != "leaky_relu":
        raise ValueError(f"taeda.nn.init.calculate_gain: unknown nonlinearity {nonlinearity!r}")
    if param is None:
        slope: float = 0.01
    elif isinstance(param, (int, float)) and not isinstance(param, bool):
        slope = param
    else:
        raise ValueError(f"taeda.nn.init.calculate_gain: leaky_relu's slope must be a number; got {param!r}")
    return math.sqrt(2.0 / (1 + slope**2))


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs each output of a weight (out, in, kernel...) has, and the other way round."""
    if tensor.dim() < 2:
        raise ValueError(
            f"taeda.nn.init: a weight needs at least 2 dimensions to count its inputs; got {tuple(tensor.shape)}"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"taeda.nn.init: mode must be 'fan_in' or 'fan_out'; got {mode!r}")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


@taeda._C._overridable
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform values from ``a`` to ``b``."""
    with taeda.no_grad():
        return tensor.uniform_(a, b, generator=generator)


@taeda._C._overridable
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal values of ``mean`` and standard deviation ``std``."""
    with taeda.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _redraw(tensor: Tensor, propose: Callable[[Tensor], Tensor], accept: Callable[[Tensor], Tensor]) -> None:
    """Fills ``tensor`` with proposals, all drawn anew each round, until every element has an accepted one."""
    propose(tensor)
    if tensor.is_meta:
        return
    rejected = accept(tensor).logical_not_()
    while rejected.any():
        proposal = propose(taeda.empty_like(tensor))
        accepted = accept(proposal)
        tensor.copy_(taeda.where(rejected, proposal, tensor))
        rejected &= ~accepted


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Normal values among those from ``a`` to ``b``.

    By rejection: of normal draws where most lie inside, otherwise of uniform draws, accepted in proportion to the
    density (Robert, "Simulation of truncated normal variables", 1995).
    """
    low, high = (a - mean) / std, (b - mean) / std
    if low > 2 or high < -2:
        warnings.warn(f"taeda.nn.init.trunc_normal_: mean {mean} lies more than 2 std outside [{a}, {b}]", stacklevel=2)
    inside = (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2))) / 2
    with taeda.no_grad():
        if inside >= _LEAST_ACCEPTANCE:
            _redraw(
                tensor,
                lambda t: t.normal_(mean, std, generator=generator),
                lambda t: taeda.logical_and(t >= a, t <= b),
            )
        else:
            densest = min(max(low, 0.0), high)

            def accept(t: Tensor) -> Tensor:
                z = (t - mean) / std
                chance = taeda.rand(t.shape, generator=generator, dtype=t.dtype, device=t.device)
                return ~(chance > taeda.exp((densest**2 - z * z) / 2))  # without an order, with nan, all are taken

            _redraw(tensor, lambda t: t.uniform_(a, b, generator=generator), accept)
    return tensor


@taeda._C._overridable
def constant_(tensor: Tensor, val: float) -> Tensor:
    """The value ``val`` everywhere."""
    with taeda.no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    with taeda.no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix; ValueError unless there are 2 dimensions."""
    if tensor.dim() != 2:
        raise ValueError(f"taeda.nn.init.eye_: expected 2 dimensions; got {tuple(tensor.shape)}")
    with taeda.no_grad():
        taeda.eye(*tensor.shape, out=tensor, requires_grad=tensor.requires_grad)
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The kernel of a convolution (out, in, kernel...) that keeps its first channels, in each group.

    Raises:
        ValueError: there are not 3 to 5 dimensions, or ``groups`` does not divide the output channels.
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError(f"taeda.nn.init.dirac_: expected 3, 4 or 5 dimensions; got {tuple(tensor.shape)}")
    outputs, inputs = tensor.shape[:2]
    if outputs % groups:
        raise ValueError(f"taeda.nn.init.dirac_: {outputs} output channels do not divide into {groups} groups")
    per_group = outputs // groups
    middle = tuple(extent // 2 for extent in tensor.shape[2:])
    with taeda.no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, inputs)):
                tensor[(group * per_group + channel, channel, *middle)] = 1
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform within ``gain * sqrt(6 / (fan_in + fan_out))`` (Glorot and Bengio, 2010)."""
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal with standard deviation ``gain * sqrt(2 / (fan_in + fan_out))`` (Glorot and Bengio, 2010)."""
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    """The standard deviation, or None for an empty tensor, which nothing needs to fill."""
    if 0 in tensor.shape:
        warnings.warn("taeda.nn.init: an empty tensor has nothing to initialise", stacklevel=3)
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


@taeda._C._overridable
def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Uniform within ``gain * sqrt(3 / fan)`` (He et al., 2015); ``a`` is leaky_relu's slope."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Normal with standard deviation ``gain / sqrt(fan)`` (He et al., 2015); ``a`` is leaky_relu's slope."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """``gain`` times a matrix with orthonormal rows or columns (Saxe et al., 2013); further dimensions are joined."""
    if tensor.dim() < 2:
        raise ValueError(f"taeda.nn.init.orthogonal_: expected at least 2 dimensions; got {tuple(tensor.shape)}")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    with taeda.no_grad():
        draw = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
        wide = rows < columns
        q, r = taeda.linalg.qr(draw.t() if wide else draw)
        q = q * taeda.diag(r).sign()  # makes the distribution uniform over the orthogonal matrices
        tensor.copy_((q.t() if wide else q).reshape(tensor.shape))
        tensor.mul_(gain)
    return tensor


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal values, of which a share ``sparsity`` of each column is zero (Martens, 2010)."""
    if tensor.dim() != 2:
        raise ValueError(f"taeda.nn.init.sparse_: expected 2 dimensions; got {tuple(tensor.shape)}")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with taeda.no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[taeda.randperm(rows)[:zeros], column] = 0
    return tensor


def _deprecated(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    new = function.__name__
    old = new[:-1]

    def call(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(f"taeda.nn.init.{old} is deprecated; use {new}", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = old
    call.__doc__ = f"Deprecated: `{new}`."
    return call


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)
