"""Stores: one table of questions and answers over every kind, then what each kind promises alone."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import taeda.distributed as dist
from taeda.distributed._store import _Op

SOON = timedelta(milliseconds=150)


class Written(dist.Store):
    """A store as a program writes one."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = dist.HashStore()

    def __getattribute__(self, name: str):
        own = ("inner", "_handle", "__class__", "__dict__", "_absent")
        return object.__getattribute__(self, name) if name in own else getattr(self.inner, name)


KINDS: dict[str, Callable[[Path], dist.Store]] = {
    "hash": lambda folder: dist.HashStore(),
    "file": lambda folder: dist.FileStore(str(folder / "store"), 1),
    "tcp": lambda folder: dist.TCPStore("localhost", 0, 1, True),
    "prefix": lambda folder: dist.PrefixStore("a", dist.PrefixStore("b", dist.HashStore())),
    "prefix of tcp": lambda folder: dist.PrefixStore("a", dist.TCPStore("localhost", 0, 1, True)),
    "written": lambda folder: dist.PrefixStore("a", Written()),
}


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dist.Store]:
    made = KINDS[request.param](tmp_path)
    made.set_timeout(SOON)
    yield made


def test_values(store: dist.Store) -> None:
    store.set("text", "é")
    store.set("bytes", b"\x00\xff")
    store.set("bytes", b"\x00\xfe")
    assert (store.get("text"), store.get("bytes")) == ("é".encode(), b"\x00\xfe")
    assert [store.add("n", 3), store.add("n", -5), store.add("n", 0)] == [3, -2, -2] and store.get("n") == b"-2"
    assert [store.check(["text", "n"]), store.check(["text", "none"]), store.check([])] == [True, False, True]
    assert sorted(store.list_keys()) == ["bytes", "n", "text"] and store.num_keys() >= 3
    assert [store.delete_key("n"), store.delete_key("n"), store.check(["n"])] == [True, False, False]


def test_compare_set(store: dist.Store) -> None:
    asked = [("c", "", "v"), ("c", "v", "w"), ("c", "q", "z"), ("none", "q", "z"), ("c", "", "x")]
    assert [store.compare_set(*a) for a in asked] == [b"v", b"w", b"w", b"q", b"w"]
    assert not store.check(["none"])


def test_many_at_once(store: dist.Store) -> None:
    assert store.has_extended_api()
    store.append("x", "a")
    store.append("x", b"b")
    store.multi_set(["k", "l"], ["1", b"2"])
    assert store.multi_get(["x", "k", "l"]) == [b"ab", b"1", b"2"]
    with pytest.raises(ValueError, match="2 keys and 1 values|argument 2 is shorter"):
        store.multi_set(["k", "l"], ["1"])


def test_queues(store: dist.Store) -> None:
    assert store.queue_len("q") == 0
    for value in "abc":
        store.queue_push("q", value)
    assert store.queue_len("q") == 3
    assert [store.queue_pop("q"), store.queue_pop("q", False), store.queue_pop("q")] == [b"a", b"b", b"c"]
    with pytest.raises(dist.QueueEmptyError, match="queue"):
        store.queue_pop("q", False)
    with pytest.raises(dist.DistStoreError):
        store.queue_pop("q")


def test_waiting_in_vain(store: dist.Store) -> None:
    begin = time.monotonic()
    for wait in (lambda: store.get("none"), lambda: store.wait(["none"]), lambda: store.multi_get(["none"]),
                 lambda: store.wait(["none"], SOON / 2)):  # fmt: skip
        with pytest.raises(dist.DistStoreError, match="none"):
            wait()
    assert time.monotonic() - begin > 3 * SOON.total_seconds()


def test_a_wait_ends_when_the_key_comes(store: dist.Store) -> None:
    store.set_timeout(timedelta(seconds=30))
    other = store.clone()
    setter = threading.Timer(0.1, lambda: (other.set("a", "1"), other.set("b", "2")))
    setter.start()
    store.wait(["a", "b"])
    assert store.get("b") == b"2"
    setter.join()


@pytest.mark.parametrize(
    ("call", "error"),
    [(lambda s: s.set(1, "a"), TypeError), (lambda s: s.set("a", 3), TypeError), (lambda s: s.add("a", 1.5), TypeError),
     (lambda s: s.wait("ab"), TypeError), (lambda s: s.set_timeout(3), TypeError), (lambda s: s.get(b"a"), TypeError),
     (lambda s: (s.set("a", "x"), s.add("a", 1)), ValueError),
     (lambda s: (s.add("b", 2**63 - 1), s.add("b", 1)), ValueError)],
)  # fmt: skip
def test_wrong_arguments(store: dist.Store, call: Callable[[dist.Store], object], error: type[Exception]) -> None:
    with pytest.raises(error):
        call(store)
    store.set("a", "still works")


