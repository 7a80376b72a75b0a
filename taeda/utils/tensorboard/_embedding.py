"""The files that TensorBoard's projector reads: points, labels, a sheet of small pictures, and a list of these."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from taeda.utils.tensorboard._convert import as_array, as_png, as_rgb


def write(folder: str, points: Any, metadata: Any, pictures: Any, step: Any, tag: str, header: Any) -> None:
    """Writes the points of one tag and step below ``folder``, and enters them in ``projector_config.pbtxt``."""
    if points.ndim != 2:
        raise AssertionError(f"SummaryWriter.add_embedding: mat must have two dimensions; got shape {points.shape}")
    subfolder = f"{0 if step is None else int(step):05d}/{tag.replace('/', '_')}"
    target = Path(folder, subfolder)
    target.mkdir(parents=True, exist_ok=True)
    _write_lines(target / "tensors.tsv", [[repr(float(x)) for x in point] for point in points])
    entry = [f'tensor_name: "{tag}:{subfolder[:5]}"', f'tensor_path: "{subfolder}/tensors.tsv"']
    if metadata is not None:
        _write_labels(target / "metadata.tsv", metadata, header, len(points))
        entry.append(f'metadata_path: "{subfolder}/metadata.tsv"')
    if pictures is not None:
        size = _write_sheet(target / "sprite.png", as_array(pictures), len(points))
        sprite = f'image_path: "{subfolder}/sprite.png" single_image_dim: {size[0]} single_image_dim: {size[1]}'
        entry.append(f"sprite {{ {sprite} }}")
    with Path(folder, "projector_config.pbtxt").open("a") as file:
        file.write("embeddings {\n" + "".join(f"  {line}\n" for line in entry) + "}\n")


def _write_lines(path: Path, rows: Any) -> None:
    path.write_text("".join("\t".join(row) + "\n" for row in rows))


def _write_labels(path: Path, metadata: Any, header: Any, count: int) -> None:
    labels = metadata.tolist() if hasattr(metadata, "tolist") else list(metadata)
    if len(labels) != count:
        raise ValueError(f"SummaryWriter.add_embedding: {len(labels)} labels for {count} points")
    # A tab or an end of line in a label would be one of the file's own: JSON's escapes stand for them.
    rows = [[_label(one) for one in label] if isinstance(label, (list, tuple)) else [_label(label)] for label in labels]
    _write_lines(path, ([list(map(str, header))] if header else []) + rows)


def _label(value: Any) -> str:
    text = str(value)
    return json.dumps(text)[1:-1] if any(end in text for end in "\t\r\n") else text


def _write_sheet(path: Path, pictures: Any, count: int) -> tuple[int, int]:
    """Writes the pictures as one that is as wide as it is high; gives the width and height of one of them."""
    if len(pictures) != count:
        raise ValueError(f"SummaryWriter.add_embedding: {len(pictures)} pictures for {count} points")
    columns = math.ceil(math.sqrt(count))
    height, width = pictures.shape[2:]
    lines = as_rgb(pictures, "NCHW", columns)
    sheet = np.zeros((columns * height, *lines.shape[1:]), np.uint8)
    sheet[: len(lines)] = lines
    path.write_bytes(as_png(sheet))
    return width, height
