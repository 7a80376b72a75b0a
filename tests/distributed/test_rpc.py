"""Calls between workers, references to objects elsewhere, and how all of it ends."""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from ranks import run

import taeda
import taeda.distributed.rpc as rpc
from taeda.futures import Future


class Box:
    """An object that another worker calls."""

    def __init__(self, start: float = 0) -> None:
        self.value = taeda.tensor(float(start))
        self.waiting: list[Future[Any]] = []

    def add(self, amount: Any) -> Any:
        self.value = self.value + amount
        return self.value

    def fail(self) -> None:
        raise KeyError("no such box")

    @rpc.functions.async_execution
    def batch(self, amount: float, size: int) -> Future[Any]:
        """The sum, once ``size`` amounts have come."""
        self.waiting.append(Future())
        mine = self.waiting[-1]
        self.value = self.value + amount
        if len(self.waiting) == size:
            done, self.waiting = self.waiting, []
            for future in done:
                future.set_result(self.value)
        return mine


def play(size: int, body: Callable[[int], Any], **options: Any) -> list[Any]:
    def rank(number: int) -> Any:
        chosen = rpc.TensorPipeRpcBackendOptions(rpc_timeout=20, **options)
        before, known = threading.active_count(), set(os.listdir("/proc/self/fd"))  # other tests' among them
        rpc.init_rpc(f"worker{number}", rank=number, world_size=size, rpc_backend_options=chosen)
        result = body(number)
        rpc.shutdown()
        deadline = time.monotonic() + 20
        while threading.active_count() > before and time.monotonic() < deadline:
            time.sleep(0.01)
        sockets = [name for name in set(os.listdir("/proc/self/fd")) - known if _is_inet(name)]
        assert threading.active_count() == before and not sockets, (threading.enumerate(), sockets)
        return result

    return run(size, rank, setup=False)


def _is_inet(number: str) -> bool:
    """Whether a file of this process is a TCP socket that others see; that of the store goes with the store."""
    of_store = int(os.environ["MASTER_PORT"])
    try:
        with socket.socket(fileno=os.dup(int(number))) as one:
            listens = one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            ports = {one.getsockname()[1], 0 if listens else one.getpeername()[1]}
            return one.family == socket.AF_INET and of_store not in ports
    except OSError:
        return False


def _both(x: Any, y: Any) -> Any:
    return x, y, x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr(), x.stride()


def _same(x: Any) -> Any:
    return x


def _name() -> str:
    return rpc.get_worker_info().name


def _relay(to: str) -> str:
    return f"{_name()} > {rpc.rpc_sync(to, _name)}"


def test_calls() -> None:
    def body(rank: int) -> Any:
        other = f"worker{1 - rank}"
        me = rpc.get_worker_info()
        assert (me.name, me.id) == (f"worker{rank}", rank) and rpc.get_worker_info(other).id == 1 - rank
        assert rpc.rpc_sync(other, _name) == rpc.rpc_sync(1 - rank, _name) == other
        assert rpc.rpc_sync(rpc.get_worker_info(other), _relay, (me.name,)) == f"{other} > {me.name}"
        assert rpc.rpc_sync(me.name, max, (3, 5), {"key": None}) == 5
        several = [rpc.rpc_async(other, taeda.add, (taeda.full((3,), float(i)), 1)) for i in range(40)]
        assert [future.wait().tolist() for future in several] == [[i + 1.0] * 3 for i in range(40)]
        assert rpc.rpc_async(other, max, (1, 2)).then(lambda done: done.wait() * 10).wait() == 20
        return True

    assert play(2, body) == [True, True]


TENSORS = {
    "plain": lambda: taeda.arange(6.0),
    "large": lambda: taeda.arange(1 << 20),
    "half": lambda: taeda.ones(3, dtype=taeda.bfloat16),
    "strided": lambda: taeda.arange(12.0).view(3, 4).t(),
    "with gaps": lambda: taeda.arange(12)[::3],
    "expanded": lambda: taeda.ones(1, 3).expand(4, 3),
    "conjugate": lambda: taeda.tensor([1 + 2j, 3j]).conj(),
    "empty": lambda: taeda.empty(0, 3),
    "scalar": lambda: taeda.tensor(True),
    "needs grad": lambda: taeda.ones(2, requires_grad=True) * 2,
    "parameter": lambda: taeda.nn.Parameter(taeda.ones(2)),
    "sparse": lambda: taeda.eye(3).to_sparse(),
    "sparse with gaps": lambda: taeda.sparse_coo_tensor([[1, 1]], taeda.ones(2, 2), (4, 2), requires_grad=True),
    "rows": lambda: taeda.eye(3).to_sparse_csr(),
}


