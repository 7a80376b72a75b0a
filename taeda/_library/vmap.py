"""Rules of a program's own for its ops under ``vmap``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def register_rule(qualname: str, function: Callable[..., Any] | None) -> Any:
    """Makes ``function`` the rule of the op ``"namespace::name"``; without, a decorator that does."""
    from taeda.func._batched.rules import register_program_rule

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        register_program_rule(qualname, function)
        return function

    return register if function is None else register(function)
