"""Modules beside the collectives: values that fail on all ranks alike, arguments from variables, parts of plans."""

from __future__ import annotations

import logging
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

import pytest

import taeda
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
from taeda.distributed._threads import run_ranks
from taeda.distributed.argparse_util import check_env, env
from taeda.distributed.c10d_logger import _c10d_logger, _exception_logger, _time_logger
from taeda.distributed.checkpoint import _traverse
from taeda.distributed.checkpoint._dedup_save_plans import dedup_save_plans
from taeda.distributed.checkpoint.metadata import ChunkStorageMetadata, TensorProperties, TensorStorageMetadata
from taeda.distributed.checkpoint.planner import SavePlan
from taeda.distributed.checkpoint.planner_helpers import (
    _create_write_item_for_tensor,
    create_read_items_for_chunk_list,
)
from taeda.distributed.collective_utils import all_gather, all_gather_object_enforce_type, broadcast
from taeda.distributed.elastic.rendezvous.utils import _matches_machine_hostname, _parse_rendezvous_config


class Unpicklable(Exception):
    def __reduce__(self) -> Any:
        raise TypeError("not this one")


def raising(error: Exception) -> Any:
    raise error


def test_values_are_shared_and_so_are_failures() -> None:
    def body() -> None:
        group, rank = dist.distributed_c10d._get_default_group(), dist.get_rank()
        assert broadcast(lambda: rank * 10, rank=1, pg=group) == 10
        assert broadcast("plain", rank=0, pg=group) == "plain"
        assert all_gather(lambda: rank, pg=group) == [0, 1] and all_gather(lambda: 3) == [3]
        for error, said in ((ValueError("no data"), "no data"), (Unpicklable("odd"), "odd")):
            with pytest.raises(RuntimeError, match=f"rank 1 failed at reading: .*{said}"):
                broadcast(lambda error=error: raising(error), stage_name="reading", rank=1, pg=group)
            with pytest.raises(RuntimeError, match=f"rank 1 failed: .*{said}"):
                all_gather(lambda error=error: raising(error) if rank == 1 else 0, pg=group)
        with pytest.raises(RuntimeError, match="rank 0 failed"):
            broadcast(0, success=False, pg=group)
        found: list[Any] = [None, None]
        all_gather_object_enforce_type(group, found, rank)
        assert found == [0, 1]
        with pytest.raises(TypeError, match=r"\['int', 'str'\]"):
            all_gather_object_enforce_type(group, found, 1 if rank == 0 else "one")

    run_ranks(2, body)


def test_arguments_come_from_variables_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*arguments: str) -> Any:
        parser = ArgumentParser()
        parser.add_argument("--count", action=env, type=int, default=1)
        parser.add_argument("--name", action=env, required=True)
        parser.add_argument("--loud", action=check_env)
        return parser.parse_args(arguments)

    assert vars(read("--name", "a", "--loud")) == {"count": 1, "name": "a", "loud": True}
    with pytest.raises(SystemExit):
        read()
    for name, value in {"COUNT": "4", "NAME": "b", "LOUD": "1"}.items():
        monkeypatch.setenv(f"PET_{name}", value)
    assert vars(read()) == {"count": 4, "name": "b", "loud": True}
    assert read("--count", "5").count == 5
    monkeypatch.setenv("PET_LOUD", "0")
    assert not read().loud


def test_states_are_gone_through_by_paths() -> None:
    one = taeda.ones(1)
    state = {"a": [1, 2], "b": {1: 2, "c": [one, {"d": 3}]}}
    seen: dict[Any, Any] = {}
    _traverse.traverse_state_dict(state, seen.__setitem__)
    assert seen == {("a",): [1, 2], ("b", "1"): 2, ("b", "c", 0): one, ("b", "c", 1, "d"): 3}
    assert _traverse.get_element(state, ("b", "c", 1, "d")) == 3
    for path in (("z",), ("a", 9), ("a", "x"), ("b", "c", 0, 0)):
        assert _traverse.get_element(state, path, "none") == "none"
    lines: list[str] = []
    _traverse.print_tensor(("b",), one, lines.append)
    _traverse.print_tensor(("a",), 1, lines.append)
    assert lines == ["('b',) Tensor size: (1,)"]


