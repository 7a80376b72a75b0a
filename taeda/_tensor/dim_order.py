"""In which order the dimensions of a tensor lie in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import taeda

if TYPE_CHECKING:
    from taeda import Tensor


def dim_order(tensor: Tensor, ambiguity_check: Any) -> tuple[int, ...]:
    """See ``Tensor.dim_order``."""
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    if not isinstance(ambiguity_check, (bool, list)) or not all(isinstance(f, taeda.memory_format) for f in formats):
        raise TypeError(
            "taeda.Tensor.dim_order: ambiguity_check must be a bool or a list of memory formats; got "
            f"{ambiguity_check!r}"
        )
    sizes, strides = tuple(tensor.shape), tensor.stride()
    if ambiguity_check is not False and (1 in sizes or len(set(strides)) < len(strides)):
        found = [f for f in formats if tensor.is_contiguous(memory_format=f)]
        if len(found) != 1:
            raise _ambiguous(f"shape {sizes} with strides {strides} fits {len(found)} of the formats {formats}")
    if ambiguity_check and (0 in strides or _is_both(tensor)):
        raise _ambiguous(f"shape {sizes} with strides {strides} has several")
    return _sorted(sizes, strides)


def _ambiguous(why: str) -> RuntimeError:
    return RuntimeError(f"taeda.Tensor.dim_order: there is no single order of the dimensions: {why}")


def _is_both(tensor: Tensor) -> bool:
    """Whether channels may as well be first as last."""
    last = {4: taeda.channels_last, 5: taeda.channels_last_3d}.get(tensor.dim())
    return last is not None and tensor.is_contiguous() and tensor.is_contiguous(memory_format=last)


def _sorted(sizes: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """Dimensions by falling stride. One of stride 0 stays where it is; of equal strides the larger size is outside."""
    inside_out: list[int] = []
    for d in reversed(range(len(sizes))):
        inside_out.append(d)
        at = len(inside_out) - 1
        for i in reversed(range(at)):
            other = inside_out[i]
            if 0 in (strides[d], strides[other]):
                continue
            if (strides[other], sizes[other]) > (strides[d], sizes[d]):
                inside_out[i], inside_out[at], at = d, other, i
            elif strides[other] < strides[d]:
                break
    return tuple(reversed(inside_out))
