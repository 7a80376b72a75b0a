"""Writing what emitters return, so that a build redoes only what changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from zlib import crc32


def shares(weights: Mapping[str, int], limit: int) -> list[list[str]]:
    """Cuts a unit that takes too long to compile: the keys of each part, which weigh about ``limit`` together.

    A key's bytes choose its part: a new key moves no other, unless there must be one more part.
    """
    count = max(1, -(-sum(weights.values()) // limit))
    parts: list[list[str]] = [[] for _ in range(count)]
    for key in weights:
        parts[crc32(key.encode()) % count].append(key)
    return parts


def part_name(name: str, part: int) -> str:
    """``binary``, ``binary_1``, ``binary_2``."""
    return f"{name}_{part}" if part else name


def write_files(folder: Path, files: Mapping[str, str], keep_others: bool = False) -> list[str]:
    """Writes ``files`` (path below ``folder`` to text); returns the paths whose bytes changed.

    What an earlier run wrote (``files.txt`` lists it) and this one does not is deleted unless ``keep_others``.
    """
    listing = folder / "files.txt"
    earlier = set(listing.read_text().splitlines()) - set(files) if listing.exists() else set()
    if not keep_others:
        for name in earlier:
            (folder / name).unlink(missing_ok=True)
        earlier = set()
    changed = []
    for name, text in {**files, "files.txt": "".join(f"{n}\n" for n in sorted({*files, *earlier}))}.items():
        path, data = folder / name, text.encode()
        if path.exists() and path.read_bytes() == data:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        changed.append(name)
    return changed
