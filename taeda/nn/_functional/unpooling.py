"""The inverse of max pooling."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._C import _nn
from taeda.nn._functional.sizes import pair, single, triple


def _unpool_size(input: Tensor, kernel: Any, stride: Any, padding: Any, output_size: Any) -> list[int]:
    """The spatial size to restore; a given one may differ from the computed one by less than a stride."""
    spatial = len(kernel)
    if not len(stride) == len(padding) == spatial == input.dim() - 2 and spatial != input.dim() - 1:
        raise RuntimeError(
            "taeda.nn.functional.max_unpool: kernel_size, stride and padding must have one number for each spatial "
            f"dimension of an input of shape {tuple(input.shape)}; got {tuple(kernel)}, {tuple(stride)} and "
            f"{tuple(padding)}"
        )
    sizes = input.shape[-spatial:]
    computed = [
        (size - 1) * step + width - 2 * pad
        for size, width, step, pad in zip(sizes, kernel, stride, padding, strict=True)
    ]
    if output_size is None:
        return computed
    wanted = list(output_size)
    if len(wanted) == spatial + 2:
        wanted = wanted[2:]
    if len(wanted) != spatial:
        raise ValueError(
            f"taeda.nn.functional.max_unpool{spatial}d: output_size must have {spatial} or {spatial + 2} entries; "
            f"got {list(output_size)}"
        )
    for size, middle, step in zip(wanted, computed, stride, strict=True):
        if not middle - step < size < middle + step:
            raise ValueError(
                f"taeda.nn.functional.max_unpool{spatial}d: output_size {wanted} is more than a stride away from "
                f"{computed}, the size that this pooling gives back"
            )
    return wanted


def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Puts the maxima back where ``indices`` says, zeros elsewhere."""
    kernel = single(kernel_size)
    size = _unpool_size(input, kernel, kernel if stride is None else single(stride), single(padding), output_size)
    plane = _nn.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1])
    return plane.squeeze(-1)


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Puts the maxima back where ``indices`` says, zeros elsewhere."""
    kernel = pair(kernel_size)
    size = _unpool_size(input, kernel, kernel if stride is None else pair(stride), pair(padding), output_size)
    return _nn.max_unpool2d(input, indices, size)


def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Puts the maxima back where ``indices`` says, zeros elsewhere."""
    kernel, pad = triple(kernel_size), triple(padding)
    step = kernel if stride is None else triple(stride)
    size = _unpool_size(input, kernel, step, pad, output_size)
    return _nn.max_unpool3d(input, indices, size, step, pad)
