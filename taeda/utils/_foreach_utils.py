"""Lists of tensors sorted into those that one for-each call may take together."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

Lists = list[list[Tensor | None]]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Lists, with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[Lists, list[int]]]:
    """By device and dtype of the first list's tensors: the entries of every list, and where they stood if asked."""
    groups: dict[tuple[Any, Any], tuple[Lists, list[int]]] = {}
    for i, first in enumerate(tensorlistlist[0]):
        if first is None:
            raise RuntimeError("taeda: the first list of tensors, which decides the groups, must not hold None")
        lists, indices = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for found, given in zip(lists, tensorlistlist, strict=True):
            if given:  # an empty list stays empty
                found.append(given[i])
        if with_indices:
            indices.append(i)
    return groups


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The accelerators whose for-each functions are fused: none."""
    return []


def _get_fused_kernels_supported_devices() -> list[str]:
    """The devices with fused optimisers."""
    return ["cpu"]


def _device_has_foreach_support(device: Any) -> bool:
    """Whether for-each functions run there; everywhere."""
    return True


def _has_foreach_support(tensors: list[Tensor], device: Any) -> bool:
    """Whether for-each functions take these tensors."""
    return all(tensor is None or type(tensor) is Tensor for tensor in tensors)
