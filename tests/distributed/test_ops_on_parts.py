"""Ops on DTensors give what they give on the whole, values and gradients, however the operands are cut."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import taeda
import taeda.nn.functional as F
from taeda.distributed._threads import run_ranks
from taeda.distributed.device_mesh import init_device_mesh
from taeda.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

taeda.manual_seed(0)
A, B, C, V, SQUARE = (taeda.randn(*sizes) for sizes in ((4, 6), (4, 6), (6, 4), (6,), (4, 4)))
X, IMAGE, WEIGHT, MASK = taeda.randn(4, 8, 6), taeda.randn(4, 4, 8, 8), taeda.randn(6, 4, 3, 3), A > 0
PLACES, ROWS, COLUMNS = taeda.randint(6, (4, 3)), taeda.tensor([0, 2, 1]), taeda.tensor([5, 0, 1, 3])


def _written(a: Any) -> Any:
    a = a * 1
    a[1] = 0.0
    a[:, 2] = 1.0
    a[1:3, 1:].mul_(3)
    a.t()[0] += 5
    return a


def _heads(x: Any) -> Any:
    return x.unflatten(-1, (2, 3)).transpose(1, 2)


OPS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (taeda.where, (MASK, A, B)), (lambda a: a.topk(2, -1)[0], (A,)), (lambda a: a.sort(-1)[0], (A,)),
    (lambda a: a.argmax(-1), (A,)), (lambda a: a.max(-1)[0], (A,)), (lambda a: a.max(), (A,)),
    (lambda a: a.prod(), (A,)), (lambda a: a.std(0), (A,)), (lambda a: taeda.var_mean(a, -1)[0], (A,)),
    (lambda a: a.norm(), (A,)), (lambda a: taeda.linalg.vector_norm(a, dim=0), (A,)),
    (lambda a: a.norm(dim=1, keepdim=True), (A,)), (F.normalize, (A,)), (F.cosine_similarity, (A, B)),
    (lambda a: a.cumsum(0), (A,)), (lambda a: a.logsumexp(0), (A,)), (lambda a: a.softmax(0), (A,)),
    (lambda a, i: a.gather(1, i), (A, PLACES)), (lambda a, i: a.scatter(1, i, 2.0), (A, PLACES)),
    (lambda a, i, b: a.scatter_add(1, i, b), (A, PLACES, B[:, :3])), (lambda a, i: a.index_select(1, i), (A, ROWS)),
    (lambda a, i: a.index_put((i,), taeda.ones(())), (A, ROWS)), (lambda a, i: a[:, i], (A, ROWS)),
    (lambda a, i, b: a.index_add(0, i, b), (A, ROWS, B[:3])), (lambda a, b: taeda.cat([a, b], 0), (A, B)),
    (lambda a, b: taeda.stack([a, b], 1), (A, B)), (lambda a: a.chunk(2, 1)[1], (A,)),
    (lambda a: a.split([2, 4], -1)[1], (A,)), (lambda a: a.unbind(0)[1], (A,)), (lambda x: x.flatten(0, 1), (X,)),
    (lambda x: x.unflatten(1, (2, 4)), (X,)), (lambda x: x.movedim(0, -1), (X,)), (lambda v: v.expand(3, 6), (V,)),
    (lambda a: a.repeat(2, 1), (A,)), (lambda a: a.roll(1, 0), (A,)), (lambda a: F.pad(a, (1, 2)), (A,)),
    (lambda a: a.tril(), (SQUARE,)), (lambda a, c: a @ c, (A, C)), (lambda x: x @ x.mT, (X,)),
    (lambda a, v: a @ v, (A, V)), (lambda x, c: taeda.einsum("bij,jk->bik", x, c), (X, C)),
    (lambda a, c, s: taeda.addmm(s, a, c), (A, C, SQUARE)), (lambda x: F.layer_norm(x, (6,)), (X,)),
    (lambda i: F.group_norm(i, 2), (IMAGE,)), (lambda i, w: F.conv2d(i, w, padding=1), (IMAGE, WEIGHT)),
    (lambda i: F.max_pool2d(i, 2), (IMAGE,)), (F.glu, (A,)), (F.cross_entropy, (A, COLUMNS)), (F.mse_loss, (A, B)),
    (lambda i, a: F.embedding(i, a), (COLUMNS, C)), (lambda a: a[a.argsort(0)[0]], (A,)),
    (lambda x: F.scaled_dot_product_attention(_heads(x), _heads(x), _heads(x), is_causal=True), (X,)),
    (lambda a: taeda.view_as_complex(a.reshape(4, 3, 2)).abs(), (A,)), (lambda a: taeda.fft.rfft(a).abs(), (A,)),
    (lambda a, b: (a * 1).copy_(b), (A, B)), (lambda a: sum(row for row in a), (A,)), (_written, (A,)),
    (taeda.linalg.solve, (SQUARE, C.T)), (lambda a: F.dropout(a, 0.0), (A,)), (taeda.cdist, (A, B)),
]  # fmt: skip


def _all(size: int) -> list[Any]:
    mesh, wrong = init_device_mesh("cpu", (size,)), []
    for number, (op, args) in enumerate(OPS):
        for how in itertools.product(*([Replicate(), *map(Shard, range(one.dim()))] for one in args)):
            whole = [one.clone().requires_grad_(one.is_floating_point()) for one in args]
            parts: list[Any] = [distribute_tensor(one, mesh, [place]) for one, place in zip(whole, how, strict=True)]
            expected, made = op(*whole), op(*parts)
            ok = isinstance(made, DTensor) and taeda.allclose(made.full_tensor(), expected, atol=1e-5)
            if expected.requires_grad:
                expected.square().sum().backward()
                made.square().sum().backward()
                ok &= all(one.grad is None or taeda.allclose(part.grad.full_tensor(), one.grad, atol=1e-4)
                          for one, part in zip(whole, parts, strict=True))  # fmt: skip
            wrong += [] if ok else [(number, how)]
    return wrong


def test_they_do_as_on_the_whole() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run_ranks(2, _all, 2) == [[]] * 2


# What needs no other part stays cut, and what is one number of each part is a term.
STAY = [
    (lambda a: a[:, 1], (Shard(0), Shard(0))), (lambda a: a[1], (Shard(1), Shard(0))),
    (lambda a: taeda.stack([a, a], 1), (Shard(1), Shard(2))), (lambda a: a.max(), (Shard(0), Partial("max"))),
    (lambda a: a.amin(0), (Shard(0), Partial("min"))), (lambda a: a.max(1)[1], (Shard(0), Shard(0))),
    (lambda a: a.argmin(1, True), (Shard(0), Shard(0))), (lambda a: a.topk(2)[0], (Shard(0), Shard(0))),
    (lambda a: a.sort(0)[1], (Shard(1), Shard(1))), (lambda a: a.std(0), (Shard(1), Shard(0))),
    (lambda a: taeda.var_mean(a, 1)[1], (Shard(0), Shard(0))), (lambda a: (a > 0).any(1), (Shard(0), Shard(0))),
    (lambda a: a.prod(0), (Shard(1), Shard(0))), (lambda a: a.logsumexp(1), (Shard(0), Shard(0))),
    (lambda a: a.flip(0), (Shard(1), Shard(1))), (lambda a: a.roll(1, 1), (Shard(0), Shard(0))),
    (lambda a: a.cumprod(1), (Shard(0), Shard(0))), (lambda a: a[:3].max(), (Shard(1), Partial("max"))),
    (lambda a: a[:3].max(), (Shard(0), Replicate())), (lambda a: a.roll(1), (Shard(0), Replicate())),
    (lambda a: a.flip(0), (Shard(0), Replicate())), (lambda a: a[1:], (Shard(0), Replicate())),
]  # fmt: skip


def _places() -> list[Any]:
    mesh, wrong = init_device_mesh("cpu", (2,)), []
    for number, (op, (given, wanted)) in enumerate(STAY):
        made = op(distribute_tensor(A, mesh, [given]))
        if made.placements != (wanted,) or not taeda.equal(made.full_tensor(), op(A)):
            wrong.append((number, made.placements))
    return wrong


def test_what_can_stay_cut_does() -> None:
    assert run_ranks(2, _places) == [[]] * 2
