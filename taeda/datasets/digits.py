"""The 1,797 small digits that scikit-learn brings along."""

from __future__ import annotations

import gzip
import importlib.util
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import taeda

from .vision import VisionDataset, damaged, not_found

__all__ = ["Digits"]

_FILE = "digits.csv.gz"
_SIDE = 8
_MOST_BYTES = 1 << 24
_BRIGHTEST = 16
_TRAINING_SHARE = 0.8


class Digits(VisionDataset):
    """Handwritten digits: 8 x 8 grey images of ten classes, of 43 writers.

    Args:
        root: the folder with ``digits.csv.gz``; by default scikit-learn's, if it is installed.
        train: True the first four fifths, False the last fifth, None all.
        transform, target_transform: take an image, or a target, and return it changed.
        download: refused, with the name of the file and its folder.

    Attributes:
        data: the images, uint8 from 0 to 255 (the file's go to 16), shape (N, 8, 8).
        targets: the classes, int64, shape (N,).

    Raises:
        RuntimeError: the file is missing or damaged.
    """

    classes = [str(digit) for digit in range(10)]

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        train: bool | None = None,
        transform: Callable[..., Any] | None = None,
        target_transform: Callable[..., Any] | None = None,
        download: bool = False,
    ) -> None:
        super().__init__(_bundle() if root is None else root, transform=transform, target_transform=target_transform)
        self.train = train
        path = self.root / _FILE
        if not path.is_file():
            raise not_found(self, [f"{_FILE} (or install scikit-learn, which has it)"], self.root, download)
        rows = _read(path)
        middle = round(len(rows) * _TRAINING_SHARE)
        rows = rows if train is None else rows[:middle] if train else rows[middle:]
        scaled = rows[:, :-1].double() * (255 / _BRIGHTEST)
        self.data = scaled.round().to(taeda.uint8).view(-1, _SIDE, _SIDE)
        self.targets = rows[:, -1].clone()

    def _image(self, index: int) -> Any:
        return self.data[index].numpy()


def _bundle() -> Path:
    spec = importlib.util.find_spec("sklearn")
    return Path(spec.origin).parent / "datasets" / "data" if spec and spec.origin else Path()


def _read(path: Path) -> taeda.Tensor:
    """Rows of 64 brightnesses and the digit, int64."""
    import numpy as np

    try:
        with gzip.open(path) as file:
            content = file.read(_MOST_BYTES + 1)  # a small file may unpack to any length
        if len(content) > _MOST_BYTES:
            raise damaged(path, f"it unpacks to more than {_MOST_BYTES} bytes")
        rows = np.loadtxt(io.BytesIO(content), delimiter=",", dtype=np.int64, ndmin=2, encoding="ascii")
    except (OSError, EOFError, ValueError) as error:
        raise damaged(path, str(error)) from error
    if rows.shape[1] != _SIDE**2 + 1 or not 0 <= rows.min() <= rows.max() <= _BRIGHTEST or rows[:, -1].max() > 9:
        raise damaged(path, "its rows are not 64 brightnesses from 0 to 16 and a digit")
    return taeda.from_numpy(rows)
