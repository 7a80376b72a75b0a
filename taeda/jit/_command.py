"""What ``python -m taeda explain --jit`` and ``python -m taeda jit`` do."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any


class NotThere(LookupError):
    """There is no such file, or nothing of that name in it."""


def explain_named(name: str) -> None:
    """Prints the stages of ``file.py:function``, or of ``archive.pt:method``.

    Raises:
        NotThere: there is no such file or function.
        RuntimeError: it cannot be compiled.
    """
    path, colon, function = name.rpartition(":")
    if not colon or not function:
        raise NotThere(f"wants FILE:FUNCTION, e.g. model.py:forward; got {name!r}")
    if not os.path.isfile(path):
        raise NotThere(f"there is no file {path}")
    from taeda.jit import explain

    explain(_found(_loaded(path), function, path))


def _loaded(path: str) -> Any:
    if not path.endswith(".py"):
        from taeda.jit import load

        return load(path)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(os.path.basename(path).removesuffix(".py"), path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _found(owner: Any, name: str, path: str) -> Any:
    for part in name.split("."):
        try:
            owner = getattr(owner, part)
        except AttributeError:
            names = ", ".join(n for n in dir(owner) if not n.startswith("_"))[:200]
            raise NotThere(f"{path} has no '{name}'; it has {names}") from None
    return owner


def compile_archive(path: str) -> str:
    """Adds Taeda's instructions to an archive, in its place; says what was done.

    Raises:
        RuntimeError: the archive is damaged, or holds what has no instructions.
    """
    from taeda.jit import load
    from taeda.jit.files.archive import ProgramReader
    from taeda.jit.files.instructions import PROGRAM
    from taeda.jit.files.save import save

    with open(path, "rb") as file:
        reader = ProgramReader(file)
        if reader.has(PROGRAM):
            return "has instructions already"
        extra = {n.removeprefix("extra/"): reader.read(n) for n in reader.names() if n.startswith("extra/")}
    save(load(path), path, extra, needs_instructions=True)
    return "instructions added"
