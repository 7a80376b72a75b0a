"""Key-value stores: how processes find and tell each other the first things.

The stores themselves are C++ (``csrc/distributed``); one of a program's own derives from `Store`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import IntEnum, auto
from typing import Any

from taeda._C import _distributed
from taeda.distributed._errors import DistStoreError

__all__ = ["FileStore", "HashStore", "PrefixStore", "Store", "TCPStore"]

_DEFAULT_TIMEOUT = timedelta(minutes=5)


class _Op(IntEnum):
    """``StoreOp`` of ``taeda/distributed/store.h``; a test holds the two together."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[Any]) -> int:
        return count

    SET = auto()
    GET = auto()
    ADD = auto()
    DELETE = auto()
    CHECK = auto()
    WAIT = auto()
    COMPARE_SET = auto()
    APPEND = auto()
    MULTI_GET = auto()
    MULTI_SET = auto()
    QUEUE_PUSH = auto()
    QUEUE_POP = auto()
    QUEUE_LENGTH = auto()
    KEY_COUNT = auto()
    LIST_KEYS = auto()
    TESTAMENT = auto()


class Store:
    """What every store is. One of a program's own derives from it and writes ``set``, ``get``, ``add``, ``check``,
    ``wait`` and whatever else it can do; what it leaves out raises NotImplementedError."""

    def __init__(self) -> None:
        self._timeout = _DEFAULT_TIMEOUT

    @property
    def timeout(self) -> timedelta:
        """How long `get`, `wait` and `queue_pop` wait for a key."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets `timeout`.

        Raises:
            TypeError: it is no timedelta.
        """
        _milliseconds(timeout, "set_timeout")
        self._timeout = timeout

    def _handle(self) -> Any:
        """The store as the library holds it."""
        return _distributed.python_store(lambda *request: _answer(self, *request))

    def _absent(self, function: str) -> Any:
        raise NotImplementedError(
            f"taeda.distributed.{type(self).__name__}.{function}: this store has no such function"
        )

    def set(self, key: str, value: str | bytes) -> None:
        """Sets a value, over an earlier one."""
        self._absent("set")

    def get(self, key: str) -> bytes:
        """The value of ``key``, once it is there.

        Raises:
            DistStoreError: it was not set within the timeout.
        """
        return self._absent("get")

    def add(self, key: str, amount: int) -> int:
        """Adds to the number that the value is in decimals, 0 if there is none; gives the sum.

        Raises:
            ValueError: the value is no number.
        """
        return self._absent("add")

    def append(self, key: str, value: str | bytes) -> None:
        """Puts ``value`` behind the value that is there."""
        added = _bytes(value, "append")
        try:
            before = self.get(key) if self.check([key]) else b""
        except NotImplementedError:
            before = b""
        while (now := self.compare_set(key, before, before + added)) != before + added:  # others append too
            before = now

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set."""
        return self._absent("check")

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Waits until all keys are set.

        Raises:
            DistStoreError: that took longer than the timeout, by default the store's.
        """
        self._absent("wait")

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Sets ``desired_value`` if the value is ``expected_value``; an empty one means that there is none yet.

        Returns the value afterwards; ``expected_value`` where there is none.
        """
        return self._absent("compare_set")

    def delete_key(self, key: str) -> bool:
        """Whether there was such a key to remove."""
        return self._absent("delete_key")

    def num_keys(self) -> int:
        """The number of keys, a store's own for counting its processes included."""
        return self._absent("num_keys")

    def list_keys(self) -> list[str]:
        """The keys."""
        return self._absent("list_keys")

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """The value of each key, once all are there."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Sets each key to the value in its place.

        Raises:
            ValueError: there are more of one than of the other.
        """
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Puts a value at the end of the queue ``key``."""
        self._absent("queue_push")

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Takes the oldest value of the queue ``key``, waiting for one unless ``block`` is False.

        Raises:
            QueueEmptyError: there is none, and ``block`` is False.
            DistStoreError: none came within the timeout.
        """
        return self._absent("queue_pop")

    def queue_len(self, key: str) -> int:
        """How many values the queue ``key`` holds."""
        return self._absent("queue_len")

    def has_extended_api(self) -> bool:
        """Whether `append`, `multi_get`, `multi_set` and the queues are there."""
        return False

    def clone(self) -> Store:
        """A store of the same content whose calls do not wait for calls of this one."""
        return self._absent("clone")

    def barrier(self, key: str, world_size: int, timeout: timedelta | None = None) -> None:
        """Waits until ``world_size`` processes have come to the barrier ``key``."""
        if self.add(f"{key}/count", 1) == world_size:
            self.set(f"{key}/all", "1")
        self.wait([f"{key}/all"], timeout)


