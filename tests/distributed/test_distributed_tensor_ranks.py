"""DTensors of several processes: the same numbers as plain tensors, however they lie."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ranks import needs_mpi, run

import taeda
import taeda.nn.functional as F
from taeda import nn
from taeda.distributed.device_mesh import init_device_mesh
from taeda.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor

pytestmark = needs_mpi
WHOLE, TERMS = Replicate(), Partial()


def _moves(rank: int) -> list[Any]:
    mesh, wrong = init_device_mesh("cpu", (3,)), []
    x = taeda.arange(35.0).view(7, 5)
    for old in (Shard(0), Shard(1), WHOLE, TERMS):
        for new in (Shard(0), Shard(1), WHOLE):
            if old == TERMS:
                given = DTensor.from_local(x / 3, mesh, [TERMS])
            else:
                given = distribute_tensor(x, mesh, [old])
            moved = given.redistribute(placements=[new])
            good = moved.placements == (new,) and moved.shape == (7, 5) and taeda.allclose(moved.full_tensor(), x)
            wrong += [] if good else [(old, new)]
    return wrong


def test_moves() -> None:
    assert run(3, _moves) == [[]] * 3


def _moves_in_two_dimensions(rank: int) -> list[Any]:
    mesh, wrong = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp")), []
    x = taeda.arange(35.0).view(7, 5)
    ways = [(Shard(0), Shard(0)), (Shard(0), Shard(1)), (Shard(1), WHOLE), (WHOLE, Shard(0)), (WHOLE, WHOLE)]
    for old in ways:
        for new in [*ways, (Shard(1), Shard(1))]:
            moved = distribute_tensor(x, mesh, old).redistribute(placements=new)
            wrong += [] if taeda.equal(moved.full_tensor(), x) else [(old, new)]
    assert mesh["tp"].size() == 2 and mesh["dp"].get_local_rank() == rank // 2
    assert mesh._flatten("all").get_group().size() == 4
    return wrong


def test_moves_in_two_dimensions() -> None:
    assert run(4, _moves_in_two_dimensions) == [[]] * 4


OPS: dict[str, Callable[..., Any]] = {
    "linear": lambda x, w, b: F.linear(x, w, b),
    "product": lambda x, w, b: x @ w.t() + b,
    "softmax": lambda x, w, b: F.softmax(F.linear(x, w, b), -1),
    "sum": lambda x, w, b: F.gelu(F.linear(x, w, b)).sum(0),
    "layer norm": lambda x, w, b: F.layer_norm(F.linear(x, w, b), (6,)),
    "mean": lambda x, w, b: (x @ w.t()).mean(1),
    "views": lambda x, w, b: F.linear(x, w, b).view(7, 3, 2).transpose(0, 1)[1:].sum(),
    "parts": lambda x, w, b: taeda.cat(F.linear(x, w, b).split(3, -1), 0),
    "max": lambda x, w, b: F.linear(x, w, b).max(),
    "expanded": lambda x, w, b: (x.unsqueeze(1).expand(7, 6, 5) * w).sum(-1),
    "norm": lambda x, w, b: (x @ w.t()).norm(),
    "without a rule": lambda x, w, b: F.conv1d(x.unsqueeze(0).transpose(1, 2), w.unsqueeze(-1)),
}


def _ops(rank: int) -> list[Any]:
    mesh, wrong = init_device_mesh("cpu", (2,)), []
    taeda.manual_seed(0)
    values = taeda.randn(7, 5), taeda.randn(6, 5), taeda.randn(6)
    for name, op in OPS.items():
        plain = [value.clone().requires_grad_() for value in values]
        wanted = op(*plain)
        wanted.square().sum().backward()
        for ways in ((a, b, c) for a in (Shard(0), Shard(1), WHOLE) for b in (Shard(0), Shard(1), WHOLE)
                     for c in (WHOLE, Shard(0))):  # fmt: skip
            given = [distribute_tensor(v, mesh, [way]).requires_grad_() for v, way in zip(values, ways, strict=True)]
            found = op(*given)
            good = found.shape == wanted.shape and taeda.allclose(found.full_tensor(), wanted, atol=1e-4)
            found.square().sum().backward()
            good &= all(
                q.grad is None or taeda.allclose(p.grad.full_tensor(), q.grad, atol=1e-3)
                for p, q in zip(given, plain, strict=True)
            )
            wrong += [] if good else [(name, ways)]
    return wrong


def test_ops_and_gradients() -> None:
    assert run(2, _ops) == [[]] * 2


def _trained(rank: int) -> list[str]:
    mesh, wrong = init_device_mesh("cpu", (3,)), []
    taeda.manual_seed(1)
    x = taeda.randn(7, 5)
    net = nn.Linear(5, 4)
    whole = copy.deepcopy(net)

    def cut(name: str, module: nn.Module, on: Any) -> None:
        for key, value in module.named_parameters(recurse=False):
            setattr(module, key, nn.Parameter(distribute_tensor(value, on, [Shard(0)])))

    distribute_module(net, mesh, cut)
    for kind in (taeda.optim.SGD, taeda.optim.Adam, taeda.optim.AdamW):
        ours, theirs = kind(net.parameters(), lr=0.1), kind(whole.parameters(), lr=0.1)
        for _ in range(3):
            ours.zero_grad(), theirs.zero_grad()
            net(distribute_tensor(x, mesh, [Shard(0)])).square().mean().backward()
            whole(x).square().mean().backward()
            norms = [float(nn.utils.clip_grad_norm_(m.parameters(), 0.5)) for m in (net, whole)]
            ours.step(), theirs.step()
        close = [taeda.allclose(p.full_tensor(), q, atol=1e-5)
                 for p, q in zip(net.parameters(), whole.parameters(), strict=True)]  # fmt: skip
        wrong += [] if all(close) and abs(norms[0] - norms[1]) < 1e-5 else [kind.__name__]
    return wrong


def test_training_in_parts() -> None:
    assert run(3, _trained) == [[]] * 3
