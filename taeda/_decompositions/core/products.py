"""Products of matrices: all are ``mm``, ``addmm`` or ``bmm`` of views."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda._decompositions.core.table import aten, body_of, contiguous, hint, is_contiguous, varies, viewed


def _folded(x: Tensor) -> Tensor:
    """All but the last dimension as one."""
    return x if x.dim() == 2 else viewed(x, [math.prod(x.shape[:-1]), x.shape[-1]])


@body_of("linear")
def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    if weight.dim() != 2 or input.dim() == 0:
        return NotImplemented
    rows = aten.unsqueeze.default(input, 0) if input.dim() == 1 else _folded(input)
    turned = aten.permute.default(weight, [1, 0])
    found = aten.mm.default(rows, turned) if bias is None else aten.addmm.default(bias, rows, turned)
    return found if input.dim() == 2 else aten.view.default(found, [*input.shape[:-1], weight.shape[0]])


@body_of("matmul")
def _matmul(self: Tensor, other: Tensor) -> Any:
    if self.dim() == other.dim() == 2:
        return aten.mm.default(self, other)
    if other.dim() == 1:
        return aten.sum.dim_IntList(aten.mul.Tensor(self, other), [self.dim() - 1])
    if self.dim() == 1:
        return aten.squeeze.dims(aten.matmul.default(aten.unsqueeze.default(self, 0), other), [other.dim() - 2])
    if other.dim() == 2:
        found = aten.mm.default(_folded(self), other)
        return aten.view.default(found, [*self.shape[:-1], other.shape[-1]])
    batch = _joined(list(self.shape[:-2]), list(other.shape[:-2]))
    left, right = (_batched(x, batch) for x in (self, other))
    return aten.view.default(aten.bmm.default(left, right), [*batch, self.shape[-2], other.shape[-1]])


def _joined(a: list[Any], b: list[Any]) -> list[Any]:
    """The shape that both broadcast to."""
    rank = max(len(a), len(b))
    a, b = [1] * (rank - len(a)) + a, [1] * (rank - len(b)) + b
    return [x if y == 1 else y for x, y in zip(a, b)]


def _batched(x: Tensor, batch: list[Any]) -> Tensor:
    wide = aten.expand.default(x, [*batch, *x.shape[-2:]])
    if not is_contiguous(wide) or (len(batch) > 1 and any(varies(b) and hint(b) == 1 for b in batch)):
        wide = aten.clone.default(wide, memory_format=taeda.contiguous_format)
    return aten.view.default(wide, [math.prod(batch), *x.shape[-2:]])


@body_of("mv")
def _mv(self: Tensor, vec: Tensor) -> Any:
    return aten.sum.dim_IntList(aten.mul.Tensor(self, vec), [1])


@body_of("dot")
def _dot(self: Tensor, tensor: Tensor) -> Any:
    return aten.sum.dim_IntList(aten.mul.Tensor(self, tensor), [])


@body_of("outer", "ger")
def _outer(self: Tensor, vec2: Tensor) -> Any:
    return aten.mul.Tensor(aten.unsqueeze.default(self, 1), vec2)


@body_of("baddbmm")
def _baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    found = aten.bmm.default(batch1, batch2)
    found = found if alpha == 1 else aten.mul.Scalar(found, alpha)
    if beta == 0:
        return found
    return aten.add.Tensor(self if beta == 1 else aten.mul.Scalar(self, beta), found)


@body_of("einsum")
def _einsum(equation: str, tensors: list[Tensor], *, path: Any = None) -> Any:
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if "." in equation or any(len(set(t)) != len(t) for t in (*terms, result)) or len(terms) != len(tensors):
        return NotImplemented
    if not arrow:
        result = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    sizes: dict[str, Any] = {}
    for term, tensor in zip(terms, tensors):
        for letter, size in zip(term, tensor.shape, strict=True):
            if hint(sizes.setdefault(letter, size)) != hint(size):  # one of them is 1
                return NotImplemented
    known, found = terms[0], tensors[0]
    for i in range(1, len(terms)):
        wanted = result + "".join(terms[i + 1 :])
        known, found = _contracted(known, found, terms[i], tensors[i], wanted, sizes)
    alone = [d for d, letter in enumerate(known) if letter not in result]
    if alone:
        found = aten.sum.dim_IntList(found, alone)
        known = "".join(letter for letter in known if letter in result)
    return _ordered(found, known, result)


def _ordered(x: Tensor, letters: str, wanted: str) -> Tensor:
    return x if letters == wanted else aten.permute.default(x, [letters.index(c) for c in wanted])


def _contracted(left: str, a: Tensor, right: str, b: Tensor, wanted: str, sizes: dict[str, Any]) -> tuple[str, Tensor]:
    """The product of two operands, summed over the letters that nobody wants after it."""
    both = [c for c in left if c in right]
    batch = "".join(c for c in both if c in wanted)
    summed = "".join(c for c in both if c not in wanted)
    rows = "".join(c for c in left if c not in right)
    columns = "".join(c for c in right if c not in left)

    def matrices(x: Tensor, letters: str, *groups: str) -> Tensor:
        turned = _ordered(x, letters, "".join((batch, *groups)))
        return viewed(turned, [_size(batch, sizes), *(_size(group, sizes) for group in groups)])

    found = aten.bmm.default(matrices(a, left, rows, summed), matrices(b, right, summed, columns))
    letters = batch + rows + columns
    return letters, aten.view.default(found, [sizes[c] for c in letters])


def _size(letters: str, sizes: dict[str, Any]) -> Any:
    return math.prod(sizes[c] for c in letters)


@body_of("tensordot")
def _tensordot(self: Tensor, other: Tensor, dims_self: list[int], dims_other: list[int]) -> Any:
    ours, others = [d % self.dim() for d in dims_self], [d % other.dim() for d in dims_other]
    if any(hint(self.shape[a]) != hint(other.shape[b]) for a, b in zip(ours, others)):
        return NotImplemented
    rows = [d for d in range(self.dim()) if d not in ours]
    columns = [d for d in range(other.dim()) if d not in others]
    inner = math.prod(self.shape[d] for d in ours)
    left = contiguous(aten.permute.default(self, rows + ours))
    right = contiguous(aten.permute.default(other, others + columns))
    left = aten.view.default(left, [math.prod(self.shape[d] for d in rows), inner])
    right = aten.view.default(right, [inner, math.prod(other.shape[d] for d in columns)])
    sizes = [*(self.shape[d] for d in rows), *(other.shape[d] for d in columns)]
    return aten.view.default(aten.mm.default(left, right), sizes)
