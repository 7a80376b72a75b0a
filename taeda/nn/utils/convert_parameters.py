"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

import taeda
from taeda import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def _check_device(device: object, param: Tensor) -> object:
    if device is not None and param.device != device:
        raise TypeError(f"taeda.nn.utils: all parameters must be on one device; got {device} and {param.device}")
    return param.device


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters in a row; TypeError unless all are on one device."""
    device: object = None
    flat = []
    for param in parameters:
        device = _check_device(device, param)
        flat.append(param.reshape(-1))
    return taeda.cat(flat)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Gives each parameter its part of ``vec`` as data, in order; they then share the vector's memory."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"taeda.nn.utils.vector_to_parameters: vec must be a Tensor; got {type(vec).__name__}")
    device: object = None
    start = 0
    for param in parameters:
        device = _check_device(device, param)
        stop = start + param.numel()
        param.data = vec[start:stop].view_as(param).data
        start = stop
