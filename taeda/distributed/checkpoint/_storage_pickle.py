"""The file that describes a checkpoint: pickled under PyTorch's names, read without calling anything else."""

from __future__ import annotations

import io
import pathlib
import pickle
from typing import Any

from taeda._serialization import names
from taeda._serialization.pickler import rename_globals

_PATHS = {"PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath", "Path"}
_LAYOUTS = {"torch.serialization._get_layout", "torch.strided", "torch.sparse_coo", "torch.sparse_csr"}
_PLAIN = {("collections", "OrderedDict"), ("builtins", "set"), ("builtins", "frozenset"), ("builtins", "list"),
          ("builtins", "dict"), ("builtins", "tuple"), ("builtins", "bytearray")}  # fmt: skip


def dumps(value: Any) -> bytes:
    """Pickled."""
    return rename_globals(pickle.dumps(value, protocol=2))


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
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
