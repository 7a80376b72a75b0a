"""The launcher's parts, from Python."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import taeda as torch
from taeda.distributed import FileStore, HashStore, TCPStore
from taeda.distributed.elastic import events, metrics, timer
from taeda.distributed.elastic.agent.server.health_check_server import create_healthcheck_server
from taeda.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std, start_processes, to_map
from taeda.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure, record
from taeda.distributed.elastic.rendezvous import (
    RendezvousClosedError,
    RendezvousParameters,
    RendezvousStateError,
    RendezvousTimeoutError,
)
from taeda.distributed.elastic.rendezvous.c10d_rendezvous_backend import C10dRendezvousBackend, create_backend
from taeda.distributed.elastic.rendezvous.dynamic_rendezvous import (
    DynamicRendezvousHandler,
    RendezvousBackend,
    RendezvousSettings,
    RendezvousTimeout,
    _Action,
    _BackendRendezvousStateHolder,
    _DistributedRendezvousOpExecutor,
    _NodeDesc,
    _RendezvousExitOp,
    _RendezvousJoinOp,
    _RendezvousState,
)
from taeda.distributed.elastic.rendezvous.registry import get_rendezvous_handler
from taeda.distributed.elastic.rendezvous.utils import _parse_rendezvous_config, parse_rendezvous_endpoint
from taeda.distributed.elastic.utils import get_env_variable_or_raise, macros
from taeda.distributed.elastic.utils import store as exchange
from taeda.distributed.elastic.utils.data import CyclingIterator, ElasticDistributedSampler
from taeda.distributed.elastic.utils.distributed import create_c10d_store, get_free_port
from taeda.distributed.launcher import LaunchConfig, elastic_launch


def config(**kwargs) -> LaunchConfig:
    given = {"rdzv_backend": "c10d", "rdzv_endpoint": "localhost:0", "max_restarts": 0, "monitor_interval": 0.02}
    return LaunchConfig(1, 1, 2, **given | kwargs)


def rank_and(text: str) -> str:
    return f"{text} {os.environ['RANK']}"


def fails_on_one() -> None:
    if os.environ["RANK"] == "1":
        raise ValueError("too much salt")
    time.sleep(600)


def result() -> torch.Tensor:
    return torch.full((300, 300), float(os.environ["RANK"]))


def big() -> bytes:
    return b"x" * (1 << 20)


def waits_too_long() -> None:
    timer.configure(timer.FileTimerClient(os.environ["TORCHELASTIC_TIMER_FILE"]))
    with timer.expires(after=60):
        pass
    with timer.expires(after=0.2):
        time.sleep(600)


@pytest.fixture(autouse=True)
def signals_stay():
    numbers = signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_functions_return_by_rank(method: str) -> None:
    assert elastic_launch(config(start_method=method), rank_and)("rank") == {0: "rank 0", 1: "rank 1"}


def test_a_large_result_does_not_block() -> None:
    assert elastic_launch(config(start_method="fork"), big)() == {0: big(), 1: big()}
    found = elastic_launch(config(start_method="fork"), result)()
    assert {rank: one.unique().tolist() for rank, one in found.items()} == {0: [0.0], 1: [1.0]}


def test_a_function_that_raises() -> None:
    with pytest.raises(ChildFailedError, match="too much salt") as caught:
        elastic_launch(config(start_method="fork"), fails_on_one)()
    rank, failure = caught.value.get_first_failure()
    assert (rank, failure.local_rank, failure.exitcode) == (1, 1, 1)
    assert "fails_on_one" in str(caught.value)


def test_a_timer_ends_a_worker(monkeypatch) -> None:
    monkeypatch.setenv("TORCHELASTIC_ENABLE_FILE_TIMER", "1")
    with pytest.raises(ChildFailedError, match="SIGKILL"):
        elastic_launch(config(start_method="fork"), waits_too_long)()


def test_a_queue_of_timers_ends_a_process() -> None:
    queue = multiprocessing.get_context("fork").Queue()
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    server = timer.LocalTimerServer(queue, max_interval=0.05)
    server.start()
    client = timer.LocalTimerClient(queue)
    with timer.expires(after=60, client=client):
        pass
    queue.put(timer.TimerRequest(process.pid, "scope", time.time() + 0.1))
    assert process.wait(20) == -signal.SIGKILL
    server.stop()
    assert server._timers == {}


@pytest.mark.parametrize("text, wanted", [("0", Std.NONE), ("3", Std.ALL), ("0:1,2:3", {0: Std.OUT, 2: Std.ALL})])
def test_streams(text: str, wanted) -> None:
    assert Std.from_str(text) == wanted
    if isinstance(wanted, dict):
        assert to_map(wanted, 3) == {0: Std.OUT, 1: Std.NONE, 2: Std.ALL}
    for wrong in ("4", "0:9", "x", "0:1;1:1"):
        with pytest.raises(ValueError, match="0:3,1:1"):
            Std.from_str(wrong)


def test_contexts_want_the_same_ranks(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="local ranks 0 to 1"):
        start_processes("x", "true", {0: (), 1: ()}, {0: {}}, DefaultLogsSpecs(str(tmp_path)))


def test_programs_without_an_agent(tmp_path: Path) -> None:
    envs = {rank: {"TORCHELASTIC_RUN_ID": "r", "TORCHELASTIC_RESTART_COUNT": "0", "N": str(rank)} for rank in (0, 1)}
    specs = DefaultLogsSpecs(str(tmp_path), redirects=Std.ALL)
    context = start_processes("x", "/bin/sh", {0: ("-c", "echo $N"), 1: ("-c", "echo $N; exit $N")}, envs, specs)
    result = context.wait(20, period=0.01)
    context.close()
    assert result is not None and result.is_failed() and result.failures[1].exitcode == 1
    assert [Path(result.stdouts[rank]).read_text() for rank in (0, 1)] == ["0\n", "1\n"]


def test_programs_outside_of_a_run_have_names_for_their_logs(tmp_path: Path) -> None:
    context = start_processes("x", "/bin/true", {0: ()}, {0: {}}, DefaultLogsSpecs(str(tmp_path), redirects=Std.ALL))
    result = context.wait(20, period=0.01)
    context.close()
    assert result is not None and not result.is_failed()
    assert "test_run_id" in result.stdouts[0] and "attempt_0" in result.stdouts[0]


def test_record_writes_once(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "error.json"
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(path))

    @record
    def fails() -> None:
        raise KeyError("salt")

    for _ in range(2):
        with pytest.raises(KeyError):
            fails()
    data = json.loads(path.read_text())["message"]
    assert data["message"] == "KeyError: 'salt'" and "in fails" in data["extraInfo"]["py_callstack"]
    failure = ProcessFailure(0, 12, 1, str(path))
    assert failure.message == data and failure.timestamp == int(data["extraInfo"]["timestamp"])

    @record
    def launches() -> None:
        raise ChildFailedError("cook", {3: failure})

    path_of_launcher = tmp_path / "launcher.json"
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(path_of_launcher))
    with pytest.raises(ChildFailedError, match="rank      : 3"):
        launches()
    assert json.loads(path_of_launcher.read_text())["message"]["errorCode"] == 1


def test_a_damaged_error_file(tmp_path: Path) -> None:
    path = tmp_path / "error.json"
    path.write_text("{")
    failure = ProcessFailure(0, 12, -11, str(path))
    assert failure.signal_name() == "SIGSEGV" and "SIGSEGV" in str(failure.message)
    assert isinstance(failure.error_file_data, dict) and failure.error_file_data["message"] == "<NONE>"


@pytest.mark.parametrize("text, wanted", [
    (None, ("localhost", 5)), ("  ", ("localhost", 5)), ("host", ("host", 5)), ("a-b.c:1", ("a-b.c", 1)),
    ("[::1]:7", ("::1", 7)), ("10.0.0.1:65535", ("10.0.0.1", 65535)),
])  # fmt: skip
def test_endpoints(text: str | None, wanted: tuple[str, int]) -> None:
    assert parse_rendezvous_endpoint(text, 5) == wanted


@pytest.mark.parametrize("text", ["host:", "host:x", "host:65536", "~", "::1", "host:-1"])
def test_endpoints_that_make_no_sense(text: str) -> None:
    with pytest.raises(ValueError):
        parse_rendezvous_endpoint(text, 5)


def test_settings() -> None:
    assert _parse_rendezvous_config(" a=1, b = x=y") == {"a": "1", "b": "x=y"}
    given = RendezvousParameters("b", "e", "r", 1, 2, yes="True", no="0", number="3", odd="x")
    assert given.get_as_bool("yes") and not given.get_as_bool("no") and given.get_as_bool("none") is None
    assert given.get_as_int("number") == 3 and given.get_as_int("none", 4) == 4
    for ask in (given.get_as_bool, given.get_as_int):
        with pytest.raises(ValueError, match="odd"):
            ask("odd")
    for wrong in (("", "e", "r", 1, 1), ("b", "e", "r", 0, 1), ("b", "e", "r", 2, 1)):
        with pytest.raises(ValueError):
            RendezvousParameters(*wrong)
    assert macros.substitute(["--rank=${local_rank}", "${other}", 3], "5") == ["--rank=5", "${other}", 3]
    with pytest.raises(ValueError, match="NOBODY"):
        get_env_variable_or_raise("NOBODY_SETS_THIS")


class Memory(RendezvousBackend):
    """A backend as a program might have it: it does not say what became of a state."""

    name = "memory"

    def __init__(self) -> None:
        self.held = None

    def get_state(self) -> Any:
        return self.held

    def set_state(self, state: bytes, token: Any = None) -> None:
        if token == (self.held and self.held[1]):
            self.held = state, (token or 0) + 1


def test_rounds() -> None:
    backend, nodes = Memory(), [_NodeDesc("host", 10, 0), _NodeDesc("host", 9, 1), _NodeDesc("other", 1, 0)]
    settings = RendezvousSettings("job", 1, 2, RendezvousTimeout(), timedelta(seconds=30), 3)
    holders = [_BackendRendezvousStateHolder(backend, settings, 0, node) for node in nodes]
    last, first, later = map(_DistributedRendezvousOpExecutor, nodes, holders, [settings] * 3)

    def step(node: _DistributedRendezvousOpExecutor, wanted: _Action, op: Any = _RendezvousJoinOp) -> Any:
        assert node._step(op(), time.monotonic() + 60) == wanted
        node._state_holder.sync()
        return node._state_holder.state

    step(last, _Action.ADD_TO_PARTICIPANTS)
    step(first, _Action.ADD_TO_PARTICIPANTS)
    state = step(later, _Action.ADD_TO_REDUNDANCY_LIST)
    assert state.complete and state.participants == {nodes[1]: 0, nodes[0]: 1} and state.redundancy_list == {nodes[2]}
    step(first, _Action.REMOVE_FROM_PARTICIPANTS, _RendezvousExitOp)
    step(later, _Action.REMOVE_FROM_REDUNDANCY_LIST)  # there is room in the next round
    assert step(later, _Action.ADD_TO_WAIT_LIST).wait_list == {nodes[2]}
    state = step(last, _Action.REMOVE_FROM_PARTICIPANTS, _RendezvousExitOp)
    assert not state.complete and state.round == 1
    state = step(later, _Action.ADD_TO_PARTICIPANTS)
    assert state.participants == {nodes[2]: 0} and not state.wait_list and state.deadline
    assert step(first, _Action.ADD_TO_PARTICIPANTS).participants == {nodes[1]: 0, nodes[2]: 1}
    step(first, _Action.FINISH)


def test_a_state_is_read_and_nothing_else() -> None:
    backend = Memory()
    node = DynamicRendezvousHandler.from_backend("job", HashStore(), backend, 1, 1, "127.0.0.1")
    without_participants = _RendezvousState()
    without_participants.participants = None
    for bad in (os.getpid, {1}, Path("x"), without_participants, b"", b"nonsense"):
        backend.held = bad if isinstance(bad, bytes) else pickle.dumps(bad), 1
        with pytest.raises(RendezvousStateError):
            node.is_closed()
    backend.held = None
    assert node.next_rendezvous().world_size == 1 and node.get_backend() == "memory" and node.shutdown()


def handlers(count: int, least: int, most: int, **kwargs) -> list[DynamicRendezvousHandler]:
    store = HashStore()
    limits = RendezvousTimeout(join=timedelta(seconds=5), last_call=timedelta(seconds=0.2))
    return [
        DynamicRendezvousHandler.from_backend(
            "job", store, C10dRendezvousBackend(store, "job"), least, most, "127.0.0.1", limits, **kwargs
        )
        for _ in range(count)
    ]


def meet(nodes: list[DynamicRendezvousHandler]) -> list:
    results: list = [None] * len(nodes)

    def one(index: int) -> None:
        try:
            results[index] = nodes[index].next_rendezvous()
        except Exception as error:
            results[index] = error

    threads = [threading.Thread(target=one, args=(index,)) for index in range(len(nodes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_nodes_meet_and_meet_again() -> None:
    nodes = handlers(3, 1, 3)
    for _ in range(2):
        found = meet(nodes)
        assert sorted(one.rank for one in found) == [0, 1, 2] and {one.world_size for one in found} == {3}
        assert len({one.bootstrap_store_info.master_port for one in found}) == 1
        port = found[0].bootstrap_store_info.master_port
        TCPStore("127.0.0.1", port, None, False).set("a", "b")  # node 0 serves it
    assert nodes[0].num_nodes_waiting() == 0
    nodes[0].shutdown()
    assert all(isinstance(one, RendezvousClosedError) for one in meet(nodes))
    [node.shutdown() for node in nodes]


def test_fewer_than_the_most_meet_after_the_last_call() -> None:
    nodes = handlers(2, 2, 3)
    assert {one.world_size for one in meet(nodes)} == {2}
    [node.shutdown() for node in nodes]


def test_a_silent_node_is_removed() -> None:
    first, second = handlers(2, 1, 2, keep_alive_interval=1, keep_alive_max_attempt=2)
    meet([first, second])
    second._stop_heartbeats()  # it dies
    end = time.monotonic() + 30
    while len(first._recent().participants) == 2:
        assert time.monotonic() < end and not first.silent_nodes()
        time.sleep(0.1)
    assert first.silent_nodes() == [str(second._this_node)]
    assert meet([first])[0].world_size == 1
    first.shutdown()


def test_too_few_nodes() -> None:
    [node] = handlers(1, 2, 2)
    node._settings.timeout._join = timedelta(seconds=0.2)
    [error] = meet([node])
    assert isinstance(error, RendezvousTimeoutError) and "of 2 nodes 1 came" in str(error)


def test_backends_over_files_and_servers(tmp_path: Path) -> None:
    given = RendezvousParameters("c10d", str(tmp_path / "file"), "r", 1, 1, store_type="file")
    backend, store = create_backend(given)
    assert isinstance(store, FileStore) and backend.get_state() is None
    _, token, done = backend.set_state(b"one")
    assert done and backend.get_state() == (b"one", token)
    assert backend.set_state(b"two", None)[:1] == (b"one",)
    assert backend.set_state(b"two", "another's")[2] is False
    assert backend.set_state(b"two", token)[2] is True
    handler = get_rendezvous_handler(RendezvousParameters("c10d", "localhost:0", "r", 1, 1))
    assert handler.next_rendezvous().rank == 0 and handler.use_agent_store and handler.get_backend() == "c10d"
    assert handler.shutdown() and handler.is_closed()


def test_exchange_over_a_store() -> None:
    store, found = HashStore(), []

    def node(rank: int) -> None:
        found.append(exchange.synchronize(store, b"%d" % rank, rank, 3, "x"))
        exchange.barrier(store, 3, "y", 5, rank=rank)

    threads = [threading.Thread(target=node, args=(rank,)) for rank in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert found == [[b"0", b"1", b"2"]] * 3
    with pytest.raises(RuntimeError, match="within 0.1 s: 1, 2"):
        exchange.barrier(store, 3, "z", 0.1, rank=0)
    server = create_c10d_store(True, "127.0.0.1", world_size=1)
    assert create_c10d_store(False, "127.0.0.1", server.port, 2, wait_for_workers=False).port == server.port
    with pytest.raises(ValueError, match="port"):
        create_c10d_store(False, "127.0.0.1", -1, 2)


def test_health() -> None:
    alive, port = [time.time()], get_free_port()
    server = create_healthcheck_server(lambda: int(alive[0]), port, 60)
    server.start()
    assert urllib.request.urlopen(f"http://127.0.0.1:{port}/").status == 200
    alive[0] -= 100
    with pytest.raises(urllib.error.HTTPError, match="503"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/")
    server.stop()


def test_events_and_metrics(capsys) -> None:
    event = events.Event("name", events.EventSource.AGENT, 5, {"a": 1})
    assert events.Event.deserialize(event.serialize()) == event
    told = events.RdzvEvent("n", "r", "m", "h", 1, events.NodeState.RUNNING)
    assert events.RdzvEvent.deserialize(str(told)) == told
    events.record(event)
    metrics.configure(metrics.ConsoleMetricHandler(), "kitchen")

    @metrics.prof(group="kitchen")
    def cook(fail: bool = False) -> int:
        return 1 // (not fail)

    assert cook() == 1
    with pytest.raises(ZeroDivisionError):
        cook(True)
    printed = capsys.readouterr().out
    assert "cook.success=1" in printed and "cook.failure=1" in printed and "cook.duration.ms=" in printed


def test_data() -> None:
    assert list(CyclingIterator(3, lambda epoch: iter([epoch, epoch]), 1)) == [1, 1, 2, 2]
    samplers = [ElasticDistributedSampler(range(10), 2, rank, start_index=3) for rank in range(2)]
    shares = [list(sampler) for sampler in samplers]
    assert [len(share) for share in shares] == [len(samplers[0])] * 2 == [4, 4]
    assert set(shares[0] + shares[1]) == set(range(3, 10))


def test_timers_of_who_has_ended(tmp_path):
    server = timer.FileTimerServer(str(tmp_path / "pipe"), "job", 0.01)
    ended = subprocess.Popen(["true"])
    ended.wait()
    alive = subprocess.Popen(["sleep", "60"])
    try:
        client = timer.FileTimerClient(str(tmp_path / "pipe"))
        for pid, scope, left in (
            (ended.pid, "a", -1),
            (alive.pid, "b", -1),
            (alive.pid, "c", 60),
            (os.getpid(), "d", 60),
        ):
            client._send_request(timer.FileTimerRequest(pid, scope, time.time() + left, signal.SIGTERM))
        server.run_once()
        assert alive.wait(10) == -signal.SIGTERM and server._request_count == 4
        assert [scope for _, scope in server._timers] == ["d"]
    finally:
        server.stop()
        alive.kill()
        alive.wait()
