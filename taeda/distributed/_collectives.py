"""What the processes of a group do together with tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed import _options as options
from taeda.distributed._arguments import (
    Group,
    check_list,
    group_rank,
    on_root,
    one_per_process,
    one_tensor,
    or_default,
    same_dtype,
    settled,
    size_of,
)
from taeda.distributed._coalescing import collected
from taeda.distributed._group import Work
from taeda.distributed._queries import _rank_not_in_group
from taeda.distributed._reduce_op import ReduceOp, checked
from taeda.futures import Future

__all__ = [
    "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_single", "all_reduce",
    "all_reduce_coalesced", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter",
    "reduce_scatter_single", "reduce_scatter_tensor", "scatter",
]  # fmt: skip


def _opts(kind: type, async_op: bool, **fields: Any) -> Any:
    made = kind()
    made.asyncOp = async_op
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _fits(name: str, target: Tensor, source: Tensor) -> None:
    """Raises unless this rank's own part finds its place."""
    if target.requires_grad and target.is_leaf and taeda.is_grad_enabled():
        raise RuntimeError(f"taeda.distributed.{name}: a leaf that requires grad cannot be written; detach() it")
    if target.shape != source.shape or target.dtype != source.dtype:
        raise RuntimeError(
            f"taeda.distributed.{name}: {source.dtype}{list(source.shape)} does not go into "
            f"{target.dtype}{list(target.shape)}"
        )


@taeda._C._overridable
def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False) -> Work | None:
    """Reduces the processes' tensors to one, which replaces each of them.

    Args:
        op: ``AVG`` is for floating-point and complex tensors, ``BAND``, ``BOR`` and ``BXOR`` for the others; complex
            ones have ``SUM`` and ``AVG``.
        async_op: give a `Work` to wait for.

    Raises:
        TypeError, ValueError, RuntimeError: no tensor, no reduction for its dtype, or no such group.
    """
    one_tensor("all_reduce", "tensor", tensor)
    if _rank_not_in_group(group):
        return None
    made = or_default(group)
    checked("all_reduce", op, tensor)
    if collected(made, "all_reduce", tensor, op):
        return None
    return settled(made.allreduce([tensor], _opts(options.AllreduceOptions, async_op, reduceOp=op)), async_op)


