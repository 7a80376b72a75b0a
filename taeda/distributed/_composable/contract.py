"""Functions that add something to modules and leave their names as they are."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

from taeda import nn


class _State:
    """What such a function keeps for the modules that it was given together."""


class RegistryItem:
    """That a function has been applied."""


_registries: weakref.WeakKeyDictionary[nn.Module, dict[str, RegistryItem]] = weakref.WeakKeyDictionary()
_STATES = "_contract_states"  # an attribute of modules: a state may refer to its module, and ends with it


def _get_registry(module: nn.Module) -> dict[str, RegistryItem] | None:
    """By name, the functions that have been applied to a module; None if none has."""
    return _registries.get(module)


def _names(module: nn.Module) -> list[tuple[str, list[str]]]:
    return [
        ("parameters", [name for name, _ in module.named_parameters()]),
        ("buffers", [name for name, _ in module.named_buffers()]),
        ("modules", [name for name, _ in module.named_modules()]),
    ]


def contract(state_cls: type[Any] = _State) -> Any:
    """Makes a decorator of functions of a module, or of a list of modules, that return it.

    Such a function may be applied to a module once, and may not change the names within. ``function.state(module)`` is
    a ``state_cls`` of its own.
    """

    def wrap(function: Callable[..., Any]) -> Any:
        def state(module: nn.Module) -> Any:
            """What the function keeps for a module it has been applied to."""
            return vars(module).get(_STATES, {}).get(call)

        @functools.wraps(function)
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            modules = [module] if isinstance(module, nn.Module) else list(module)
            shared, item = state_cls(), RegistryItem()
            for one in modules:
                applied = _registries.setdefault(one, {})
                if function.__name__ in applied:
                    raise AssertionError(
                        f"taeda.distributed: {function.__name__} has been applied to this {type(one).__name__} before"
                    )
                applied[function.__name__] = item
                vars(one).setdefault(_STATES, {})[call] = shared
            before = [_names(one) for one in modules]
            result = function(module, *args, **kwargs)
            changed = [result] if isinstance(result, nn.Module) else modules if result is None else list(result)
            _check(function.__name__, before, [_names(one) for one in changed])
            return result

        call.state = state  # type: ignore[attr-defined]
        return call

    return wrap


def _check(name: str, before: list[Any], behind: list[Any]) -> None:
    if len(before) != len(behind):
        raise RuntimeError(f"taeda.distributed: {name} was given {len(before)} modules and returned {len(behind)}")
    for old, new in zip(before, behind):
        for (kind, first), (_, second) in zip(old, new):
            if first != second:
                raise RuntimeError(
                    f"taeda.distributed: {name} is to leave the names of {kind} as they are; before: {first[:5]}, "
                    f"now: {second[:5]}"
                )
