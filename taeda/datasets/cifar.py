"""CIFAR-10 and CIFAR-100, in their versions for Python and in binary."""

from __future__ import annotations

import math
import os
import pickle
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from taeda._serialization.safe_pickle import SafeUnpickler

from .vision import VisionDataset, damaged, not_found

__all__ = ["CIFAR10", "CIFAR100"]

_PIXELS = 3 * 32 * 32
_MOST_BYTES = 1 << 30


class _Dtype:
    """What a pickle says about an array's elements; only bytes are admitted."""

    def __init__(self, code: Any, *flags: Any) -> None:
        if code not in ("u1", "|u1", b"u1"):
            shown = repr(code[:20]) if isinstance(code, (str, bytes)) else f"made of a {type(code).__name__}"
            raise pickle.UnpicklingError(f"an array of dtype {shown}, where uint8 is expected")

    def __setstate__(self, state: Any) -> None:
        pass  # byte order and the like, which single bytes do not have


class _Array:
    """An array in a pickle, made of bytes without a call of NumPy's unpickling."""

    value: Any = None

    def __setstate__(self, state: Any) -> None:
        import numpy as np

        _, shape, dtype, by_columns, content = state
        content = content.encode("latin1") if isinstance(content, str) else content
        if not isinstance(dtype, _Dtype) or not isinstance(content, bytes) or math.prod(shape) != len(content):
            raise pickle.UnpicklingError("an array whose bytes do not fit its shape")
        self.value = np.frombuffer(content, np.uint8).reshape(shape, order="F" if by_columns else "C")


def _reconstruct(cls: Any, shape: Any, code: Any) -> _Array:
    return _Array()


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError("bytes in an encoding other than latin1")
    return text.encode("latin1")


_ADMITTED = {
    "numpy.core.multiarray._reconstruct": _reconstruct,
    "numpy._core.multiarray._reconstruct": _reconstruct,
    "numpy.ndarray": _Array,
    "numpy.dtype": _Dtype,
    "_codecs.encode": _encode,
}


def _admitted(name: str) -> Any:
    """Dictionaries, lists, numbers, texts and arrays of bytes are; nothing from the file is ever run."""
    if name not in _ADMITTED:
        raise pickle.UnpicklingError(f"{name[:200]} does not belong in such a file")
    return _ADMITTED[name]


def _no_storage(id: Any) -> Any:
    raise pickle.UnpicklingError("storages do not belong in such a file")


def read_pickle(content: bytes, path: Any) -> dict[str, Any]:
    """The dictionary in one of CIFAR's pickles, its keys as texts and its arrays as NumPy's.

    Raises:
        RuntimeError: it is no such file, or wants to run code.
    """
    try:
        found = SafeUnpickler(content, _admitted, _no_storage, "latin1").load()
    except Exception as error:  # a damaged pickle can raise anything
        raise damaged(path, str(error)) from error
    if not isinstance(found, dict):
        raise damaged(path, f"it holds a {type(found).__name__} and no dictionary")
    keys = (key.decode("latin1") if isinstance(key, bytes) else str(key) for key in found)
    values = (value.value if isinstance(value, _Array) else value for value in found.values())
    return dict(zip(keys, values, strict=True))