@taeda._C._overridable
def all_reduce_coalesced(
    tensors: Any, op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Future[Any] | None:
    """`all_reduce` of each of the tensors, which have one dtype; with ``async_op`` a future of them."""
    many = [tensors] if isinstance(tensors, Tensor) else tensors
    check_list("all_reduce_coalesced", "tensors", many)
    same_dtype("all_reduce_coalesced", many)
    if _rank_not_in_group(group):
        return None
    made = or_default(group)
    for tensor in many:
        checked("all_reduce_coalesced", op, tensor)
    opts = _opts(options.AllreduceCoalescedOptions, async_op, reduceOp=op)
    if len({tensor.dtype for tensor in many}) > 1:
        many = [taeda.view_as_real(tensor) if tensor.is_complex() else tensor for tensor in many]
    work = settled(made.allreduce_coalesced(many, opts), async_op)
    return None if work is None else work.get_future()


@taeda._C._overridable
def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """`all_reduce`, whose result only the process ``dst`` (``group_dst`` in the group) gets."""
    one_tensor("reduce", "tensor", tensor)
    if _rank_not_in_group(group):
        return None
    root = group_rank("reduce", dst, group_dst, group)
    checked("reduce", op, tensor)
    opts = _opts(options.ReduceOptions, async_op, reduceOp=op, rootRank=root)
    return settled(or_default(group).reduce([tensor], opts), async_op)


@taeda._C._overridable
def broadcast(
    tensor: Tensor, src: int | None = None, group: Group = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Copies the tensor of the process ``src`` (``group_src`` in the group) into that of the others."""
    one_tensor("broadcast", "tensor", tensor)
    if _rank_not_in_group(group):
        return None
    root = group_rank("broadcast", src, group_src, group)
    opts = _opts(options.BroadcastOptions, async_op, rootRank=root)
    return settled(or_default(group).broadcast([tensor], opts), async_op)


@taeda._C._overridable
def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Group = None, async_op: bool = False) -> Work | None:
    """Copies each process's tensor into the list at its rank, on all of them; shapes and dtypes agree."""
    check_list("all_gather", "tensor_list", tensor_list)
    one_tensor("all_gather", "tensor", tensor)
    same_dtype("all_gather", [*tensor_list, tensor])
    if _rank_not_in_group(group):
        return None
    one_per_process("all_gather", "tensor_list", tensor_list, group)
    made = or_default(group)
    _fits("all_gather", tensor_list[made.rank()], tensor)
    return settled(made.allgather([tensor_list], [tensor], _opts(options.AllgatherOptions, async_op)), async_op)


@taeda._C._overridable
def all_gather_coalesced(
    output_tensor_lists: list[list[Tensor]], input_tensor_list: list[Tensor], group: Group = None,
    async_op: bool = False,
) -> Future[Any] | None:  # fmt: skip
    """`all_gather` of each of the tensors: there is a list for each process, of its tensors.

    With ``async_op`` a future of these lists.
    """
    name = "all_gather_coalesced"
    check_list(name, "input_tensor_list", input_tensor_list)
    if not isinstance(output_tensor_lists, list):
        raise TypeError(f"taeda.distributed.{name}: output_tensor_lists is wanted as a list of lists")
    for tensors in output_tensor_lists:
        check_list(name, "each of output_tensor_lists", tensors)
    if _rank_not_in_group(group):
        return None
    one_per_process(name, "output_tensor_lists", output_tensor_lists, group)
    if len(output_tensor_lists[0]) != len(input_tensor_list):
        raise RuntimeError(f"taeda.distributed.{name}: each list needs {len(input_tensor_list)} tensors")
    made = or_default(group)
    for target, source in zip(output_tensor_lists[made.rank()], input_tensor_list, strict=True):
        _fits(name, target, source)
    opts = _opts(options.AllgatherOptions, async_op)
    work = settled(made.allgather_coalesced(output_tensor_lists, input_tensor_list, opts), async_op)
    return None if work is None else work.get_future()


@taeda._C._overridable
def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Group = None, async_op: bool = False
) -> Work | None:
    """Joins the processes' tensors along the first dimension in ``output_tensor``, on all of them."""
    one_tensor("all_gather_into_tensor", "output_tensor", output_tensor)
    one_tensor("all_gather_into_tensor", "input_tensor", input_tensor)
    if _rank_not_in_group(group):
        return None
    made = or_default(group)
    if size_of(group) == 1:
        _fits("all_gather_into_tensor", output_tensor, input_tensor)
    if collected(made, "all_gather_into_tensor", output_tensor, input_tensor):
        return None
    opts = _opts(options.AllgatherOptions, async_op)
    return settled(made._allgather_base(output_tensor, input_tensor, opts), async_op)


all_gather_single = _all_gather_base = all_gather_into_tensor


@taeda._C._overridable
def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """`all_gather` for the process ``dst`` alone, 0 by default; the others give no list."""
    one_tensor("gather", "tensor", tensor)
    if gather_list:
        check_list("gather", "gather_list", gather_list)
    if _rank_not_in_group(group):
        return None
    same_dtype("gather", [tensor, *(gather_list or ())])
    root, outputs = on_root("gather", "gather_list", gather_list, dst, group_dst, group)
    if outputs:
        one_per_process("gather", "gather_list", outputs, group)
        _fits("gather", outputs[root], tensor)
    opts = _opts(options.GatherOptions, async_op, rootRank=root)
    return settled(or_default(group).gather([outputs] if outputs else [], [tensor], opts), async_op)


@taeda._C._overridable
def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Copies into each process's tensor its own one of the list of the process ``src``, 0 by default."""
    one_tensor("scatter", "tensor", tensor)
    if scatter_list:
        check_list("scatter", "scatter_list", scatter_list)
    if _rank_not_in_group(group):
        return None
    same_dtype("scatter", [tensor, *(scatter_list or ())])
    root, inputs = on_root("scatter", "scatter_list", scatter_list, src, group_src, group)
    if inputs:
        one_per_process("scatter", "scatter_list", inputs, group)
        _fits("scatter", tensor, inputs[root])
    opts = _opts(options.ScatterOptions, async_op, rootRank=root)
    return settled(or_default(group).scatter([tensor], [inputs] if inputs else [], opts), async_op)


@taeda._C._overridable
def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """Reduces the lists of the processes to one, of which each gets its own tensor in ``output``."""
    one_tensor("reduce_scatter", "output", output)
    check_list("reduce_scatter", "input_list", input_list)
    same_dtype("reduce_scatter", [output, *input_list])
    if _rank_not_in_group(group):
        return None
    one_per_process("reduce_scatter", "input_list", input_list, group)
    checked("reduce_scatter", op, output)
    made = or_default(group)
    _fits("reduce_scatter", output, input_list[made.rank()])
    opts = _opts(options.ReduceScatterOptions, async_op, reduceOp=op)
    return settled(made.reduce_scatter([output], [input_list], opts), async_op)


@taeda._C._overridable
def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """Reduces the processes' ``input`` to one; each gets an equal part of its first dimension in ``output``."""
    one_tensor("reduce_scatter_tensor", "output", output)
    one_tensor("reduce_scatter_tensor", "input", input)
    if _rank_not_in_group(group):
        return None
    made = or_default(group)
    checked("reduce_scatter_tensor", op, output)
    if size_of(group) == 1:
        _fits("reduce_scatter_tensor", output, input)
    if collected(made, "reduce_scatter_tensor", output, input, op):
        return None
    opts = _opts(options.ReduceScatterOptions, async_op, reduceOp=op)
    return settled(made._reduce_scatter_base(output, input, opts), async_op)


reduce_scatter_single = _reduce_scatter_base = reduce_scatter_tensor


@taeda._C._overridable
def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Group = None, async_op: bool = False
) -> Work | None:
    """Each process's ``i``-th input becomes an output of process ``i``; the outputs are in the senders' order."""
    check_list("all_to_all", "output_tensor_list", output_tensor_list)
    check_list("all_to_all", "input_tensor_list", input_tensor_list)
    same_dtype("all_to_all", [*output_tensor_list, *input_tensor_list])
    if _rank_not_in_group(group):
        return None
    one_per_process("all_to_all", "output_tensor_list", output_tensor_list, group)
    one_per_process("all_to_all", "input_tensor_list", input_tensor_list, group)
    made = or_default(group)
    _fits("all_to_all", output_tensor_list[made.rank()], input_tensor_list[made.rank()])
    opts = _opts(options.AllToAllOptions, async_op)
    return settled(made.alltoall(output_tensor_list, input_tensor_list, opts), async_op)


@taeda._C._overridable
def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """`all_to_all` of the parts of one tensor along the first dimension, of equal or the given sizes."""
    one_tensor("all_to_all_single", "output", output)
    one_tensor("all_to_all_single", "input", input)
    same_dtype("all_to_all_single", [output, input])
    if _rank_not_in_group(group):
        return None
    for sizes, tensor in ((output_split_sizes, output), (input_split_sizes, input)):
        if sizes:
            one_per_process("all_to_all_single", "a list of split sizes", sizes, group)
            if sum(sizes) != tensor.size(0):
                raise RuntimeError(
                    f"taeda.distributed.all_to_all_single: split sizes {list(sizes)} do not add up to {tensor.size(0)}"
                )
    if size_of(group) == 1:
        _fits("all_to_all_single", output, input)
    opts = _opts(options.AllToAllOptions, async_op)
    to, of = list(output_split_sizes or ()), list(input_split_sizes or ())
    return settled(or_default(group).alltoall_base(output, input, to, of, opts), async_op)