def test_tensors() -> None:
    def body(rank: int) -> Any:
        for name, make in TENSORS.items() if rank == 0 else ():
            x = make()
            if x.layout == taeda.strided:
                there, again, one, strides = rpc.rpc_sync("worker1", _both, (x, x))
            else:
                there, one, strides = rpc.rpc_sync("worker1", _same, (x,)), True, None
            assert taeda.equal(there.to_dense(), x.to_dense()) and there.dtype == x.dtype, name
            assert one and type(there) is type(x) and there.requires_grad == x.requires_grad and there.is_leaf, name
            assert name != "strided" or strides == x.stride()

    play(2, body)


def test_references() -> None:
    def body(rank: int) -> Any:
        gc.disable()  # nothing waits for it
        if rank:
            return None
        box = rpc.remote("worker1", Box, (5,))
        assert not box.is_owner() and box.owner_name() == "worker1"
        assert box.rpc_sync().add(2).item() == 7
        assert box.rpc_async().add(1).wait().item() == 8
        assert box.remote().add(1).to_here().item() == 9
        assert box.to_here().value.item() == 9 and box._get_type() is Box
        with pytest.raises(RuntimeError, match="worker1"):
            box.local_value()
        with pytest.raises(KeyError, match="worker1"):
            box.rpc_sync().fail()
        mine = rpc.RRef(Box(1))
        assert mine.is_owner() and mine.local_value().value.item() == 1
        assert rpc.rpc_sync("worker1", _use, (mine, box, 4)) == (5, 13)
        assert mine.local_value().value.item() == 5
        passed = rpc.rpc_sync("worker2", _hand_back, (box,))
        assert passed.owner_name() == "worker1" and passed.rpc_sync().add(0).item() == 13
        wrong = rpc.remote("worker1", int, ("x",))
        with pytest.raises(ValueError, match="invalid literal"):
            wrong.to_here()
        with pytest.raises(RuntimeError, match="pickled"):
            __import__("pickle").dumps(mine)
        del box, passed, mine, wrong
        return _wait_for_none("worker1"), _wait_for_none("worker0")

    assert play(3, body)[0] == (True, True)


def _use(mine: Any, box: Any, amount: float) -> Any:
    assert box.is_owner() and not mine.is_owner()
    return mine.rpc_sync().add(amount).item(), box.local_value().add(amount).item()


def _hand_back(box: Any) -> Any:
    return box


def _owned() -> int:
    return int(rpc.api._rref_context_get_debug_info()["num_owner_rrefs"])


def _wait_for_none(worker: str) -> bool:
    """Whether the worker forgets all objects, nobody referring to them."""
    deadline = time.monotonic() + 10
    while rpc.rpc_sync(worker, _owned) and time.monotonic() < deadline:
        time.sleep(0.01)
    return rpc.rpc_sync(worker, _owned) == 0


@rpc.functions.async_execution
def _add_later(to: str, x: Any, y: Any) -> Any:
    return rpc.rpc_async(to, taeda.add, (x, y)).then(lambda done: done.wait() + 1)


@rpc.functions.async_execution
def _not_later() -> Any:
    return 3


def test_results_that_come_later() -> None:
    def body(rank: int) -> Any:
        server = rpc.rpc_sync("worker0", _shared_box)
        if rank == 0:
            assert rpc.rpc_sync("worker1", _add_later, ("worker2", taeda.ones(2), 1)).tolist() == [3, 3]
            assert rpc.remote("worker1", _add_later, ("worker2", taeda.ones(2), 1)).to_here().tolist() == [3, 3]
            with pytest.raises(RuntimeError, match="Future"):
                rpc.rpc_sync("worker1", _not_later)
            return None
        return server.rpc_sync().batch(rank, 2).item()

    assert play(3, body, num_worker_threads=1) == [None, 3, 3]  # no thread waits


_box: Box | None = None
_lock = threading.Lock()


def _shared_box() -> Any:
    global _box
    with _lock:
        _box = _box or Box()
        return rpc.RRef(_box)


