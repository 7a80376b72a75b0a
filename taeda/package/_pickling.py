"""Pickles in packages: by which importer's names, and with which reductions of their own."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from types import FunctionType
from typing import Any

from taeda._serialization import names
from taeda._serialization.pickler import StorageRef, StorageTable, _Reductions
from taeda.package._mangling import demangle
from taeda.package.importer import Importer, ObjMismatchError, ObjNotFoundError

STORAGE, REDUCTION = "storage", "reduce_package"
_LIBRARY = (names.HERE, names.FILE_ROOT)


class PackageStorages(StorageTable):
    """The storages of all pickles of a package. They are records ``.data/<number>.storage``."""

    def in_pickle(self, ref: StorageRef) -> tuple[Any, ...]:
        """What Python's pickles say of a storage; programs say the record's name."""
        tag, kind, key, *rest = super().persistent_id(ref)
        return (tag, kind, int(key), *rest)

    def persistent_id(self, ref: StorageRef) -> tuple[Any, ...]:
        tag, kind, key, *rest = super().persistent_id(ref)
        return (tag, kind, f"{key}.storage", *rest)


_Pickler: Any = pickle._Pickler  # type: ignore[attr-defined]  # the one in Python, whose names can be chosen


class PackagePickler(_Reductions, _Pickler):  # type: ignore[misc]
    """Writes a pickle whose names are those of an importer, and notes the modules that it names.

    Args:
        importer: by which objects are found.
        storages: receives the storages.
        reduction: what the pickle says in place of an object with a ``__reduce_package__``.
        protocol: of the pickle.

    Attributes:
        modules: the modules named, as keys.
    """

    dispatch = dict(_Pickler.dispatch)

    def __init__(
        self, importer: Importer, storages: PackageStorages, reduction: Callable[[Any], Any], protocol: int
    ) -> None:
        self._out = io.BytesIO()
        super().__init__(self._out, protocol)
        self.importer, self.modules = importer, dict[str, None]()
        self._storages, self._reduction = storages, reduction
        self.table = self  # type: ignore[assignment]  # whom `_Reductions` asks about storages

    def dumped(self, obj: Any) -> bytes:
        """The pickle of an object."""
        self.dump(obj)
        return self._out.getvalue()

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, StorageRef):
            return self._storages.in_pickle(obj)
        if isinstance(obj, (tuple, type)) or not hasattr(type(obj), "__reduce_package__"):
            return super().persistent_id(obj)
        return self._reduction(obj)

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Writes a class or function by the name that the importer has for it."""
        module, name = self._home(obj, name)
        self.modules[module] = None
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        elif "." in name:
            outer, _, last = name.rpartition(".")
            self.save_reduce(getattr, (self._found(module, outer), last))
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    def _home(self, obj: Any, name: str | None) -> tuple[str, str]:
        if obj is type(None) or obj is type(NotImplemented) or obj is type(...):
            name = obj.__name__  # which `save_type` writes by what they are the types of
        told = getattr(obj, "__module__", None) or pickle.whichmodule(obj, name or obj.__name__)  # type: ignore[attr-defined]
        if told.partition(".")[0] in _LIBRARY:
            return names.name_in_file(told, name or obj.__qualname__)
        try:
            return self.importer.get_name(obj, name)
        except (ObjNotFoundError, ObjMismatchError) as error:
            raise pickle.PicklingError(str(error)) from None

    def _found(self, module: str, name: str) -> Any:
        found: Any = self.importer.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found

    dispatch[FunctionType] = save_global


class PackageUnpickler(pickle.Unpickler):
    """Reads a pickle whose names are those of a package.

    Args:
        importer: of the package.
        data: the pickle.
        persistent_load: gives storages, and what ``__reduce_package__`` reduced.
    """

    def __init__(self, importer: Importer, data: bytes, persistent_load: Callable[[Any], Any]) -> None:
        super().__init__(io.BytesIO(data))
        self._importer = importer
        self.persistent_load = persistent_load  # type: ignore[method-assign]

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] == names.FILE_ROOT:
            return names.resolve(module, name)
        found: Any = self._importer.import_module(demangle(module))
        for part in name.split("."):
            found = getattr(found, part)
        return found
