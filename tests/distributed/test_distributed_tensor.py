"""Meshes of one process and the tensors on them; beside PyTorch where it is."""

from __future__ import annotations

import copy
import importlib
import io
import pickle
from typing import Any

import pytest

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed._threads import run_ranks
from taeda.distributed.device_mesh import DeviceMesh, init_device_mesh
from taeda.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor


class Both:
    """A library's own parts, under names that do not tell which one it is."""

    def __init__(self, name: str) -> None:
        self.root: Any = importlib.import_module(name)
        self.dist: Any = importlib.import_module(f"{name}.distributed")
        self.mesh: Any = importlib.import_module(f"{name}.distributed.device_mesh")
        self.tensor: Any = importlib.import_module(f"{name}.distributed.tensor")
        self.placed: Any = [self.tensor.Shard(0), self.tensor.Replicate(), self.tensor.Partial()]


@pytest.fixture(autouse=True)
def group(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


@pytest.fixture
def mesh():
    return init_device_mesh("cpu", (1,))


@pytest.fixture
def both():
    pytest.importorskip("torch")
    pair = Both("taeda"), Both("torch")
    pair[1].dist.init_process_group("gloo", store=pair[1].dist.HashStore(), rank=0, world_size=1)
    yield pair
    pair[1].dist.destroy_process_group()


def plain(value: Any) -> Any:
    """What both libraries must agree on."""
    if hasattr(value, "full_tensor"):
        return "DTensor", str(value.dtype), value.full_tensor().tolist()
    if hasattr(value, "untyped_storage"):
        return str(value.dtype), value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def outcome(call: Any) -> Any:
    try:
        return plain(call())
    except Exception as error:
        return type(error).__name__


MESHES = {
    "repr": lambda b, m: repr(m),
    "geometry": lambda b, m: (m.shape, m.ndim, m.size(), m.size(0), m.mesh, m.mesh_dim_names, m.device_type),
    "ranks": lambda b, m: (m.get_rank(), m.get_coordinate(), m.get_local_rank(0), len(m.get_all_groups())),
    "no dimension named": lambda b, m: m.get_local_rank(),
    "no group named": lambda b, m: m.get_group().size(),
    "local rank by name": lambda b, m: m.get_local_rank("tp"),
    "far dimension": lambda b, m: m.get_local_rank(9),
    "far size": lambda b, m: m.size(9),
    "part": lambda b, m: m["tp"],
    "parts": lambda b, m: m["dp", "tp"] is m,
    "no such part": lambda b, m: m["pp"],
    "root": lambda b, m: m["tp"]._get_root_mesh() is m,
    "flat": lambda b, m: (m._flatten(), m["dp_tp"]),
    "flat, named": lambda b, m: (m._flatten("all"), m["all"] == m._flatten("all")),
    "copy": lambda b, m: (pickle.loads(pickle.dumps(m)) == m, hash(copy.copy(m)) == hash(m)),
    "equal": lambda b, m: m == b.mesh.init_device_mesh("cpu", m.shape),
    "world": lambda b, m: m.get_group(0) is b.dist.group.WORLD,
    "too large": lambda b, m: b.mesh.init_device_mesh("cpu", (2,)),
    "names": lambda b, m: b.mesh.init_device_mesh("cpu", (1, 1), mesh_dim_names=("a",)),
    "names twice": lambda b, m: b.mesh.init_device_mesh("cpu", (1, 1), mesh_dim_names=("a", "a")),
    "index": lambda b, m: b.mesh.init_device_mesh("cpu:0", (1,)),
    "of lists": lambda b, m: b.mesh.DeviceMesh("cpu", [[0]], mesh_dim_names=("a", "b")),
    "of a group": lambda b, m: b.mesh.DeviceMesh.from_group(b.dist.group.WORLD, "cpu"),
    "of named groups": lambda b, m: b.mesh.DeviceMesh.from_group(
        [b.dist.group.WORLD] * 2, "cpu", [[0]], mesh_dim_names=("a", "b")
    ),
    "of groups": lambda b, m: b.mesh.DeviceMesh.from_group([b.dist.group.WORLD] * 2, "cpu", [[0]]),
}


@pytest.mark.parametrize("case", MESHES)
@pytest.mark.parametrize("names", [None, ("dp", "tp")])
def test_meshes_beside_torch(both, case, names):
    shape = (1,) if names is None else (1, 1)
    ours, theirs = (
        outcome(lambda b=b: MESHES[case](b, b.mesh.init_device_mesh("cpu", shape, mesh_dim_names=names))) for b in both
    )
    assert ours == theirs


PLACEMENTS = {
    "text": lambda b: [(repr(p), str(p)) for p in b.placed],
    "what": lambda b: [
        (p.is_shard(), p.is_shard(0), p.is_shard(1), p.is_replicate(), p.is_partial()) for p in b.placed
    ],
    "reduction": lambda b: (b.tensor.Partial("avg").is_partial("sum"), b.tensor.Partial("avg").reduce_op),
    "equal": lambda b: [[p == q for q in b.placed] for p in b.placed],
    "no dim": lambda b: b.tensor.Shard(),
    "no number": lambda b: b.tensor.Shard("a"),
}


@pytest.mark.parametrize("case", PLACEMENTS)
def test_placements_beside_torch(both, case):
    ours, theirs = (outcome(lambda b=b: PLACEMENTS[case](b)) for b in both)
    assert ours == theirs


def _trained(b: Any, m: Any) -> Any:
    linear = b.root.nn.Linear(3, 2)
    with b.root.no_grad():
        linear.weight.fill_(0.5), linear.bias.fill_(0.25)
    b.tensor.distribute_module(linear, m)
    optimizer = b.root.optim.AdamW(linear.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        linear(b.tensor.ones(2, 3, device_mesh=m)).sum().backward()
        optimizer.step()
    made = [linear.weight, linear.weight.grad, linear.bias, optimizer.state_dict()["state"][0]["exp_avg"]]
    return [(x * 1000).round() for x in made]


def _with_grad(b: Any, d: Any, call: Any) -> Any:
    leaf = d.detach().requires_grad_()
    call(leaf).backward()
    return leaf.grad, leaf.grad.placements


TENSORS = {
    "repr": lambda b, m, a, d: repr(d),
    "local": lambda b, m, a, d: (d.to_local(), d.full_tensor(), d._local_tensor),
    "placements": lambda b, m, a, d: (d.placements, d.device_mesh is m),
    "geometry": lambda b, m, a, d: (d.shape == (2, 3), d.stride(), str(d.device), d.is_contiguous()),
    "copied": lambda b, m, a, d: (d.add_(1), a),
    "in place": lambda b, m, a, d: d.add_(1) is d,
    "arithmetic": lambda b, m, a, d: [d + d, d + 1, 2 * d, d + b.root.tensor(1.0), d + b.root.ones(1)],
    "mixed": lambda b, m, a, d: d + a,
    "mixed in place": lambda b, m, a, d: a.add_(d),
    "mixed in a list": lambda b, m, a, d: b.root.cat([d, a]),
    "meshes": lambda b, m, a, d: d + b.tensor.ones(2, 3, device_mesh=b.mesh.init_device_mesh("cpu", (1, 1))),
    "functions": lambda b, m, a, d: [d.sum(), d @ d.t(), d[0], *d.max(0), b.root.where(d > 0, d, d)],
    "lists": lambda b, m, a, d: [*d.split(1), *b.root._foreach_add([d], [d])],
    "made": lambda b, m, a, d: [b.root.zeros_like(d), d.to(b.root.float64), d.clone(), d.detach()],
    "numbers": lambda b, m, a, d: (d.sum().item(), float(d[0, 1]), bool((d > -1).all())),
    "tolist": lambda b, m, a, d: d.tolist(),
    "numpy": lambda b, m, a, d: d.numpy(),
    "default": lambda b, m, a, d: b.tensor.distribute_tensor(a, m).placements,
    "negative": lambda b, m, a, d: b.tensor.distribute_tensor(a, m, [b.tensor.Shard(-1)]).placements,
    "far": lambda b, m, a, d: b.tensor.DTensor.from_local(a, m, [b.tensor.Shard(2)]),
    "too many": lambda b, m, a, d: b.tensor.distribute_tensor(a, m, [b.tensor.Replicate()] * 2),
    "no mesh": lambda b, m, a, d: b.tensor.distribute_tensor(a),
    "again": lambda b, m, a, d: b.tensor.distribute_tensor(d, m, d.placements) is d,
    "otherwise": lambda b, m, a, d: b.tensor.distribute_tensor(d, m),
    "not a leaf": lambda b, m, a, d: b.tensor.distribute_tensor(a.requires_grad_() * 2, m),
    "leaf": lambda b, m, a, d: [
        (x.is_leaf, x.requires_grad) for x in [b.tensor.distribute_tensor(b.root.nn.Parameter(a), m)]
    ],
    "parameter": lambda b, m, a, d: [
        (isinstance(x, b.root.nn.Parameter), x.requires_grad) for x in [b.root.nn.Parameter(d)]
    ],
    "redistributed": lambda b, m, a, d: [x.placements for x in [d.redistribute(m, [b.tensor.Replicate()])]],
    "to terms": lambda b, m, a, d: d.redistribute(m, [b.tensor.Partial()]),
    "nowhere": lambda b, m, a, d: d.redistribute(),
    "dtype": lambda b, m, a, d: d.redistribute(m, [b.tensor.Replicate()], forward_dtype=b.root.bfloat16),
    "of terms": lambda b, m, a, d: b.tensor.DTensor.from_local(a, m, [b.tensor.Partial()]).full_tensor(),
    "from a DTensor": lambda b, m, a, d: b.tensor.DTensor.from_local(d, m),
    "a shape alone": lambda b, m, a, d: b.tensor.DTensor.from_local(a, m, shape=(2, 3)),
    "grad": lambda b, m, a, d: _with_grad(b, d, lambda x: (x * x).sum()),
    "grad of sqrt": lambda b, m, a, d: _with_grad(b, d, lambda x: (x + 1).square().sqrt().sum().to_local()),
    "grad through local": lambda b, m, a, d: _with_grad(b, d, lambda x: (x.to_local() * 3).sum()),
    "grad through full": lambda b, m, a, d: _with_grad(b, d, lambda x: (x.full_tensor() ** 2).sum()),
    "grad through redistribute": lambda b, m, a, d: _with_grad(
        b, d, lambda x: (x.redistribute(m, [b.tensor.Replicate()]) * x).sum()
    ),
    "factories": lambda b, m, a, d: [
        b.tensor.ones(2, device_mesh=m), b.tensor.zeros((1, 2), device_mesh=m), b.tensor.full((2,), 3, device_mesh=m),
        b.tensor.zeros(2, dtype=b.root.int8, device_mesh=m), b.tensor.empty(0, device_mesh=m, requires_grad=True),
    ],
    "trained": lambda b, m, a, d: _trained(b, m),
    "twice": lambda b, m, a, d: [b.tensor.distribute_module(x, m) for x in [b.root.nn.ReLU()] * 2],
}  # fmt: skip


@pytest.mark.parametrize("case", TENSORS)
def test_tensors_beside_torch(both, case):
    results = []
    for b in both:
        m = b.mesh.init_device_mesh("cpu", (1,))
        a = b.root.arange(6.0).reshape(2, 3)
        d = b.tensor.distribute_tensor(a, m, [b.tensor.Shard(0)])
        results.append(outcome(lambda b=b, m=m, a=a, d=d: TENSORS[case](b, m, a, d)))
    assert results[0] == results[1]


def test_from_local_shares_memory_and_the_graph(mesh):
    x = taeda.ones(2, 3, requires_grad=True)
    d = DTensor.from_local(x, mesh, [Shard(0)])
    assert d.to_local().data_ptr() == x.data_ptr() and d.placements == (Shard(0),)
    (d * d).sum().backward()
    assert type(x.grad) is taeda.Tensor and x.grad.tolist() == [[2.0] * 3] * 2
    assert type(d.to_local()) is taeda.Tensor and d.to_local().requires_grad


def test_gradient_dtype_on_the_way_back(mesh):
    d = distribute_tensor(taeda.tensor([1.0, 3.0]), mesh).requires_grad_()
    moved = d.redistribute(mesh, [Replicate()], backward_dtype=taeda.bfloat16)
    (moved * taeda.tensor(1.001)).sum().backward()
    assert d.grad.dtype == taeda.float32 and d.grad.full_tensor().tolist() == [1.0, 1.0]


def test_other_mesh_and_unknown_processes(mesh):
    other = init_device_mesh("cpu", (1, 1))
    with pytest.raises(NotImplementedError):
        distribute_tensor(taeda.ones(2), mesh).redistribute(other, [Replicate()] * 2)
    with pytest.raises(ValueError, match=r"\[0\]"):
        DeviceMesh("cpu", [1])
    with pytest.raises(RuntimeError, match="a mesh of 2 processes"):
        DeviceMesh("cpu", [0, 1])


def test_active_mesh(mesh):
    with mesh, init_device_mesh("cpu", (1, 1)) as inner:
        assert distribute_tensor(taeda.ones(2)).device_mesh is inner
    with pytest.raises(RuntimeError, match="device_mesh"):
        distribute_tensor(taeda.ones(2))


def test_random_factories_draw_as_plain_ones(mesh):
    from taeda.distributed import tensor

    for name in ("rand", "randn"):
        taeda.manual_seed(0)
        made = getattr(tensor, name)(3, device_mesh=mesh, requires_grad=True)
        taeda.manual_seed(0)
        assert made.requires_grad and taeda.equal(made.full_tensor(), getattr(taeda, name)(3))


def test_copies_and_files(mesh):
    d = distribute_tensor(taeda.arange(3.0), mesh, [Shard(0)]).requires_grad_()
    file = io.BytesIO()
    taeda.save(d, file)
    file.seek(0)
    for twin in (copy.deepcopy(d), pickle.loads(pickle.dumps(d)), taeda.load(file, weights_only=False)):
        assert type(twin) is DTensor and twin.placements == d.placements and twin.device_mesh == mesh
        assert twin.requires_grad and twin.is_leaf and twin._local_tensor.data_ptr() != d._local_tensor.data_ptr()
        assert twin.full_tensor().tolist() == [0.0, 1.0, 2.0]


def test_distributed_module(mesh):
    seen = []

    def part(name: str, module: nn.Module, on: DeviceMesh) -> None:
        seen.append(name)
        for key, value in module.named_parameters(recurse=False):
            setattr(module, key, nn.Parameter(distribute_tensor(value.data, on, [Shard(0)])))

    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    made = distribute_module(
        net, mesh, part, lambda _, x, on: (distribute_tensor(x[0], on),), lambda _, y, on: y.to_local()
    )
    assert made is net and seen == ["", "0", "1"]
    out = net(taeda.ones(2, 3))
    assert type(out) is taeda.Tensor
    out.sum().backward()
    assert net[0].weight.placements == (Shard(0),) and net[0].weight.grad.shape == (4, 3)
    assert net[1].running_mean.placements == (Replicate(),)
    net.load_state_dict(net.state_dict())
    net.double()
    assert isinstance(net[0].weight, DTensor) and net[0].weight.dtype == taeda.float64
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    assert isinstance(norm, DTensor)


def test_terms_of_a_reduction(mesh):
    x = taeda.ones(2, requires_grad=True)
    whole = DTensor.from_local(x, mesh, [Partial()]).redistribute(placements=[Replicate()])
    whole.full_tensor(grad_placements=[Replicate()]).sum().backward()
    assert whole.placements == (Replicate(),) and x.grad.tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="placements"):
        whole.to_local(grad_placements=[])


def test_random_numbers_are_not_drawn_for_terms_of_a_sum() -> None:
    def body() -> None:
        mesh = init_device_mesh("cpu", (2,))
        terms = DTensor.from_local(taeda.ones(4), mesh, [Partial()])
        with pytest.raises(RuntimeError, match="not supported; redistribute first"):
            taeda.nn.functional.dropout(terms)
        drawn = taeda.bernoulli(terms / 2), taeda.rand_like(terms)  # of the sum, and of its shape
        assert drawn[0].full_tensor().tolist() == [1.0] * 4 and drawn[1].placements == (Replicate(),)

    run_ranks(2, body)


def test_a_part_has_a_length_and_a_place() -> None:
    parts = [Shard.local_shard_size_and_offset(5, 4, rank) for rank in range(4)]
    assert parts == [(2, 0), (2, 2), (1, 4), (0, 5)]
    assert Shard(1)._local_shard_size_and_offset(5, 4, 1) == (2, 2)
