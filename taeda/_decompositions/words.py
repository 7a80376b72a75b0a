"""The words of bodies (``taedagen/opdef/words.py``) over tensors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import taeda


def check(condition: bool, message: str, kind: type[Exception] = RuntimeError) -> None:
    if not condition:
        raise kind(message)


def wrap_dim(dim: int, rank: int) -> int:
    least = max(rank, 1)
    if not -least <= dim < least:
        raise IndexError(f"dimension {dim} is out of range for {rank} dimensions")
    return dim + least if dim < 0 else dim


def infer_size(sizes: Sequence[int], numel: int) -> list[int]:
    rest = math.prod(size for size in sizes if size != -1)
    inferred = [numel // rest if size == -1 and rest else size for size in sizes]
    check(math.prod(inferred) == numel, f"shape {tuple(sizes)} does not hold {numel} elements")
    return inferred


def compute_dtype(dtype: taeda.dtype) -> taeda.dtype:
    return taeda.float32 if dtype.is_floating_point and dtype.itemsize < 4 else dtype


def is_differentiable(dtype: taeda.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def is_integral(dtype: taeda.dtype) -> bool:
    return not is_differentiable(dtype) and dtype != taeda.bool


def natural_dtype(number: complex) -> taeda.dtype:
    return taeda.tensor(number).dtype


def is_whole(number: complex) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def suggested_format(tensor: taeda.Tensor) -> taeda.memory_format:
    for rank, memory_format in ((4, taeda.channels_last), (5, taeda.channels_last_3d)):
        if tensor.dim() == rank and tensor.is_contiguous(memory_format=memory_format) and not tensor.is_contiguous():
            return memory_format
    return taeda.contiguous_format


def may_record(*tensors: taeda.Tensor | None) -> bool:
    return taeda.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


def has_values(tensor: taeda.Tensor) -> bool:
    return not tensor.is_meta and type(tensor) in (taeda.Tensor, taeda.nn.Parameter)


def copy_for(tensor: taeda.Tensor, others: Sequence[taeda.Tensor | None], memory_format: Any = None) -> taeda.Tensor:
    return tensor.clone(memory_format=memory_format or taeda.contiguous_format)


@contextmanager
def unrecorded() -> Iterator[None]:
    with taeda.no_grad():
        yield


def alert_open_result(why: str) -> None:
    """Refuses, or warns, where deterministic algorithms are asked for."""
    mode = taeda.get_deterministic_debug_mode()
    check(mode != 2, why)
    if mode == 1:
        warnings.warn(why, stacklevel=4)


WORDS: dict[str, Any] = {
    "check": check,
    "warn": lambda message: warnings.warn(message, stacklevel=3),
    "alert_open_result": alert_open_result,
    "wrap_dim": wrap_dim,
    "broadcast_shapes": lambda a, b: list(taeda.broadcast_shapes(tuple(a), tuple(b))),
    "infer_size": infer_size,
    "promote_types": lambda a, b: taeda.promote_types(a, b),
    "result_type": lambda a, b: taeda.result_type(a, b),
    "compute_dtype": compute_dtype,
    "default_dtype": lambda: taeda.get_default_dtype(),
    "is_differentiable": is_differentiable,
    "is_integral": is_integral,
    "natural_dtype": natural_dtype,
    "is_whole": is_whole,
    "suggested_format": suggested_format,
    "may_record": may_record,
    "needs_autograd": lambda tensor: tensor.requires_grad,
    "has_values": has_values,
    "unwritten": lambda tensor: tensor,
    "written": lambda tensor: None,
    "copy_for": copy_for,
    "no_grad": lambda: taeda.no_grad(),
    "unrecorded": unrecorded,
}
NAMES: dict[str, Any] = {}
