"""``taeda.ops._c10d_functional``: functional collectives as ops, on groups by name; ``c10d_functional`` by ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda import distributed as dist
from taeda.distributed import _functional_calls as collectives
from taeda.distributed._group import world
from taeda.distributed._queries import _resolve_process_group
from taeda.library import Library


def _group(group: Any) -> Any:
    """A group, which may be given by its name."""
    return _resolve_process_group(group) if isinstance(group, str) else group


def _of_ranks(ranks: list[int]) -> Any:
    """The group of these processes: one that is there, or a new one, which all processes make."""
    found = next((group for group, made in world.groups.items() if made.ranks == list(ranks)), None)
    return dist.new_group(ranks) if found is None else found


def _gather(input: Tensor, size: int, group: Any) -> Tensor:
    return collectives.all_gather_tensor(input, 0, group)


def _scatter(input: Tensor, op: str, size: int, group: Any) -> Tensor:
    return collectives.reduce_scatter_tensor(input, op, 0, group)


def _all_to_all(input: Tensor, outputs: Any, inputs: Any, group: Any) -> Tensor:
    return collectives.all_to_all_single(input, outputs or None, inputs or None, group)


def _in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda input, *rest: input.copy_(function(input, *rest))


def _each(function: Callable[..., Tensor]) -> Callable[..., list[Tensor]]:
    return lambda inputs, *rest: [function(one, *rest) for one in inputs]


def _grown(input: Tensor, size: int, *_: Any) -> Tensor:
    return input.new_empty((input.shape[0] * size, *input.shape[1:]))


def _shrunk(input: Tensor, op: str, size: int, *_: Any) -> Tensor:
    return input.new_empty((input.shape[0] // size, *input.shape[1:]))


def _exchanged(input: Tensor, outputs: Any, *_: Any) -> Tensor:
    return input.new_empty((sum(outputs) if outputs else input.shape[0], *input.shape[1:]))


def _alike(input: Tensor, *_: Any) -> Tensor:
    return taeda.empty_like(input)


# Name: what stands before the group, what it does, what its result looks like, and its other forms.
_OPS: dict[str, tuple[str, Callable[..., Tensor], Callable[..., Tensor], str]] = {
    "all_reduce": ("Tensor input, str reduce_op", collectives.all_reduce, _alike, "in place, coalesced"),
    "broadcast": ("Tensor input, int src", collectives.broadcast, _alike, "in place"),
    "all_gather_into_tensor": ("Tensor input, int group_size", _gather, _grown, "coalesced"),
    "reduce_scatter_tensor": ("Tensor input, str reduce_op, int group_size", _scatter, _shrunk, "coalesced"),
    "all_to_all_single": ("Tensor input, SymInt[] output_split_sizes, SymInt[] input_split_sizes", _all_to_all,
                          _exchanged, ""),
}  # fmt: skip
_library, _by_ranks = Library("_c10d_functional", "DEF"), Library("c10d_functional", "DEF")


def _define(schema: str, function: Callable[..., Any], shaped: Callable[..., Any], library: Library = _library) -> None:
    """An op whose last argument is a group or its name."""
    name, key = schema.partition("(")[0], "CompositeExplicitAutograd" if library is _library else "Autograd"
    library.define(schema)
    library.impl(name, lambda *args: function(*args[:-1], _group(args[-1])), key)
    library.impl(name, shaped, "Meta")


def _define_by_ranks(name: str, arguments: str, function: Callable[..., Any]) -> None:
    """The older op, whose last arguments are a tag, the group's ranks and their number."""
    with_size = "int group_size" in arguments
    first = arguments.replace(", int group_size", "").replace("SymInt[]", "SymInt[]?")
    _by_ranks.define(f"{name}({first}, str tag, int[] ranks, int group_size) -> Tensor")

    def kernel(*args: Any) -> Tensor:
        *given, _, ranks, size = args
        return function(*given, *([size] if with_size else []), _of_ranks(ranks))

    _by_ranks.impl(name, kernel, "CompositeExplicitAutograd")


for _name, (_arguments, _function, _shaped, _forms) in _OPS.items():
    _define(f"{_name}({_arguments}, Any group_name) -> Tensor", _function, _shaped)
    _define_by_ranks(_name, _arguments, _function)
    if "in place" in _forms:
        _changed = _arguments.replace("Tensor input", "Tensor(a!) input")
        _define(f"{_name}_({_changed}, Any group_name) -> Tensor(a!)", _in_place(_function), lambda input, *_: input)
    if "coalesced" in _forms:
        _many = _arguments.replace("Tensor input", "Tensor[] inputs")
        _define(f"{_name}_coalesced({_many}, Any group_name) -> Tensor[]", _each(_function), _each(_shaped))
_differentiable = Library("_c10d_functional_autograd", "DEF")
for _name, _function in (
    ("all_gather_into_tensor", lambda x, _, group: collectives.all_gather_tensor_autograd(x, 0, group)),
    ("reduce_scatter_tensor", lambda x, op, _, group: collectives.reduce_scatter_tensor_autograd(x, op, 0, group)),
    ("all_to_all_single", collectives.all_to_all_single_autograd),
):
    _define(f"{_name}({_OPS[_name][0]}, Any group_name) -> Tensor", _function, _OPS[_name][2], _differentiable)
for _made in (_library, _by_ranks):
    _made.define("wait_tensor(Tensor tensor) -> Tensor")
    _made.impl("wait_tensor", lambda tensor: tensor.view_as(tensor), "CompositeExplicitAutograd")
_library.define("_wrap_tensor_autograd(Tensor input) -> Tensor")
_library.impl("_wrap_tensor_autograd", lambda input: input.view_as(input), "CompositeImplicitAutograd")
