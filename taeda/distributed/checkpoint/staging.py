"""Copies that are written while the program goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import taeda
from taeda import Tensor
from taeda.distributed.tensor import DTensor

__all__ = ["AsyncStager", "BlockingAsyncStager", "DefaultStager", "StagingOptions"]


@runtime_checkable
class AsyncStager(Protocol):
    """Copies a state, of which the copy is written."""

    _synchronize_after_execute: bool = True

    @property
    def should_synchronize_after_execute(self) -> bool:
        """Whether `synchronize_staging` is to be called before the program goes on."""
        return self._synchronize_after_execute

    def stage(self, state_dict: dict[str, Any]) -> Any:
        """The copy."""
        ...

    def synchronize_staging(self) -> None:
        """Waits until the state may change."""
        return None

    def close(self) -> None:
        """Gives memory back."""
        return None


def copied(value: Any, old: Any = None) -> Any:
    """A state whose tensors are copies, in the memory of ``old`` where that fits."""
    if isinstance(value, DTensor):
        before = old._local_tensor if isinstance(old, DTensor) else None
        return DTensor(copied(value.to_local(), before), value._spec, requires_grad=False)
    if isinstance(value, Tensor):
        if isinstance(old, Tensor) and old.shape == value.shape and old.dtype == value.dtype:
            with taeda.no_grad():
                return old.copy_(value)
        return value.detach().cpu().clone()
    if isinstance(value, dict):
        known = old if isinstance(old, dict) else {}
        return {key: copied(one, known.get(key)) for key, one in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(copied(one) for one in value)
    return value


class BlockingAsyncStager(AsyncStager):
    """Copies at once.

    Args:
        cache_staged_state_dict: keep the copy's memory for the next.
    """

    _synchronize_after_execute = False

    def __init__(self, cache_staged_state_dict: bool = False, type_check: bool = False) -> None:
        self.cache_staged_state_dict = cache_staged_state_dict
        self.state_dict_cache: dict[str, Any] | None = None

    def stage(self, state_dict: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = copied(state_dict, self.state_dict_cache)
        self.state_dict_cache = made if self.cache_staged_state_dict else None
        return made


@dataclass
class StagingOptions:
    """Accepted: copies are in memory, and made at once."""

    use_pinned_memory: bool = True
    use_shared_memory: bool = True
    use_async_staging: bool = True
    use_non_blocking_copy: bool = True


class DefaultStager(BlockingAsyncStager):
    """`BlockingAsyncStager`, with options."""

    def __init__(self, config: StagingOptions | None = None) -> None:
        super().__init__(cache_staged_state_dict=True)
        self._config = config or StagingOptions()

    def stage(self, state_dict: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return super().stage(state_dict)

    def close(self) -> None:
        self.state_dict_cache = None
