"""Making a module without drawing its weights."""

from __future__ import annotations

from typing import Any

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """``module_cls(*args, **kwargs)`` with undefined parameters: for those about to be loaded.

    Raises:
        RuntimeError: the class is no `Module`, or its constructor takes no ``device``.
    """
    import inspect

    from taeda.nn.modules.module import Module

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"taeda.nn.utils.skip_init: expected a Module class; got {module_cls}")
    signature = inspect.signature(module_cls).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.values())
    if "device" not in signature and not takes_any:
        raise RuntimeError(f"taeda.nn.utils.skip_init: {module_cls.__name__} takes no device")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)
