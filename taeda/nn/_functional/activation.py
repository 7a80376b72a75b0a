"""Pointwise non-linearities, softmax and its relatives."""

from __future__ import annotations

import warnings

import taeda
from taeda import Tensor
from taeda._C import _nn
from taeda._C._functions import celu_, relu_, rrelu_, selu_
from taeda._C._nn import elu_, hardtanh_, leaky_relu_
from taeda.types import _dtype


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``input`` where it is above ``threshold``, ``value`` elsewhere."""
    return (taeda.threshold_ if inplace else taeda.threshold)(input, threshold, value)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(input, 0)``."""
    return relu_(input) if inplace else taeda.relu(input)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """``a * sigmoid(b)`` for the halves ``a``, ``b`` of ``input`` along ``dim``."""
    if input.dim() == 0:
        raise RuntimeError("taeda.nn.functional.glu: input has no dimension to halve")
    return _nn.glu(input, dim)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` limited to ``min_val`` .. ``max_val``; ValueError if these cross."""
    if min_val > max_val:
        raise ValueError(f"taeda.nn.functional.hardtanh: min_val {min_val} is greater than max_val {max_val}")
    return (hardtanh_ if inplace else _nn.hardtanh)(input, min_val, max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``min(max(input, 0), 6)``."""
    return (_nn.relu6_ if inplace else _nn.relu6)(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` where positive, ``alpha * (exp(input) - 1)`` elsewhere."""
    return (elu_ if inplace else _nn.elu)(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The self-normalising ELU of Klambauer et al., 2017."""
    return (selu_ if inplace else taeda.selu)(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``max(0, x) + min(0, alpha * (exp(x / alpha) - 1))``."""
    return (celu_ if inplace else taeda.celu)(input, alpha)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """``input`` where positive, ``negative_slope * input`` elsewhere."""
    return (leaky_relu_ if inplace else _nn.leaky_relu)(input, negative_slope)


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """Leaky ReLU with a slope drawn from ``lower`` .. ``upper`` in training, their mean otherwise."""
    return (rrelu_ if inplace else taeda.rrelu)(input, lower, upper, training)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent of ``input``."""
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    """``1 / (1 + exp(-input))``."""
    return input.sigmoid()


def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``."""
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    """``input / (1 + |input|)``."""
    return input / (input.abs() + 1)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``relu6(input + 3) / 6``."""
    return (_nn.hardsigmoid_ if inplace else _nn.hardsigmoid)(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``."""
    return (_nn.silu_ if inplace else _nn.silu)(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * tanh(softplus(input))``."""
    return (_nn.mish_ if inplace else _nn.mish)(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * relu6(input + 3) / 6``."""
    return (_nn.hardswish_ if inplace else _nn.hardswish)(input)


def _implied_dim(name: str, ndim: int, stacklevel: int) -> int:
    warnings.warn(
        f"taeda.nn.functional.{name}: the choice of a dimension by itself is deprecated; pass dim",
        stacklevel=stacklevel + 1,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None) -> Tensor:
    """``exp(input)`` divided by its sum along ``dim``; computed in ``dtype`` if given."""
    if dim is None:
        dim = _implied_dim("softmax", input.dim(), _stacklevel)
    return taeda.softmax(input, dim) if dtype is None else taeda.softmax(input, dim, dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None) -> Tensor:
    """``softmax(-input)``."""
    if dim is None:
        dim = _implied_dim("softmin", input.dim(), _stacklevel)
    return taeda.softmax(-input, dim) if dtype is None else taeda.softmax(-input, dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None) -> Tensor:
    """The logarithm of `softmax`, computed without overflow."""
    if dim is None:
        dim = _implied_dim("log_softmax", input.dim(), _stacklevel)
    return taeda.log_softmax(input, dim) if dtype is None else taeda.log_softmax(input, dim, dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample of the Gumbel-Softmax distribution (Jang et al., 2017).

    With ``hard`` the result is one-hot, while its gradient is that of the soft sample. ``eps`` has no effect.
    """
    if eps != 1e-10:
        warnings.warn("taeda.nn.functional.gumbel_softmax: eps is deprecated and has no effect", stacklevel=2)
    noise = taeda.empty_like(logits, memory_format=taeda.legacy_contiguous_format).exponential_().log()
    soft = ((logits - noise) / tau).softmax(dim)
    if not hard:
        return soft
    top = soft.max(dim, keepdim=True)[1]
    one_hot = taeda.zeros_like(logits, memory_format=taeda.legacy_contiguous_format).scatter_(dim, top, 1.0)
    return one_hot - soft.detach() + soft
