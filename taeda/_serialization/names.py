"""Names in files against objects here.

A checkpoint says ``torch`` whatever this package is imported as, so that files travel both ways. The functions that
PyTorch's files call to rebuild tensors are mapped one by one; every other name by its module path.
"""

from __future__ import annotations

import functools
from typing import Any

import taeda
from taeda._serialization import rebuild, storage_types
from taeda._serialization.old_names import OLD_STORAGES

HERE = __name__.partition(".")[0]
FILE_ROOT = "torch"

DTYPES = [
    "float64", "double", "float32", "float", "float16", "half", "bfloat16", "int64", "long", "int32", "int",
    "int16", "short", "int8", "uint8", "uint16", "uint32", "uint64", "bool", "complex128", "cdouble", "complex64",
    "cfloat", "complex32", "chalf", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu", *(f"{sign}int{bits}" for sign in ("u", "") for bits in range(1, 8)),
]  # fmt: skip
# Dtypes that files may hold and this package does not have.
_ABSENT_DTYPES = frozenset([
    "float4_e2m1fn_x2", "qint8", "quint8", "qint32", "quint4x2", "quint2x4", "bits8", "bits16",
    "bits1x8", "bits2x4", "bits4x2",
])  # fmt: skip

REBUILDERS = {
    ("torch._utils", "_rebuild_tensor"): rebuild.tensor_v1,
    ("torch._utils", "_rebuild_tensor_v2"): rebuild.tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): rebuild.tensor_v3,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): rebuild.meta_tensor,
    ("torch._utils", "_rebuild_parameter"): rebuild.parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): rebuild.parameter_with_state,
    ("torch._tensor", "_rebuild_from_type_v2"): rebuild.from_type,
    ("torch.serialization", "_get_layout"): rebuild.layout,
}


def module_here(module: str) -> str:
    root, dot, rest = module.partition(".")
    return HERE + dot + rest if root == FILE_ROOT else module


@functools.cache
def known() -> dict[str, Any]:
    """What every checkpoint may name: rebuilders, storages, dtypes and a few plain containers."""
    table: dict[str, Any] = {f"{module}.{name}": value for (module, name), value in REBUILDERS.items()}
    table.update({f"torch.{name}": getattr(storage_types, name) for name in OLD_STORAGES})
    table["torch.storage.UntypedStorage"] = table["torch.UntypedStorage"] = storage_types.UntypedStorage
    table.update({f"torch.{name}": getattr(taeda, name) for name in DTYPES})
    table["torch.Size"] = taeda.Size
    table["torch.device"] = taeda.device
    table["torch.Tensor"] = table["torch._tensor.Tensor"] = taeda.Tensor
    table["torch.nn.parameter.Parameter"] = taeda.nn.Parameter
    return table


def check_dtype(name: str) -> None:
    """Raises RuntimeError if ``name`` ("torch.float8_e5m2") is a dtype that only PyTorch has."""
    root, _, rest = name.partition(".")
    if root == FILE_ROOT and rest in _ABSENT_DTYPES:
        raise RuntimeError(f"taeda.load: the file holds values of dtype {name}, and Taeda has no such dtype")


def resolve(module: str, name: str) -> Any:
    """The object that a file calls ``module.name``.

    Raises:
        RuntimeError: it is a dtype that does not exist here.
        ModuleNotFoundError: no such module here.
        AttributeError: the module has no such name.
    """
    found = known().get(f"{module}.{name}")
    if found is not None:
        return found
    check_dtype(f"{module}.{name}")
    import importlib

    value: Any = importlib.import_module(module_here(module))
    for part in name.split("."):
        value = getattr(value, part)
    return value


@functools.cache
def _known_names() -> dict[int, str]:
    names: dict[int, str] = {}
    for name, value in known().items():
        names.setdefault(id(value), name)  # the first is the proper one, the others are aliases
    return names


def name_in_file(module: str, name: str) -> tuple[str, str]:
    """How files call what is ``module.name`` here; names of other packages stay as they are."""
    root, dot, rest = module.partition(".")
    if root != HERE and taeda.__name__ != root:  # as the stand-in for PyTorch Taeda goes by its name
        return module, name
    known_as = _known_names().get(id(resolve(module, name)))
    if known_as is not None:
        return known_as.rpartition(".")[0], known_as.rpartition(".")[2]
    return FILE_ROOT + dot + rest, name


def qualified(obj: Any) -> str:
    """``module.name`` of a class or function, as a file would say it."""
    return ".".join(name_in_file(obj.__module__, obj.__qualname__))
