"""Functional collectives: counted by module, and as ops; where the parts of a DTensor lie."""

from __future__ import annotations

import contextlib
import io
from typing import Any

from ranks import needs_mpi, run

import taeda
from taeda import nn
from taeda.distributed import _functional_collectives
from taeda.distributed.device_mesh import init_device_mesh
from taeda.distributed.tensor import Replicate, Shard, distribute_tensor
from taeda.distributed.tensor.debug import CommDebugMode, visualize_sharding
from taeda.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

pytestmark = needs_mpi


def _counted(rank: int) -> Any:
    mesh = init_device_mesh("cpu", (2,))
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
    parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    with CommDebugMode() as mode:
        model(taeda.ones(3, 4)).sum().backward()
        _functional_collectives.all_gather_tensor(taeda.ones(2), 0, mesh)
    reduce = taeda.ops.c10d_functional.all_reduce
    by_module = {name: phases["forward"][reduce] for name, phases in mode.comm_module_counts.items()}
    assert mode.get_comm_counts()[taeda.ops.c10d_functional.all_gather_into_tensor] == 1
    assert mode.get_sharding_info()["Sequential.2.weight"] == (Shard(1),)
    assert "*forward c10d_functional.all_reduce: 1" in mode.generate_comm_debug_tracing_table()
    return by_module, mode.get_total_counts()


def test_collectives_are_counted_by_module() -> None:
    modules = {"Global": 1, "Sequential": 1, "Sequential.0": 0, "Sequential.1": 0, "Sequential.2": 1}
    assert run(2, _counted) == [(modules, 2)] * 2


def _ops(rank: int) -> Any:
    ops, name = taeda.ops._c10d_functional, taeda.distributed.group.WORLD.group_name
    x = taeda.arange(4.0) + rank
    leaf = x.clone().requires_grad_()
    gathered = taeda.ops._c10d_functional_autograd.all_gather_into_tensor(leaf, 2, name)
    (gathered * (rank + 1)).sum().backward()
    assert ops.all_gather_into_tensor(x.to("meta"), 2, name).shape == (8,) and leaf.grad.tolist() == [3.0] * 4
    changed = x.clone()
    results = [ops.all_reduce(x, "sum", name), ops.broadcast(x, 1, name), ops.reduce_scatter_tensor(x, "avg", 2, name),
               ops.all_to_all_single(x, [2, 2], [2, 2], name), ops.all_reduce_(changed, "max", name), changed,
               taeda.ops.c10d_functional.all_reduce(x, "sum", "", [0, 1], 2),
               *ops.all_gather_into_tensor_coalesced([x, x[:1]], 2, name), ops.wait_tensor(x)]  # fmt: skip
    return [result.tolist() for result in results]


def test_functional_collectives_are_ops() -> None:
    total, last, both = [1.0, 3.0, 5.0, 7.0], [1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0]
    one = [total, last, [0.5, 1.5], [0.0, 1.0, 1.0, 2.0], last, last, total, both, [0.0, 1.0], [0.0, 1.0, 2.0, 3.0]]
    two = [total, last, [2.5, 3.5], [2.0, 3.0, 3.0, 4.0], last, last, total, both, [0.0, 1.0], last]
    assert run(2, _ops) == [one, two]


def _pictured(rank: int) -> str:
    mesh, text = init_device_mesh("cpu", (2, 2)), io.StringIO()
    with contextlib.redirect_stdout(text):
        visualize_sharding(distribute_tensor(taeda.ones(5, 4), mesh, [Shard(0), Shard(1)]), "x")
        visualize_sharding(distribute_tensor(taeda.ones(4), mesh, [Replicate(), Shard(0)]))
    return text.getvalue()


def test_parts_are_pictured() -> None:
    table = "x\n         Col 0-1  Col 2-3\nRow 0-2  cpu:0    cpu:1\nRow 3-4  cpu:2    cpu:3\n"
    assert run(4, _pictured) == [table + "Row 0-1  cpu:0, cpu:2\nRow 2-3  cpu:1, cpu:3\n", "", "", ""]
