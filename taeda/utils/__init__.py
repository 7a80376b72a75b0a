"""Tools around the tensor library: data loading, checkpointing, hooks. Each part loads when first named."""

from __future__ import annotations

from typing import Any

_PARTS = ("checkpoint", "data", "hooks")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PARTS})
