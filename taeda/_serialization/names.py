"""Names in files against objects here.

A checkpoint says ``torch`` whatever this package is imported as, so that files travel both ways. The functions that
PyTorch's files call to rebuild tensors are mapped one by one; every other name by its module path.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import taeda
from taeda._main.schemes import SCHEMES
from taeda._serialization import storage_types
from taeda._serialization.old_names import OLD_STORAGES
from taeda._serialization.rebuild import REBUILDERS

HERE: str = __name__.partition(".")[0]
FILE_ROOT = "torch"

DTYPES = [
    "float64", "double", "float32", "float", "float16", "half", "bfloat16", "int64", "long", "int32", "int",
    "int16", "short", "int8", "uint8", "uint16", "uint32", "uint64", "bool", "complex128", "cdouble", "complex64",
    "cfloat", "complex32", "chalf", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu", "qint8", "quint8", "qint32", "quint4x2", "quint2x4",
    *(f"{sign}int{bits}" for sign in ("u", "") for bits in range(1, 8)),
]  # fmt: skip
# Dtypes that files may hold and this package does not have.
_ABSENT_DTYPES = frozenset([
    "float4_e2m1fn_x2", "bits8", "bits16", "bits1x8", "bits2x4", "bits4x2",
])  # fmt: skip

# Modules whose classes are in another one in PyTorch, and single classes, as files name them.
_FILE_HOMES = {
    "nn.modules.rnn_cell": "nn.modules.rnn",
    "nn.modules.attention": "nn.modules.activation",
    "nn.modules.lazy_conv": "nn.modules.conv",
    "nn.modules.linear_cross_entropy": "nn.modules.loss",
    "nn.modules.linear_cross_entropy.LinearCrossEntropyOptions": "nn.modules.linear_cross_entropy_options",
    "nn.modules.pixelshuffle.ChannelShuffle": "nn.modules.channelshuffle",
    "optim.adafactor": "optim",
    "optim.muon": "optim",
    **{f"optim._schedules.{name}": "optim.lr_scheduler"
       for name in ("base", "composed", "cyclic", "plateau", "simple")},
    **{f"distributions.{name}": "distributions.transforms"
       for name in ("_transform", "_elementwise_transforms", "_vector_transforms")},
    "ao.nn.intrinsic._sequences": "ao.nn.intrinsic.modules.fused",
    "fx._python_code": "fx.graph",
}  # fmt: skip


def module_here(module: str) -> str:
    root, dot, rest = module.partition(".")
    return HERE + dot + rest if root == FILE_ROOT else module


# Classes that files may name, too, of modules that are not loaded before one does.
ON_DEMAND = frozenset([
    "torch.nested._internal.nested_tensor.NestedTensor",
    "torch._dynamo.decorators._DimRange",  # what PyTorch notes about the limits of a jagged tensor
])  # fmt: skip


@functools.cache
def known() -> dict[str, Any]:
    """What every checkpoint may name: rebuilders, storages, dtypes and a few plain containers."""
    table: dict[str, Any] = {f"{module}.{name}": value for (module, name), value in REBUILDERS.items()}
    table.update({f"torch.{name}": getattr(storage_types, name) for name in OLD_STORAGES})
    table["torch.storage.UntypedStorage"] = table["torch.UntypedStorage"] = storage_types.UntypedStorage
    table.update({f"torch.{name}": getattr(taeda, name) for name in DTYPES})
    table.update({f"torch.{scheme._name}": scheme for scheme in SCHEMES})
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
    try:
        return _find(module_here(module), name)
    except (ModuleNotFoundError, AttributeError):
        for here, home in _FILE_HOMES.items():
            if module == f"{FILE_ROOT}.{home}":
                room = here.removesuffix(f".{name}")
                try:
                    return _find(f"{HERE}.{room}", name)
                except AttributeError:
                    continue
        raise


def _find(module: str, name: str) -> Any:
    import importlib

    # A module that a program put below ours under PyTorch's name is there only.
    stands_in = sys.modules.get(FILE_ROOT) is taeda and module not in sys.modules
    given = sys.modules.get(FILE_ROOT + module.removeprefix(HERE)) if stands_in else None
    value: Any = given or importlib.import_module(module)
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
    home = _FILE_HOMES.get(f"{rest}.{name}") or _FILE_HOMES.get(rest, rest)
    return FILE_ROOT + dot + home, name


def qualified(obj: Any) -> str:
    """``module.name`` of a class or function, as a file would say it."""
    return ".".join(name_in_file(obj.__module__, obj.__qualname__))
