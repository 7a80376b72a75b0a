"""Device types as dispatch keys."""

from __future__ import annotations

_ANY_DEVICE = "CompositeExplicitAutograd"
_KEYS = {None: _ANY_DEVICE, "default": _ANY_DEVICE, "cpu": "CPU", "cuda": "CUDA", "meta": "Meta"}


def key_of(device_type: str | None) -> str:
    """The key of a device type's kernels, None for all types; a key stands for itself."""
    return _KEYS.get(device_type) or str(device_type)
