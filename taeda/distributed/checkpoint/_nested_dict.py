"""Nested states as flat ones, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taeda import Tensor

Path = tuple[str | int, ...]


def _has_parts(value: Any) -> bool:
    """Whether a list is worth going into."""
    return isinstance(value, (Tensor, Mapping)) or isinstance(value, list) and any(map(_has_parts, value))


def flatten_state_dict(state_dict: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Path]]:
    """The values by paths joined by dots, and the paths.

    Dictionaries, and lists in which tensors or dictionaries are, are gone into.

    Raises:
        ValueError: two paths have one name.
    """
    flat: dict[str, Any] = {}
    paths: dict[str, Path] = {}

    def walk(path: Path, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, one in value.items():
                walk((*path, str(key)), one)
        elif isinstance(value, list) and _has_parts(value):
            for at, one in enumerate(value):
                walk((*path, at), one)
        else:
            name = ".".join(map(str, path))
            if name in flat:
                raise ValueError(f"taeda.distributed.checkpoint: two values are called {name!r}")
            flat[name], paths[name] = value, path

    walk((), state_dict)
    return flat, paths


def set_element(root: Any, path: Path, value: Any) -> None:
    """Puts a value where ``path`` says; dictionaries and lists on the way are made, keys of any type are found."""
    for at, key in enumerate(path):
        last = at == len(path) - 1
        if isinstance(root, list):
            assert isinstance(key, int)
            root.extend([None] * (key + 1 - len(root)))
        else:
            key = next((one for one in root if str(one) == str(key)), key)
        if last:
            root[key] = value
            return
        place: Any = key
        below = root[place] if isinstance(root, list) or place in root else None
        if below is None:
            below = root[place] = [] if isinstance(path[at + 1], int) else {}
        root = below


def unflatten_state_dict(flat: dict[str, Any], paths: dict[str, Path]) -> dict[str, Any]:
    """The opposite of `flatten_state_dict`."""
    nested: dict[str, Any] = {}
    for name, value in flat.items():
        set_element(nested, paths[name], value)
    return nested
