"""Hooks of tensors, which no pickle has."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

_Hook = TypeVar("_Hook", bound=Callable[..., Any])


def unserializable_hook(hook: _Hook) -> _Hook:
    """Marks a hook of which everybody knows that it is not saved: as a decorator."""
    hook.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return hook


def warn_if_has_hooks(tensor: Any) -> None:
    """Warns of each hook of a tensor that a pickle of it will lack, unless it is marked so."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"the tensor is saved without its hook {hook!r}; unserializable_hook marks those that need no warning",
                stacklevel=2,
            )
