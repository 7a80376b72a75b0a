"""The classes of results with named parts: ``taeda.return_types.max`` is what ``taeda.max(x, 0)`` returns."""

from __future__ import annotations

from taeda import _C


def __getattr__(name: str) -> type:
    found = None if name.startswith("__") else _C._return_type(name)
    if found is None:
        raise AttributeError(f"taeda.return_types has no '{name}': no function of that name has results with names")
    globals()[name] = found
    return found
