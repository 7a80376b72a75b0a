"""DTensors of several processes: the same numbers as plain tensors, however they lie."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from ranks import needs_mpi, run

import taeda
import taeda.nn.functional as F
from taeda import nn
from taeda.distributed.device_mesh import DeviceMesh, init_device_mesh
from taeda.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor, zeros

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


def _outside(rank: int) -> Any:
    mesh, whole = DeviceMesh("cpu", [0, 2]), taeda.arange(28.0).view(7, 4)
    local = taeda.ones(4, 3, requires_grad=True)
    x = DTensor.from_local(local, mesh, [Shard(0)])
    (x * 2).sum().backward()
    cut = distribute_tensor(whole, mesh, [Shard(0)])
    moved = cut.redistribute(placements=[WHOLE])
    results = [x + 2, x.sum(), *x.split([2, 1], 1), cut.view(28), zeros(8, device_mesh=mesh, placements=[Shard(0)]),
               moved, cut @ cut.t(), cut.softmax(0)]  # fmt: skip
    assert [r.shape for r in results[:3]] == [(8, 3), (), (8, 2)] and x.equal(x + 0) and moved.shape == (7, 4)
    grad = None if local.grad is None else local.grad.sum().item()
    return [tuple(r.to_local().shape) for r in results], grad, str(cut.device), pickle.loads(pickle.dumps(cut)).shape


def test_processes_outside_the_mesh_run_the_same_program() -> None:
    inside = [(4, 3), (), (4, 2), (4, 1), (28,), (4,), (7, 4), (4, 7), (7, 4)]
    here, nothing, last = run(3, _outside)
    assert here[:2] == (inside, 24.0) and last[0][-3:] == [(7, 4), (3, 7), (7, 4)]
    assert nothing == ([(0,), (), *[(0,)] * 7], None, "cpu", (7, 4))


def _meta(rank: int) -> Any:
    mesh = init_device_mesh("cpu", (2,))
    with taeda.device("meta"):
        model = nn.Linear(6, 5)
    model = distribute_module(model, mesh, lambda _, part, on: [
        part.register_parameter(name, nn.Parameter(distribute_tensor(param, on, [Shard(0)])))
        for name, param in list(part.named_parameters(recurse=False))
    ])  # fmt: skip
    model = model.to_empty(device="cpu").to(taeda.float64)
    weight = model.weight
    return tuple(weight.shape), tuple(weight._local_tensor.shape), weight._local_tensor.dtype, weight.device.type


def test_modules_on_the_meta_device_are_distributed_without_values() -> None:
    assert run(2, _meta) == [((5, 6), (rows, 6), taeda.float64, "cpu") for rows in (3, 2)]


def _reshaped_meshes(rank: int) -> Any:
    mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("world",))
    two = mesh._unflatten("world", (2, 2), ("dp", "tp"))
    dp, tp = two["dp"], two["tp"]
    assert two._flatten("all").mesh.tolist() == [0, 1, 2, 3] and two.get_group("all").size() == 4
    assert DeviceMesh._concatenate([dp, tp]) == two and dp._get_root_mesh() is mesh and two._get_root_mesh_dim() is None
    assert [m.mesh.tolist() for m in two._get_all_submeshes("dp")] == [[0, 2], [1, 3]]
    x = distribute_tensor(taeda.arange(8.0), tp, [Shard(0)])
    wrong = []
    for bad in (lambda: two["tp", "dp"], lambda: mesh._unflatten(0, (3, 2), ("a", "b")), lambda: two["none"],
                lambda: DeviceMesh._concatenate([dp, dp]), lambda: DeviceMesh("cpu:0", [0])):  # fmt: skip
        try:
            bad()
        except (KeyError, ValueError, RuntimeError) as error:
            wrong.append(type(error).__name__)
    return dp.mesh.tolist(), tp.mesh.tolist(), x.full_tensor().sum().item(), wrong


def test_meshes_are_cut_and_joined() -> None:
    wrong = ["KeyError", "ValueError", "KeyError", "ValueError", "RuntimeError"]
    assert run(4, _reshaped_meshes) == [
        ([r % 2, r % 2 + 2], [r // 2 * 2, r // 2 * 2 + 1], 28.0, wrong) for r in range(4)
    ]


def _differing_parts(rank: int) -> str:
    mesh = init_device_mesh("cpu", (2,))
    try:
        DTensor.from_local(taeda.ones(2, dtype=taeda.float64 if rank else taeda.float32), mesh, run_check=True)
    except ValueError as error:
        return str(error)[:35]
    return ""


def test_parts_that_differ_are_found() -> None:
    assert run(2, _differing_parts) == ["DTensor.from_local: the parts of a "] * 2


# Of p, whose terms the processes have, and s, which is in parts.
TERM_OPS: dict[str, Callable[..., Any]] = {
    "a number added": lambda p, s: p + 1,
    "taken from a number": lambda p, s: 1 - p,
    "added in place": lambda p, s: p.add_(1),
    "zero_": lambda p, s: p.zero_(),
    "relu_": lambda p, s: p.relu_(),
    "clamp_": lambda p, s: p.clamp_(min=0),
    "mul_": lambda p, s: p.mul_(2),
    "div": lambda p, s: p / 2,
    "div_": lambda p, s: p.div_(2),
    "rounded": lambda p, s: taeda.div(p, 2, rounding_mode="floor"),
    "reciprocal": lambda p, s: 2 / p,
    "copy_": lambda p, s: p.copy_(s),
    "parts in place": lambda p, s: s.add_(p),
    "alpha": lambda p, s: taeda.add(p, p, alpha=2),
    "out, in parts": lambda p, s: taeda.add(p, 1, out=s),
    "out, in terms": lambda p, s: taeda.mul(p, 2, out=p),
    "masked": lambda p, s: p.masked_fill(p > 0, 5.0),
    "where": lambda p, s: taeda.where(p > 0, p, s),
    "list plus a number": lambda p, s: taeda._foreach_add([p, s], 1)[0],
    "list": lambda p, s: taeda._foreach_add([p], [s])[0],
    "list in place": lambda p, s: (taeda._foreach_add_([p, s], 1), p)[1],
    "other lists": lambda p, s: (taeda._foreach_addcmul_([s], [p], [p]), s)[1],
    "square": lambda p, s: p * p,
    "sum": lambda p, s: p.sum(),
    "mean": lambda p, s: p.mean(),
    "norm": lambda p, s: p.norm(),
}


def _terms(rank: int) -> dict[str, Any]:
    mesh, wrong = init_device_mesh("cpu", (2,)), {}
    for name, function in TERM_OPS.items():
        p = DTensor.from_local(taeda.tensor([1.0, -2.0, 3.0]) * (rank + 1), mesh, [TERMS])
        s = distribute_tensor(taeda.ones(3), mesh, [Shard(0)])
        got, want = function(p, s), function(taeda.tensor([3.0, -6.0, 9.0]), taeda.ones(3))
        if not taeda.allclose(got.full_tensor(), want):
            wrong[name] = got.placements, got.full_tensor()
    largest, where = (distribute_tensor(one, mesh, [placed]) for one, placed in
                      ((taeda.zeros(2), Shard(0)), (taeda.zeros(2, dtype=taeda.int64), WHOLE)))  # fmt: skip
    p = DTensor.from_local(taeda.tensor([[1.0, -2.0], [3.0, -4.0]]) * (rank + 1), mesh, [TERMS])
    results = taeda.max(p, 1, out=(largest, where))
    assert (
        results[0] is largest
        and largest.full_tensor().tolist() == [3.0, 9.0]
        and where.full_tensor().tolist() == [0, 0]
    )
    for bad in (taeda.zeros(2), distribute_tensor(taeda.zeros(3), mesh, [WHOLE])):
        with pytest.raises(RuntimeError, match="out must be a DTensor of shape"):
            taeda.mul(largest, 2, out=bad)
    product = DTensor.from_local(taeda.full((2,), 3.0), mesh, [Partial("product")]).add_(1)
    assert product.full_tensor().tolist() == [10.0, 10.0]
    filled = DTensor.from_local(taeda.ones(2), mesh, [TERMS]).fill_(8)
    assert filled.full_tensor().tolist() == [16.0, 16.0]  # each term, as in PyTorch
    return wrong


def test_ops_on_terms_are_those_of_their_sum() -> None:
    assert run(2, _terms) == [{}] * 2


def _moves_of_terms(rank: int) -> list[Any]:
    mesh, wrong = init_device_mesh("cpu", (2, 2)), []
    x = taeda.arange(35.0).view(7, 5)
    for old in itertools.product((Shard(0), Shard(1), TERMS), repeat=2):
        for new in itertools.product((Shard(0), Shard(1), WHOLE), repeat=2):
            whole = distribute_tensor(x, mesh, [WHOLE if one == TERMS else one for one in old])
            local = whole.to_local() / 2 ** old.count(TERMS)
            given = DTensor.from_local(local, mesh, old, shape=x.shape, stride=x.stride())
            moved = given.redistribute(placements=new)
            right = taeda.equal(moved.to_local(), distribute_tensor(x, mesh, new).to_local())
            wrong += [] if right and taeda.equal(moved.full_tensor(), x) else [(old, new)]
    return wrong


def test_moves_of_terms() -> None:
    assert run(4, _moves_of_terms) == [[]] * 4


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
    "addmm": lambda x, w, b: taeda.addmm(b, x, w.t(), alpha=2, beta=3) + taeda.addmm(x[:, :1] @ w[:, :1].t(), x, w.t()),
    "baddbmm": lambda x, w, b: taeda.baddbmm(b, x.expand(3, 7, 5), w.t().expand(3, 5, 6)),
    "along rows": lambda x, w, b: F.linear(x, w, b).cumsum(1) * b,
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
