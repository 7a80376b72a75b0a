"""Joins, repetitions and grids beside PyTorch's, and their gradients by finite differences."""

import pytest
from twin import check

import taeda
from taeda.autograd import gradcheck, gradgradcheck


def a(T, *sizes):
    count = 1
    for size in sizes:
        count *= size
    return T.arange(float(count)).reshape(sizes)


def cl(T):
    return a(T, 2, 3, 4, 5).to(memory_format=T.channels_last)


JOINS = [
    lambda T: T.cat([a(T, 2, 3), a(T, 1, 3)]),
    lambda T: T.cat((a(T, 2, 3), a(T, 2, 2)), 1),
    lambda T: T.cat((a(T, 2, 3), a(T, 2, 2)), dim=-1),
    lambda T: T.cat((a(T, 2, 3), a(T, 2, 2)), axis=1),
    lambda T: T.cat([a(T, 3, 2).t(), a(T, 2, 3).int()]),
    lambda T: T.cat([T.ones(2, dtype=T.int32), T.ones(2, dtype=T.bool)]),
    lambda T: T.cat([T.ones(0, dtype=T.float64), T.ones(2, dtype=T.int32)]),
    lambda T: T.cat([T.ones(0), a(T, 2, 3)], 1),
    lambda T: T.cat([T.ones(0), a(T, 2, 3)], -1),
    lambda T: T.cat([T.ones(0), T.ones(0)], 1),
    lambda T: T.cat([T.ones(0, 2), a(T, 2, 3)]),
    lambda T: T.cat([a(T, 2, 3), a(T, 2, 4)]),
    lambda T: T.cat([T.ones(2), a(T, 2, 4)]),
    lambda T: T.cat([T.ones(2)], 2),
    lambda T: T.cat([]),
    lambda T: T.cat([T.tensor(1.0)]),
    lambda T: T.cat(T.ones(2, 2)),
    lambda T: T.cat([cl(T), cl(T)], 1),
    lambda T: T.cat([cl(T), a(T, 2, 3, 4, 5)]),
    lambda T: T.cat([cl(T)[:, :, ::2]] * 2),
    lambda T: T.cat([T.ones(0), cl(T)]),
    lambda T: T.cat([a(T, 2, 1, 4, 5), a(T, 2, 1, 4, 5)], 1),
    lambda T: T.cat([T.ones(2), T.ones(2)], out=T.empty(0, dtype=T.float64)),
    lambda T: T.cat([T.ones(2), T.ones(2, device="meta")]),
    lambda T: T.concat([a(T, 2, 3)] * 2, 1),
    lambda T: T.concatenate([a(T, 2, 3)] * 2),
    lambda T: T.stack([a(T, 2, 3), a(T, 2, 3) + 9]),
    lambda T: T.stack([a(T, 2, 3), a(T, 2, 3).int()], -1),
    lambda T: T.stack([a(T, 3, 2).t()] * 2, 1),
    lambda T: T.stack([T.tensor(1), T.tensor(2.5)]),
    lambda T: T.stack([T.ones(0, 2)] * 2, 1),
    lambda T: T.stack([cl(T)] * 2),
    lambda T: T.stack([cl(T)] * 2, 1),
    lambda T: T.stack([cl(T)] * 2, 4),
    lambda T: T.stack([T.ones(2), T.ones(3)]),
    lambda T: T.stack([T.ones(2)], 3),
    lambda T: T.stack([]),
    lambda T: T.stack([T.ones(2)] * 2, out=T.empty(0)),
    lambda T: T.hstack([T.tensor(1), T.tensor(2)]),
    lambda T: T.hstack([a(T, 2, 3), a(T, 2, 1)]),
    lambda T: T.hstack([]),
    lambda T: T.vstack([T.ones(2), a(T, 3, 2)]),
    lambda T: T.row_stack([T.ones(2), T.ones(2)]),
    lambda T: T.dstack([T.ones(2), T.ones(2)]),
    lambda T: T.column_stack([T.ones(2), a(T, 2, 2)]),
    lambda T: T.column_stack([T.tensor(1), T.tensor(2)]),
    lambda T: T.block_diag(T.ones(2), T.tensor(1), T.ones(2, 1).int()),
    lambda T: T.block_diag(T.ones(1, 1, 1)),
    lambda T: T.block_diag(),
]

