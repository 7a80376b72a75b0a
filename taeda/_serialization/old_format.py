"""The file format from before PyTorch 1.6: five pickles (a magic number, a version, the writer's system, the object,
the keys of its storages), then each storage as its number of elements and their bytes."""

from __future__ import annotations

import pickle
import pickletools
import struct
import sys
from collections.abc import Callable
from typing import IO, Any

import taeda
from taeda._serialization.archive import Damaged, bytes_of, fill
from taeda._serialization.pickler import StorageTable, dump
from taeda._serialization.safe_pickle import SafeUnpickler
from taeda._serialization.storage_types import StorageType
from taeda._serialization.storages import as_text

_MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001
_COUNT = struct.Struct("<q")


class _Damaged(Damaged):
    def __init__(self, what: str) -> None:
        super().__init__(what, "file")


class _Table(StorageTable):
    def persistent_id(self, ref: Any) -> tuple[Any, ...]:
        return (*super().persistent_id(ref), None)  # no part of another storage


def write(obj: Any, file: IO[bytes], pickle_module: Any, protocol: int) -> None:
    """Writes ``obj`` so that PyTorch of any age can read it."""
    sizes = {"short": 2, "int": 4, "long": 4}
    system = {"protocol_version": _VERSION, "little_endian": sys.byteorder == "little", "type_sizes": sizes}
    table = _Table()
    pickled = dump(obj, pickle_module, protocol, table)
    for head in (_MAGIC, _VERSION, system):
        pickle.dump(head, file, protocol=min(protocol, 3))
    file.write(pickled)
    pickle.dump([str(key) for key in range(len(table.storages))], file, protocol=min(protocol, 3))
    for storage, itemsize in zip(table.storages, table.itemsizes(), strict=True):
        file.write(_COUNT.pack(storage.nbytes() // itemsize))
        file.write(bytes_of(storage if storage.device.type == "cpu" else storage.cpu()))


class _Bounded:
    """A file that refuses to read beyond its end before memory is taken for it: a pickle may ask for any length."""

    def __init__(self, file: Any) -> None:
        here = file.tell()
        self._end = file.seek(0, 2)
        file.seek(here)
        self.tell, self.readline, self._read = file.tell, file.readline, file.read

    def read(self, size: int) -> bytes:
        left = self._end - self.tell()
        if size > left:
            raise ValueError(f"its pickle wants {size} bytes; {left} are left")
        data: bytes = self._read(size)
        return data


def _next_pickle(file: Any) -> bytes:
    """The bytes of the pickle that begins here."""
    start = file.tell()
    try:
        for _ in pickletools.genops(_Bounded(file)):  # type: ignore[arg-type]
            pass
    except ValueError as error:
        raise pickle.UnpicklingError(f"taeda.load: the file is damaged: {error}") from error
    end = file.tell()
    file.seek(start)
    data: bytes = file.read(end - start)
    return data


def _refuse(name: Any) -> Any:
    shown = name[:200] if isinstance(name, str) else f"a {type(name).__name__}"  # whose text may be without end
    raise pickle.UnpicklingError(f"plain data was expected; got {shown}")


def _next_plain(file: Any) -> Any:
    """What the pickle that begins here holds: numbers, texts and containers."""
    data = _next_pickle(file)
    try:
        return SafeUnpickler(data, _refuse, _refuse, "utf-8").load()
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(f"taeda.load: the file is damaged: {error}") from error


def open_old(file: Any) -> bytes | None:
    """The pickle of the object in a file of this format, after which ``file`` stands; None for any other file."""
    start = file.tell()
    try:
        is_ours = _next_plain(file) == _MAGIC
    except pickle.UnpicklingError:
        is_ours = False
    if not is_ours:
        file.seek(start)
        return None
    version, system = _next_plain(file), _next_plain(file)
    if type(version) is not int or version != _VERSION or not isinstance(system, dict):
        found = version if type(version) is int else f"a {type(version).__name__}"
        raise _Damaged(f"its version is {found}, not {_VERSION}")
    return _next_pickle(file)


class OldStorages:
    """Makes the storages that the object's pickle names; `fill` reads their bytes, which follow it.

    Args:
        restore: places a storage, given it and its saved location.
        file: stands after the object's pickle.
        blank: leave the storages' bytes uninitialised.
    """

    def __init__(self, restore: Callable[[Any, str], Any], file: Any, blank: bool) -> None:
        self._restore, self._file, self._blank = restore, file, blank
        here = file.tell()
        self._left = file.seek(0, 2) - here  # more than which the storages cannot take
        file.seek(here)
        self._made: dict[str, tuple[taeda.UntypedStorage, Any, int]] = {}  # in memory, in its place, bytes per element

    def load(self, pid: Any) -> Any:
        """What ``("storage", type, key, location, numel, part)`` or ``("module", class, file, source)`` names.

        Raises:
            RuntimeError: the id is of another form, or asks for more than the file holds.
        """
        pid = as_text(pid)
        if isinstance(pid, tuple) and len(pid) == 4 and pid[0] == "module":
            return pid[1]
        kind, key, location, numel, part = self._parse(pid)
        itemsize = 1 if kind.dtype is None else kind.dtype.itemsize
        if key not in self._made:
            self._left -= numel * itemsize
            if self._left < 0:
                raise _Damaged("its storages are larger than the file")
            raw = taeda.UntypedStorage(numel * itemsize)
            self._made[key] = raw, self._restore(raw, location), itemsize
        raw, placed, known = self._made[key]
        if (known != itemsize and numel) or raw.nbytes() != numel * itemsize:
            raise _Damaged(f"storage {key!r} is named with two sizes")
        if part is not None:
            first, count = part[1] * itemsize, part[2] * itemsize
            if first + count > raw.nbytes():
                raise _Damaged(f"a part of storage {key!r} reaches beyond it")
            placed = placed[first : first + count]
        return placed if kind.dtype is None else taeda.TypedStorage(wrap_storage=placed, dtype=kind.dtype)

    def _parse(self, pid: Any) -> tuple[type[StorageType], str, str, int, Any]:
        if isinstance(pid, tuple) and len(pid) in (5, 6) and pid[0] == "storage":
            kind, key, location, numel, part = (*pid[1:], None)[:5]
            typed = isinstance(kind, type) and issubclass(kind, StorageType)
            counts = [numel] if part is None else [numel, *part[1:]] if isinstance(part, tuple) else [None]
            whole = len(counts) in (1, 3) and all(type(n) is int and 0 <= n < 2**63 for n in counts)
            if typed and isinstance(key, str) and isinstance(location, str) and whole:
                return kind, key, location, numel, part
        raise _Damaged("its pickle names a storage in a form that is not known")

    def fill(self) -> None:
        """Reads the bytes of all storages.

        Raises:
            RuntimeError: the file ends too soon, or holds other storages than its pickle names.
        """
        file = self._file
        keys = _next_plain(file)
        whole = isinstance(keys, list) and all(isinstance(key, (str, int, bytes)) for key in keys)
        if not whole or {str(key) for key in keys} != set(self._made):
            raise _Damaged("it holds other storages than its pickle names")
        for key in keys:
            raw, placed, itemsize = self._made[str(key)]
            head = file.read(_COUNT.size)
            if len(head) != _COUNT.size or _COUNT.unpack(head)[0] * itemsize != raw.nbytes():
                raise _Damaged(f"storage {key!r} has another size than its tensors say")
            if self._blank:
                file.seek(raw.nbytes(), 1)
            else:
                fill(file, bytes_of(raw))
                if placed is not raw and placed.device.type != "meta":
                    placed.copy_(raw)
