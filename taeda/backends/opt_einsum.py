"""The package opt_einsum: ``einsum`` does not use it here."""

from __future__ import annotations

from typing import Any

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """Whether ``einsum`` can ask it for an order: no."""
    return False


def get_opt_einsum() -> Any:
    """The package, if ``einsum`` uses it: None."""
    return None
