"""What serves a process group on one kind of device; and the group, which asks the backend of the tensors' device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import IntEnum
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed import _options as options
from taeda.distributed._monitored import monitored
from taeda.distributed._work import Work
from taeda.distributed.constants import default_pg_timeout

Tensors = Sequence[Tensor]
Limit = timedelta | None

# The names of the methods that collectives and messages go through.
CALLS = (
    "broadcast", "allreduce", "allreduce_coalesced", "reduce", "allgather", "allgather_coalesced", "_allgather_base",
    "allgather_into_tensor_coalesced", "gather", "scatter", "reduce_scatter", "_reduce_scatter_base",
    "reduce_scatter_tensor_coalesced", "alltoall", "alltoall_base", "barrier", "send", "recv", "recv_anysource",
)  # fmt: skip


class Backend:
    """Collectives and messages on one kind of device. One of a program's own derives from it and writes the methods of
    `ProcessGroup` that it can do (``allreduce(tensors, opts)`` and so on), each of which gives a `Work`."""

    class Options:
        """How a backend is made."""

        def __init__(self, backend: str, timeout: timedelta = timedelta(minutes=30)) -> None:
            self.backend = backend
            self._timeout = timeout
            self.group_name = ""
            self.global_ranks_in_group: list[int] = []

    supports_splitting = False
    supports_coalescing = False
    supports_shrinking = False
    supports_time_estimate = False

    def __init__(self, rank: int, size: int) -> None:
        self._rank = rank
        self._size = size

    def rank(self) -> int:
        """This process's number in the group."""
        return self._rank

    def size(self) -> int:
        """How many processes there are."""
        return self._size

    def name(self) -> str:
        """The backend's name."""
        return type(self).__name__

    def _get_backend_name(self) -> str:
        return self.name()

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets how long a collective waits."""

    def abort(self) -> None:
        """Ends all work with errors."""

    def shutdown(self) -> None:
        """Waits for all work, and takes no more."""

    def __getattr__(self, name: str) -> Any:
        if name in CALLS:
            raise RuntimeError(f"taeda.distributed: the backend {self.name()!r} has no {name}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class BackendType(IntEnum):
    """Kinds of backends."""

    UNDEFINED = 0
    GLOO = 1
    NCCL = 2
    UCC = 3
    MPI = 4
    XCCL = 5
    CUSTOM = 6


def _by(opts: Any, kind: type, timeout: timedelta | None, **fields: Any) -> Any:
    """``opts`` as they are, or of ``fields`` and ``timeout``."""
    if isinstance(opts, options._Options):
        return opts
    made = kind()
    for name, value in fields.items():
        setattr(made, name, value)
    if timeout is not None:
        made.timeout = timeout
    return made


class ProcessGroup:
    """Some of the processes. Made by ``init_process_group`` and ``new_group``; one of a program's own derives from it
    and writes the methods that it can do.

    Each method gives a `Work`. Single tensors may stand for lists of one, and ``timeout`` for options.
    """

    BackendType: Any = BackendType
    made_by_hand = False  # not by init_process_group or new_group, so that nothing is known of it but itself

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.made_by_hand = True

    def __init__(self, *args: Any) -> None:
        # (rank, size), or with a store before them.
        self._rank, self._size = args[-2:] if len(args) < 4 else args[1:3]
        self._store = args[0] if len(args) > 2 else None
        self._backends: dict[str, Any] = {}
        self._kinds: dict[str, Any] = {}
        self._limit = default_pg_timeout
        self._barriers = 0  # how many monitored ones there were
        self._title, self._description = "", "undefined"
        self.bound_device_id: taeda.device | None = None

    def rank(self) -> int:
        """This process's number in the group, which a group of a program's own tells by ``getRank``."""
        return self._rank if (own := getattr(self, "getRank", None)) is None else int(own())

    def size(self) -> int:
        """How many processes there are, which a group of a program's own tells by ``getSize``."""
        return self._size if (own := getattr(self, "getSize", None)) is None else int(own())

    def name(self) -> str:
        """The backend's name, which a group of a program's own tells by ``getBackendName``."""
        if (own := getattr(type(self), "getBackendName", None)) is not None:
            return str(own(self))
        if BackendType.MPI in self._kinds.values():
            return "mpi"
        return next(iter(self._backends.values())).name() if self._backends else "undefined"

    def _get_backend_name(self) -> str:
        return self.name()

    def get_group_store(self) -> Any:
        """The store that the group's processes met at."""
        return self._store

    def _set_default_timeout(self, timeout: timedelta) -> None:
        """How long collectives wait from now on."""
        self._limit = timeout
        for backend in self._backends.values():
            backend.set_timeout(timeout)

    def _set_group_name(self, name: str) -> None:
        if (own := getattr(self, "setGroupName", None)) is None:
            self._title = name
        else:
            own(name)

    def _set_group_desc(self, description: str) -> None:
        if (own := getattr(self, "setGroupDesc", None)) is None:
            self._description = description
        else:
            own(description)

    @property
    def group_name(self) -> str:
        """By what other processes know the group; one of a program's own tells it by ``getGroupName``."""
        return self._title if (own := getattr(self, "getGroupName", None)) is None else str(own())

    @property
    def group_desc(self) -> str:
        """What the group is for; one of a program's own tells it by ``getGroupDesc``."""
        return self._description if (own := getattr(self, "getGroupDesc", None)) is None else str(own())

    @property
    def _device_types(self) -> list[taeda.device]:
        return [taeda.device(kind) for kind in self._backends]

    def _register_backend(self, device: Any, backend_type: Any, backend: Any = None) -> None:
        kind = taeda.device(device).type
        self._backends[kind], self._kinds[kind] = backend, backend_type

    def _set_default_backend(self, backend_type: Any) -> None:
        """The first one is it."""

    def _get_backend(self, device: Any) -> Any:
        kind = taeda.device(device).type
        if kind not in self._backends:
            raise RuntimeError(f"taeda.distributed: this group has no backend for {kind!r}; it has {[*self._backends]}")
        return self._backends[kind]

    def _of(self, tensors: Any) -> Any:
        """The backend of the device of the first tensor in (lists of) tensors."""
        while isinstance(tensors, (list, tuple)):
            if not tensors:
                return self._any()
            tensors = tensors[0]
        kind = tensors.device.type
        found = self._backends.get(kind)
        return self._get_backend(kind) if found is None else found

    def _any(self) -> Any:
        if not self._backends:
            raise RuntimeError("taeda.distributed: this process group has no backend")
        return next(iter(self._backends.values()))

    def broadcast(self, tensors: Any, opts: Any = None, timeout: Limit = None, *, root: int = 0) -> Work:
        """``opts`` may be the root's rank."""
        root = opts if isinstance(opts, int) else root
        opts = _by(opts, options.BroadcastOptions, timeout, rootRank=root)
        return self._of(tensors).broadcast(_list(tensors), opts)

    def allreduce(self, tensors: Any, opts: Any = None, timeout: Limit = None, *, op: Any = None) -> Work:
        """``opts`` may be the reduction."""
        opts = _by(opts, options.AllreduceOptions, timeout, **_reduction(opts if op is None else op))
        return self._of(tensors).allreduce(_list(tensors), opts)

    def allreduce_coalesced(self, tensors: Tensors, opts: Any = None) -> Work:
        opts = _by(opts, options.AllreduceCoalescedOptions, None)
        return self._of(tensors).allreduce_coalesced(list(tensors), opts)

    def reduce(self, tensors: Any, opts: Any = None, op: Any = None, timeout: Limit = None, *, root: int = 0) -> Work:
        """``opts`` may be the root's rank."""
        root = opts if isinstance(opts, int) else root
        opts = _by(opts, options.ReduceOptions, timeout, rootRank=root, **_reduction(op))
        return self._of(tensors).reduce(_list(tensors), opts)

    def allgather(self, output_tensors: Any, input_tensors: Any, opts: Any = None, timeout: Limit = None) -> Work:
        outputs = [output_tensors] if isinstance(input_tensors, Tensor) else output_tensors
        opts = _by(opts, options.AllgatherOptions, timeout)
        return self._of(input_tensors).allgather(outputs, _list(input_tensors), opts)

    def allgather_coalesced(self, output_lists: Any, input_list: Tensors, opts: Any = None) -> Work:
        return self._of(input_list).allgather_coalesced(
            output_lists, input_list, _by(opts, options.AllgatherOptions, None)
        )

    def _allgather_base(self, output: Tensor, input: Tensor, opts: Any = None, timeout: Limit = None) -> Work:
        return self._of(input)._allgather_base(output, input, _by(opts, options.AllgatherOptions, timeout))

    all_gather_single = _allgather_base

    def allgather_into_tensor_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Work:
        opts = _by(opts, options.AllgatherOptions, None)
        return self._of(inputs).allgather_into_tensor_coalesced(outputs, inputs, opts)

    all_gather_single_coalesced = allgather_into_tensor_coalesced

    def gather(
        self,
        output_tensors: Any,
        input_tensors: Any,
        opts: Any = None,
        timeout: timedelta | None = None,
        *,
        root: int = 0,
    ) -> Work:
        """``opts`` may be the root's rank."""
        root = opts if isinstance(opts, int) else root
        outputs = [output_tensors] if isinstance(input_tensors, Tensor) and output_tensors else output_tensors
        opts = _by(opts, options.GatherOptions, timeout, rootRank=root)
        return self._of(input_tensors).gather(outputs, _list(input_tensors), opts)

    def scatter(
        self,
        output_tensors: Any,
        input_tensors: Any,
        opts: Any = None,
        timeout: timedelta | None = None,
        *,
        root: int = 0,
    ) -> Work:
        """``opts`` may be the root's rank."""
        root = opts if isinstance(opts, int) else root
        inputs = [input_tensors] if isinstance(output_tensors, Tensor) and input_tensors else input_tensors
        opts = _by(opts, options.ScatterOptions, timeout, rootRank=root)
        return self._of(output_tensors).scatter(_list(output_tensors), inputs, opts)

    def reduce_scatter(
        self,
        output_tensors: Any,
        input_tensors: Any,
        opts: Any = None,
        timeout: timedelta | None = None,
        *,
        op: Any = None,
    ) -> Work:
        """``opts`` may be the reduction."""
        inputs = [input_tensors] if isinstance(output_tensors, Tensor) else input_tensors
        opts = _by(opts, options.ReduceScatterOptions, timeout, **_reduction(opts if op is None else op))
        return self._of(output_tensors).reduce_scatter(_list(output_tensors), inputs, opts)

    def _reduce_scatter_base(self, output: Tensor, input: Tensor, opts: Any = None, timeout: Limit = None) -> Work:
        opts = _by(opts, options.ReduceScatterOptions, timeout, **_reduction(opts))
        return self._of(input)._reduce_scatter_base(output, input, opts)

    reduce_scatter_single = _reduce_scatter_base

    def reduce_scatter_tensor_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Work:
        opts = _by(opts, options.ReduceScatterOptions, None)
        return self._of(inputs).reduce_scatter_tensor_coalesced(outputs, inputs, opts)

    reduce_scatter_single_coalesced = reduce_scatter_tensor_coalesced

    def alltoall(self, output_tensors: Tensors, input_tensors: Tensors, opts: Any = None) -> Work:
        return self._of(input_tensors).alltoall(output_tensors, input_tensors, _by(opts, options.AllToAllOptions, None))

    def alltoall_base(
        self, output: Tensor, input: Tensor, output_split_sizes: Sequence[int], input_split_sizes: Sequence[int],
        opts: Any = None, timeout: Limit = None,
    ) -> Work:  # fmt: skip
        opts = _by(opts, options.AllToAllOptions, timeout)
        return self._of(input).alltoall_base(output, input, output_split_sizes, input_split_sizes, opts)

    all_to_all_single = alltoall_base

    def barrier(self, opts: Any = None, timeout: Limit = None) -> Work:
        return self._any().barrier(_by(opts, options.BarrierOptions, timeout))

    def send(self, tensors: Tensors, dstRank: int, tag: int) -> Work:
        return self._of(tensors).send(tensors, dstRank, tag)

    def recv(self, tensors: Tensors, srcRank: int, tag: int) -> Work:
        return self._of(tensors).recv(tensors, srcRank, tag)

    def recv_anysource(self, tensors: Tensors, tag: int) -> Work:
        return self._of(tensors).recv_anysource(tensors, tag)

    def monitored_barrier(self, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
        """See `taeda.distributed.monitored_barrier`."""
        monitored(self, timeout, wait_all_ranks)

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets how long a collective waits unless told otherwise."""
        self._each(lambda backend: backend.set_timeout(timeout))

    def abort(self) -> None:
        """Ends all work with errors; none can follow."""
        self._each(lambda backend: backend.abort())

    def shutdown(self) -> None:
        """Waits for all work; none can follow."""
        self._each(lambda backend: backend.shutdown())

    def _each(self, act: Callable[[Any], Any]) -> None:
        for backend in {id(one): one for one in self._backends.values()}.values():
            act(backend)

    def _get_sequence_number_for_group(self) -> int:
        return int(self._any()._get_sequence_number_for_group())

    def _set_sequence_number_for_group(self) -> None:
        self._any()._set_sequence_number_for_group()

    def _start_coalescing(self, device: Any) -> None:
        """`taeda.distributed._coalescing_manager` collects calls itself."""

    def _end_coalescing(self, device: Any) -> Work:
        return Work()

    def _wait_for_pending_works(self) -> None:
        self.barrier().wait()

    def __deepcopy__(self, memo: Any) -> ProcessGroup:
        return self


def _list(tensors: Any) -> Any:
    return [tensors] if isinstance(tensors, Tensor) else tensors


def _reduction(op: Any) -> dict[str, Any]:
    return {} if op is None or isinstance(op, options._Options) else {"reduceOp": op}
