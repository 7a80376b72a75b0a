"""Backends, groups and stores that C++ extensions make, as Python's; and what of Python's they get."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import taeda
from taeda import _C
from taeda.distributed._backend_class import CALLS, Backend, ProcessGroup
from taeda.distributed._reduce_op import ReduceOp, factor_of
from taeda.distributed._store import Store, _NativeStore
from taeda.distributed._work import Work, WorkFuture, milliseconds
from taeda.futures import Future


def _bare(native: Any) -> Any:
    """The object itself: where programs were compiled, those of C++ come with a face over it."""
    return native if isinstance(native, _C._jit.Object) else native._c


class CppWork(Work):
    """Work of a backend in C++."""

    def __init__(self, native: Any) -> None:
        self._native = _bare(native)
        self._call = self._native.call_method

    def wait(self, timeout: timedelta | None = None) -> bool:
        return bool(self._call("wait", milliseconds(timeout)))

    def is_completed(self) -> bool:
        return bool(self._call("is_completed"))

    def is_success(self) -> bool:
        return bool(self._call("is_success"))

    def exception(self) -> BaseException | None:
        try:
            self._call("raise_error")
        except Exception as error:
            return error
        return None

    def synchronize(self) -> None:
        self._call("synchronize")

    def result(self) -> Any:
        return self._call("result")

    def source_rank(self) -> int:
        return int(self._call("source_rank"))

    def abort(self) -> None:
        """Ends it with an error, if the backend can."""
        self._call("abort")

    def _get_sequence_number(self) -> int:
        return int(self._call("sequence_number"))

    def _get_duration(self) -> float:
        return float(self._call("duration"))

    def get_future(self) -> Future[Any]:
        return _CppFuture(self)

    def _then(self, callback: Callable[[], Any]) -> None:
        """Has it called in a thread that may wait for this."""
        threading.Thread(target=callback, daemon=True, name="taeda-cpp-work").start()


class _CppFuture(WorkFuture):
    """Of the value of the backend's own future."""

    def _settle(self) -> None:
        value, error = None, None
        try:
            value = self._work._call("future_value")
        except Exception as raised:
            error = raised
        with self._condition:
            if not self._done:
                self._value, self._error, self._done = value, error, True


def _packed(opts: Any) -> list[int]:
    """Options as numbers, in the order of ``csrc/frontend/distributed/boxed.cpp``."""
    op = getattr(opts, "reduceOp", ReduceOp.SUM)
    limit = int(opts.timeout.total_seconds() * 1000)
    root = getattr(opts, "rootRank", 0), getattr(opts, "rootTensor", 0)
    return [*root, int(op.op if type(op) is ReduceOp else op), limit, int(opts.asyncOp)]


def _factor(opts: Any) -> Any:
    """By what PREMUL_SUM multiplies, as a tensor."""
    factor = factor_of(getattr(opts, "reduceOp", None))
    return factor if factor is None or isinstance(factor, taeda.Tensor) else taeda.tensor(factor, dtype=taeda.float64)


class CppBackend(Backend):
    """A backend in C++, or a group that is asked like one."""

    def __init__(self, native: Any) -> None:
        self._native = _bare(native)
        self._method = self._native.call_method
        super().__init__(self._method("rank"), self._method("size"))

    def name(self) -> str:
        return str(self._method("name"))

    def barrier(self, opts: Any) -> Work | None:
        return self._work("barrier", opts.device_ids, opts.device, _packed(opts))

    def send(self, tensors: Any, dstRank: int, tag: int) -> Work | None:
        return self._work("send", list(tensors), dstRank, tag)

    def recv(self, tensors: Any, srcRank: int, tag: int) -> Work | None:
        return self._work("recv", list(tensors), srcRank, tag)

    def recv_anysource(self, tensors: Any, tag: int) -> Work | None:
        return self._work("recv_anysource", list(tensors), tag)

    def set_timeout(self, timeout: timedelta) -> None:
        self._method("set_timeout", milliseconds(timeout))

    def abort(self) -> None:
        self._method("abort")

    def shutdown(self) -> None:
        self._method("shutdown")

    def _get_sequence_number_for_group(self) -> int:
        return int(self._method("sequence_number"))

    def _set_sequence_number_for_group(self) -> None:
        self._method("set_sequence_number")

    def _work(self, name: str, *args: Any) -> Work | None:
        made = self._method(name, *args)
        return None if made is None else CppWork(made)


def _collective(name: str) -> Callable[..., Work | None]:
    def call(self: CppBackend, *args: Any) -> Work | None:
        *tensors, opts = args
        return self._work(name, *map(_listed, tensors), _packed(opts), _factor(opts))

    call.__name__ = name
    return call


def _listed(value: Any) -> Any:
    """Lists of lists, as C++ takes them, of whatever sequences were given."""
    return value if isinstance(value, taeda.Tensor) else [_listed(item) if isinstance(item, (list, tuple)) else item
                                                          for item in value]  # fmt: skip


for _name in CALLS:
    if _name not in vars(CppBackend):
        setattr(CppBackend, _name, _collective(_name))


class CppGroup(ProcessGroup):
    """A whole group in C++: it chooses among its backends itself."""

    def __init__(self, native: Any) -> None:
        self._native = _bare(native)
        self._asked = CppBackend(native)
        super().__init__(self._asked.rank(), self._asked.size())

    def name(self) -> str:
        return self._asked.name()

    def _of(self, tensors: Any) -> Any:
        return self._asked

    def _any(self) -> Any:
        return self._asked

    def _each(self, act: Callable[[Any], Any]) -> None:
        act(self._asked)


_KINDS: dict[str, Any] = {"Backend": CppBackend, "ProcessGroup": CppGroup, "Work": CppWork}


def wrapped(kind: str, native: Any) -> Any:
    """An object of C++ as Python's; None stays None."""
    return None if native is None else _KINDS[kind](native)


def store(handle: Any, timeout: int) -> Store:
    """A store of C++ by its handle, with its timeout in ms."""
    return _NativeStore(handle, timedelta(milliseconds=timeout))


def native_of(made: Any) -> Any:
    """What C++ knows: the object of C++ within, or the handle of an engine's group; None if there is none."""
    found = getattr(made, "_native", None)
    return getattr(made, "_group", None) if found is None else found


def parts_of(group: ProcessGroup) -> tuple[int, int, str, Any, list[tuple[Any, int, Any]]]:
    """The rank, the size, the name, the store, and of each kind of device the backend and its kind's number.

    Raises:
        TypeError: it is no group, or one whose backend is written in Python.
    """
    if not isinstance(group, ProcessGroup):
        raise TypeError(f"taeda.distributed: C++ wants a process group; got {type(group).__name__}")
    parts = [(taeda.device(kind), int(group._kinds[kind]), made) for kind, made in group._backends.items()]
    for _, _, backend in parts:
        if native_of(backend) is None:
            raise TypeError(
                f"taeda.distributed: C++ cannot call the backend {backend.name()!r}, which is written in Python"
            )
    return group.rank(), group.size(), group.group_name, group.get_group_store(), parts
