"""Tools around the tensor library: data loading, checkpointing, hooks. Each part loads when first named."""

from __future__ import annotations

from typing import Any

_PARTS = (
    "_pytree",
    "backend_registration",
    "benchmark",
    "checkpoint",
    "data",
    "dlpack",
    "flop_counter",
    "hooks",
    "model_zoo",
    "module_tracker",
    "tensorboard",
)
_FUNCTIONS = {
    "generate_methods_for_privateuse1_backend": "backend_registration",
    "rename_privateuse1_backend": "backend_registration",
}


def set_module(obj: Any, mod: str) -> None:
    """Say that ``obj`` belongs to the module ``mod``, which is where it is found."""
    if not isinstance(mod, str):
        raise TypeError(f"taeda.utils.set_module: mod must be a str; got {type(mod).__name__}")
    obj.__module__ = mod


def __getattr__(name: str) -> Any:
    if name in _PARTS or name in _FUNCTIONS:
        import importlib

        part = importlib.import_module(f".{_FUNCTIONS.get(name, name)}", __name__)
        return getattr(part, name) if name in _FUNCTIONS else part
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PARTS, *_FUNCTIONS})
