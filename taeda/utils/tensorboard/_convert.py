"""From what users log to arrays, pictures and sounds."""

from __future__ import annotations

import io
import struct
import wave
import zlib
from typing import Any

import numpy as np

import taeda


def as_array(values: Any) -> np.ndarray[Any, Any]:
    """An array of a tensor (of any dtype and device), an array, a list or a number; a number has one dimension."""
    if isinstance(values, taeda.Tensor):
        values = values.detach().cpu()
        array = (values.float() if values.dtype == taeda.bfloat16 else values).resolve_conj().numpy()
    else:
        array = np.asarray(values)
    if array.dtype == object or array.dtype.kind in "USVc":
        raise NotImplementedError(f"SummaryWriter: wants real numbers; got {type(values).__name__} of {array.dtype}")
    return array.reshape(1) if array.ndim == 0 else array


def as_rgb(picture: Any, dataformats: str, in_a_row: int = 8) -> np.ndarray[Any, Any]:
    """A picture of bytes, height x width x channels (3, or 4 with transparency); several become one grid.

    ``dataformats`` names the dimensions by ``N``, ``C``, ``H`` and ``W``. Bytes count as they are, other numbers from 0
    to 1.

    Raises:
        AssertionError: the names do not fit the dimensions.
    """
    array = as_array(picture)
    names = dataformats.upper()
    if len(set(names)) != len(names) or len(names) != array.ndim or set(names) not in ({*"HW"}, {*"CHW"}, {*"NCHW"}):
        raise AssertionError(
            f"SummaryWriter.add_image: dataformats {dataformats!r} does not fit a picture of shape {array.shape}"
        )
    if "C" not in names:
        array, names = array[None], f"C{names}"
    if "N" not in names:
        array, names = array[None], f"N{names}"
    array = _as_grid(array.transpose([names.index(name) for name in "NHWC"]), in_a_row)
    if array.dtype != np.uint8:
        array = np.clip(array.astype(np.float32) * 255, 0, 255).astype(np.uint8)
    return array.repeat(3, 2) if array.shape[2] == 1 else array


def _as_grid(pictures: np.ndarray[Any, Any], in_a_row: int) -> np.ndarray[Any, Any]:
    count, height, width, channels = pictures.shape
    columns = min(count, in_a_row)
    rows = -(-count // columns)
    grid = np.zeros((rows * columns, height, width, channels), pictures.dtype)
    grid[:count] = pictures
    grid = grid.reshape(rows, columns, height, width, channels)
    return grid.swapaxes(1, 2).reshape(rows * height, columns * width, channels)


def as_png(picture: np.ndarray[Any, Any]) -> bytes:
    """The PNG file of bytes, height x width x channels."""
    height, width, channels = picture.shape
    color = {1: 0, 2: 4, 3: 2, 4: 6}.get(channels)
    if color is None:
        raise ValueError(f"SummaryWriter.add_image: a picture has 1 to 4 channels; got {channels}")
    # A zero before every row says that it is not filtered.
    rows = np.concatenate([np.zeros((height, 1), np.uint8), picture.reshape(height, width * channels)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def as_wav(sound: Any, sample_rate: int) -> tuple[bytes, int, int]:
    """The WAV file of a mono sound from -1 to 1; also the numbers of frames and of channels."""
    array = as_array(sound).squeeze()
    if np.abs(array).max(initial=0) > 1:
        print("SummaryWriter.add_audio: values beyond -1 and 1 are cut off")
    if array.ndim > 1:
        raise AssertionError(f"SummaryWriter.add_audio: a sound has one dimension; got shape {array.shape}")
    array = (np.clip(array, -1, 1).reshape(-1) * np.iinfo(np.int16).max).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(sample_rate)
        writer.writeframes(array.tobytes())
    return file.getvalue(), len(array), 1


def figure_as_rgb(figure: Any, close: bool) -> np.ndarray[Any, Any]:
    """The picture of a matplotlib figure; of a list of figures the pictures, N x H x W x C."""
    if isinstance(figure, (list, tuple)):
        return np.stack([figure_as_rgb(one, close) for one in figure])
    from matplotlib import pyplot
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    picture = np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
    if close:
        pyplot.close(figure)
    return picture