GRIDS = [
    lambda T: T.meshgrid(T.arange(2), T.arange(3), indexing="ij"),
    lambda T: T.meshgrid(T.arange(2), T.arange(3), T.arange(4), indexing="xy"),
    lambda T: T.meshgrid(T.ones(2), T.tensor(1.0), indexing="ij"),
    lambda T: T.meshgrid(T.ones(2)),
    lambda T: T.meshgrid(T.ones(2, 2)),
    lambda T: T.meshgrid(T.ones(2), T.ones(3).int()),
    lambda T: T.meshgrid(T.ones(2), indexing="zz"),
    lambda T: T.cartesian_prod(T.arange(2), T.arange(3)),
    lambda T: T.cartesian_prod(T.arange(2)),
    lambda T: T.cartesian_prod(T.ones(2, 2)),
    lambda T: T.combinations(T.arange(5), 3),
    lambda T: T.combinations(T.arange(3), 2, True),
    lambda T: T.combinations(T.arange(2), 3),
    lambda T: T.combinations(T.arange(3), 0),
    lambda T: T.combinations(T.arange(3), -1),
    lambda T: T.combinations(T.arange(0), 2, True),
    lambda T: T.diag(T.arange(3), 1),
    lambda T: T.diag(a(T, 2, 3), 1),
    lambda T: T.diag(T.tensor(1.0)),
    lambda T: T.diagflat(a(T, 2, 2), -1),
    lambda T: T.vander(T.tensor([1, 2, 3])),
    lambda T: T.vander(T.tensor([1.0, 2, 0]), 4, increasing=True),
    lambda T: T.vander(T.ones(2), 0),
    lambda T: T.vander(T.ones(2, dtype=T.int32)),
    lambda T: T.vander(T.ones(2, 2)),
]

REARRANGED = [
    lambda T: a(T, 2, 3).repeat(2, 2),
    lambda T: a(T, 3, 2).t().repeat(2, 1, 3),
    lambda T: a(T, 2, 3).repeat(0, 1),
    lambda T: a(T, 2, 3).repeat(2),
    lambda T: a(T, 2, 3).repeat(2, -1),
    lambda T: T.tensor(1.0).repeat(3),
    lambda T: T.tensor(1.0).repeat(()),
    lambda T: a(T, 2, 3).tile(2),
    lambda T: T.tile(a(T, 2, 3), (2, 2, 2)),
    lambda T: T.repeat_interleave(T.tensor([1, 2, 0])),
    lambda T: T.repeat_interleave(T.tensor([1, 2], dtype=T.int32)),
    lambda T: T.repeat_interleave(T.tensor([-1])),
    lambda T: T.repeat_interleave(T.tensor([1.0])),
    lambda T: T.repeat_interleave(T.tensor([[1]])),
    lambda T: T.repeat_interleave(a(T, 2, 2), 2),
    lambda T: a(T, 2, 3).repeat_interleave(2, 1),
    lambda T: a(T, 2, 3).repeat_interleave(T.tensor([1, 2]), 0),
    lambda T: a(T, 2, 3).repeat_interleave(T.tensor([1, 2]), 0, output_size=3),
    lambda T: a(T, 2, 3).repeat_interleave(T.tensor([2]), 0),
    lambda T: a(T, 2, 3).repeat_interleave(T.tensor(2), 1),
    lambda T: a(T, 2, 3).repeat_interleave(T.tensor([1, 2, 3]), 0),
    lambda T: a(T, 2, 3).repeat_interleave(-1, 0),
    lambda T: T.tensor(5.0).repeat_interleave(3),
    lambda T: a(T, 2, 3).repeat_interleave(2, 0, output_size=5),
    lambda T: a(T, 2, 3, 4).flip(0, 2),
    lambda T: a(T, 2, 3).flip(()),
    lambda T: a(T, 3, 2).t().flip(0),
    lambda T: a(T, 2, 3).flip(0, 0),
    lambda T: a(T, 2, 3).flip(5),
    lambda T: T.tensor(1.0).flip(0),
    lambda T: a(T, 1, 3).expand(2, 3).flip(0),
    lambda T: a(T, 3, 2).t().narrow_copy(0, 0, 1),
    lambda T: a(T, 2, 3).fliplr(),
    lambda T: a(T, 2, 3).flipud(),
    lambda T: T.ones(2).fliplr(),
    lambda T: T.tensor(1).flipud(),
    lambda T: a(T, 2, 3).roll(1),
    lambda T: a(T, 2, 3).roll(-4, 1),
    lambda T: a(T, 3, 4).roll((1, 2), (0, 1)),
    lambda T: T.arange(4).roll((1, 1), (0, 0)),
    lambda T: a(T, 3, 2).t().roll(1, 0),
    lambda T: a(T, 3, 2).t().roll(1),
    lambda T: a(T, 2, 3).roll((1, 1), (0,)),
    lambda T: a(T, 2, 3).roll((1, 2)),
    lambda T: a(T, 2, 3).roll(()),
    lambda T: T.tensor(1.0).roll(1),
    lambda T: T.tensor(1.0).roll(1, 0),
    lambda T: T.ones(0, 3).roll(1, 0),
    *(lambda T, k=k: T.rot90(a(T, 2, 3), k) for k in range(-2, 5)),
    lambda T: T.rot90(a(T, 2, 3, 4), 1, (2, 0)),
    lambda T: T.rot90(a(T, 2, 3), 1, (0, 0)),
    lambda T: T.rot90(a(T, 2, 3), 1, (0, 1, 2)),
    lambda T: T.rot90(T.ones(2)),
]


