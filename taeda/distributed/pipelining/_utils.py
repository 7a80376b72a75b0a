"""What the parts of a pipeline share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from taeda import Tensor
from taeda.utils import _pytree as pytree


class PipeliningMetadataError(RuntimeError):
    """A stage was given, or gave, tensors of other shapes or dtypes than it said."""


PipeliningShapeError = PipeliningMetadataError


@dataclass
class PipeInfo:
    """What a stage needs to know of the whole pipeline."""

    graph: Any
    num_stages: int
    has_loss_and_backward: bool
    values: Any = None  # which stage makes each value, and which use it


def flatten_args(args: Any, *, detach: bool = False) -> list[Any]:
    """The leaves of arguments, optionally cut off from their graph."""
    leaves = pytree.tree_flatten(args)[0]
    return [_cut(one) if detach and isinstance(one, Tensor) else one for one in leaves]


def flatten_args_detach(args: Any) -> tuple[Any, list[Any]]:
    """The arguments with tensors that are leaves of the graph, and those flat."""
    cut = pytree.tree_map(lambda one: _cut(one) if isinstance(one, Tensor) else one, args)
    return cut, flatten_args(cut)


def _cut(tensor: Tensor) -> Tensor:
    return tensor.detach().requires_grad_(tensor.requires_grad)


def map_debug_info(value: Any) -> str:
    """The shapes and dtypes in a structure, for messages."""

    def told(one: Any) -> Any:
        return f"Tensor({tuple(one.shape)}, {one.dtype})" if isinstance(one, Tensor) else one

    return str(pytree.tree_map(told, value))


def generate_stage_to_rank_mapping(pp_size: int, num_stages: int, style: str = "loop") -> dict[int, int]:
    """Which rank holds each stage: in turn (``"loop"``), or there and back (``"v"``).

    Raises:
        ValueError: ranks do not hold equally many stages, or ``style`` is neither.
    """
    if num_stages % pp_size or (style == "v" and num_stages != pp_size * 2):
        raise ValueError(
            f"taeda.distributed.pipelining: {num_stages} stages on {pp_size} ranks; every rank is to hold "
            f"{'two' if style == 'v' else 'equally many'}"
        )
    if style == "loop":
        return {stage: stage % pp_size for stage in range(num_stages)}
    if style == "v":
        return {stage: stage if stage < pp_size else num_stages - 1 - stage for stage in range(num_stages)}
    raise ValueError(f"taeda.distributed.pipelining: style is {style!r}; 'loop' and 'v' are known")


def generate_rank_to_stage_mapping(pp_size: int, num_stages: int, style: str = "loop") -> dict[int, list[int]]:
    """The stages of each rank."""
    held = generate_stage_to_rank_mapping(pp_size, num_stages, style)
    return {rank: [stage for stage in range(num_stages) if held[stage] == rank] for rank in range(pp_size)}


DwBuilder = Callable[[], Callable[..., None]]
