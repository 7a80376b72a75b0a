"""Compiled modules in packages: several share one body of source and the package's storages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda._serialization.archive import Damaged
from taeda._serialization.pickler import StorageTable
from taeda._serialization.safe_pickle import Refused
from taeda.jit._module import RecursiveScriptModule
from taeda.jit.files.definitions import Definitions
from taeda.jit.files.load import Maker
from taeda.jit.files.pickle_writer import PickleWriter
from taeda.jit.files.program import ArchiveProgram
from taeda.jit.files.sources import Sources
from taeda.jit.files.unpickle import ProgramUnpickler, SavedObject

_FOLDER = ".data/ts_code/"


class PackagedPrograms:
    """Collects the compiled modules of a package that is written.

    Args:
        write: writes a record.
        storages: of the package; its ids name records.
    """

    def __init__(self, write: Callable[[str, bytes], None], storages: StorageTable) -> None:
        self._write, self._storages = write, storages
        self._definitions = Definitions()
        self._ids: list[str] = []

    def add(self, module: RecursiveScriptModule, id: str) -> None:
        """Writes the values of a module."""
        self._definitions.need_type(module._c.type())
        self._write(f"{_FOLDER}{id}/data.pkl", self._pickled(module._c))
        self._ids.append(id)

    def finish(self) -> None:
        """Writes the source, and the constants that it names."""
        if not self._ids:
            return
        for name, text in self._definitions.records().items():
            self._write(_FOLDER + name, text)
        constants = self._pickled(tuple(self._definitions.constants.items))
        for id in self._ids:
            self._write(f"{_FOLDER}{id}/constants.pkl", constants)

    def _pickled(self, value: Any) -> bytes:
        pickle = PickleWriter(self._storages)
        pickle.write(value)
        return pickle.finish()


class _Reader:
    """The records of programs in a package, as `Sources` asks for them."""

    def __init__(self, archive: Any) -> None:
        self._archive = archive

    def names(self) -> list[str]:
        return [name.removeprefix(_FOLDER) for name in self._archive.names() if name.startswith(_FOLDER)]

    def has(self, name: str) -> bool:
        return bool(self._archive.has(_FOLDER + name))

    def read(self, name: str) -> bytes:
        return self._archive.read(_FOLDER + name)  # type: ignore[no-any-return]

    def text(self, name: str) -> str:
        try:
            return self.read(name).decode()
        except UnicodeDecodeError as error:
            raise Damaged(f"record {name!r} is no text ({error})", "package") from error


def load_packaged(archive: Any, id: str, load_storage: Callable[[Any], Any]) -> RecursiveScriptModule:
    """A compiled module of a package.

    Args:
        archive: the package.
        id: which of its modules.
        load_storage: gives the storage for a persistent id.

    Raises:
        RuntimeError: the package is damaged, or has no such module.
    """
    reader: Any = _Reader(archive)
    try:
        constants = ProgramUnpickler(reader.read(f"{id}/constants.pkl"), load_storage).load()
        saved = ProgramUnpickler(reader.read(f"{id}/data.pkl"), load_storage).load()
    except Refused as error:
        raise RuntimeError(f"taeda.package: the package is damaged or was tampered with: {error}") from error
    if not isinstance(constants, tuple) or not isinstance(saved, SavedObject):
        raise Damaged(f"its program {id!r} holds no module", "package")
    return Maker(ArchiveProgram(Sources(reader), constants, None)).module(saved)
