"""What wrappers of modules that follow PyTorch's are built of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed import all_gather_object, get_world_size
from taeda.distributed._replicas import broadcast_coalesced
from taeda.utils._pytree import tree_map_only

__all__ = [
    "_apply_to_tensors", "_p_assert", "_sync_params_and_buffers", "_to_kwargs", "_verify_param_shape_across_processes",
]  # fmt: skip


def _apply_to_tensors(fn: Callable[[Tensor], Any], container: Any) -> Any:
    """``container`` with each tensor replaced by what ``fn`` makes of it."""
    return tree_map_only(Tensor, fn, container)


def _p_assert(cond: Any, s: str, raise_assertion_error: bool = True) -> None:
    """AssertionError with the text ``s``, which is printed, too, unless ``cond``."""
    if not cond:
        print(s)
        if raise_assertion_error:
            raise AssertionError(s)


def _sync_params_and_buffers(
    process_group: Any, module_states: list[Tensor], broadcast_bucket_size: int, src: int
) -> None:
    """The tensors become those of the group's process ``src``."""
    if module_states:
        broadcast_coalesced(process_group, module_states, src, broadcast_bucket_size)


def _verify_param_shape_across_processes(process_group: Any, tensors: list[Tensor], logger: Any = None) -> None:
    """RuntimeError where processes have tensors of other shapes."""
    shapes = [tuple(tensor.shape) for tensor in tensors]
    gathered: list[Any] = [None] * get_world_size(process_group)
    all_gather_object(gathered, shapes, process_group)
    for rank, other in enumerate(gathered):
        if other != gathered[0]:
            raise RuntimeError(
                f"taeda.distributed: parameters of rank {rank} have the shapes {other}, those of rank 0 {gathered[0]}"
            )


def _to_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_device: Any, use_side_stream_for_tensor_copies: bool
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """The arguments with their tensors on ``target_device``, one set of them."""
    there = taeda.device(target_device)
    moved = lambda tensor: tensor.to(there)
    return (_apply_to_tensors(moved, inputs),), (_apply_to_tensors(moved, kwargs or {}),)
