"""What PyTorch keeps in ``torch._utils``, and files and programs look for there."""

from __future__ import annotations

from typing import Any

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
