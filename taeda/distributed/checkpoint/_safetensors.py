"""Files of the safetensors format: eight bytes of length, a JSON object that says what lies where, and the bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import IO, Any

import taeda
from taeda import Tensor

DTYPES = {
    "F64": taeda.float64, "F32": taeda.float32, "F16": taeda.float16, "BF16": taeda.bfloat16, "I64": taeda.int64,
    "I32": taeda.int32, "I16": taeda.int16, "I8": taeda.int8, "U8": taeda.uint8, "U16": taeda.uint16,
    "U32": taeda.uint32, "U64": taeda.uint64, "BOOL": taeda.bool, "F8_E4M3": taeda.float8_e4m3fn,
    "F8_E5M2": taeda.float8_e5m2, "C64": taeda.complex64,
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_LONGEST = 100 << 20  # bytes of a header that is believed


def write(file: IO[bytes], tensors: dict[str, Tensor], told: dict[str, str] | None = None) -> None:
    """Writes tensors; ``told`` is what else the header says.

    Raises:
        ValueError: the format has no such dtype.
    """
    header: dict[str, Any] = {"__metadata__": told} if told else {}
    end = 0
    for name, one in tensors.items():
        if one.dtype not in _NAMES:
            raise ValueError(f"taeda.distributed.checkpoint: safetensors files have no {one.dtype} ({name})")
        start, end = end, end + one.numel() * one.element_size()
        header[name] = {"dtype": _NAMES[one.dtype], "shape": list(one.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for one in tensors.values():
        flat = one.detach().contiguous().reshape(-1)
        if flat.numel():
            file.write(flat.view(taeda.uint8).numpy().data)


def read_header(file: IO[bytes]) -> tuple[dict[str, Any], dict[str, str], int]:
    """What lies where, what else is said, and where the bytes begin.

    Raises:
        ValueError: this is no such file.
    """
    length = int.from_bytes(file.read(8), "little")
    if not 2 <= length <= _LONGEST:
        raise ValueError(f"taeda.distributed.checkpoint: no safetensors file: a header of {length} bytes")
    header = json.loads(file.read(length))
    return header, header.pop("__metadata__", None) or {}, 8 + length


def read_tensor(file: IO[bytes], entry: dict[str, Any], first: int) -> Tensor:
    """One of the tensors."""
    start, end = entry["data_offsets"]
    dtype, shape = DTYPES[entry["dtype"]], entry["shape"]
    if end - start != _elements(shape) * dtype.itemsize:
        raise ValueError(f"taeda.distributed.checkpoint: {entry} does not fit its bytes")
    if end == start:
        return taeda.empty(shape, dtype=dtype)
    file.seek(first + start)
    data = bytearray(file.read(end - start))
    if len(data) != end - start:
        raise ValueError("taeda.distributed.checkpoint: the file ends too early")
    return taeda.frombuffer(data, dtype=taeda.uint8).view(dtype).view(shape)


def _elements(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count