def test_plans_are_made_of_parts() -> None:
    items = [_create_write_item_for_tensor("x", taeda.ones(4)), _create_write_item_for_tensor("y", taeda.ones(2, 2))]
    plans = [SavePlan(items), SavePlan(items[:1])]
    assert [len(plan.items) for plan in dedup_save_plans(plans)] == [1, 1]
    assert [len(plan.items) for plan in dedup_save_plans(plans, save_to_lowest_rank=True)] == [2, 0]
    size = taeda.Size

    def chunk(first: int, count: int) -> ChunkStorageMetadata:
        return ChunkStorageMetadata(size([first]), size([count]))

    stored = TensorStorageMetadata(TensorProperties(), size([8]), [chunk(0, 5), chunk(5, 3)])
    reads = create_read_items_for_chunk_list("x", stored, [chunk(0, 2), chunk(4, 3)])
    told = [(r.dest_index.index, r.dest_offsets[0], r.storage_index.index, r.storage_offsets[0], r.lengths[0])
            for r in reads]  # fmt: skip
    assert told == [(0, 0, 0, 0, 2), (1, 0, 0, 4, 1), (1, 1, 1, 0, 2)]


def test_bytes_go_through_a_store() -> None:
    store, soon = dist.HashStore(), timedelta(seconds=20)

    def body() -> None:
        rank = dist.get_rank()
        mine = dist._StoreCollectives(store, rank, 3)
        mine.barrier("come", soon)
        if rank == 1:
            mine.broadcast_send("all", b"data", soon)
            assert mine.gather_recv("each", "1", soon) == [b"0", b"1", b"2"]
            assert mine.scatter_send("part", ["a", "b", "c"], soon) == b"b"
        else:
            assert mine.broadcast_recv("all", soon) == b"data"
            mine.gather_send("each", str(rank), soon)
            assert mine.scatter_recv("part", soon) == b"abc"[rank : rank + 1]
        assert mine.all_gather("every", str(rank), soon) == [b"0", b"1", b"2"] and mine.all_sum("sum", rank, soon) == 3
        with pytest.raises(RuntimeError, match="sum was used before"):
            mine.all_sum("sum", 1)

    run_ranks(3, body)
    alone, at_once = dist._StoreCollectives(dist.HashStore(), 1, 3), timedelta(milliseconds=1)
    for call in (alone.barrier, lambda key, time: alone.gather_recv(key, "x", time)):
        with pytest.raises(dist.DistStoreError, match="in vain for the ranks 0, 2"):
            call(f"key of {call}", at_once)
    with pytest.raises(RuntimeError, match="2 parts for 3"):
        alone.scatter_send("short", ["a", "b"])


def test_checkpoints_take_the_storage_second(tmp_path: Any) -> None:
    state = {"x": taeda.ones(2)}
    with pytest.warns(UserWarning, match="storage_writer="):
        dcp.save(state, dcp.FileSystemWriter(tmp_path))
    read = {"x": taeda.zeros(2)}
    with pytest.warns(UserWarning, match="storage_reader="):
        dcp.load(read, dcp.FileSystemReader(tmp_path))
    assert read["x"].tolist() == [1, 1]


def test_calls_are_noted_in_the_logger(caplog: pytest.LogCaptureFixture) -> None:
    @_exception_logger
    def fails() -> None:
        raise ValueError("odd")

    _c10d_logger.addHandler(caplog.handler)
    try:
        assert _time_logger(lambda: 3)() == 3
        run_ranks(1, lambda: pytest.raises(ValueError, fails))
    finally:
        _c10d_logger.removeHandler(caplog.handler)
    first, second = (record.msg for record in caplog.records)
    assert first["time_spent"].endswith("ns") and isinstance(_c10d_logger.handlers[0], logging.NullHandler)
    assert second["func_name"] == "fails" and second["error"] == "odd" and second["world_size"] == "1"


def test_addresses_of_this_machine() -> None:
    for host, own in (("127.0.0.1", True), ("localhost", True), ("0.0.0.0", False), ("::", False), ("no.such.", False)):
        assert _matches_machine_hostname(host) == own, host
    assert _parse_rendezvous_config(" ") == {} and _parse_rendezvous_config(" a = 1,b=2") == {"a": "1", "b": "2"}
    for text in ("a=1,", "a=1,,b=2", "a", "a=", "=1", " , "):
        with pytest.raises(ValueError, match="key=value is wanted"):
            _parse_rendezvous_config(text)
