"""Which argument of a function written in Python is no tensor: asked once it has raised."""

from __future__ import annotations

import inspect
from typing import Any

from taeda import _C


def wrong_argument(function: Any, /, *args: Any, **kwargs: Any) -> str | None:
    """Which argument is no tensor where ``function``, written in Python, wants one; None if all are."""
    signature = inspect.signature(function)
    wanted = {name: str(p.annotation) for name, p in signature.parameters.items()}
    for name, value in signature.bind(*args, **kwargs).arguments.items():
        is_tensor = isinstance(value, _C.TensorBase) or (value is None and "None" in wanted[name])
        if wanted[name] in ("Tensor", "Tensor | None") and not is_tensor:
            home = function.__module__.removeprefix("taeda._tensor")
            return f"{home or 'taeda'}.{function.__qualname__}: '{name}' must be a Tensor, got {type(value).__name__}"
    return None
