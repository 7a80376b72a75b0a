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
