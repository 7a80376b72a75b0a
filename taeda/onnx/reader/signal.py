"""Transforms of signals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import taeda
from taeda import Tensor
from taeda.onnx.reader.table import op
from taeda.onnx.reader.values import dtype_of


@op("DFT")
def dft(x: Tensor, length: Tensor | None = None, axis_: Tensor | None = None, *, opset: int, axis: int | None = None,
        inverse: int = 0, onesided: int = 0) -> Tensor:  # fmt: skip
    where = int(axis_) if axis_ is not None else (axis if axis is not None else (1 if opset < 20 else -2))
    where = where % x.dim()
    count = int(length) if length is not None else None
    if inverse and onesided:
        whole = count if count is not None else 2 * (int(x.shape[where]) - 1)
        return taeda.fft.irfft(taeda.view_as_complex(x.contiguous()), whole, where).unsqueeze(-1)
    signal = taeda.view_as_complex(x.contiguous()) if x.shape[-1] == 2 else x.squeeze(-1)
    if inverse:
        result = taeda.fft.ifft(signal, count, where)
    elif onesided and not signal.is_complex():
        result = taeda.fft.rfft(signal, count, where)
    else:
        result = taeda.fft.fft(signal, count, where)
        if onesided:
            result = result.narrow(where, 0, result.shape[where] // 2 + 1)
    return taeda.view_as_real(result)


@op("STFT")
def stft(
    x: Tensor, step: Tensor, window: Tensor | None = None, length: Tensor | None = None, *, onesided: int = 1
) -> Tensor:
    signal = taeda.view_as_complex(x.contiguous()) if x.dim() == 3 and x.shape[-1] == 2 else x.reshape(x.shape[:2])
    size = int(length) if length is not None else int(window.shape[0])  # type: ignore[union-attr]
    frames = signal.unfold(1, size, int(step))
    frames = frames if window is None else frames * window
    if signal.is_complex() or not onesided:
        return taeda.view_as_real(taeda.fft.fft(frames.to(taeda.promote_types(frames.dtype, taeda.complex64))))
    return taeda.view_as_real(taeda.fft.rfft(frames))


@op("MelWeightMatrix")
def mel_weight_matrix(
    bins: Tensor, length: Tensor, rate: Tensor, low: Tensor, high: Tensor, *, output_datatype: int = 1
) -> Tensor:
    count, spectrum = int(bins), int(length) // 2 + 1

    def mel(hertz: float) -> float:
        return 2595 * math.log10(1 + hertz / 700)

    first, last = mel(float(low)), mel(float(high))
    edges = first + np.arange(count + 2) * ((last - first) / (count + 2))
    places = np.floor((int(length) + 1) * (700 * (10 ** (edges / 2595) - 1)) / int(rate)).astype(int)
    matrix = np.zeros((spectrum, count))
    for i in range(count):
        left, middle, right = places[i : i + 3]
        if middle == left:
            matrix[middle, i] = 1
        else:
            for j in range(left, middle + 1):
                matrix[j, i] = (j - left) / (middle - left)
        for j in range(middle, right):
            matrix[j, i] = (right - j) / (right - middle) if right > middle else 0
    return taeda.from_numpy(matrix).to(dtype_of(output_datatype))


def _window(size: Tensor, periodic: int, output_datatype: int, *terms: float) -> Tensor:
    count = int(size)
    points = np.arange(count) * (2 * math.pi / max(count if periodic else count - 1, 1))
    total: Any = sum(term * np.cos(i * points) * (-1) ** i for i, term in enumerate(terms))
    return taeda.from_numpy(np.asarray(total, dtype=np.float64).reshape(count)).to(dtype_of(output_datatype))


@op("HannWindow")
def hann_window(size: Tensor, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
    return _window(size, periodic, output_datatype, 0.5, 0.5)


@op("HammingWindow")
def hamming_window(size: Tensor, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
    return _window(size, periodic, output_datatype, 25 / 46, 21 / 46)


@op("BlackmanWindow")
def blackman_window(size: Tensor, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
    return _window(size, periodic, output_datatype, 0.42, 0.5, 0.08)
