"""Bodies for `run_decompositions` that end at the ops of PyTorch's core ATen set, for ops whose own bodies are kernels
here or end elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._schema.symbols import _Symbol

aten: Any = taeda.ops.aten
BODIES: dict[Any, Callable[..., Any]] = {}


def _body_of(*ops: Any) -> Callable[[Any], Any]:
    def keep(function: Any) -> Any:
        BODIES.update(dict.fromkeys(ops, function))
        return function

    return keep


def _folded(x: Tensor) -> Tensor:
    """All but the last dimension as one."""
    return x if x.dim() == 2 else aten.view.default(x, [math.prod(x.shape[:-1]), x.shape[-1]])


@_body_of(aten.linear.default)
def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    if weight.dim() != 2 or input.dim() < 2 or not _is_foldable(input):
        return NotImplemented
    turned = aten.permute.default(weight, [1, 0])
    rows = _folded(input)
    found = aten.mm.default(rows, turned) if bias is None else aten.addmm.default(bias, rows, turned)
    return found if input.dim() == 2 else aten.view.default(found, [*input.shape[:-1], weight.shape[0]])


def _hint(size: Any) -> Any:
    return size.node.hint if isinstance(size, _Symbol) else size


def _is_foldable(x: Tensor) -> bool:
    return x.dim() == 2 or _is_contiguous(x)


def _is_contiguous(x: Tensor) -> bool:
    """Whether it is whatever its sizes are: dimensions of 1 in the example hide an order, or that they were widened."""
    sizes, strides = list(map(_hint, x.shape)), list(map(_hint, x.stride()))
    return sizes.count(1) < 2 and strides == [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]


@_body_of(aten.matmul.default)
def _matmul(self: Tensor, other: Tensor) -> Any:
    if self.dim() == other.dim() == 2:
        return aten.mm.default(self, other)
    if self.dim() == 2 and other.dim() == 1:
        return aten.sum.dim_IntList(aten.mul.Tensor(self, other), [1])
    if self.dim() >= 3 and other.dim() == 2 and _is_foldable(self):
        found = aten.mm.default(_folded(self), other)
        return aten.view.default(found, [*self.shape[:-1], other.shape[-1]])
    if self.dim() < 3 or other.dim() != self.dim():
        return NotImplemented
    batch = [a if b == 1 else b for a, b in zip(self.shape[:-2], other.shape[:-2])]
    left, right = (_batched(x, batch) for x in (self, other))
    return aten.view.default(aten.bmm.default(left, right), [*batch, self.shape[-2], other.shape[-1]])


def _batched(x: Tensor, batch: list[Any]) -> Tensor:
    wide = aten.expand.default(x, [*batch, *x.shape[-2:]])
    if not _is_contiguous(wide) or (len(batch) > 1 and 1 in map(_hint, batch)):
        wide = aten.clone.default(wide, memory_format=taeda.contiguous_format)
    return aten.view.default(wide, [math.prod(batch), *x.shape[-2:]])


@_body_of(aten.t.default)
def _t(self: Tensor) -> Any:
    return aten.permute.default(self, [1, 0]) if self.dim() == 2 else aten.alias.default(self)


@_body_of(aten.transpose.int)
def _transpose(self: Tensor, dim0: int, dim1: int) -> Any:
    if self.dim() == 0:
        return aten.alias.default(self)
    order = list(range(self.dim()))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return aten.permute.default(self, order)


@_body_of(aten.reshape.default)
def _reshape(self: Tensor, shape: list[Any]) -> Any:
    if not _is_contiguous(self):
        self = aten.clone.default(self, memory_format=taeda.contiguous_format)
    return aten.view.default(self, shape)


@_body_of(aten.silu.default)
def _silu(self: Tensor) -> Any:
    return aten.mul.Tensor(self, aten.sigmoid.default(self))


@_body_of(aten.layer_norm.default)
def _layer_norm(input: Tensor, normalized_shape: list[Any], weight: Any = None, bias: Any = None, eps: float = 1e-5,
                cudnn_enable: bool = True) -> Any:  # fmt: skip
    return aten.native_layer_norm.default(input, normalized_shape, weight, bias, eps)[0]


@_body_of(aten.group_norm.default)
def _group_norm(input: Tensor, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5,
                cudnn_enabled: bool = True) -> Any:  # fmt: skip
    batch, channels = input.shape[:2]
    each = math.prod(input.shape[2:])
    return aten.native_group_norm.default(input, weight, bias, batch, channels, each, num_groups, eps)[0]


@_body_of(aten.mse_loss.default)
def _mse_loss(self: Tensor, target: Tensor, reduction: int = 1) -> Any:
    return _reduced(aten.pow.Tensor_Scalar(aten.sub.Tensor(self, target), 2), reduction)


def _reduced(loss: Tensor, reduction: int) -> Tensor:
    return (lambda x: x, aten.mean.default, aten.sum.default)[reduction](loss)


@_body_of(aten.cross_entropy_loss.default)
def _cross_entropy(self: Tensor, target: Tensor, weight: Any = None, reduction: int = 1, ignore_index: int = -100,
                   label_smoothing: float = 0.0) -> Any:  # fmt: skip
    if self.dim() != 2 or target.dim() != 1 or weight is not None or label_smoothing:
        return NotImplemented
    counts = aten.ne.Scalar(target, ignore_index)
    safe = aten.where.self(counts, target, aten.scalar_tensor.default(0, dtype=target.dtype))
    logs = aten._log_softmax.default(self, 1, False)
    picked = aten.squeeze.dims(aten.gather.default(logs, 1, aten.unsqueeze.default(safe, 1)), [1])
    zero = aten.scalar_tensor.default(0, dtype=self.dtype)
    loss = aten.where.self(counts, aten.neg.default(picked), zero)
    if reduction == 0:
        return loss
    total = aten.sum.dim_IntList(loss, [])
    if reduction == 2:
        return total
    rows = aten._to_copy.default(aten.sum.dim_IntList(counts, []), dtype=self.dtype)
    return aten.div.Tensor(total, rows)


@_body_of(aten.binary_cross_entropy_with_logits.default)
def _bce_with_logits(self: Tensor, target: Tensor, weight: Any = None, pos_weight: Any = None,
                     reduction: int = 1) -> Any:  # fmt: skip
    if weight is not None or pos_weight is not None:
        return NotImplemented
    zero = aten.full.default([], 0, dtype=self.dtype)
    log_sigmoid = aten.sub.Tensor(
        aten.minimum.default(zero, self), aten.log1p.default(aten.exp.default(aten.neg.default(aten.abs.default(self))))
    )
    loss = aten.sub.Tensor(aten.mul.Tensor(aten.add.Scalar(aten.neg.default(target), 1), self), log_sigmoid)
    return _reduced(loss, reduction)


@_body_of(aten.stack.default)
def _stack(tensors: list[Tensor], dim: int = 0) -> Any:
    shape = list(tensors[0].shape)
    dim %= len(shape) + 1
    if dim == len(shape):
        return aten.cat.default([aten.unsqueeze.default(tensor, dim) for tensor in tensors], dim)
    joined = aten.cat.default(tensors, dim)
    return aten.view.default(joined, [*shape[:dim], len(tensors), *shape[dim:]])


@_body_of(aten.sum.default)
def _sum(self: Tensor, *, dtype: Any = None) -> Any:
    return aten.sum.dim_IntList(self, [], False, dtype=dtype)


@_body_of(aten.to.dtype)
def _to_dtype(self: Tensor, dtype: Any, non_blocking: bool = False, copy: bool = False,
              memory_format: Any = None) -> Any:  # fmt: skip
    if (dtype == self.dtype and not copy) or memory_format is not None:
        return NotImplemented
    return aten._to_copy.default(self, dtype=dtype)
