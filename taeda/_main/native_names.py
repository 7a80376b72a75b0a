"""Names that programs take from ``torch._C``, whose functions are elsewhere here, or in Python."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from taeda import _C, Tensor, empty
from taeda._main.modes import is_grad_enabled as is_grad_enabled
from taeda._main.modes import is_inference_mode_enabled as is_inference_mode_enabled

_autograd = _C._autograd
_current_autograd_node = _autograd._current_autograd_node
_current_graph_task_id = _autograd._current_graph_task_id
_will_engine_execute_node = _autograd._will_engine_execute_node
_TensorBase = _C.TensorBase
_VariableFunctions = _C._functions
has_cuda = _has_cuda = False
has_lapack, has_openmp, has_spectral, has_mkldnn, has_mkl = True, True, True, True, False


AccumulateGrad = type(_autograd.get_gradient_edge(empty(0, requires_grad=True))[0])  # made when first seen


def _set_grad_enabled(mode: bool) -> None:
    """Whether calls record, from now on: what graphs call for ``set_grad_enabled``."""
    _autograd.set_grad_enabled(mode)


def _get_accelerator(check: bool | None = None) -> Any:
    """The type of device that ``taeda.accelerator`` finds, else the CPU's; RuntimeError for none with ``check``."""
    import taeda

    found = taeda.accelerator.current_accelerator(bool(check))
    if found is None and check:
        raise RuntimeError("taeda._C._get_accelerator: there is no accelerator")
    return taeda.device("cpu") if found is None else found


class _WeakTensorRef:
    """Knows a tensor without keeping it."""

    def __init__(self, tensor: Tensor) -> None:
        self._ref = weakref.ref(tensor)

    def expired(self) -> bool:
        """Whether the tensor is gone."""
        return self._ref() is None


def _infer_size(size: Any, other: Any) -> Any:
    """The shape that two shapes broadcast to."""
    import taeda

    return taeda.broadcast_shapes(size, other)


def _is_alias_of(a: Any, b: Any) -> bool:
    """Whether two tensors share their memory; False for anything else."""
    if a is b or not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        return a is b and isinstance(a, Tensor)
    try:
        return a.untyped_storage()._cdata == b.untyped_storage()._cdata
    except NotImplementedError:  # one has no memory of its own
        return False


def _overlaps(a: Any, b: Any) -> bool:
    """Whether a tensor of the one shares memory with one of the other: tensors, or lists, tuples or dicts of them."""
    return any(_is_alias_of(x, y) for x in _tensors_of(a) for y in _tensors_of(b))


def _tensors_of(value: Any) -> list[Tensor]:
    if isinstance(value, dict):
        value = value.values()
    items = [value] if isinstance(value, Tensor) else list(value) if isinstance(value, Iterable) else []
    return items if all(isinstance(item, Tensor) for item in items) else []


def _set_fwd_grad_enabled(mode: bool) -> None:
    """Whether calls carry tangents on, from now on."""
    from taeda.autograd import forward_ad

    forward_ad._set_fwd_grad_enabled(mode)


def _is_fwd_grad_enabled() -> bool:
    """Whether calls carry tangents."""
    from taeda.autograd import forward_ad

    return forward_ad._is_fwd_grad_enabled()


def _saved_tensors_hooks_is_enabled() -> bool:
    """Whether ``saved_tensors_hooks`` may be entered."""
    return _autograd._saved_tensors_hooks_disabled_message() is None


def _get_deterministic_fill_uninitialized_memory() -> bool:
    """What ``utils.deterministic.fill_uninitialized_memory`` says."""
    from taeda._main import settings

    return settings.fills_uninitialized_memory()


def _set_deterministic_fill_uninitialized_memory(mode: bool) -> None:
    """Sets it."""
    from taeda._main import settings

    settings.fill_uninitialized_memory(mode)


_warns_of_fallbacks = False


def _debug_only_are_vmap_fallback_warnings_enabled() -> bool:
    """What `_debug_only_display_vmap_fallback_warnings` was last told."""
    return _warns_of_fallbacks


def _debug_only_display_vmap_fallback_warnings(enabled: bool) -> None:
    """Whether PyTorch would warn where ``vmap`` runs example by example. Nothing warns here."""
    global _warns_of_fallbacks
    _warns_of_fallbacks = bool(enabled)