def test_many_threads_add(store: dist.Store) -> None:
    store.set_timeout(timedelta(seconds=30))
    threads = [threading.Thread(target=lambda: [store.add("n", 1) for _ in range(20)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.add("n", 0) == 160


def test_what_a_written_store_leaves_out() -> None:
    class Half(dist.Store):
        def set(self, key: str, value: str | bytes) -> None: ...

    with pytest.raises(NotImplementedError, match=r"Half\.queue_push"):
        dist.PrefixStore("a", Half()).queue_push("q", "1")
    assert not dist.PrefixStore("a", Half()).has_extended_api()


def test_values_are_appended_by_exchange_where_a_written_store_has_no_better_way() -> None:
    class Exchanging(dist.Store):
        def __init__(self) -> None:
            super().__init__()
            self.values: dict[str, bytes] = {}
            self.others = [b"theirs"]  # what another process puts in between

        def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
            if self.others:
                self.values[key] = self.others.pop()
            if self.values.get(key, b"") == expected_value:
                self.values[key] = bytes(desired_value)
            return self.values.get(key, expected_value)

    store = Exchanging()
    for value in ("a", b"b"):
        dist.PrefixStore("p", store).append("key", value)
    assert store.values == {"p/key": b"theirsab"}


def test_ops_are_numbered_as_in_cpp() -> None:
    header = (Path(__file__).parents[2] / "include/taeda/distributed/store.h").read_text()
    body = re.search(r"enum class StoreOp.*?\{(.*?)\};", header, re.S)
    assert body is not None
    names = re.findall(r"^\s*(\w+)", re.sub(r"//.*", "", body[1]), re.M)
    assert [op.name.replace("_", "").lower() for op in _Op] == [name.lower() for name in names]


# --- files


def test_file_stores_meet(tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    one, two = dist.FileStore(path, 2), dist.FileStore(path, 2)
    one.set("a", "1")
    assert (two.get("a"), two.add("n", 2), one.add("n", 3)) == (b"1", 2, 5)
    del one
    assert os.path.exists(path)
    del two
    assert not os.path.exists(path)


def test_half_a_request_is_cut_off(tmp_path: Path) -> None:
    """A process that was killed while it wrote."""
    path = tmp_path / "store"
    one = dist.FileStore(str(path))
    one.set("a", "1")
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    one.set("b", "2")
    assert dist.FileStore(str(path)).multi_get(["a", "b"]) == [b"1", b"2"]


@pytest.mark.parametrize("text", [b"\xff" * 40, b"hello, world" * 10, (5).to_bytes(8, "little") + b"abcde"])
def test_a_file_that_is_no_store(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "store").write_bytes(text)
    with pytest.raises(dist.DistError):
        dist.FileStore(str(tmp_path / "store")).set("a", "1")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(dist.DistStoreError, match="none"):
        dist.FileStore(str(tmp_path / "none" / "store"), 1)


# --- TCP


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def test_tcp_clients_come_before_the_server() -> None:
    port, got = free_port(), []
    client = threading.Thread(
        target=lambda: got.append(dist.TCPStore("localhost", port, 2, False, timedelta(seconds=30)).get("a"))
    )
    client.start()
    server = dist.TCPStore("localhost", port, 2, True, timedelta(seconds=30))
    server.set("a", "1")
    client.join()
    assert got == [b"1"] and server.num_keys() == 2, "the count of processes is a key"


def test_tcp_port_in_use() -> None:
    server = dist.TCPStore("localhost", 0, 1, True)
    with pytest.raises(dist.DistNetworkError, match=f"port {server.port}.*in use"):
        dist.TCPStore("localhost", server.port, 1, True)
    tenant = dist.TCPStore("localhost", 0, 1, True, multi_tenant=True)
    dist.TCPStore("localhost", tenant.port, 1, True, multi_tenant=True).set("a", "1")
    assert tenant.get("a") == b"1"


def test_tcp_server_that_never_comes() -> None:
    with pytest.raises(dist.DistNetworkError, match="cannot reach"):
        dist.TCPStore("localhost", free_port(), 2, False, SOON)


def test_tcp_workers_that_never_come() -> None:
    with pytest.raises(dist.DistStoreError, match="1 of 3 processes"):
        dist.TCPStore("localhost", 0, 3, True, SOON)
    dist.TCPStore("localhost", 0, 3, True, SOON, wait_for_workers=False)


def test_tcp_takes_over_a_listening_socket() -> None:
    listening = socket.create_server(("localhost", 0))
    port = listening.getsockname()[1]
    server = dist.TCPStore("localhost", port, 1, True, master_listen_fd=listening.detach())
    assert server.port == port
    server.set("a", "1")


@pytest.mark.parametrize(
    "noise", [b"GET / HTTP/1.1\r\n\r\n", b"", b"taeda store 1\n\n\n" + b"\xff" * 64,
              b"taeda store 1\n\n\n" + (20).to_bytes(8, "little") + b"\x63" * 20]
)  # fmt: skip
def test_strangers_do_not_disturb_a_server(noise: bytes) -> None:
    server = dist.TCPStore("localhost", 0, 1, True)
    with socket.create_connection(("localhost", server.port)) as stranger:
        stranger.sendall(noise)
        server.set("a", "1")
        assert server.get("a") == b"1"


def test_a_client_of_something_else() -> None:
    listening = socket.create_server(("localhost", 0))

    def answer() -> None:
        connection, _ = listening.accept()
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        connection.close()

    threading.Thread(target=answer).start()
    with pytest.raises(dist.DistNetworkError, match="no store|lost"):
        dist.TCPStore("localhost", listening.getsockname()[1], 1, False, timedelta(seconds=5))
    listening.close()


def test_large_values() -> None:
    server = dist.TCPStore("localhost", 0, 1, True)
    value = os.urandom(8 << 20)
    server.set("a", value)
    assert server.get("a") == value


def test_hundreds_of_connections_wait_for_one_key() -> None:
    server = dist.TCPStore("localhost", 0, 1, True, timedelta(seconds=60))
    clients = [dist.TCPStore("localhost", server.port, None, False) for _ in range(400)]
    threads = [threading.Thread(target=client.wait, args=(["go"],)) for client in clients]
    for thread in threads:
        thread.start()
    server.set("go", "1")
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)


def run(program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


CLIENT = """
    import sys, time
    import taeda.distributed as dist
    store = dist.TCPStore("localhost", int(sys.argv[1]), None, False)
    store._leave_word("gone", "rank 1;")
    store.set("here", "1")
    time.sleep(60)
"""


def test_the_server_tells_of_a_client_that_died() -> None:
    server = dist.TCPStore("localhost", 0, None, True, timedelta(seconds=30))
    client = run(CLIENT, str(server.port))
    server.wait(["here"])
    assert not server.check(["gone"])
    client.kill()
    begin = time.monotonic()
    assert server.get("gone") == b"rank 1;" and time.monotonic() - begin < 5
    client.communicate()


def test_a_server_that_died() -> None:
    program = """
        import sys, time
        import taeda.distributed as dist
        store = dist.TCPStore("localhost", 0, None, True)
        print(store.port, flush=True)
        time.sleep(60)
    """
    server = run(program)
    assert server.stdout is not None
    client = dist.TCPStore("localhost", int(server.stdout.readline()), None, False)
    killer = threading.Timer(0.2, server.kill)
    killer.start()
    with pytest.raises(dist.DistNetworkError, match="lost"):
        client.wait(["never"])
    killer.join()
    server.communicate()


def test_ctrl_c_ends_a_wait() -> None:
    program = """
        import signal
        import taeda.distributed as dist
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
        store = dist.HashStore()
        print("waits", flush=True)
        store.wait(["never"])
    """
    process = run(program)
    assert process.stdout is not None and process.stdout.readline() == "waits\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors


def test_a_forked_child_has_connections_of_its_own() -> None:
    server = dist.TCPStore("localhost", 0, None, True, timedelta(seconds=20))
    client = dist.TCPStore("localhost", server.port, None, False, timedelta(seconds=20))
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            for _ in range(50):
                client.add("n", 1)
            client.set(f"done {number}", "1")
            os._exit(0)
        children.append(child)
    for _ in range(50):
        client.add("own", 1)
    client.wait([f"done {number}" for number in range(4)])
    assert client.add("n", 0) == 200 and client.add("own", 0) == 50
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4


def test_a_server_that_was_stopped_is_not_waited_for() -> None:
    """Whatever a store's keys may be waited for: what needs no key is answered at once, or by nobody."""
    code = (
        "import time, taeda.distributed as dist\n"
        "store = dist.TCPStore('localhost', 0, None, True, wait_for_workers=False)\n"
        "print(store.port, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            store = dist.TCPStore("localhost", int(server.stdout.readline()), None, False, timedelta(seconds=1))
            store.set_timeout(timedelta(minutes=5))
            store.set("key", "value")
            server.send_signal(signal.SIGSTOP)
            os.waitpid(server.pid, os.WUNTRACED)
            began = time.monotonic()
            with pytest.raises(dist.DistNetworkError, match="did not answer in time"):
                store.set("key", "other")
            assert time.monotonic() - began < 15
        finally:
            server.kill()
