"""The engine that serves CPU tensors: ``csrc/distributed``, as a backend of process groups. MPI moves its bytes."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from enum import IntEnum
from typing import Any

import taeda
from taeda import Tensor
from taeda._C import _distributed, _profiler_enabled
from taeda.distributed._backend_class import Backend, BackendType, ProcessGroup
from taeda.distributed._mpi import needed_mpi
from taeda.distributed._reduce_op import ReduceOp, factor_of
from taeda.distributed._work import EngineWork, Work, milliseconds
from taeda.distributed.constants import default_pg_timeout

Tensors = Sequence[Tensor]


class Call(IntEnum):
    """``Collective`` of ``taeda/distributed/process_group.h``."""

    BROADCAST = 0
    ALL_REDUCE = 1
    REDUCE = 2
    ALL_GATHER = 3
    GATHER = 4
    SCATTER = 5
    REDUCE_SCATTER = 6
    ALL_TO_ALL = 7
    BARRIER = 8
    SEND = 9
    RECEIVE = 10


titles = threading.local()  # .own: what this thread's collectives are called in profiles
_EVENTS = {Call.REDUCE_SCATTER: "reduce_scatter_tensor", Call.RECEIVE: "recv"}


class _GlooDevice(str):
    """The name of a network device; MPI chooses its own."""


class _Devices:
    """Where programs ask for the network devices of gloo."""

    @staticmethod
    def create_device(hostname: str = "", interface: str = "", lazy_init: bool | None = None) -> Any:
        """Stands for a network device, by the name of a host or of the device."""
        return _GlooDevice(interface or hostname)

    @staticmethod
    def create_default_device(lazy_init: bool | None = None) -> Any:
        """Stands for the network device that is used anyway."""
        return _GlooDevice()


class EngineBackend(_Devices, Backend):
    """Collectives of CPU tensors between the processes that meet at a store.

    Raises:
        DistBackendError: there is no MPI, or it failed.
        DistStoreError: some ranks did not come within the timeout.
    """

    def __init__(self, store: Any, rank: int, size: int, timeout: timedelta = default_pg_timeout) -> None:
        handle = _distributed.process_group(store._handle(), rank, size, milliseconds(timeout), needed_mpi(size))
        self._hold(handle, rank, size, timeout)
        _end_in_order()

    @classmethod
    def of_threads(cls, key: str, rank: int, size: int, timeout: timedelta = default_pg_timeout) -> EngineBackend:
        """Rank ``rank`` of a group whose ranks are threads of this process; ``key`` is the group's own."""
        made = cls.__new__(cls)
        made._hold(_distributed.thread_group(key, rank, size), rank, size, timeout)
        return made

    def _hold(self, handle: Any, rank: int, size: int, timeout: timedelta) -> None:
        super().__init__(rank, size)
        self._group = handle
        self._limit = milliseconds(timeout)
        self._sequence = 0

    def _limit_of(self, opts: Any) -> int:
        limit = milliseconds(opts.timeout)
        return limit if limit > 0 else self._limit

    def _submit(
        self,
        call: Call,
        inputs: list[Tensor],
        outputs: list[Tensor],
        opts: Any,
        result: Any,
        op: Any = 0,
        root: int = 0,
    ) -> Work:
        self._sequence += 1
        limit = self._limit_of(opts)
        began = time.perf_counter_ns()
        try:
            handle = self._group.submit(call, inputs, outputs, op, root, 0, limit, opts.asyncOp)
            if _profiler_enabled():
                _note(call, began, inputs or outputs, handle)
            return EngineWork(handle, result)
        except ValueError as error:
            raise RuntimeError(str(error)) from None  # as gloo says it

    def _submit_many(self, tasks: list[Any], opts: Any, result: Any) -> Work:
        self._sequence += 1
        began = time.perf_counter_ns()
        try:
            handle = self._group.submit_many(tasks, self._limit_of(opts), opts.asyncOp)
            if tasks and _profiler_enabled():
                _note(tasks[0][0], began, [tensor for task in tasks for tensor in task[1] or task[2]], handle)
            return EngineWork(handle, result)
        except ValueError as error:
            raise RuntimeError(str(error)) from None

    def name(self) -> str:
        return "gloo"

    @property
    def options(self) -> Any:
        """How it was made."""
        return _GlooOptions(timeout=timedelta(milliseconds=self._limit))

    def set_timeout(self, timeout: timedelta) -> None:
        self._limit = milliseconds(timeout)

    def broadcast(self, tensors: Tensors, opts: Any) -> Work:
        many = self._alike("broadcast", tensors, opts.rootRank)
        if not 0 <= opts.rootTensor < len(many):
            raise RuntimeError(f"taeda.distributed.broadcast: rootTensor {opts.rootTensor} of {len(many)} tensors")
        if len(many) > 1 and self.rank() == opts.rootRank:  # all become the root's one
            with taeda.no_grad():
                for tensor in many:
                    tensor.copy_(many[opts.rootTensor])
        return self._submit(Call.BROADCAST, [], many, opts, many, root=opts.rootRank)

    def _alike(self, name: str, tensors: Tensors, root: int = 0) -> list[Tensor]:
        """The tensors, one or more of one dtype and shape; RuntimeError for others, or without that root."""
        many = list(tensors)
        if not many or len({(tensor.dtype, tensor.shape) for tensor in many}) > 1:
            given = [(tensor.dtype, tuple(tensor.shape)) for tensor in many]
            raise RuntimeError(f"taeda.distributed.{name}: tensors of one dtype and shape are wanted; got {given}")
        if not 0 <= root < self.size():
            raise RuntimeError(f"taeda.distributed.{name}: root {root} of {self.size()} processes")
        return many

    def allreduce(self, tensors: Tensors, opts: Any) -> Work:
        if any(tensor.is_sparse for tensor in tensors):
            return self._sparse_sum(list(tensors), opts)
        many = self._alike("all_reduce", tensors)
        if len(many) > 1:
            _reduce_here(opts.reduceOp, many)
        return self.allreduce_coalesced(many, opts)

    def allreduce_coalesced(self, tensors: Tensors, opts: Any) -> Work:
        many = list(tensors)
        if not many:
            raise RuntimeError("taeda.distributed.all_reduce_coalesced: one tensor or more are wanted; got none")
        once = list({id(tensor): tensor for tensor in many}.values())  # one that is named twice is reduced once
        op = _plain(opts.reduceOp, once)
        return self._submit(Call.ALL_REDUCE, [], once, opts, many, op)

    def _sparse_sum(self, tensors: list[Tensor], opts: Any) -> Work:
        """Waits for word of how many entries the others have, even where the rest goes on beside."""
        from taeda.distributed import _sparse as sparse

        sparse.check(tensors, opts.reduceOp)
        with taeda.no_grad():
            own = tensors[0].coalesce()
            for tensor in tensors[1:]:
                own = (own + tensor).coalesce()
        about = sparse.described(own)
        all = [taeda.empty_like(about) for _ in range(self.size())]
        limit = self._limit_of(opts)
        self._group.submit(Call.ALL_GATHER, [about], all, 0, 0, 0, limit, False)
        indices, values = sparse.places(own, all)
        tasks = [(Call.ALL_GATHER, [own._indices()], indices, 0, 0, 0),
                 (Call.ALL_GATHER, [own._values()], values, 0, 0, 0)]  # fmt: skip
        self._sequence += 1
        return sparse.SparseWork(self._group.submit_many(tasks, limit, opts.asyncOp), tensors, indices, values)

    def reduce(self, tensors: Tensors, opts: Any) -> Work:
        many = self._alike("reduce", tensors, opts.rootRank)
        if len(many) != 1 or opts.rootTensor != 0:
            raise RuntimeError(
                f"taeda.distributed.reduce: one tensor, number 0, is wanted; got {len(many)} and rootTensor "
                f"{opts.rootTensor}"
            )
        if factor_of(opts.reduceOp) is not None and self.rank() != opts.rootRank:
            many = [tensor.clone() for tensor in many]  # only the root's change
        op = _plain(opts.reduceOp, many)
        return self._submit(Call.REDUCE, [], many, opts, list(tensors), op, opts.rootRank)

    def allgather(self, output_tensors: Sequence[Tensors], input_tensors: Tensors, opts: Any) -> Work:
        outputs, inputs = [list(one) for one in output_tensors], list(input_tensors)
        count = len(inputs)
        if not inputs or len(outputs) != count or any(len(one) != count * self.size() for one in outputs):
            raise RuntimeError(
                f"taeda.distributed.all_gather: for {count} tensors as many lists of {count * self.size()} are wanted; "
                f"got {[len(one) for one in outputs]}"
            )
        if count == 1:
            return self._submit(Call.ALL_GATHER, inputs, outputs[0], opts, outputs[0])
        # Each list takes all tensors of all ranks: a rank's stand together.
        tasks = [(Call.ALL_GATHER, [one], outputs[to][at::count], 0, 0, 0)
                 for to in range(count) for at, one in enumerate(inputs)]  # fmt: skip
        return self._submit_many(tasks, opts, outputs)

    def allgather_coalesced(self, output_tensors: Sequence[Tensors], input_tensors: Tensors, opts: Any) -> Work:
        # There is a list for each rank; the engine has one for each tensor.
        turned = [list(one) for one in zip(*output_tensors, strict=True)]
        tasks = [(Call.ALL_GATHER, [i], o, 0, 0, 0) for i, o in zip(input_tensors, turned, strict=True)]
        return self._submit_many(tasks, opts, [list(one) for one in output_tensors])

    def _allgather_base(self, output: Tensor, input: Tensor, opts: Any) -> Work:
        if output.dtype != input.dtype or output.numel() != input.numel() * self.size():
            raise ValueError(
                f"taeda.distributed.all_gather_into_tensor: output is wanted as {self.size()} times the input of "
                f"{input.numel()} elements of {input.dtype}; got {output.numel()} of {output.dtype}"
            )
        return self._submit(Call.ALL_GATHER, [input], [output], opts, [output])

    def allgather_into_tensor_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any) -> Work:
        tasks = [(Call.ALL_GATHER, [i], [o], 0, 0, 0) for i, o in zip(inputs, outputs, strict=True)]
        return self._submit_many(tasks, opts, list(outputs))

    def _one_list(
        self, name: str, single: str, tensors: Tensors, many: str, lists: Sequence[Tensors], root: int
    ) -> None:
        """Raises unless there is one tensor, and on the root one list of as many as there are processes."""
        wanted = [self.size()] if self.rank() == root else []
        if not 0 <= root < self.size():
            raise RuntimeError(f"taeda.distributed.{name}: root {root} of {self.size()} processes")
        if len(tensors) != 1 or [len(one) for one in lists] != wanted:
            raise RuntimeError(
                f"taeda.distributed.{name}: one tensor is wanted as {single}, and {many} as one list of {self.size()} "
                f"on rank {root}, none elsewhere; got {len(tensors)}, and lists of {[len(one) for one in lists]}"
            )

    def gather(self, output_tensors: Sequence[Tensors], input_tensors: Tensors, opts: Any) -> Work:
        self._one_list("gather", "input_tensors", input_tensors, "output_tensors", output_tensors, opts.rootRank)
        outputs = list(output_tensors[0]) if output_tensors else []
        return self._submit(Call.GATHER, list(input_tensors), outputs, opts, outputs, root=opts.rootRank)

    def scatter(self, output_tensors: Tensors, input_tensors: Sequence[Tensors], opts: Any) -> Work:
        self._one_list("scatter", "output_tensors", output_tensors, "input_tensors", input_tensors, opts.rootRank)
        inputs = list(input_tensors[0]) if input_tensors else []
        outputs = list(output_tensors)
        return self._submit(Call.SCATTER, inputs, outputs, opts, outputs, root=opts.rootRank)

    def reduce_scatter(self, output_tensors: Tensors, input_tensors: Sequence[Tensors], opts: Any) -> Work:
        outputs, inputs = list(output_tensors), [list(one) for one in input_tensors]
        tasks = []
        for one, output in zip(inputs, outputs, strict=True):
            op, own = _scaled(opts.reduceOp, one)
            tasks.append((Call.REDUCE_SCATTER, own, [output], op, 0, 0))
        return self._submit_many(tasks, opts, outputs)

    def _reduce_scatter_base(self, output: Tensor, input: Tensor, opts: Any) -> Work:
        if output.dtype != input.dtype or input.numel() != output.numel() * self.size():
            raise ValueError(
                f"taeda.distributed.reduce_scatter_tensor: input is wanted as {self.size()} times the output of "
                f"{output.numel()} elements of {output.dtype}; got {input.numel()} of {input.dtype}"
            )
        op, own = _scaled(opts.reduceOp, [input])
        return self._submit(Call.REDUCE_SCATTER, own, [output], opts, [output], op)

    def reduce_scatter_tensor_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any) -> Work:
        return self.reduce_scatter(outputs, [[one] for one in inputs], opts)

    def alltoall(self, output_tensors: Tensors, input_tensors: Tensors, opts: Any) -> Work:
        outputs = list(output_tensors)
        return self._submit(Call.ALL_TO_ALL, list(input_tensors), outputs, opts, outputs)

    def alltoall_base(
        self, output: Tensor, input: Tensor, output_split_sizes: Sequence[int], input_split_sizes: Sequence[int],
        opts: Any,
    ) -> Work:  # fmt: skip
        # Parts of the memory, which the engine writes: parts of a strided output are as good.
        outputs = list(output.detach().split(list(output_split_sizes))) if output_split_sizes else [output]
        inputs = list(input.detach().split(list(input_split_sizes))) if input_split_sizes else [input]
        return self._submit(Call.ALL_TO_ALL, inputs, outputs, opts, [output])

    def barrier(self, opts: Any) -> Work:
        return self._submit(Call.BARRIER, [], [], opts, [])

    def send(self, tensors: Tensors, dstRank: int, tag: int) -> Work:
        return self._message(Call.SEND, list(tensors), [], dstRank, tag)

    def recv(self, tensors: Tensors, srcRank: int, tag: int) -> Work:
        return self._message(Call.RECEIVE, [], list(tensors), srcRank, tag)

    def recv_anysource(self, tensors: Tensors, tag: int) -> Work:
        return self._message(Call.RECEIVE, [], list(tensors), -1, tag)

    def _message(self, call: Call, inputs: list[Tensor], outputs: list[Tensor], peer: int, tag: int) -> Work:
        began = time.perf_counter_ns()
        handle = self._group.submit(call, inputs, outputs, 0, peer, tag, self._limit, True)
        if _profiler_enabled():
            _note("recvAnySource" if peer < 0 else call, began, inputs or outputs, handle)
        return EngineWork(handle, inputs or outputs)

    def abort(self) -> None:
        self._group.abort("this group was aborted")

    def shutdown(self) -> None:
        self._group.shutdown()

    def _get_sequence_number_for_group(self) -> int:
        return self._sequence

    def _set_sequence_number_for_group(self) -> None:
        """The numbers begin at 0 on all ranks."""


