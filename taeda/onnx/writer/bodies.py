"""Ops that have neither a translation nor a body in Python: what they are made of, over tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

BODIES: dict[str, Callable[..., Any]] = {}


def body(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a function what ops are made of."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        BODIES.update({f"aten::{name}": function for name in names})
        return function

    return decorate


def _gates(
    x: Tensor, h: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> tuple[Tensor, Tensor]:
    return taeda.nn.functional.linear(x, w_ih, b_ih), taeda.nn.functional.linear(h, w_hh, b_hh)


@body("lstm_cell")
def lstm_cell(input: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None) -> Any:
    given, back = _gates(input, hx[0], w_ih, w_hh, b_ih, b_hh)
    i, f, g, o = (given + back).chunk(4, -1)
    c = f.sigmoid() * hx[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


@body("gru_cell")
def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    given, back = _gates(input, hx, w_ih, w_hh, b_ih, b_hh)
    (gr, gz, gn), (br, bz, bn) = given.chunk(3, -1), back.chunk(3, -1)
    z = (gz + bz).sigmoid()
    return (1 - z) * (gn + (gr + br).sigmoid() * bn).tanh() + z * hx


@body("rnn_tanh_cell")
def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    given, back = _gates(input, hx, w_ih, w_hh, b_ih, b_hh)
    return (given + back).tanh()


@body("rnn_relu_cell")
def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    given, back = _gates(input, hx, w_ih, w_hh, b_ih, b_hh)
    return (given + back).relu()


@body("addmv")
def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return self * beta + taeda.mv(mat, vec) * alpha


@body("addr")
def addr(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return self * beta + vec1.unsqueeze(1) * vec2.unsqueeze(0) * alpha


@body("diag_embed")
def diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    if offset or (dim1, dim2) != (-2, -1):
        raise NotImplementedError("another diagonal than the main one of the last dimensions")
    count = int(self.shape[-1])
    return self.unsqueeze(-1) * taeda.eye(count, dtype=self.dtype, device=self.device)


@body("bucketize.Tensor")
def bucketize(self: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    return searchsorted(boundaries, self, out_int32=out_int32, right=right)


@body("block_diag")
def block_diag(tensors: list[Tensor]) -> Tensor:
    blocks = [t.reshape(1, -1) if t.dim() < 2 else t for t in tensors]
    width = sum(int(t.shape[1]) for t in blocks)
    rows, left = [], 0
    for block in blocks:
        size = int(block.shape[1])
        rows.append(taeda.nn.functional.pad(block, (left, width - left - size)))
        left += size
    return taeda.cat(rows)


@body("searchsorted.Tensor")
def searchsorted(first: Tensor, second: Tensor, *, out_int32: bool = False, right: bool = False, side: Any = None,
                 sorter: Any = None) -> Tensor:  # fmt: skip
    bounds, x = first, second
    if bounds.dim() != 1 or sorter is not None:
        raise NotImplementedError("several rows of sorted values")
    above = x.unsqueeze(-1) >= bounds if right or side == "right" else x.unsqueeze(-1) > bounds
    return above.sum(-1).to(taeda.int32 if out_int32 else taeda.int64)


@body("affine_grid_generator")
def affine_grid_generator(theta: Tensor, size: Any, align_corners: bool) -> Tensor:
    axes = []
    for count in reversed([int(s) for s in size[2:]]):
        edge = 1.0 if align_corners else 1.0 - 1.0 / count
        axes.append(
            taeda.linspace(-edge, edge, count, dtype=theta.dtype) if count > 1 else taeda.zeros(1, dtype=theta.dtype)
        )
    grids = taeda.meshgrid(*reversed(axes), indexing="ij")
    points = taeda.stack([*reversed(grids), taeda.ones_like(grids[0])], -1)
    flat = points.reshape(1, -1, len(size) - 1) @ theta.transpose(1, 2)
    return flat.reshape(theta.shape[0], *[int(s) for s in size[2:]], len(size) - 2)


@body(
    "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"
)
def adaptive_avg_pool(self: Tensor, output_size: Any) -> Tensor:
    for d, wanted in enumerate(reversed(list(output_size))):
        dim = self.dim() - 1 - d
        size = int(self.shape[dim])
        spans = [(i * size // wanted, -(-(i + 1) * size // wanted)) for i in range(int(wanted))]
        rows = [[1.0 / (b - a) if a <= k < b else 0.0 for a, b in spans] for k in range(size)]
        self = (self.transpose(dim, -1) @ taeda.tensor(rows, dtype=self.dtype)).transpose(dim, -1)
    return self


@body("embedding_bag.padding_idx", "embedding_bag", "_embedding_bag")
def embedding_bag(weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: bool = False, mode: int = 0,
                  sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
                  padding_idx: Any = None) -> Any:  # fmt: skip
    if include_last_offset or (padding_idx is not None and padding_idx >= 0):
        raise NotImplementedError("padding_idx and include_last_offset")
    numbers = taeda.arange(indices.shape[0])
    bag = (numbers.unsqueeze(1) >= offsets.unsqueeze(0)).sum(1) - 1
    rows = weight[indices]
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    there = (bag.unsqueeze(0) == taeda.arange(offsets.shape[0]).unsqueeze(1)).to(weight.dtype)
    if mode == 2:
        masked = rows.unsqueeze(0).masked_fill((there == 0).unsqueeze(-1), float("-inf"))
        return masked.amax(1), bag, bag, bag
    total = there @ rows
    if mode == 1:
        total = total / there.sum(1, keepdim=True).clamp(min=1)
    return total, bag, bag, bag


@body("median")
def median(self: Tensor) -> Tensor:
    flat = self.reshape(-1)
    return flat.sort().values[(flat.shape[0] - 1) // 2]


@body("kthvalue")
def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    values, places = self.sort(dim)
    picked = values.narrow(dim, k - 1, 1), places.narrow(dim, k - 1, 1)
    return picked if keepdim else tuple(p.squeeze(dim) for p in picked)


@body("cumprod")
def cumprod(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    rows = [self.select(dim, 0)]
    for i in range(1, int(self.shape[dim])):
        rows.append(rows[-1] * self.select(dim, i))
    return taeda.stack(rows, dim)


@body("_norm_two")
def norm_two(self: Tensor, dim: Any, keepdim: bool, *, dtype: Any = None) -> Tensor:
    wide = self if dtype is None else self.to(dtype)
    return (wide * wide).sum(dim, keepdim=keepdim).sqrt()
