"""Collectives that gradients pass through, and the optimiser whose state is divided, in a group of one process."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
import taeda.distributed as dist
from taeda import _utils, nn
from taeda.autograd import gradcheck, gradgradcheck
from taeda.distributed.nn import functional as F
from taeda.distributed.optim import ZeroRedundancyOptimizer
from taeda.utils import _foreach_utils


@pytest.fixture
def group():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.all_reduce(x, dist.ReduceOp.AVG),
        lambda x: F.broadcast(x, 0),
        lambda x: F.reduce(x, 0),
        lambda x: F.gather(x),
        lambda x: F.scatter([x]),
        lambda x: F.all_gather(x),
        lambda x: F.reduce_scatter(taeda.empty_like(x), [x]),
        lambda x: F.all_to_all([taeda.empty_like(x)], [x]),
        lambda x: F.all_to_all_single(taeda.empty_like(x), x),
    ],
)
def test_gradients_pass_through(group: None, call: Any) -> None:
    x = taeda.rand(3, 2, dtype=taeda.float64, requires_grad=True)
    result = call(x)
    assert taeda.equal(result[0] if isinstance(result, tuple) else result, x) and result is not x
    assert gradcheck(call, x) and gradgradcheck(call, x)


def test_outputs_are_written(group: None) -> None:
    x, y = taeda.ones(2), [taeda.zeros(2) for _ in range(3)]
    F.reduce_scatter(y[0], [x])
    F.all_to_all([y[1]], [x])
    F.all_to_all_single(y[2], x)
    assert all(taeda.equal(x, result) for result in y)


def trained(make: Any) -> list[Any]:
    taeda.manual_seed(0)
    net = nn.Linear(3, 2)
    optimizer = make([{"params": [net.weight]}, {"params": [net.bias], "lr": 0.1}])
    for _ in range(3):
        optimizer.zero_grad()
        net(taeda.ones(1, 3)).square().sum().backward()
        optimizer.step()
    return [p.tolist() for p in net.parameters()]


def test_the_optimizer_trains_as_the_one_it_divides(group: None) -> None:
    adam = taeda.optim.Adam
    assert trained(lambda p: ZeroRedundancyOptimizer(p, adam, lr=0.01)) == trained(lambda p: adam(p, lr=0.01))


def test_the_state_of_the_optimizer(group: None) -> None:
    x = nn.Parameter(taeda.ones(2))
    optimizer = ZeroRedundancyOptimizer([x], taeda.optim.SGD, lr=0.1, momentum=0.9)
    y = nn.Parameter(taeda.ones(1))
    optimizer.add_param_group({"params": [y], "lr": 0.2})
    (x.sum() + y.sum()).backward()
    assert optimizer.step(lambda: 3) == 3 and len(optimizer.optim.param_groups) == 2
    with pytest.raises(RuntimeError, match="consolidate_state_dict"):
        optimizer.state_dict()
    optimizer.consolidate_state_dict()
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    assert len(state["state"]) == 2 and optimizer.param_groups is optimizer.optim.param_groups


def test_without_a_group_there_is_no_such_optimizer() -> None:
    with pytest.raises(ValueError, match="process group"):
        ZeroRedundancyOptimizer([taeda.ones(1)], taeda.optim.SGD, lr=0.1)


def test_tensors_in_groups() -> None:
    a, b, c = taeda.ones(1), taeda.ones(1, dtype=taeda.float64), taeda.ones(2)
    groups = _foreach_utils._group_tensors_by_device_and_dtype([[a, b, c], [], [None, b, None]], with_indices=True)
    single = groups[a.device, taeda.float32]
    assert single == ([[a, c], [], [None, None]], [0, 2]) and single[0][0][1] is c
    assert groups[a.device, taeda.float64][1] == [1]
    with pytest.raises(RuntimeError, match="None"):
        _foreach_utils._group_tensors_by_device_and_dtype([[None]])


def test_lists_of_tensors_that_travel_together() -> None:
    parts = [taeda.arange(4.0).view(2, 2).t(), taeda.ones(3), taeda.ones(())]
    flat = _utils._flatten_dense_tensors(parts)
    assert flat.tolist() == [0, 2, 1, 3, 1, 1, 1, 1]
    assert all(map(taeda.equal, _utils._unflatten_dense_tensors(flat, parts), parts))
    a, b, c, d = taeda.ones(3), taeda.ones(2).long(), taeda.ones(5), taeda.ones(1).long()
    assert [[len(t) for t in taken] for taken in _utils._take_tensors([a, b, c, d], 20)] == [[3], [2], [5], [1]]
    assert [id(t) for t in _utils._reorder_tensors_as([a, c, b, d], [a, b, c, d])] == [id(t) for t in (a, b, c, d)]