OUTS = [
    lambda T, name=name, dtype=dtype: getattr(T, name)([a(T, 2, 3), a(T, 2, 3)], out=T.ones(0, dtype=getattr(T, dtype)))
    for name in ("cat", "concat", "stack", "hstack", "vstack", "dstack", "column_stack")
    for dtype in ("float64", "int64")
]


@pytest.mark.torch
@pytest.mark.parametrize("case", JOINS + GRIDS + REARRANGED + OUTS)
def test_like_torch(case):
    check(case)


GRADIENTS = [
    lambda x, y: taeda.cat([x, y, x], 1),
    lambda x, y: taeda.cat([taeda.ones(0, dtype=x.dtype), x * y]),
    lambda x, y: taeda.stack([x, y], 1) * taeda.stack([y, x], 1),
    lambda x, y: taeda.hstack([x, y]) * taeda.vstack([x[0], y[1]]).repeat(1, 2),
    lambda x, y: taeda.block_diag(x, y),
    lambda x, y: taeda.meshgrid(x[0], y[0], indexing="xy")[1],
    lambda x, y: taeda.combinations(x[0] * y[0]),
    lambda x, y: taeda.diag(x[0]) @ taeda.diagflat(y[0]),
    lambda x, y: taeda.vander(x[0], 3) * y[0, 0],
    lambda x, y: x.repeat(2, 1, 2) * y[0, 0],
    lambda x, y: x.repeat_interleave(2, 1),
    lambda x, y: x.repeat_interleave(taeda.tensor([2, 1]), 0),
    lambda x, y: x.flip(0, 1) * y,
    lambda x, y: x.roll(2) + y.roll((1, 1), (0, 1)),
    lambda x, y: taeda.rot90(x) * y.t(),
]


@pytest.mark.parametrize("function", GRADIENTS)
def test_gradients(function):
    x = (taeda.arange(6.0, dtype=taeda.float64) / 5 - 0.45).reshape(2, 3).requires_grad_()
    y = (taeda.arange(6.0, dtype=taeda.float64) / 7 + 0.3).reshape(2, 3).requires_grad_()
    assert gradcheck(function, (x, y))
    assert gradgradcheck(function, (x, y))


def test_cat_does_not_watch_its_inputs():
    x = taeda.ones(2, requires_grad=True)
    y = x * 2
    joined = taeda.cat([y, y])
    y.add_(1)
    joined.sum().backward()
    assert x.grad.tolist() == [4, 4]


def test_gradients_of_inputs_that_cat_passes_over():
    x, empty = taeda.ones(2, 2, requires_grad=True), taeda.ones(0, requires_grad=True)
    taeda.cat([empty, x], 1).sum().backward()
    assert empty.grad.shape == (0,)
    assert x.grad.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("sizes, dim", [([-2], -1), ([5, 1], 0), ([0], 0), ([1], 0)])
def test_sizes_of_the_gradient_of_cat_are_checked(sizes, dim):
    with pytest.raises(RuntimeError, match="sizes"):
        taeda.ops.aten.cat_backward(taeda.ones(1), sizes, dim)


def test_a_padding_beyond_64_bits_is_an_error():
    with pytest.raises(RuntimeError, match="padding"):
        taeda.ops.aten.replication_pad1d(taeda.ones(1, 2, 3), [2**63 - 1, 2**63 - 1])
