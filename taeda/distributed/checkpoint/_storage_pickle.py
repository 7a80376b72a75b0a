"""The file that describes a checkpoint: pickled under PyTorch's names, read without calling anything else."""

from __future__ import annotations

import io
import pathlib
import pickle
from enum import Enum
from typing import Any

from taeda._serialization import names
from taeda._serialization.pickler import rename_globals

_PATHS = {"PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath", "Path"}
_LAYOUTS = {"torch.serialization._get_layout", "torch.strided", "torch.sparse_coo", "torch.sparse_csr"}
_PLAIN = {("collections", "OrderedDict"), ("builtins", "set"), ("builtins", "frozenset"), ("builtins", "list"),
          ("builtins", "dict"), ("builtins", "tuple"), ("builtins", "bytearray")}  # fmt: skip


def dumps(value: Any) -> bytes:
    """Pickled."""
    file = io.BytesIO()
    _Writer(file, protocol=2).dump(value)
    return rename_globals(file.getvalue())


class _Writer(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """Members of enumerations by value, as most Pythons have them: 3.11.0 to 3.11.3 call getattr."""
        return (type(value), (value.value,)) if isinstance(value, Enum) else NotImplemented


def _member(kind: Any, name: str) -> Enum:
    is_enum = isinstance(kind, type) and issubclass(kind, Enum)
    if is_enum and isinstance(name, str) and name in kind.__members__:
        return kind[name]
    raise pickle.UnpicklingError(
        f"taeda.distributed.checkpoint: the description of the checkpoint asks for {name!r} of {kind!r}; members of "
        "enumerations alone are asked for so"
    )


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        module = "builtins" if module == "__builtin__" else module  # as protocol 2 has it
        if (module, name) == ("builtins", "getattr"):
            return _member
        if module.startswith("pathlib") and name in _PATHS:
            return pathlib.PurePosixPath if name.endswith("PosixPath") else pathlib.PurePath
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        ours = module.startswith("torch.distributed.checkpoint.") or f"{module}.{name}" in _LAYOUTS
        if ours or f"{module}.{name}" in names.known():
            return names.resolve(module, name)
        raise pickle.UnpicklingError(
            f"taeda.distributed.checkpoint: the description of the checkpoint names {module}.{name}, which is no part "
            "of one"
        )


def loads(data: bytes) -> Any:
    """The opposite.

    Raises:
        pickle.UnpicklingError: it names what does not belong there.
    """
    return _Reader(io.BytesIO(data)).load()
