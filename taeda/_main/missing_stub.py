"""In which module a quantised tensor met a float one: asked once an op has raised."""

from __future__ import annotations

import sys
from typing import Any


def running_module() -> str:
    """The innermost module that is being called, by its path from the outermost; "" outside of any."""
    loaded = sys.modules.get("taeda.nn.modules.module")
    if loaded is None:
        return ""
    running: list[Any] = []
    frame = sys._getframe(1)
    while frame is not None:
        module = frame.f_locals.get("self")
        if isinstance(module, loaded.Module) and (not running or running[-1] is not module):
            running.append(module)
        frame = frame.f_back  # type: ignore[assignment]
    if not running:
        return ""
    whole, part = running[-1], running[0]
    path = next((name for name, module in whole.named_modules() if module is part), "")
    return f"'{path}', a {type(part).__name__}" if path else f"a {type(part).__name__}"
