"""The kernel that casts a custom op's arguments while autocast is on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import _C
from taeda._library.keys import key_of
from taeda._library.ops import OpOverload


def make_autocast_kernel(op: OpOverload, device_type: str, cast_inputs: taeda.dtype) -> tuple[Callable[..., Any], str]:
    """The op's kernel at the autocast key of a device type, and that key.

    Raises:
        ValueError: ``device_type`` is no device type with autocast, or ``cast_inputs`` is no dtype.
    """
    from taeda.amp.autocast_mode import autocast, cast_tensors, is_autocast_available

    if not isinstance(device_type, str) or not is_autocast_available(device_type):
        raise ValueError(f"taeda.library.register_autocast: there is no autocast on {device_type!r}")
    if not isinstance(cast_inputs, taeda.dtype):
        raise ValueError(f"taeda.library.register_autocast: cast_inputs must be a dtype; got {cast_inputs!r}")
    key = f"Autocast{key_of(device_type)}"
    this_layer = _C.DispatchKeySet(key)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        # Autocast may be on for another device type alone: then the call only goes on.
        enabled = _C.is_autocast_enabled(device_type)
        if enabled:
            args = cast_tensors(args, device_type, cast_inputs)
            kwargs = cast_tensors(kwargs, device_type, cast_inputs)
        with autocast(device_type, enabled=False), _C._ExcludeDispatchKeyGuard(this_layer):
            return op(*args, **kwargs)

    return kernel, key