class _GlooOptions(Backend.Options):
    """How `ProcessGroupGloo` is made: of it only ``_timeout`` counts."""

    def __init__(self, backend: str = "gloo", timeout: timedelta = default_pg_timeout) -> None:
        super().__init__(backend, timeout)
        self._devices: list[Any] = []
        self._threads = 2


class ProcessGroupGloo(_Devices, ProcessGroup):
    """A group that was made by hand, of the processes that meet at ``store``."""

    Options = _Options = _GlooOptions
    made_by_hand = True

    def __init__(self, store: Any, rank: int, size: int, timeout: Any = default_pg_timeout) -> None:
        super().__init__(store, rank, size)
        limit = timeout if isinstance(timeout, (timedelta, int, float)) else timeout._timeout
        if not isinstance(limit, timedelta):
            limit = timedelta(seconds=limit)
        self._register_backend("cpu", BackendType.GLOO, EngineBackend(store, rank, size, limit))

    @property
    def options(self) -> _GlooOptions:
        """How it was made, with the timeout that counts now."""
        return self._get_backend("cpu").options  # type: ignore[no-any-return]


def _note(call: Call | str, began: int, tensors: list[Tensor], handle: Any) -> None:
    """Makes an event of it in the profile of this thread."""
    from taeda.autograd.profiler import note_work

    name = call if isinstance(call, str) else _EVENTS.get(call, call.name.lower())
    note = note_work(getattr(titles, "own", None) or f"gloo:{name}", began, tensors)
    if handle.is_completed():
        note.done()
    else:
        handle.then(note.done)


