"""``_C.DispatchKey``: the names of the dispatch keys as an enumeration."""

from __future__ import annotations

import enum

from taeda import _C

# A member is a str, its own name: it goes wherever a key is named by text.
DispatchKey = enum.Enum(  # type: ignore[misc]
    "DispatchKey", [(name, name) for name in _C._dispatch_key_names()], type=str, module="taeda._C"
)