class CIFAR10(VisionDataset):
    """Colour images of 32 x 32 pixels in ten classes.

    Args:
        root: the folder that holds ``cifar-10-batches-py`` or ``cifar-10-batches-bin``, or one of the archives
            ``cifar-10-python.tar.gz`` and ``cifar-10-binary.tar.gz``, which is read without being unpacked.
        train: the 50,000 images for training; else the 10,000 for testing.
        transform, target_transform: take an image, or a target, and return it changed.
        download: refused, with the names of the files and their folder.

    Attributes:
        data: the images, a uint8 NumPy array of shape (N, 32, 32, 3).
        targets: the classes, a list of numbers.

    Raises:
        RuntimeError: a file is missing or damaged.
    """

    base_folder = "cifar-10-batches-py"
    _binary_folder = "cifar-10-batches-bin"
    _archives = ("cifar-10-python.tar.gz", "cifar-10-binary.tar.gz")
    _parts = {True: [f"data_batch_{i}" for i in range(1, 6)], False: ["test_batch"]}
    _label_key = "labels"
    _labels_before_pixels = 1  # bytes in a binary record; the last of them is the class
    _names = ("batches.meta", "label_names", "batches.meta.txt")  # file and key in Python, file in binary

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
        files = self._read_folder() or self._read_archive()
        if files is None:
            wanted = [" or ".join([*self._archives, f"the folder {self.base_folder}"])]
            raise not_found(self, wanted, self.root, download)
        self._decode(files)

    def _wanted(self, binary: bool) -> list[str]:
        parts = self._parts[self.train]
        return [*(f"{name}.bin" for name in parts), self._names[2]] if binary else [*parts, self._names[0]]

    def _read_folder(self) -> dict[str, bytes] | None:
        for folder, binary in ((self.base_folder, False), (self._binary_folder, True)):
            if (self.root / folder).is_dir():
                paths = [self.root / folder / name for name in self._wanted(binary)]
                if missing := [path.name for path in paths if not path.is_file()]:
                    raise not_found(self, missing, self.root / folder)
                return {str(path): path.read_bytes() for path in paths}
        return None

    def _read_archive(self) -> dict[str, bytes] | None:
        for archive, binary in zip(self._archives, (False, True), strict=True):
            path = self.root / archive
            if path.is_file():
                return dict(self._members(path, self._wanted(binary)))
        return None

    def _members(self, archive: Path, names: list[str]) -> Iterator[tuple[str, bytes]]:
        try:
            with tarfile.open(archive) as tar:
                found = {Path(member.name).name: member for member in tar if member.isfile()}
                for name in names:
                    if found[name].size > _MOST_BYTES:  # a small archive may unpack to any size
                        raise damaged(archive, f"{name} has {found[name].size} bytes, more than any such file")
                    content = tar.extractfile(found[name])
                    yield f"{archive}/{name}", content.read() if content else b""
        except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
            raise damaged(archive, str(error)) from error
        except KeyError as missing:
            raise damaged(archive, f"it has no {missing}") from None

    def _decode(self, files: dict[str, bytes]) -> None:
        import numpy as np

        images, self.targets = [], []
        *parts, names = files.items()
        for path, content in parts:
            pixels, labels = self._decode_part(path, content)
            images.append(pixels.reshape(-1, 3, 32, 32))
            self.targets += labels
        self.data = np.ascontiguousarray(np.concatenate(images).transpose(0, 2, 3, 1))
        path, content = names
        if path.endswith(".txt"):
            self.classes = content.decode("ascii", "replace").split()
        else:
            self.classes = list(read_pickle(content, path).get(self._names[1], ()))
        if self.targets and not 0 <= min(self.targets) <= max(self.targets) < len(self.classes):
            raise damaged(path, f"it names {len(self.classes)} classes; the labels go to {max(self.targets)}")

    def _decode_part(self, path: str, content: bytes) -> tuple[Any, list[int]]:
        import numpy as np

        if path.endswith(".bin"):
            record = self._labels_before_pixels + _PIXELS
            if len(content) % record:
                raise damaged(path, f"{len(content)} bytes are not whole records of {record}")
            records = np.frombuffer(content, np.uint8).reshape(-1, record)
            return records[:, -_PIXELS:], records[:, self._labels_before_pixels - 1].tolist()
        found = read_pickle(content, path)
        pixels, labels = found.get("data"), found.get(self._label_key)
        if not isinstance(pixels, np.ndarray) or not isinstance(labels, list) or pixels.shape != (len(labels), _PIXELS):
            raise damaged(path, f"it has no 'data' of {_PIXELS} bytes for each of its {self._label_key!r}")
        if not all(type(label) is int for label in labels):
            raise damaged(path, "its labels are not all integers")
        return pixels, labels

    def _image(self, index: int) -> Any:
        return self.data[index]

    def extra_repr(self) -> str:
        """Which part it is."""
        return f"Split: {'Train' if self.train else 'Test'}"


class CIFAR100(CIFAR10):
    """As :class:`CIFAR10`, with a hundred classes; the folders are ``cifar-100-python`` and ``cifar-100-binary``."""

    base_folder = "cifar-100-python"
    _binary_folder = "cifar-100-binary"
    _archives = ("cifar-100-python.tar.gz", "cifar-100-binary.tar.gz")
    _parts = {True: ["train"], False: ["test"]}
    _label_key = "fine_labels"
    _labels_before_pixels = 2
    _names = ("meta", "fine_label_names", "fine_label_names.txt")
