"""Writing what emitters return, so that a build redoes only what changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_files(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Writes ``files`` (path below ``folder`` to text); returns the paths whose bytes changed."""
    changed = []
    for name, text in files.items():
        path, data = folder / name, text.encode()
        if path.exists() and path.read_bytes() == data:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        changed.append(name)
    return changed
