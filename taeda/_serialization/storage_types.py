"""The storage classes that files name, ``FloatStorage`` and so on: a dtype each, and nothing else."""

from __future__ import annotations

import taeda

DTYPES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64",
}


class StorageType:
    """``dtype`` is that of the storage's elements, or None where the file does not say it."""

    dtype: taeda.dtype | None = None


class UntypedStorage(StorageType):
    """Bytes; the younger dtypes, which have no class of their own, use it."""


BY_DTYPE: dict[taeda.dtype, type[StorageType]] = {}
for _name, _dtype in DTYPES.items():
    _class = type(_name, (StorageType,), {"__module__": __name__, "dtype": getattr(taeda, _dtype)})
    globals()[_name] = BY_DTYPE[getattr(taeda, _dtype)] = _class
