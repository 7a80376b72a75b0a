"""Going through nested states by paths of keys and places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from taeda import Tensor
from taeda.distributed.checkpoint._nested_dict import Path, flatten_state_dict, set_element

__all__ = ["traverse_state_dict", "set_element", "get_element", "print_tensor"]


def traverse_state_dict(state_dict: dict[str, Any], visitor: Callable[[Path, Any], None]) -> None:
    """Calls ``visitor(path, value)`` for every value; lists without tensors or dictionaries are values."""
    flat, paths = flatten_state_dict(state_dict)
    for name, value in flat.items():
        visitor(paths[name], value)


def get_element(root_dict: dict[str, Any], path: Path, default_value: Any = None) -> Any:
    """The value at a path, or the default where there is none."""
    value: Any = root_dict
    for key in path:
        if isinstance(value, Mapping):
            if key not in value:
                return default_value
        elif not isinstance(value, list) or not isinstance(key, int) or not -len(value) <= key < len(value):
            return default_value
        value = value[key]
    return value


def print_tensor(path: Path, value: Any, print_fun: Callable[[str], None] = print) -> None:
    """A visitor that prints which tensors there are."""
    if isinstance(value, Tensor):
        print_fun(f"{path} Tensor size: {tuple(value.shape)}")