class _NativeStore(Store):
    """A store of C++."""

    def __init__(self, handle: Any, timeout: timedelta = _DEFAULT_TIMEOUT) -> None:
        super().__init__()
        self._native, self._timeout = handle, timeout

    def _handle(self) -> Any:
        return self._native

    def _run(self, op: _Op, keys: Sequence[str] = (), values: Sequence[str | bytes] = (), number: int = 0,
             timeout: timedelta | None = None) -> tuple[list[bytes], int]:  # fmt: skip
        function = f"{type(self).__name__}.{op.name.lower()}"
        wanted = _milliseconds(self._timeout if timeout is None else timeout, function)
        try:
            return self._native.run(op, _keys(keys, function), [_bytes(v, function) for v in values], number, wanted)
        except (RuntimeError, ValueError) as error:
            raise type(error)(f"taeda.distributed.{function}: {error}") from None

    def set(self, key: str, value: str | bytes) -> None:
        self._run(_Op.SET, [key], [value])

    def get(self, key: str) -> bytes:
        return self._run(_Op.GET, [key])[0][0]

    def add(self, key: str, amount: int) -> int:
        if not isinstance(amount, int):
            raise TypeError(f"taeda.distributed.{type(self).__name__}.add: amount must be an int; got {amount!r}")
        return self._run(_Op.ADD, [key], number=amount)[1]

    def append(self, key: str, value: str | bytes) -> None:
        self._run(_Op.APPEND, [key], [value])

    def check(self, keys: Sequence[str]) -> bool:
        return bool(self._run(_Op.CHECK, keys)[1])

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        self._run(_Op.WAIT, keys, timeout=timeout)

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        return self._run(_Op.COMPARE_SET, [key], [expected_value, desired_value])[0][0]

    def delete_key(self, key: str) -> bool:
        return bool(self._run(_Op.DELETE, [key])[1])

    def num_keys(self) -> int:
        return self._run(_Op.KEY_COUNT)[1]

    def list_keys(self) -> list[str]:
        return [key.decode(errors="surrogateescape") for key in self._run(_Op.LIST_KEYS)[0]]

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        return self._run(_Op.MULTI_GET, keys)[0]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        if len(keys) != len(values):
            raise ValueError(
                f"taeda.distributed.{type(self).__name__}.multi_set: as many values as keys are wanted; got "
                f"{len(keys)} keys and {len(values)} values"
            )
        self._run(_Op.MULTI_SET, keys, values)

    def queue_push(self, key: str, value: str | bytes) -> None:
        self._run(_Op.QUEUE_PUSH, [key], [value])

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        return self._run(_Op.QUEUE_POP, [key], number=int(block))[0][0]

    def queue_len(self, key: str) -> int:
        return self._run(_Op.QUEUE_LENGTH, [key])[1]

    def has_extended_api(self) -> bool:
        return True

    def clone(self) -> Store:
        made = _NativeStore.__new__(type(self))
        vars(made).update(vars(self), _native=self._native.clone())
        return made

    def _leave_word(self, key: str, value: str | bytes) -> None:
        """Has ``value`` appended to ``key`` when this process ends or its connection is lost (TCP only)."""
        self._run(_Op.TESTAMENT, [key], [value])

    def __repr__(self) -> str:
        return repr(self._native)


class HashStore(_NativeStore):
    """A store in the memory of this process, for its threads."""

    def __init__(self) -> None:
        super().__init__(_distributed.hash_store())