def _plain(op: Any, tensors: list[Tensor]) -> int:
    """The reduction as the library knows it; the tensors are multiplied in place by its factor, if it has one."""
    factor = factor_of(op)
    if factor is None:
        return int(op.op if type(op) is ReduceOp else op)
    with taeda.no_grad():
        for tensor in tensors:
            tensor.mul_(factor)
    return int(ReduceOp.SUM)


_HERE: dict[Any, Any] = {
    ReduceOp.SUM: taeda.add, ReduceOp.PRODUCT: taeda.mul, ReduceOp.MIN: taeda.minimum, ReduceOp.MAX: taeda.maximum,
    ReduceOp.BAND: taeda.bitwise_and, ReduceOp.BOR: taeda.bitwise_or, ReduceOp.BXOR: taeda.bitwise_xor,
}  # fmt: skip


def _reduce_here(op: Any, tensors: list[Tensor]) -> None:
    """Several tensors of one process count as those of several: each becomes their reduction.

    Raises:
        RuntimeError: a reduction that is not made of steps.
    """
    join = _HERE.get(op.op if type(op) is ReduceOp else op)
    if join is None:
        raise RuntimeError(f"taeda.distributed.all_reduce: {op} of several tensors of one process; give them apart")
    with taeda.no_grad():
        whole = tensors[0].clone()
        for tensor in tensors[1:]:
            whole = join(whole, tensor)
        for tensor in tensors:
            tensor.copy_(whole)


def _scaled(op: Any, tensors: list[Tensor]) -> tuple[int, list[Tensor]]:
    """The same with copies."""
    if factor_of(op) is not None:
        tensors = [tensor.clone() for tensor in tensors]
    return _plain(op, tensors), tensors


_ends_in_order = False


def _end_in_order() -> None:
    """Has the others told when this process ends; processes of multiprocessing end in a way of their own."""
    global _ends_in_order
    if _ends_in_order:
        return
    _ends_in_order = True
    owner = os.getpid()

    def end() -> None:
        if os.getpid() == owner:
            _distributed.end_processes()

    atexit.register(end)
    if (util := sys.modules.get("multiprocessing.util")) is not None:
        util.Finalize(None, end, exitpriority=0)
