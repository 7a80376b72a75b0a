"""What the data sets of images have in common."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from taeda.utils.data import Dataset

__all__ = ["VisionDataset"]


class VisionDataset(Dataset[Any]):
    """Images with a target each, passed through transforms.

    Args:
        root: the folder with the files.
        transforms: takes an image and its target and returns both; excludes the other two.
        transform, target_transform: take an image, or a target, and return it changed.

    Raises:
        ValueError: ``transforms`` together with another one.
    """

    classes: list[str]
    targets: Any

    def __init__(
        self,
        root: str | os.PathLike[str],
        transforms: Callable[..., Any] | None = None,
        transform: Callable[..., Any] | None = None,
        target_transform: Callable[..., Any] | None = None,
    ) -> None:
        if transforms is not None and (transform is not None or target_transform is not None):
            raise ValueError(f"{type(self).__name__}: give transforms, or transform and target_transform, not both")
        self.root = Path(root).expanduser()
        self.transform = transform
        self.target_transform = target_transform
        self.transforms = transforms

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class."""
        return {name: number for number, name in enumerate(self.classes)}

    def _image(self, index: int) -> Any:
        """The pixels of one image as a NumPy array: height, width and, for colours, channels."""
        raise NotImplementedError(f"{type(self).__name__}: a data set must define _image or __getitem__")

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        """The image (a Pillow image where Pillow is installed, else a NumPy array) and its target, transformed."""
        image, target = as_image(self._image(index)), int(self.targets[index])
        if self.transforms is not None:
            return self.transforms(image, target)
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    def extra_repr(self) -> str:
        """A line more for ``repr``."""
        return ""

    def __repr__(self) -> str:
        lines = [f"Number of datapoints: {len(self)}", f"Root location: {self.root}", *self.extra_repr().splitlines()]
        for name in ("transforms", "transform", "target_transform"):
            if (value := getattr(self, name)) is not None:
                lines.append(f"{name}: {value!r}")
        return "\n    ".join([f"Dataset {type(self).__name__}", *lines])


def as_image(pixels: Any) -> Any:
    """``pixels`` (a uint8 array) as a Pillow image, or as they are without Pillow."""
    try:
        from PIL import Image
    except ImportError:
        return pixels
    return Image.fromarray(pixels)


def not_found(dataset: Any, files: Iterable[str], folder: Path, download: bool = False) -> RuntimeError:
    """The error for files that are not there: it says which to put where."""
    why = "nothing is downloaded here" if download else "the files were not found"
    return RuntimeError(f"{type(dataset).__name__}: {why}; put {', '.join(files)} into {folder}")


def damaged(path: Any, what: str) -> RuntimeError:
    """The error for a file that is not what it should be."""
    return RuntimeError(f"taeda.datasets: {path} is damaged or no such file: {what}")
