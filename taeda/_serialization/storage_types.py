"""The storage classes that files name, ``FloatStorage`` and so on: a dtype each, and nothing else."""

from __future__ import annotations

import taeda
from taeda._serialization.old_names import OLD_STORAGES


class StorageType:
    """``dtype`` is that of the storage's elements, or None where the file does not say it."""

    dtype: taeda.dtype | None = None


class UntypedStorage(StorageType):
    """Bytes; the younger dtypes, which have no class of their own, use it."""


BY_DTYPE: dict[taeda.dtype, type[StorageType]] = {}
for _name, _dtype in OLD_STORAGES.items():
    _class = type(_name, (StorageType,), {"__module__": __name__, "dtype": getattr(taeda, _dtype)})
    globals()[_name] = BY_DTYPE[getattr(taeda, _dtype)] = _class
