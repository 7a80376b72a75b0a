"""Functions that add to modules in place."""

from __future__ import annotations

import copy
import gc
import threading
import weakref
from typing import Any

import pytest

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed._composable import _get_registry, checkpoint, contract
from taeda.distributed._composable.replicate import replicate
from taeda.distributed._threads import run_ranks


def test_a_contract_is_kept() -> None:
    @contract()
    def once(module: Any, value: int) -> Any:
        once.state(module if isinstance(module, nn.Module) else module[0]).value = value
        return module

    @contract()
    def wraps(module: Any) -> Any:
        return nn.Sequential(module)

    first, second = nn.Linear(1, 1), nn.Linear(1, 1)
    assert _get_registry(first) is None and once.state(first) is None
    assert once(first, 1) is first and once.state(first).value == 1 and set(_get_registry(first) or ()) == {"once"}
    with pytest.raises(AssertionError, match="applied to this Linear before"):
        once(first, 2)
    pair = [second, nn.Linear(1, 1)]
    assert once(pair, 3) is pair and once.state(pair[0]) is once.state(pair[1])
    with pytest.raises(RuntimeError, match="names of parameters"):
        wraps(first)


_drawing = threading.Lock()  # ranks are threads here, and the generator is one for all


def net() -> nn.Module:
    with _drawing:
        taeda.manual_seed(0)
        return nn.Sequential(*(nn.Linear(3, 3) for _ in range(3)))


@pytest.mark.parametrize("parts", [False, True])
def test_replicas_learn_what_one_does(parts: bool) -> None:
    x = taeda.randn(4, 3, generator=taeda.Generator().manual_seed(1))
    expected = net()
    expected(x).square().mean().backward()

    def body() -> None:
        module, rank = net(), dist.get_rank()
        for one in module if parts else [module]:  # type: ignore[attr-defined]
            replicate(one, bucket_cap_mb=1)
        assert list(module.state_dict()) == list(expected.state_dict())
        module(x[2 * rank : 2 * rank + 2]).square().mean().backward()
        taeda.testing.assert_close([p.grad for p in module.parameters()], [p.grad for p in expected.parameters()])

    run_ranks(2, body)


def test_what_is_ignored_stays_apart() -> None:
    def body() -> None:
        module, rank = net(), dist.get_rank()
        replicate(module, ignored_modules=[module[0]])  # type: ignore[index]
        module(taeda.ones(2, 3) * (rank + 1)).sum().backward()
        found = [[taeda.empty(3, 3), taeda.empty(3, 3)] for _ in range(2)]
        for one, into in zip((module[0], module[1]), found):  # type: ignore[index]
            dist.all_gather(into, one.weight.grad)
        assert not found[0][0].equal(found[0][1]) and found[1][0].equal(found[1][1])
        with pytest.raises(RuntimeError, match="not list"):
            replicate(copy.deepcopy(net()), device_id=[0])

    run_ranks(2, body)


def test_what_a_state_knows_of_its_module_does_not_keep_it():
    class State:
        pass

    @contract(state_cls=State)
    def mark(module):
        mark.state(module).module = module
        return module

    module = mark(nn.Linear(1, 1))
    assert mark.state(module).module is module and mark.state(nn.Linear(1, 1)) is None
    known = weakref.ref(module)
    del module
    gc.collect()
    assert known() is None


def test_checkpoints_are_added_in_place() -> None:
    """The same gradients and random numbers, with nothing kept; a failure leaves no recording behind."""

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.calls, self.fails = nn.Linear(3, 3), 0, -1

        def forward(self, x: Any, scale: float = 1.0) -> Any:
            self.calls += 1
            if self.calls == self.fails:
                raise ValueError("no more")
            return nn.functional.dropout(self.inner(x) * scale, 0.5).sin()

    taeda.manual_seed(0)
    plain = Twice()
    recorded = checkpoint(copy.deepcopy(plain))
    x = taeda.randn(4, 3)
    for module in (plain, recorded):
        taeda.manual_seed(1)
        module(x, scale=2.0).sum().backward()
    assert (plain.calls, recorded.calls) == (1, 2)
    for one, other in zip(plain.parameters(), recorded.parameters(), strict=True):
        assert one.grad is not None and other.grad is not None and taeda.equal(one.grad, other.grad)
    with taeda.no_grad():
        recorded(x)
    recorded.fails = 5
    result = recorded(x).sum()
    with pytest.raises(ValueError, match="no more"):
        result.backward()
    recorded.fails = 6
    with pytest.raises(ValueError, match="no more"):
        recorded(x)
    assert checkpoint.state(recorded)._ac_generator is None and recorded.calls == 6
    with pytest.raises(NotImplementedError, match="use_reentrant=False"):
        checkpoint(nn.Linear(1, 1), use_reentrant=True)
    with pytest.raises(ValueError, match="got .'other'"):
        checkpoint(nn.Linear(1, 1), other=1)
