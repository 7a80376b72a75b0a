"""Switches for how modules give their parameters new values; public as ``taeda.__future__``."""

from __future__ import annotations

_overwrite = False
_swap = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether a conversion (``Module.to``, ``half``) makes new parameters, instead of giving the old ones new data."""
    global _overwrite
    _overwrite = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether a conversion makes new parameters."""
    return _overwrite


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether a conversion, and ``load_state_dict``, exchange a parameter with what becomes of it
    (`utils.swap_tensors`), which keeps the object and works for every class of tensor."""
    global _swap
    _swap = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether a conversion exchanges the parameters."""
    return _swap
