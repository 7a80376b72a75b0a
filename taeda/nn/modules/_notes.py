"""Exceptions that come out of a model say where in it they arose: ``in Sequential[2] (Linear)``."""

from __future__ import annotations

from typing import Any


def add_place(error: BaseException, module: Any) -> None:
    """Notes that ``error`` comes out of the call of ``module``: called by each module that it comes through, from the
    inside out, it makes one note of them all."""
    child, path, leaf = error.__dict__.get("_place", (None, "", type(module).__name__))
    if child is not None:
        name = next((name for name, part in module.named_modules() if part is child), None)
        if not name:  # the module itself once more, or one that it does not hold
            return
        path = "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in name.split(".")) + path
        notes = getattr(error, "__notes__", [])
        if notes and notes[-1] == error.__dict__.get("_place_note"):
            notes.pop()
        note = f"in {type(module).__name__}{path} ({leaf})"
        error.add_note(note)
        error.__dict__["_place_note"] = note
    error.__dict__["_place"] = module, path, leaf
