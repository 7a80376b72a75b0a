"""Kernels that work on shapes alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_depth = 0


class FakeImplCtx:
    """What ``get_ctx()`` gives to a fake kernel."""

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> Any:
        """Stands for a size that depends on data. Tensors without memory have no data, so there is none to give."""
        raise RuntimeError("taeda.library.get_ctx: a size that depends on data is not known for tensors without memory")

    create_unbacked_symint = new_dynamic_size


def get_ctx() -> FakeImplCtx:
    """The context of the fake kernel that is running.

    Raises:
        RuntimeError: no fake kernel is running.
    """
    if not _depth:
        raise RuntimeError("taeda.library.get_ctx: may only be called in a function registered with register_fake")
    return FakeImplCtx()


def as_meta_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as the kernel of the meta device, with ``get_ctx()`` at work inside."""

    @functools.wraps(function)
    def kernel(*args: Any, **kwargs: Any) -> Any:
        global _depth
        _depth += 1
        try:
            return function(*args, **kwargs)
        finally:
            _depth -= 1

    return kernel
