"""Names in files against objects here.

A checkpoint says ``torch`` whatever this package is imported as, so that files travel both ways. The functions that
PyTorch's files call to rebuild tensors are mapped one by one; every other name by its module path.
"""

from __future__ import annotations

import functools
from typing import Any

import taeda
from taeda._serialization import rebuild

HERE = __name__.partition(".")[0]
FILE_ROOT = "torch"

STORAGE_DTYPES = {
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
_DTYPE_STORAGES = {dtype: storage for storage, dtype in STORAGE_DTYPES.items()}

DTYPES = (
    "float64 double float32 float float16 half bfloat16 int64 long int32 int int16 short int8 uint8 uint16 uint32 "
    "uint64 bool complex128 cdouble complex64 cfloat complex32 chalf float8_e4m3fn float8_e4m3fnuz float8_e5m2 "
    "float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2 qint8 quint8 qint32"
).split()

_REBUILDERS = {
    ("torch._utils", "_rebuild_tensor"): rebuild.tensor_v1,
    ("torch._utils", "_rebuild_tensor_v2"): rebuild.tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): rebuild.tensor_v3,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): rebuild.meta_tensor,
    ("torch._utils", "_rebuild_parameter"): rebuild.parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): rebuild.parameter_with_state,
    ("torch._tensor", "_rebuild_from_type_v2"): rebuild.from_type,
    ("torch.serialization", "_get_layout"): rebuild.layout,
}


class FileName:
    """A global as the file spells it; pickled as that name, with nothing of that name needed here."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def __call__(self, *args: Any) -> Any:  # pickle wants the first half of a reduction to be callable
        return resolve(self.module, self.name)(*args)

    def __reduce__(self) -> tuple[Any, ...]:
        # Only a pickler that is not ours comes here; its files are then read by this package alone.
        return resolve, (self.module, self.name)


@functools.cache
def file_name(module: str, name: str) -> FileName:
    return FileName(module, name)


def dtype_name(dtype: taeda.dtype) -> str:
    """``"float32"`` for ``taeda.float32``."""
    return str(dtype).rpartition(".")[2]


def storage_class(dtype: taeda.dtype) -> FileName:
    return file_name(FILE_ROOT, _DTYPE_STORAGES[dtype_name(dtype)])


UNTYPED = file_name("torch.storage", "UntypedStorage")


def has_storage_class(dtype: taeda.dtype) -> bool:
    """Whether files have a typed storage class for ``dtype``; the younger dtypes use untyped storages."""
    return dtype_name(dtype) in _DTYPE_STORAGES


def module_in_file(module: str) -> str:
    root, dot, rest = module.partition(".")
    return FILE_ROOT + dot + rest if root == HERE else module


def module_here(module: str) -> str:
    root, dot, rest = module.partition(".")
    return HERE + dot + rest if root == FILE_ROOT else module


def qualified(obj: Any) -> str:
    """``module.name`` of a class or function, as a file would say it."""
    if obj is taeda.Tensor:
        return "torch.Tensor"
    return f"{module_in_file(obj.__module__)}.{obj.__qualname__}"


@functools.cache
def known() -> dict[str, Any]:
    """What every checkpoint may name: rebuilders, storages, dtypes and a few plain containers."""
    table: dict[str, Any] = {f"{module}.{name}": value for (module, name), value in _REBUILDERS.items()}
    for storage, dtype in STORAGE_DTYPES.items():
        table[f"torch.{storage}"] = rebuild.StorageType(getattr(taeda, dtype))
    table["torch.storage.UntypedStorage"] = table["torch.UntypedStorage"] = rebuild.StorageType(None)
    for name in DTYPES:
        if hasattr(taeda, name):
            table[f"torch.{name}"] = getattr(taeda, name)
    table["torch.Size"] = taeda.Size
    table["torch.device"] = taeda.device
    table["torch.Tensor"] = table["torch._tensor.Tensor"] = taeda.Tensor
    table["torch.nn.parameter.Parameter"] = taeda.nn.Parameter
    return table


def resolve(module: str, name: str) -> Any:
    """The object that a file calls ``module.name``.

    Raises:
        ModuleNotFoundError: no such module here.
        AttributeError: the module has no such name.
    """
    found = known().get(f"{module}.{name}")
    if found is not None:
        return found
    import importlib

    value: Any = importlib.import_module(module_here(module))
    for part in name.split("."):
        value = getattr(value, part)
    return value