class FileStore(_NativeStore):
    """A store in a file that processes share.

    Args:
        file_name: the file, made if it is not there.
        world_size: the number of processes; the last of them to drop its store removes the file. Without one it stays.
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        self.path = file_name
        super().__init__(_distributed.file_store(file_name, world_size))


class TCPStore(_NativeStore):
    """A store in the memory of one process, the master, that others reach over TCP.

    Args:
        host_name: where the master's process runs.
        port: where it listens; 0 for a free one, which `port` tells.
        world_size: the number of processes, the master's included; None if it is not known.
        is_master: whether this process serves it.
        timeout: how long to wait for the master, and later for keys.
        wait_for_workers: whether the master waits here until ``world_size`` processes have come.
        multi_tenant: whether masters of this process on one port share one server.
        master_listen_fd: a socket that listens already, for the master to take over.
        use_libuv: accepted; there is one server.

    Raises:
        DistNetworkError: the port is taken, or the master cannot be reached.
        ValueError: ``world_size`` is 0.
        DistStoreError: the processes did not come in time.
    """

    def __init__(
        self, host_name: str, port: int, world_size: int | None = None, is_master: bool = False,
        timeout: timedelta = _DEFAULT_TIMEOUT, wait_for_workers: bool = True, multi_tenant: bool = False,
        master_listen_fd: int | None = None, use_libuv: bool = True,
    ) -> None:  # fmt: skip
        if world_size == 0:
            raise ValueError("taeda.distributed.TCPStore: world_size is wanted as None or at least 1; got 0")
        if master_listen_fd is not None:
            _listen(master_listen_fd)
        self.host, self.libuvBackend, self._serves = host_name, use_libuv, is_master
        handle, self.port = _distributed.tcp_store(
            host_name, port, -1 if world_size is None else world_size, is_master, wait_for_workers, multi_tenant,
            -1 if master_listen_fd is None else master_listen_fd, _milliseconds(timeout, "TCPStore"),
        )  # fmt: skip
        super().__init__(handle, timeout)


def _listen(file: int) -> None:
    """Has a socket listen that may only be bound."""
    import os
    import socket

    with socket.socket(fileno=os.dup(file)) as bound:
        bound.listen(2048)


class PrefixStore(_NativeStore):
    """The keys of another store that begin with a prefix and a slash, without these."""

    def __init__(self, prefix: str, store: Store) -> None:
        if not isinstance(store, Store):
            raise ValueError(f"taeda.distributed.PrefixStore: a store is wanted; got {store!r}")
        self.prefix, self.underlying_store = prefix, store
        super().__init__(_distributed.prefix_store(prefix, store._handle()), store.timeout)

    def set_timeout(self, timeout: timedelta) -> None:
        super().set_timeout(timeout)
        self.underlying_store.set_timeout(timeout)

    def has_extended_api(self) -> bool:
        return self.underlying_store.has_extended_api()

    @property
    def _underlying_non_prefix_store(self) -> Store:
        inner = self.underlying_store
        return inner._underlying_non_prefix_store if isinstance(inner, PrefixStore) else inner


def _bytes(value: Any, function: str) -> bytes:
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"taeda.distributed.{function}: a value must be str or bytes; got {value!r}")
    return value.encode() if isinstance(value, str) else value


def _keys(keys: Any, function: str) -> list[str]:
    if isinstance(keys, (str, bytes)) or not all(isinstance(key, str) for key in keys):
        raise TypeError(f"taeda.distributed.{function}: keys must be strings; got {keys!r}")
    return list(keys)


def _milliseconds(timeout: Any, function: str) -> int:
    if not isinstance(timeout, timedelta):
        raise TypeError(f"taeda.distributed.{function}: the timeout must be a timedelta; got {timeout!r}")
    return max(0, round(timeout.total_seconds() * 1000))


_ANSWERS: dict[_Op, Callable[..., Any]] = {
    _Op.SET: lambda s, k, v, n, t: s.set(k[0], v[0]),
    _Op.GET: lambda s, k, v, n, t: _waited(s, k, t)[0],
    _Op.ADD: lambda s, k, v, n, t: s.add(k[0], n),
    _Op.DELETE: lambda s, k, v, n, t: s.delete_key(k[0]),
    _Op.CHECK: lambda s, k, v, n, t: s.check(k),
    _Op.WAIT: lambda s, k, v, n, t: s.wait(k, t),
    _Op.COMPARE_SET: lambda s, k, v, n, t: s.compare_set(k[0], v[0], v[1]),
    _Op.APPEND: lambda s, k, v, n, t: s.append(k[0], v[0]),
    _Op.MULTI_GET: lambda s, k, v, n, t: _waited(s, k, t),
    _Op.MULTI_SET: lambda s, k, v, n, t: s.multi_set(k, v),
    _Op.QUEUE_PUSH: lambda s, k, v, n, t: s.queue_push(k[0], v[0]),
    _Op.QUEUE_POP: lambda s, k, v, n, t: s.queue_pop(k[0], bool(n)),
    _Op.QUEUE_LENGTH: lambda s, k, v, n, t: s.queue_len(k[0]),
    _Op.KEY_COUNT: lambda s, k, v, n, t: s.num_keys(),
    _Op.LIST_KEYS: lambda s, k, v, n, t: s.list_keys(),
    _Op.TESTAMENT: lambda s, k, v, n, t: None,
}  # fmt: skip


def _waited(store: Store, keys: list[str], timeout: timedelta) -> list[bytes]:
    """The values, for which a store of a program's own waits as it likes."""
    if timeout < store.timeout:
        store.wait(keys, timeout)
    return store.multi_get(keys)


def _answer(
    store: Store, op: int, keys: list[bytes], values: list[bytes], number: int, timeout: int
) -> tuple[list[bytes], int]:
    """What a store written in Python says to a request of the library."""
    given = [key.decode() for key in keys]
    result = _ANSWERS[_Op(op)](store, given, values, number, timedelta(milliseconds=timeout))
    if isinstance(result, (bool, int)):
        return [], int(result)
    parts = [] if result is None else [result] if isinstance(result, (str, bytes)) else list(result)
    if len(keys) and _Op(op) in (_Op.GET, _Op.MULTI_GET) and len(parts) != len(keys):
        raise DistStoreError(f"taeda.distributed.{type(store).__name__}: {len(keys)} values are wanted; got {parts}")
    return [_bytes(part, type(store).__name__) for part in parts], 0