class Own(Exception):
    """Cannot be made from a text."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(one, two)


def _raise_own() -> None:
    raise Own(1, 2)


def _sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def test_errors() -> None:
    def body(rank: int) -> Any:
        if rank:
            return
        with pytest.raises(ValueError, match=r"(?s)worker1.*test_rpc|invalid literal"):
            rpc.rpc_sync("worker1", int, ("x",))
        with pytest.raises(RuntimeError, match=r"(?s)Own\(1, 2\).*_raise_own"):
            rpc.rpc_sync("worker1", _raise_own)
        with pytest.raises(RuntimeError, match="more than the timeout of 50 ms"):
            rpc.rpc_sync("worker1", _sleep, (0.5,), timeout=0.05)
        assert rpc.rpc_sync("worker1", _sleep, (0.1,), timeout=0) == 0.1
        for wrong, kind in (("worker9", RuntimeError), (9, RuntimeError), (-1, RuntimeError), (1.5, ValueError)):
            with pytest.raises(kind):
                rpc.rpc_sync(wrong, _name)  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match="belongs to its process"):
            rpc.rpc_sync("worker1", print, (Future(),))
        with pytest.raises((AttributeError, TypeError)):
            rpc.rpc_sync("worker1", lambda: 1)
        with pytest.raises(RuntimeError, match="already initialized"):
            rpc.init_rpc("again", rank=0, world_size=2)

    play(2, body)


def test_before_and_after() -> None:
    with pytest.raises(RuntimeError, match="init_rpc"):
        rpc.rpc_sync("worker0", _name)
    with pytest.raises(RuntimeError, match="init_rpc"):
        rpc.shutdown()
    for name in ("", " ", "a*", "x" * 200):
        with pytest.raises(RuntimeError, match="name"):
            rpc.WorkerInfo(name, 0)

    def again(rank: int) -> Any:
        for _ in range(3):
            rpc.init_rpc(f"worker{rank}", rank=rank, world_size=2)
            assert rpc.rpc_sync(f"worker{1 - rank}", max, (1, 2)) == 2
            rpc.shutdown()
        return True

    assert run(2, again, setup=False) == [True, True]


def test_beside_a_group() -> None:
    def body(rank: int) -> Any:
        rpc.init_rpc(f"worker{rank}", rank=rank, world_size=2)
        x = rpc.rpc_sync(f"worker{1 - rank}", taeda.full, ((2,), rank + 1.0))
        taeda.distributed.all_reduce(x)
        rpc.shutdown()
        return x.tolist()

    assert run(2, body) == [[3, 3]] * 2


def test_names_are_unique() -> None:
    def body(rank: int) -> Any:
        options = rpc.TensorPipeRpcBackendOptions(rpc_timeout=2)
        with pytest.raises(RuntimeError, match="unique" if rank else "worker/1|not come|timeout|wait"):
            time.sleep(0.3 * rank)
            rpc.init_rpc("same", rank=rank, world_size=2, rpc_backend_options=options)

    run(2, body, setup=False)


def test_a_worker_that_dies() -> None:
    def body(rank: int) -> Any:
        options = rpc.TensorPipeRpcBackendOptions(rpc_timeout=20)
        rpc.init_rpc(f"worker{rank}", rank=rank, world_size=2, rpc_backend_options=options)
        if rank == 0:
            began = time.monotonic()
            with pytest.raises(RuntimeError, match="worker1.*cannot be reached"):
                rpc.rpc_sync("worker1", os._exit, (3,))
            with pytest.raises(RuntimeError, match="worker1.*cannot be reached"):
                rpc.rpc_sync("worker1", _name)
            assert time.monotonic() - began < 10
            with pytest.raises(RuntimeError, match="worker1 has ended"):
                rpc.shutdown()
            return True
        time.sleep(30)

    assert run(2, body, setup=False, may_die=True)[0] is True


@pytest.mark.parametrize("stopped", [0, 1])
def test_a_worker_that_was_stopped(stopped: int) -> None:
    """Whoever does not answer is named within the time that was given, the store's own process too."""

    def body(rank: int) -> Any:
        options = rpc.TensorPipeRpcBackendOptions(rpc_timeout=20)
        rpc.init_rpc(f"worker{rank}", rank=rank, world_size=2, rpc_backend_options=options)
        if rank == stopped:
            time.sleep(60)
        name = f"worker{stopped}"
        process = rpc.rpc_sync(name, os.getpid)
        lost = rpc.remote(name, Box)
        os.kill(process, signal.SIGSTOP)
        try:
            for value in (1, taeda.zeros(1 << 23)):  # more than the system takes for it
                with pytest.raises(RuntimeError, match=f"{name}.*more than"):
                    rpc.rpc_sync(name, _same, (value,), timeout=0.3)
            began = time.monotonic()
            with pytest.raises(RuntimeError, match=f"worker{rank} waits for .*{name}"):
                rpc.shutdown(timeout=1)
            assert time.monotonic() - began < 8
        finally:
            os.kill(process, signal.SIGKILL)
        del lost
        return True

    assert run(2, body, setup=False, may_die=True)[1 - stopped] is True


def test_strangers_are_not_listened_to() -> None:
    def body(rank: int) -> Any:
        address = rpc.api._get_current_rpc_agent().address
        with socket.create_connection(address) as stranger:
            stranger.sendall(b"x" * 100)
            stranger.settimeout(5)
            try:
                return stranger.recv(1)
            except ConnectionResetError:
                return b""

    assert play(1, body) == [b""]


def test_backends() -> None:
    assert rpc.is_available() and rpc.backend_registered("TENSORPIPE")
    options = rpc.construct_rpc_backend_options(rpc.BackendType.TENSORPIPE, rpc_timeout=3, num_worker_threads=2)
    assert (options.rpc_timeout, options.num_worker_threads, options.init_method) == (3, 2, "env://")
    with pytest.raises(RuntimeError, match="TENSORPIPE"):
        rpc.register_backend("TENSORPIPE", dict, None)
    with pytest.raises(TypeError, match="rpc_timeout"):
        rpc.TensorPipeRpcBackendOptions(rpc_timeout="10")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cpu"):
        rpc.TensorPipeRpcBackendOptions(devices=["cpu"])
