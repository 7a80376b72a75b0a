"""What the format writes as a number: dtypes, layouts, memory formats; and devices."""

from __future__ import annotations

import keyword
from typing import Any

import taeda
from taeda import Tensor

MAJOR, MINOR = 8, 20  # of the schema
OPSET = {"aten": 10}
POSITIONAL, KEYWORD = 1, 2

DTYPES: dict[taeda.dtype, int] = {
    getattr(taeda, name): number
    for number, name in {
        1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64",
        9: "complex32", 10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16",
        29: "float8_e4m3fn", 30: "float8_e5m2", 31: "float8_e4m3fnuz", 32: "float8_e5m2fnuz", 33: "float8_e8m0fnu",
        34: "uint32", 35: "uint64",
    }.items()
    if hasattr(taeda, name)
}  # fmt: skip
LAYOUTS: dict[taeda.layout, int] = {
    taeda.sparse_coo: 1, taeda.sparse_csr: 2, taeda.sparse_csc: 3, taeda.sparse_bsr: 4, taeda.sparse_bsc: 5,
    taeda.strided: 7,
}  # fmt: skip
MEMORY_FORMATS: dict[taeda.memory_format, int] = {
    taeda.contiguous_format: 1, taeda.channels_last: 2, taeda.channels_last_3d: 3, taeda.preserve_format: 4,
}  # fmt: skip


def written_device(device: taeda.device) -> dict[str, Any]:
    """A device as the format has it."""
    return {"type": device.type, "index": device.index}


def read_device(described: dict[str, Any]) -> taeda.device:
    """What `written_device` gave."""
    index = described.get("index")
    return taeda.device(described["type"]) if index is None else taeda.device(described["type"], index)


def member(table: dict[Any, int], number: Any) -> Any:
    """The dtype, layout or memory format of a number.

    Raises:
        RuntimeError: there is none.
    """
    found = next((value for value, known in table.items() if known == number), None)
    if found is None:
        raise RuntimeError(f"taeda.export.load: {number!r} is the number of no {type(next(iter(table))).__name__}")
    return found


def written_float(value: float) -> float | str:
    """A number as JSON can hold it."""
    if value != value:
        return "NaN"
    return value if abs(value) != float("inf") else "Infinity" if value > 0 else "-Infinity"


def read_float(value: Any) -> Any:
    """A number; those that JSON cannot hold are texts.

    Raises:
        RuntimeError: it is none.
    """
    if value in ("Infinity", "-Infinity", "NaN"):
        return float(value)
    if not isinstance(value, (int, float)):
        raise RuntimeError(f"taeda.export.load: {str(value)[:100]!r} is no number")
    return value


def identifier(text: Any) -> str:
    """A name that may stand in the code that is made from a graph.

    Raises:
        RuntimeError: it may not.
    """
    if not isinstance(text, str) or not text.isidentifier() or keyword.iskeyword(text):
        raise RuntimeError(f"taeda.export.load: {str(text)[:100]!r} is no name of a value")
    return text


def described(tensor: Tensor, sizes: list[Any], strides: list[Any]) -> dict[str, Any]:
    """A tensor but for its values."""
    return {
        "dtype": DTYPES[tensor.dtype], "sizes": sizes, "requires_grad": tensor.requires_grad,
        "device": written_device(tensor.device), "strides": strides, "storage_offset": {"as_int": 0},
        "layout": LAYOUTS[tensor.layout],
    }  # fmt: skip
