"""Joining the safetensors files that several processes wrote."""

from __future__ import annotations

import json
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import taeda
from taeda.distributed.checkpoint import _safetensors
from taeda.distributed.tensor.placement_types import narrowed

__all__ = ["consolidate_safetensors_files"]

INDEX, OFFSETS = "model.safetensors.index.json", "DCP_SHARDING_INFO"
Parts = dict[str, list[tuple[Path, list[int], dict[str, Any]]]]


def consolidate_safetensors_files(
    input_dir: str, output_dir: str, fqn_to_index_mapping: dict[str, int] | None = None, num_threads: int = 1
) -> None:
    """Writes whole tensors into ``output_dir``, in the files that the mapping says, from 1 on; and the index."""
    parts = _parts_in(Path(input_dir))
    mapping = fqn_to_index_mapping or dict.fromkeys(parts, 1)
    count = max(mapping.values(), default=1)
    files: dict[int, list[str]] = defaultdict(list)
    for name in parts:
        files[mapping.get(name, 1)].append(name)
    named = {at: f"model-{at:05d}-of-{count:05d}.safetensors" for at in files}
    Path(output_dir).mkdir(parents=True, exist_ok=True)

    def write(at: int) -> int:
        tensors = {name: _joined(parts[name]) for name in files[at]}
        with open(Path(output_dir) / named[at], "wb") as file:
            _safetensors.write(file, tensors)
        return sum(one.numel() * one.element_size() for one in tensors.values())

    with ThreadPoolExecutor(max(1, num_threads)) as pool:
        total = sum(pool.map(write, sorted(files)))
    index = {"metadata": {"total_size": total}, "weight_map": {name: named[mapping.get(name, 1)] for name in parts}}
    (Path(output_dir) / INDEX).write_text(json.dumps(index, indent=2))


def _parts_in(folder: Path) -> Parts:
    parts: Parts = defaultdict(list)
    for path in sorted(folder.glob("*.safetensors")):
        with open(path, "rb") as file:
            header, told, first = _safetensors.read_header(file)
        offsets = json.loads(told.get(OFFSETS, "{}"))
        for name, entry in header.items():
            start = offsets.get(name, {}).get("saved_offsets", [0] * len(entry["shape"]))
            parts[name].append((path, start, entry | {"first": first}))
    return parts


def _joined(parts: list[tuple[Path, list[int], dict[str, Any]]]) -> taeda.Tensor:
    shape = [max(sizes) for sizes in zip(*([a + b for a, b in zip(start, entry["shape"], strict=True)]
                                           for _, start, entry in parts), strict=True)]  # fmt: skip
    whole = taeda.empty(shape, dtype=_safetensors.DTYPES[parts[0][2]["dtype"]])
    for path, start, entry in parts:
        with open(path, "rb") as file:
            part = _safetensors.read_tensor(file, entry, entry["first"])
        narrowed(whole, taeda.Size(start), part.shape).copy_(part)
    return whole
