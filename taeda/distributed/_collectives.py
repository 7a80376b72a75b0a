"""What the processes of a group do together with tensors. The arguments are checked for groups of any size; the
results are those of one process, which has nobody to wait for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NoReturn

from taeda import Tensor
from taeda.distributed._group import ProcessGroup, Work
from taeda.distributed._reduce_op import ReduceOp, checked
from taeda.distributed._world import _made, _rank_not_in_group, get_group_rank, get_rank

__all__ = [
    "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_single", "all_reduce",
    "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "broadcast", "gather", "irecv", "isend",
    "monitored_barrier", "recv", "reduce", "reduce_scatter", "reduce_scatter_single", "reduce_scatter_tensor",
    "scatter", "send",
]  # fmt: skip

Group = ProcessGroup | None


def _done(written: list[Any], async_op: bool) -> Work | None:
    return Work(written) if async_op else None


def _tensor(name: str, what: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"taeda.distributed.{name}: {what} is wanted as a Tensor; got {type(value).__name__}")


def _tensors(name: str, what: str, values: Any) -> None:
    if not isinstance(values, list) or not all(isinstance(value, Tensor) for value in values):
        raise TypeError(f"taeda.distributed.{name}: {what} is wanted as a list of Tensors; got {values!r:.200}")


def _same_dtype(name: str, tensors: Sequence[Tensor]) -> None:
    if len({tensor.dtype for tensor in tensors}) > 1:
        raise ValueError(f"taeda.distributed.{name}: dtypes differ: {[str(tensor.dtype) for tensor in tensors]}")


def _size(group: Group) -> int:
    return len(_made(group).ranks)


def one_per_process(name: str, what: str, values: Sequence[Any], group: Group) -> None:
    """Raises unless there is one value for each process."""
    if len(values) != _size(group):
        raise RuntimeError(
            f"taeda.distributed.{name}: {what} is wanted with one entry per process, {_size(group)}; got {len(values)}"
        )


def group_rank(name: str, global_rank: Any, rank: Any, group: Group, default: int | None = None) -> int:
    """The number in ``group`` of a process that is given by its global number or by that in the group.

    Raises:
        ValueError: both are given; or none, and there is no default.
        TypeError: it is no number.
        RuntimeError: there is no such process.
    """
    if global_rank is not None and rank is not None:
        raise ValueError(f"taeda.distributed.{name}: a global rank and one in the group are given; only one can be")
    if global_rank is None and rank is None:
        if default is None:
            raise ValueError(f"taeda.distributed.{name}: src or dst is needed")
        rank = default
    wanted = global_rank if rank is None else rank
    if not isinstance(wanted, int):
        raise TypeError(f"taeda.distributed.{name}: a rank is wanted as an int; got {wanted!r}")
    if rank is None and group is not None:
        wanted = get_group_rank(group, wanted)
    if not 0 <= wanted < _size(group):
        raise RuntimeError(f"taeda.distributed.{name}: there is no rank {wanted} in a group of {_size(group)}")
    return wanted


def _copy(name: str, target: Tensor, source: Tensor) -> None:
    if target.shape != source.shape or target.dtype != source.dtype:
        raise RuntimeError(
            f"taeda.distributed.{name}: {source.dtype}{list(source.shape)} does not go into "
            f"{target.dtype}{list(target.shape)}"
        )
    target.copy_(source.detach())


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False) -> Work | None:
    """Reduces the processes' tensors to one, which replaces each of them.

    Args:
        op: ``AVG`` is for floating-point and complex tensors, ``BAND``, ``BOR`` and ``BXOR`` for the others; complex
            ones have ``SUM`` and ``AVG``.
        async_op: give a `Work` to wait for.

    Raises:
        TypeError, ValueError, RuntimeError: no tensor, no reduction for its dtype, or no such group.
    """
    _tensor("all_reduce", "tensor", tensor)
    if _rank_not_in_group(group):
        return None
    _made(group)
    checked("all_reduce", op, tensor)
    return _done([tensor], async_op)


def all_reduce_coalesced(
    tensors: Any, op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """`all_reduce` of each of the tensors, which have one dtype."""
    many = [tensors] if isinstance(tensors, Tensor) else tensors
    _tensors("all_reduce_coalesced", "tensors", many)
    _same_dtype("all_reduce_coalesced", many)
    if _rank_not_in_group(group):
        return None
    _made(group)
    for tensor in many:
        checked("all_reduce_coalesced", op, tensor)
    return _done(many, async_op)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """`all_reduce`, whose result only the process ``dst`` (``group_dst`` in the group) gets."""
    _tensor("reduce", "tensor", tensor)
    if _rank_not_in_group(group):
        return None
    group_rank("reduce", dst, group_dst, group)
    checked("reduce", op, tensor)
    return _done([tensor], async_op)


def broadcast(
    tensor: Tensor, src: int | None = None, group: Group = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Copies the tensor of the process ``src`` (``group_src`` in the group) into that of the others."""
    _tensor("broadcast", "tensor", tensor)
    if _rank_not_in_group(group):
        return None
    group_rank("broadcast", src, group_src, group)
    return _done([tensor], async_op)


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Group = None, async_op: bool = False) -> Work | None:
    """Copies each process's tensor into the list at its rank, on all of them; shapes and dtypes agree."""
    _tensors("all_gather", "tensor_list", tensor_list)
    _tensor("all_gather", "tensor", tensor)
    _same_dtype("all_gather", [*tensor_list, tensor])
    if _rank_not_in_group(group):
        return None
    one_per_process("all_gather", "tensor_list", tensor_list, group)
    _copy("all_gather", tensor_list[0], tensor)
    return _done([tensor_list], async_op)


