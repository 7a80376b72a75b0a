"""Tools around the tensor library: data loading, checkpointing, hooks. Each part loads when first named."""

from __future__ import annotations

from typing import Any

_PARTS = ("backend_registration", "checkpoint", "data", "hooks")
_FUNCTIONS = {
    "generate_methods_for_privateuse_backend": "backend_registration",
    "rename_privateuse_backend": "backend_registration",
}


def __getattr__(name: str) -> Any:
    if name in _PARTS or name in _FUNCTIONS:
        import importlib

        part = importlib.import_module(f".{_FUNCTIONS.get(name, name)}", __name__)
        return getattr(part, name) if name in _FUNCTIONS else part
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PARTS, *_FUNCTIONS})
