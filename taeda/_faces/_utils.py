"""What PyTorch keeps in ``torch._utils``, and files and programs look for there."""

from __future__ import annotations

from typing import Any

import taeda
from taeda._main.flat_tensors import _flatten_dense_tensors as _flatten_dense_tensors
from taeda._main.flat_tensors import _reorder_tensors_as as _reorder_tensors_as
from taeda._main.flat_tensors import _take_tensors as _take_tensors
from taeda._main.flat_tensors import _unflatten_dense_tensors as _unflatten_dense_tensors

# By these names plain pickles of before knew them.
from taeda._serialization.plain_pickle import rebuild_tensor as rebuild_tensor
from taeda._serialization.plain_pickle import rebuild_with_state as rebuild_with_state
from taeda._serialization.rebuild import REBUILDERS
from taeda.compiler import is_compiling as is_compiling
from taeda.utils.data._utils.exception_wrapper import ExceptionWrapper as ExceptionWrapper

globals().update({name: rebuild for (module, name), rebuild in REBUILDERS.items() if module == "torch._utils"})


def _element_size(dtype: Any) -> int:
    """How many bytes an element takes."""
    size: int = dtype.itemsize
    return size


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """A device's number: of an int, a device or its name.

    Args:
        device: an int is given back.
        optional: None for a device without a number, instead of an error.
        allow_cpu: -1 for the CPU, instead of an error.

    Raises:
        ValueError: the device has no number.
    """
    if isinstance(device, int):
        return device
    where = taeda.device(device) if isinstance(device, str | taeda.device) else None
    if where is not None and where.type == "cpu":
        if allow_cpu:
            return -1
        raise ValueError(f"taeda._utils._get_device_index: the CPU has no number; got {device!r}")
    index: int | None = None if where is None else where.index
    if index is None and not optional:
        raise ValueError(
            f"taeda._utils._get_device_index: a device with its number, as cuda:0, or the number; got {device!r}"
        )
    return index


def _set_obj_state(obj: Any, state: Any) -> Any:
    """Gives an object its attributes: a dict, or a tuple of the dict and one of what lies in slots.

    Raises:
        RuntimeError: the state is something else.
    """
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if not isinstance(attributes, dict | None) or not isinstance(slots, dict | None):
        raise RuntimeError(f"taeda._utils._set_obj_state: a state is a dict or a tuple of two; got {type(state)}")
    if attributes:
        obj.__dict__.update(attributes)
    for name, value in (slots or {}).items():
        setattr(obj, name, value)
    return obj


def _get_available_device_type() -> str | None:
    """The type of the accelerator, if there is one."""
    accelerator = taeda.accelerator.current_accelerator(check_available=True)
    return None if accelerator is None else accelerator.type


def _get_device_module(device_type: str) -> Any:
    """taeda.cuda and its kin.

    Raises:
        RuntimeError: there is no such module.
    """
    module = getattr(taeda, device_type, None)
    if module is None:
        raise RuntimeError(f"taeda._utils._get_device_module: no module for the device {device_type!r}")
    return module


def _get_all_device_indices() -> list[int] | None:
    """The numbers of the accelerators, if there are any."""
    kind = _get_available_device_type()
    return None if kind is None else list(range(_get_device_module(kind).device_count()))


def _import_dotted_name(name: str) -> Any:
    """What a name with dots stands for, whose first part is a module."""
    first, *rest = name.split(".")
    found = __import__(first)
    for part in rest:
        found = getattr(found, part)
    return found


class classproperty:
    """A property of the class."""

    def __init__(self, func: Any) -> None:
        self.func = func

    def __get__(self, instance: Any, owner: type) -> Any:
        return self.func(owner)