def all_gather_coalesced(
    output_tensor_lists: list[list[Tensor]], input_tensor_list: list[Tensor], group: Group = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """`all_gather` of each of the tensors: there is a list for each process, of its tensors."""
    name = "all_gather_coalesced"
    _tensors(name, "input_tensor_list", input_tensor_list)
    if not isinstance(output_tensor_lists, list):
        raise TypeError(f"taeda.distributed.{name}: output_tensor_lists is wanted as a list of lists")
    for tensors in output_tensor_lists:
        _tensors(name, "each of output_tensor_lists", tensors)
    if _rank_not_in_group(group):
        return None
    one_per_process(name, "output_tensor_lists", output_tensor_lists, group)
    if len(output_tensor_lists[0]) != len(input_tensor_list):
        raise RuntimeError(f"taeda.distributed.{name}: each list needs {len(input_tensor_list)} tensors")
    for target, source in zip(output_tensor_lists[0], input_tensor_list, strict=True):
        _copy(name, target, source)
    return _done(output_tensor_lists, async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Group = None, async_op: bool = False
) -> Work | None:
    """Joins the processes' tensors along the first dimension in ``output_tensor``, on all of them."""
    _tensor("all_gather_into_tensor", "output_tensor", output_tensor)
    _tensor("all_gather_into_tensor", "input_tensor", input_tensor)
    if _rank_not_in_group(group):
        return None
    _made(group)
    _copy("all_gather_into_tensor", output_tensor, input_tensor)
    return _done([output_tensor], async_op)


all_gather_single = _all_gather_base = all_gather_into_tensor


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """`all_gather` for the process ``dst`` alone, 0 by default; the others give no list."""
    _tensor("gather", "tensor", tensor)
    if gather_list:
        _tensors("gather", "gather_list", gather_list)
    if _rank_not_in_group(group):
        return None
    _same_dtype("gather", [tensor, *(gather_list or ())])
    outputs = on_root("gather", "gather_list", gather_list, dst, group_dst, group)
    one_per_process("gather", "gather_list", outputs, group)
    _copy("gather", outputs[0], tensor)
    return _done([outputs], async_op)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Copies into each process's tensor its own one of the list of the process ``src``, 0 by default."""
    _tensor("scatter", "tensor", tensor)
    if scatter_list:
        _tensors("scatter", "scatter_list", scatter_list)
    if _rank_not_in_group(group):
        return None
    _same_dtype("scatter", [tensor, *(scatter_list or ())])
    inputs = on_root("scatter", "scatter_list", scatter_list, src, group_src, group)
    one_per_process("scatter", "scatter_list", inputs, group)
    _copy("scatter", tensor, inputs[0])
    return _done([tensor], async_op)


def on_root(name: str, what: str, given: Any, root: int | None, root_in_group: int | None, group: Group) -> Any:
    """The list that the one process ``root`` has to give, and no other may."""
    if given and (root or root_in_group):
        raise ValueError(f"taeda.distributed.{name}: {what} is for rank {root or root_in_group} alone to give")
    group_rank(name, root, root_in_group, group, default=0)
    if not given:
        raise ValueError(f"taeda.distributed.{name}: this process has to give {what}")
    return given


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """Reduces the lists of the processes to one, of which each gets its own tensor in ``output``."""
    _tensor("reduce_scatter", "output", output)
    _tensors("reduce_scatter", "input_list", input_list)
    _same_dtype("reduce_scatter", [output, *input_list])
    if _rank_not_in_group(group):
        return None
    one_per_process("reduce_scatter", "input_list", input_list, group)
    checked("reduce_scatter", op, output)
    _copy("reduce_scatter", output, input_list[0])
    return _done([output], async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """Reduces the processes' ``input`` to one; each gets an equal part of its first dimension in ``output``."""
    _tensor("reduce_scatter_tensor", "output", output)
    _tensor("reduce_scatter_tensor", "input", input)
    if _rank_not_in_group(group):
        return None
    _made(group)
    checked("reduce_scatter_tensor", op, output)
    _copy("reduce_scatter_tensor", output, input)
    return _done([output], async_op)


reduce_scatter_single = _reduce_scatter_base = reduce_scatter_tensor


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Group = None, async_op: bool = False
) -> Work | None:
    """Each process's ``i``-th input becomes an output of process ``i``; the outputs are in the senders' order."""
    _tensors("all_to_all", "output_tensor_list", output_tensor_list)
    _tensors("all_to_all", "input_tensor_list", input_tensor_list)
    _same_dtype("all_to_all", [*output_tensor_list, *input_tensor_list])
    if _rank_not_in_group(group):
        return None
    one_per_process("all_to_all", "output_tensor_list", output_tensor_list, group)
    one_per_process("all_to_all", "input_tensor_list", input_tensor_list, group)
    _copy("all_to_all", output_tensor_list[0], input_tensor_list[0])
    return _done(output_tensor_list, async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """`all_to_all` of the parts of one tensor along the first dimension, of equal or the given sizes."""
    _tensor("all_to_all_single", "output", output)
    _tensor("all_to_all_single", "input", input)
    _same_dtype("all_to_all_single", [output, input])
    if _rank_not_in_group(group):
        return None
    for sizes, tensor in ((output_split_sizes, output), (input_split_sizes, input)):
        if sizes:
            one_per_process("all_to_all_single", "a list of split sizes", sizes, group)
            if sum(sizes) != tensor.size(0):
                raise RuntimeError(
                    f"taeda.distributed.all_to_all_single: split sizes {list(sizes)} do not add up to {tensor.size(0)}"
                )
    _copy("all_to_all_single", output, input)
    return _done([output], async_op)


def barrier(
    group: Group = None, async_op: bool = False, device_ids: Any = None, timeout: timedelta | None = None
) -> Work | None:
    """Waits until all processes of the group are here."""
    if _rank_not_in_group(group):
        return None
    _made(group)
    return _done([], async_op)


def monitored_barrier(group: Group = None, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
    """`barrier` that would say which process did not come."""
    barrier(group)


def _nobody(name: str, tensor: Any, peer: Any, peer_in_group: Any, group: Group) -> NoReturn:
    _tensor(name, "tensor", tensor)
    rank = group_rank(name, peer, peer_in_group, group, default=None)
    raise ValueError(f"taeda.distributed.{name}: rank {rank} is this process itself, rank {get_rank(group)}")


def send(
    tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0, group_dst: int | None = None
) -> None:
    """Sends a tensor to another process, of which a group of one has none.

    Raises:
        ValueError: it is this one.
    """
    _nobody("send", tensor, dst, group_dst, group)


def isend(
    tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0, group_dst: int | None = None
) -> Work | None:
    """`send` that gives a `Work`."""
    _nobody("isend", tensor, dst, group_dst, group)


def recv(
    tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0, group_src: int | None = None
) -> int:
    """Receives a tensor of another process, of which a group of one has none.

    Raises:
        ValueError: it is this one.
    """
    _nobody("recv", tensor, src, group_src, group)


def irecv(
    tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0, group_src: int | None = None
) -> Work | None:
    """`recv` that gives a `Work`."""
    _nobody("irecv", tensor, src, group_src, group)
