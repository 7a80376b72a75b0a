"""MNIST and its kin: IDX files, compressed or not."""

from __future__ import annotations

import gzip
import math
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import taeda
from taeda import Tensor

from .vision import VisionDataset, damaged, not_found

__all__ = ["KMNIST", "MNIST", "FashionMNIST"]

# The third byte of an IDX file: the type of its big-endian elements.
_IDX_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_MOST_GZIP_RATIO = 1032  # a byte of deflate's stands for no more
_MOST_DIMS = 32  # of any array of NumPy's


def read_idx(path: str | os.PathLike[str]) -> Tensor:
    """The tensor in an IDX file, which may be compressed with gzip.

    Raises:
        RuntimeError: the file is damaged, or no IDX file.
    """
    import numpy as np

    size = os.path.getsize(path)
    with open(path, "rb") as plain:
        is_zipped = plain.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path) if is_zipped else open(path, "rb") as file:
            dtype, shape = _read_header(file, path)
            expected = math.prod(shape) * dtype.itemsize
            if expected > size * (_MOST_GZIP_RATIO if is_zipped else 1):
                raise damaged(path, f"{size} bytes cannot hold its shape, {shape} of {dtype}")
            content = file.read(expected + 1)  # a small file may unpack to any length: read no more than is wanted
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, str(error)) from error
    if len(content) != expected:
        found = f"{len(content)} bytes" if len(content) < expected else f"more than {expected} bytes"
        raise damaged(path, f"it holds {found} of values; its shape is {shape} of {dtype}")
    try:
        values = np.frombuffer(content, dtype).reshape(shape)
    except ValueError as error:  # without elements, but with more along its other dimensions than memory has
        raise damaged(path, f"its shape is {shape}: {error}") from None
    return taeda.from_numpy(values.astype(dtype.newbyteorder("=")))


def _read_header(file: Any, path: Any) -> tuple[Any, tuple[int, ...]]:
    """The dtype and the shape of what follows."""
    import numpy as np

    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _IDX_TYPES or magic[3] > _MOST_DIMS:
        raise damaged(path, f"it starts with {magic!r}, not as an IDX file does")
    sizes = file.read(4 * magic[3])
    if len(sizes) < 4 * magic[3]:
        raise damaged(path, "it ends in its header")
    return np.dtype(_IDX_TYPES[magic[2]]), struct.unpack(f">{magic[3]}I", sizes)


class MNIST(VisionDataset):
    """Handwritten digits: 28 x 28 grey images of ten classes.

    Args:
        root: the files are looked for in ``root/MNIST/raw``, ``root/MNIST`` and ``root``, with and without ``.gz``.
        train: the 60,000 images for training; else the 10,000 for testing.
        transform, target_transform: take an image, or a target, and return it changed.
        download: refused, with the names of the files and their folder.

    Attributes:
        data: the images, uint8, shape (N, 28, 28).
        targets: the classes, int64, shape (N,).

    Raises:
        RuntimeError: a file is missing or damaged.
    """

    classes = ["0 - zero", "1 - one", "2 - two", "3 - three", "4 - four", "5 - five", "6 - six", "7 - seven",
               "8 - eight", "9 - nine"]  # fmt: skip

    def __init__(
        self,
        root: str | os.PathLike[str],
        train: bool = True,
        transform: Callable[..., Any] | None = None,
        target_transform: Callable[..., Any] | None = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        stem = "train" if train else "t10k"
        files = [f"{stem}-images-idx3-ubyte", f"{stem}-labels-idx1-ubyte"]
        images, labels = (self._find(name) for name in files)
        if images is None or labels is None:
            wanted = [f"{name} (or {name}.gz)" for name in files]
            raise not_found(self, wanted, self.raw_folder, download)
        self.data, self.targets = read_idx(images), read_idx(labels).long()
        if self.data.dtype != taeda.uint8 or self.data.dim() != 3:
            raise damaged(images, f"images are uint8 and 3-D; got {self.data.dtype}, shape {tuple(self.data.shape)}")
        if self.targets.shape != self.data.shape[:1]:
            raise damaged(labels, f"it holds labels of shape {tuple(self.targets.shape)} for {len(self.data)} images")

    @property
    def raw_folder(self) -> Path:
        """Where the files belong."""
        return self.root / type(self).__name__ / "raw"

    def _find(self, name: str) -> Path | None:
        for folder in (self.raw_folder, self.raw_folder.parent, self.root):
            for path in (folder / name, folder / f"{name}.gz"):
                if path.is_file():
                    return path
        return None

    def _image(self, index: int) -> Any:
        return self.data[index].numpy()

    def extra_repr(self) -> str:
        """Which part it is."""
        return f"Split: {'Train' if self.train else 'Test'}"


class FashionMNIST(MNIST):
    """Clothes in the format of :class:`MNIST`; the folder is ``FashionMNIST``."""

    classes = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
               "Ankle boot"]  # fmt: skip


class KMNIST(MNIST):
    """Cursive Japanese characters in the format of :class:`MNIST`; the folder is ``KMNIST``."""

    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]
