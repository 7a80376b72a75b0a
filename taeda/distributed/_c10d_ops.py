"""``taeda.ops.c10d``: the methods of process groups as ops, which subclasses of tensors may take over."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from taeda.distributed import _options as options
from taeda.library import Library

_CLASS = "__torch__.torch.classes.c10d."
_TYPES = {"group": f"{_CLASS}ProcessGroup process_group", "op": f"{_CLASS}ReduceOp reduce_op"}
# The op's arguments that are fields of options.
_FIELDS = {"reduce_op": "reduceOp", "root_rank": "rootRank", "root_tensor": "rootTensor", "device_ids": "device_ids",
           "async_op": "asyncOp"}  # fmt: skip
_TAIL = "bool async_op=True, int timeout=-1"
# Name: the method, the class of its options, its arguments, and whether its first argument is returned beside the work.
_OPS: dict[str, tuple[str, type | None, str, str]] = {
    "broadcast_": ("broadcast", options.BroadcastOptions,
                   f"Tensor[] tensors, {{group}}, int root_rank, int root_tensor, {_TAIL}", "Tensor[]"),
    "allreduce_": ("allreduce", options.AllreduceOptions,
                   f"Tensor[] tensors, {{group}}, {{op}}, Tensor? sparse_indices, {_TAIL}", "Tensor[]"),
    "allreduce_coalesced_": ("allreduce_coalesced", options.AllreduceCoalescedOptions,
                             f"Tensor[] tensors, {{group}}, {{op}}, {_TAIL}", ""),
    "reduce_": ("reduce", options.ReduceOptions,
                f"Tensor[] tensors, {{group}}, {{op}}, int root_rank, int root_tensor, {_TAIL}", ""),
    "allgather_": ("allgather", options.AllgatherOptions,
                   f"Tensor[][] output_tensors, Tensor[] input_tensors, {{group}}, {_TAIL}", "Tensor[][]"),
    "_allgather_base_": ("_allgather_base", options.AllgatherOptions,
                         f"Tensor output_tensor, Tensor input_tensor, {{group}}, {_TAIL}", "Tensor"),
    "allgather_coalesced_": ("allgather_coalesced", options.AllgatherOptions,
                             "Tensor[][] output_lists, Tensor[] input_list, {group}, bool async_op=True", ""),
    "allgather_into_tensor_coalesced_": ("allgather_into_tensor_coalesced", options.AllgatherOptions,
                                         "Tensor[] outputs, Tensor[] inputs, {group}, bool async_op=True", ""),
    "reduce_scatter_": ("reduce_scatter", options.ReduceScatterOptions,
                        f"Tensor[] output_tensors, Tensor[][] input_tensors, {{group}}, {{op}}, {_TAIL}", "Tensor[]"),
    "_reduce_scatter_base_": ("_reduce_scatter_base", options.ReduceScatterOptions,
                              f"Tensor output_tensor, Tensor input_tensor, {{group}}, {{op}}, {_TAIL}", "Tensor"),
    "reduce_scatter_tensor_coalesced_": ("reduce_scatter_tensor_coalesced", options.ReduceScatterOptions,
                                         f"Tensor[] outputs, Tensor[] inputs, {{group}}, {{op}}, {_TAIL}", ""),
    "gather_": ("gather", options.GatherOptions,
                f"Tensor[][] output_tensors, Tensor[] input_tensors, {{group}}, int root_rank, {_TAIL}", ""),
    "scatter_": ("scatter", options.ScatterOptions,
                 f"Tensor[] output_tensors, Tensor[][] input_tensors, {{group}}, int root_rank, {_TAIL}", "Tensor[]"),
    "alltoall_": ("alltoall", options.AllToAllOptions,
                  f"Tensor[] output_tensors, Tensor[] input_tensors, {{group}}, {_TAIL}", "Tensor[]"),
    "alltoall_base_": ("alltoall_base", options.AllToAllOptions,
                       f"Tensor output, Tensor input, {{group}}, int[] output_split_sizes, int[] input_split_sizes, "
                       f"{_TAIL}", ""),
    "barrier": ("barrier", options.BarrierOptions, f"Tensor tensor, {{group}}, int[] device_ids, {_TAIL}", ""),
    "send": ("send", None, "Tensor[] tensors, {group}, int dst, int tag", ""),
    "recv_": ("recv", None, "Tensor[] tensors, {group}, int src, int tag", ""),
    "recv_any_source_": ("recv_anysource", None, "Tensor[] tensors, {group}, int tag", ""),
}  # fmt: skip
_UNUSED = {"tensor", "sparse_indices"}  # a barrier's says of which device; of sparse tensors the engine asks itself


def _kernel(method: str, kind: type | None, names: list[str], returned: str) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        given = dict(zip(names, args))
        group, timeout = given.pop("process_group"), given.pop("timeout", -1)
        rest = [value for name, value in given.items() if name not in _FIELDS and name not in _UNUSED]
        if kind is not None:
            told = kind()
            for name in given.keys() & _FIELDS.keys():
                setattr(told, _FIELDS[name], given[name])
            if timeout >= 0:
                told.timeout = timedelta(milliseconds=timeout)
            rest.append(told)
        work = getattr(group, method)(*rest)
        return (args[0], work) if returned else work

    return call


_library = Library("c10d", "DEF")
for _name, (_method, _kind, _arguments, _returned) in _OPS.items():
    _text = _arguments.format(**_TYPES)
    _work = f"{_CLASS}Work"
    _library.define(f"{_name}({_text}) -> {f'({_returned}, {_work})' if _returned else _work}")
    _names = [one.split(" ")[1].partition("=")[0] for one in _text.split(", ")]
    _library.impl(_name, _kernel(_method, _kind, _names, _returned), "CompositeExplicitAutograd")
