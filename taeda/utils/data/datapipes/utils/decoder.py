"""What is in a file, by the ending of its name."""

from __future__ import annotations

import io
import json
import os
import pickle
import tempfile
from collections.abc import Callable
from typing import Any

import taeda

__all__ = [
    "Decoder",
    "ImageHandler",
    "MatHandler",
    "audiohandler",
    "basichandlers",
    "extension_extract_fn",
    "handle_extension",
    "imagehandler",
    "mathandler",
    "videohandler",
]


def basichandlers(extension: str, data: Any) -> Any:
    """Texts, numbers of classes, JSON, and what pickle or ``torch.save`` wrote; None for other endings."""
    if extension in "txt text transcript":  # parts of these, and no ending at all, are texts too
        return data.decode("utf-8")
    if extension in ["cls", "cls2", "class", "count", "index", "inx", "id"]:
        try:
            return int(data)
        except ValueError:
            return None
    if extension in "json jsn":
        return json.loads(data)
    if extension in ["pyd", "pickle"]:
        return pickle.loads(data)
    if extension in ["pt"]:
        return taeda.load(io.BytesIO(data))
    return None


def _spec(kind: str, dtype: str | None, channels: str) -> tuple[str, str | None, str]:
    return kind, dtype, channels


imagespecs = {
    **{f"{c}8": _spec("numpy", "uint8", c) for c in ("l", "rgb", "rgba")},
    **{c: _spec("numpy", "float", c) for c in ("l", "rgb", "rgba")},
    **{f"torch{c}8": _spec("torch", "uint8", c) for c in ("l", "rgb", "rgba")},
    **{f"torch{c}": _spec("torch", "float", c or "rgb") for c in ("l", "rgb", "", "rgba")},
    **{f"pil{c}": _spec("pil", None, c or "rgb") for c in ("l", "", "rgb", "rgba")},
}


def handle_extension(extensions: str, f: Callable[[Any], Any]) -> Callable[[str, Any], Any]:
    """A handler that calls ``f`` with the data of files of these endings, which may have dots in them."""
    wanted = [extension.split(".") for extension in extensions.lower().split()]

    def handler(key: str, data: Any) -> Any:
        parts = key.lower().split(".")
        return f(data) if any(parts[-len(ending) :] == ending for ending in wanted) else None

    return handler


class ImageHandler:
    """Images, as an image of PIL (``"pil"``), an array of numpy (``"rgb"``) or a tensor (``"torch"``).

    The specifications may name the channels (``l``, ``rgb``, ``rgba``), and end in 8 for bytes instead of floats.

    Raises:
        AssertionError: there is no such specification.
    """

    def __init__(self, imagespec: str) -> None:
        if imagespec not in imagespecs:
            raise AssertionError(f"ImageHandler: imagespec must be one of {sorted(imagespecs)}; got {imagespec!r}")
        self.imagespec = imagespec.lower()

    def __call__(self, extension: str, data: Any) -> Any:
        if extension.lower() not in ["jpg", "jpeg", "png", "ppm", "pgm", "pbm", "pnm"]:
            return None
        import numpy
        from PIL import Image

        kind, dtype, channels = imagespecs[self.imagespec]
        with io.BytesIO(data) as stream:
            image = Image.open(stream)
            image.load()
        converted = image.convert(channels.upper())
        if kind == "pil":
            return converted
        pixels = numpy.array(converted)
        if dtype == "float":
            pixels = pixels.astype("f") / 255.0
        if kind == "numpy":
            return pixels
        return taeda.tensor(pixels.transpose(2, 0, 1) if pixels.ndim == 3 else pixels[None])


def imagehandler(imagespec: str) -> ImageHandler:
    """An :class:`ImageHandler`."""
    return ImageHandler(imagespec)


def _read_file(name: str, extension: str, data: Any, reader: Callable[[str], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"file.{extension}")
        with open(path, "wb") as file:
            file.write(data)
        return reader(path)


def _module(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ModuleNotFoundError(f"such files are read with {name}: pip install {name.split('.')[0]}") from error


def videohandler(extension: str, data: Any) -> Any:
    """Films, as torchvision reads them; None for other endings."""
    if extension not in ["mp4", "ogv", "mjpeg", "avi", "mov", "h264", "mpg", "webm", "wmv"]:
        return None
    return _read_file("video", extension, data, _module("torchvision.io").read_video)


def audiohandler(extension: str, data: Any) -> Any:
    """Sound, as torchaudio reads it; None for other endings."""
    if extension not in ["flac", "mp3", "sox", "wav", "m4a", "ogg", "wma"]:
        return None
    return _read_file("audio", extension, data, _module("torchaudio").load)


class MatHandler:
    """Matlab's files, as scipy reads them with these arguments; None for other endings."""

    def __init__(self, **loadmat_kwargs: Any) -> None:
        self.loadmat_kwargs = loadmat_kwargs

    def __call__(self, extension: str, data: Any) -> Any:
        if extension != "mat":
            return None
        with io.BytesIO(data) as stream:
            return _module("scipy.io").loadmat(stream, **self.loadmat_kwargs)


def mathandler(**loadmat_kwargs: Any) -> MatHandler:
    """A :class:`MatHandler`."""
    return MatHandler(**loadmat_kwargs)


def extension_extract_fn(pathname: str) -> str:
    """The ending of a path, without its dot."""
    return os.path.splitext(pathname)[1].removeprefix(".")


class Decoder:
    """Asks handlers in turn what is in a file: the first that gives something decides, else it stays as it is.

    Args:
        key_fn: the ending of a path.
    """

    def __init__(self, *handler: Callable[..., Any], key_fn: Callable[[str], Any] = extension_extract_fn) -> None:
        self.handlers = list(handler)
        self.key_fn = key_fn

    def add_handler(self, *handler: Callable[..., Any]) -> None:
        """Asks these before the others."""
        self.handlers = [*handler, *self.handlers]

    @staticmethod
    def _is_stream_handle(data: Any) -> bool:
        inner = getattr(data, "file_obj", data)
        return isinstance(inner, (io.BufferedIOBase, io.RawIOBase))

    def decode1(self, key: Any, data: Any) -> Any:
        """What is in one file."""
        if not data:
            return data
        for handler in self.handlers:
            result = handler(key, data)
            if result is not None:
                return result
        return data

    def decode(self, data: Any) -> dict[str, Any]:
        """Of a pair of a path and what the file holds, or the file: the path, with what is in it."""
        if data is None:
            return {}
        key, value = data
        if key.startswith("_"):
            return {key: value.decode("utf-8") if isinstance(value, bytes) else value}
        if self._is_stream_handle(value):
            stream, value = value, b"".join(value)
            stream.close()
        return {key: self.decode1(self.key_fn(key), value)}

    def __call__(self, data: Any) -> dict[str, Any]:
        return self.decode(data)
