"""How `save` and `load` were called at first: with the storage as the second argument."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])


def as_called_first(storage: str) -> Callable[[_F], _F]:
    """A decorator that takes a second argument for the one named, and warns."""

    def wrap(function: _F) -> _F:
        @functools.wraps(function)
        def call(state_dict: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
            if len(args) == 1 and storage not in kwargs:
                warnings.warn(
                    f"taeda.distributed.checkpoint.{function.__name__}: write {storage}=... for the second argument",
                    stacklevel=2,
                )
                return function(state_dict, **{**kwargs, storage: args[0]})
            return function(state_dict, *args, **kwargs)

        return call  # type: ignore[return-value]

    return wrap
