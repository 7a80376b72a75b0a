"""Tracing of ops below autograd: there is none yet, and the questions whether it runs are answered so."""

from __future__ import annotations

__all__ = ["get_innermost_proxy_mode", "get_proxy_mode"]


def get_proxy_mode() -> None:
    """The mode that records ops into a graph: none is ever on."""
    return None


def get_innermost_proxy_mode() -> None:
    """The innermost of those modes: none is ever on."""
    return None
