"""What `DistributedDataParallel` tells about itself: how it was made, and how its last iterations went."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import taeda
import taeda.distributed as dist
from taeda.distributed._reducer import MARKS
from taeda.nn.modules.batchnorm import SyncBatchNorm

__all__ = ["DDPLoggingData", "Logger"]

_VARIABLES = ("MASTER_ADDR", "MASTER_PORT", "CUDA_VISIBLE_DEVICES", "TORCH_DISTRIBUTED_DEBUG")
_GLOO_VARIABLES = ("GLOO_SOCKET_IFNAME", "GLOO_DEVICE_TRANSPORT")
_GLOO_THREADS = 2  # what programs read of gloo, whose name the engine bears
_FIRST = 10  # iterations that are noted whatever was said
_NAMES = {taeda.float32: "float", taeda.float64: "double", taeda.float16: "c10::Half", taeda.bfloat16: "c10::BFloat16"}
_SPANS = {  # each from one mark of an iteration to another
    "forward_compute_time": ("forward_compute_time_start", "backward_compute_time_start"),
    "backward_compute_time": ("backward_compute_time_start", "backward_compute_time_end"),
    "backward_comm_time": ("backward_comm_time_start", "backward_comm_time_end"),
    "backward_compute_comm_overlap_time": ("backward_comm_time_start", "backward_compute_time_end"),
}


class DDPLoggingData:
    """Words and numbers by name."""

    def __init__(self) -> None:
        self.strs_map: dict[str, str] = {}
        self.ints_map: dict[str, int] = {}

    def put(self, **values: str | int) -> None:
        """Files each with its kind; whether something is so becomes 0 or 1."""
        for name, value in values.items():
            if isinstance(value, str):
                self.strs_map[name] = value
            else:
                self.ints_map[name] = int(value)


class _Iteration(NamedTuple):
    """What a reducer knew at the end of one."""

    unused: list[Any]
    reduced: int  # buckets
    order: list[int]
    rebuilt: list[list[Any]] | None  # the buckets, once they follow that order
    marks: dict[str, int]


class Logger:
    """Keeps the `DDPLoggingData` of one wrapper."""

    def __init__(self, wrapper: Any) -> None:
        self._reducer = wrapper.reducer
        self._data = DDPLoggingData()
        self._sums = dict.fromkeys(_SPANS, 0)
        self._passes = 0  # which the sums are over
        self.every = 1  # how many iterations behind the first ten go by from one that is noted to the next
        self._last: _Iteration | None = None
        group = wrapper.process_group
        backend = group.name() if group.made_by_hand else dist.get_backend(group)
        self._data.put(
            module_name=type(wrapper.module).__name__, device_ids="", output_device=-1, is_multi_device_module=False,
            broadcast_buffers=wrapper.broadcast_buffers, bucket_cap_bytes=wrapper.bucket_bytes_cap,
            find_unused_parameters=wrapper.find_unused_parameters,
            gradient_as_bucket_view=wrapper.gradient_as_bucket_view, backend_name=backend, iteration=0,
            world_size=group.size(), rank=group.rank(),
            has_sync_bn=any(isinstance(module, SyncBatchNorm) for module in wrapper.module.modules()),
        )  # fmt: skip
        self._put_parameters(self._reducer.parameters)
        names = _VARIABLES + (_GLOO_VARIABLES if backend == "gloo" else ())
        self._data.put(**{name.lower(): os.environ.get(name) or "N/A" for name in names})
        if backend == "gloo":
            self._data.put(gloo_num_threads=_GLOO_THREADS)
        if wrapper.static_graph:
            self._set_static_graph()

    def _put_parameters(self, parameters: list[Any]) -> None:
        dtypes = {_NAMES.get(p.dtype, str(p.dtype).removeprefix("torch.")) for p in parameters}
        self._data.put(
            num_parameter_tensors=len(parameters), total_parameter_size_bytes=_size_of(parameters),
            dtypes=", ".join(sorted(dtypes)), bucket_sizes=_sizes(self._reducer.members),
        )  # fmt: skip

    def _get_ddp_logging_data(self) -> DDPLoggingData:
        if self._last is not None:
            self._put_last(self._last)
        return self._data

    def _set_comm_hook_name(self, comm_hook: str) -> None:
        self._data.put(comm_hook=comm_hook)

    def _set_uneven_input_join(self) -> None:
        self._data.put(join_uneven_inputs=True)

    def _set_static_graph(self) -> None:
        self._data.put(static_graph=True)

    def set_error_and_log(self, message: str) -> None:
        """Notes that the iteration failed, and why."""
        self._data.put(has_error=True, error=message, iteration=self._reducer.iterations)

    def set_runtime_stats_and_log(self) -> None:
        """Notes how the last iteration went; called where the next begins.

        The texts are made when somebody asks for them, not in each step.
        """
        reducer = self._reducer
        if not reducer.iterations or (reducer.iterations >= _FIRST and reducer.iterations % self.every):
            return
        self._data.put(iteration=reducer.iterations)
        marks = reducer.marks
        members = reducer.members if reducer.rebuilt else None
        self._last = _Iteration(reducer.last_unused, reducer.last_reduced, reducer.last_order, members, marks)
        if len(marks) == len(MARKS):  # else that backward pass was not the wrapper's
            self._passes += 1
            for name, (start, end) in _SPANS.items():
                self._sums[name] += max(marks[end] - marks[start], 0)

    def _put_last(self, last: _Iteration) -> None:
        put, members = self._data.put, last.rebuilt
        put(unused_parameter_size=_size_of(last.unused), has_rebuilt_buckets=members is not None,
            num_buckets_reduced=last.reduced)  # fmt: skip
        if last.order:
            put(prev_iteration_grad_ready_order_indices=", ".join(map(str, last.order)))
        if members is not None:
            numbers = [" ".join(str(self._reducer.number_of(p)) for p in bucket) for bucket in members]
            put(rebuilt_bucket_sizes=_sizes(members), rebuilt_per_bucket_param_indices=", ".join(numbers))
        if len(last.marks) == len(MARKS):
            for name, (start, end) in _SPANS.items():
                span = max(last.marks[end] - last.marks[start], 0)
                put(**{name: span, f"avg_{name}": self._sums[name] // self._passes})
            put(**last.marks)


def _size_of(parameters: list[Any]) -> int:
    return sum(p.numel() * p.element_size() for p in parameters)


def _sizes(buckets: list[list[Any]]) -> str:
    return ", ".join(str(_size_of(members)) for members in buckets)
