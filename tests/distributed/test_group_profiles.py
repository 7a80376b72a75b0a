"""Collectives are events of a profile."""

from __future__ import annotations

from typing import Any

import taeda
import taeda.distributed as dist
from taeda.distributed._threads import run_ranks


def _body() -> Any:
    x = taeda.ones(3, 2)
    with taeda.autograd.profiler.profile(record_shapes=True) as profile:
        dist.all_reduce(x)
        work = dist.all_reduce(x, async_op=True)
        assert work is not None and work.wait()
        dist.all_gather([taeda.empty(3, 2) for _ in range(2)], x)
        dist.barrier()
        dist.send(x, 1) if dist.get_rank() == 0 else dist.recv(x, 0)
    dist.all_reduce(x)  # seen by nobody
    assert profile.function_events is not None
    events = [event for event in profile.function_events if event.is_async]
    assert all(event.cpu_time >= 0 and event.count == 1 for event in events)
    return [(event.name, event.input_shapes) for event in events]


def test_collectives_are_events() -> None:
    names = ["all_reduce", "all_reduce", "all_gather", "barrier"]
    for rank, events in enumerate(run_ranks(2, _body)):
        wanted = [(f"gloo:{name}", [] if name == "barrier" else [[3, 2]]) for name in names]
        assert events == [*wanted, (f"gloo:{'recv' if rank else 'send'}", [[3, 2]])]


def test_coalesced_tensors_may_be_complex_beside_floats() -> None:
    def body() -> Any:
        many = [taeda.ones(2), taeda.ones(2, dtype=taeda.complex64)]
        dist.all_reduce_coalesced(many)
        return [one.tolist() for one in many]

    assert run_ranks(2, body) == [[[2, 2], [2, 2]]] * 2


def test_collectives_have_a_name_of_the_programs() -> None:
    def body() -> Any:
        with taeda.autograd.profiler.profile() as profile:
            with dist.record_comm("mine"):
                dist.all_reduce(taeda.ones(1))
            dist.all_reduce(taeda.ones(1))
        return [event.name for event in profile.function_events or () if event.is_async]

    assert run_ranks(2, body) == [["mine", "gloo:all_reduce"]] * 2
