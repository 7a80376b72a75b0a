"""Stubs by which type checkers and editors read ``import torch`` as Taeda: each module passes on what Taeda's has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_FACES = _ROOT / "_faces"


def write_stubs(folder: str | Path) -> list[Path]:
    """Writes ``folder/torch/**.pyi``; gives the paths. Checkers find them by their search path (``MYPYPATH`` of mypy,
    ``stubPath`` of pyright, whose default is ``typings``)."""
    written = []
    for relative, module in _modules():
        path = Path(folder) / "torch" / relative.with_suffix(".pyi")
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"from {module} import *"]
        if module == "taeda":
            lines.append("from taeda import __version__ as __version__")
        path.write_text("\n".join([*lines, ""]))
        written.append(path)
    return written


def _modules() -> Iterator[tuple[Path, str]]:
    """Every module by its path in torch, and its name in Taeda; of private ones those that torch has."""
    for root, package in ((_ROOT, "taeda"), (_FACES, "taeda._faces")):
        for path in sorted(root.rglob("*.py")):
            relative = path.relative_to(root)
            parts = relative.with_suffix("").parts
            if parts[-1] == "__main__" or (root is _ROOT and any(_is_private(part) for part in parts)):
                continue
            if root is _FACES and parts == ("__init__",):
                continue
            names = parts[:-1] if parts[-1] == "__init__" else parts
            yield relative, ".".join((package, *names))


def _is_private(part: str) -> bool:
    return part.startswith("_") and part != "__init__" or part == "generated"
