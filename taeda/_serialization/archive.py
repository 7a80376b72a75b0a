"""The zip archive of a checkpoint: stored (never compressed) records whose bytes start on 64-byte boundaries.

Layout, with everything under one top-level folder: ``data.pkl`` is the object, ``data/<key>`` the raw storages,
``byteorder`` and ``version`` say how to read them.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from typing import IO, TYPE_CHECKING, Any

import taeda

if TYPE_CHECKING:
    import zipfile

ALIGNMENT = 64
_FORMAT_VERSION = 3
_LOCAL_HEADER = 30
_LOCAL_MAGIC = b"PK\x03\x04"
_PADDING_TAG = b"FB"
_ZIP_VERSION = 45  # the first with 64-bit sizes
_UTF8 = 0x800
_DOS_DATE = 0x21  # 1 January 1980, always, so that equal objects make equal files
_NO_FIT = 0xFFFFFFFF  # a 32-bit field's "see the 64-bit one"
_ENCRYPTED = 0x1
_CHUNK = 1 << 24


class ScriptArchive(RuntimeError):
    """The archive holds a program."""


class Damaged(RuntimeError):
    """The file contradicts itself; a RuntimeError, as PyTorch raises for it."""

    def __init__(self, what: str, kind: str = "zip archive") -> None:
        super().__init__(f"taeda.load: the {kind} is damaged: {what}")
        self._given = what, kind

    def __reduce__(self) -> Any:
        return type(self), self._given


def bytes_of(storage: taeda.UntypedStorage) -> memoryview:
    """The bytes of a storage in memory, shared and writable."""
    nbytes = storage.nbytes()
    if nbytes == 0:
        return memoryview(b"")
    import ctypes

    return memoryview((ctypes.c_ubyte * nbytes).from_address(storage.data_ptr())).cast("B")


class ArchiveWriter:
    """Writes the records of one checkpoint to a binary file, front to back, so that a pipe will do.

    The zip structures are those of PKWARE's APPNOTE 6.3.3, sections 4.3 and 4.5.3.
    """

    def __init__(
        self, file: IO[bytes], folder: str, checksums: bool, version: int = _FORMAT_VERSION,
        version_record: str = "version",
    ) -> None:  # fmt: skip
        self._file = file
        self._version, self._version_record = version, version_record
        self._folder = folder
        self._checksums = checksums
        self._at = 0
        self._directory: list[bytes] = []
        self._digest = 0

    def write(self, name: str, data: bytes | memoryview) -> None:
        """Add the record ``name``."""
        crc = zlib.crc32(data) if self._checksums else 0
        self._digest = zlib.crc32(f"{name} {len(data)} {crc}".encode(), self._digest)
        self._header(name, len(data), crc)
        self._put(data)

    def write_blank(self, name: str, size: int) -> None:
        """Add a record of ``size`` zero bytes, with no checksum, to be overwritten later."""
        self._header(name, size, 0)
        for at in range(0, size, _CHUNK):
            self._put(bytes(min(_CHUNK, size - at)))

    def finish(self) -> None:
        """Write the closing records and the directory."""
        self.write(self._version_record, b"%d\n" % self._version)
        self.write(".data/serialization_id", b"%040d" % self._digest)
        start = self._at
        self._put(b"".join(self._directory))
        self._put(_end_of_directory(len(self._directory), start, self._at - start))

    def _put(self, data: bytes | memoryview) -> None:
        self._file.write(data)
        self._at += len(data)

    def _header(self, name: str, size: int, crc: int) -> None:
        path = f"{self._folder}/{name}".encode()
        shown = min(size, _NO_FIT)
        common = struct.pack("<HHHHHIIIH", _ZIP_VERSION, _UTF8, 0, 0, _DOS_DATE, crc, shown, shown, len(path))
        large = struct.pack("<HHQQ", 1, 16, size, size) if size >= _NO_FIT else b""
        extra = large + _padding(self._at + _LOCAL_HEADER + len(path) + len(large))
        offset = self._at
        self._put(_LOCAL_MAGIC + common + struct.pack("<H", len(extra)) + path + extra)
        far = [size, size] if size >= _NO_FIT else []
        if offset >= _NO_FIT:
            far.append(offset)
        extra = struct.pack(f"<HH{len(far)}Q", 1, 8 * len(far), *far) if far else b""
        tail = struct.pack("<HHHHII", len(extra), 0, 0, 0, 0, min(offset, _NO_FIT))
        self._directory.append(b"PK\x01\x02" + struct.pack("<H", _ZIP_VERSION) + common + tail + path + extra)


def _end_of_directory(count: int, start: int, size: int) -> bytes:
    end = start + size
    text = b""
    if count >= 0xFFFF or end >= _NO_FIT:
        text += b"PK\x06\x06" + struct.pack(
            "<QHHIIQQQQ", 44, _ZIP_VERSION, _ZIP_VERSION, 0, 0, count, count, size, start
        )
        text += b"PK\x06\x07" + struct.pack("<IQI", 0, end, 1)
    few = min(count, 0xFFFF)
    return text + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, few, few, min(size, _NO_FIT), min(start, _NO_FIT), 0)


def _padding(start: int) -> bytes:
    """An extra field (tag, length, filler) that brings a record from ``start`` to the next boundary."""
    filler = -(start + 4) % ALIGNMENT
    return _PADDING_TAG + filler.to_bytes(2, "little") + b"Z" * filler


class ArchiveReader:
    """Finds and checks the records of a checkpoint; nothing is read before its bounds are known to be sane.

    Args:
        file: the archive.
        wants_checkpoint: whether there must be a ``data.pkl``; else one folder with whatever records is enough.

    Raises:
        RuntimeError: the archive is damaged, compressed, encrypted, or no checkpoint.
    """

    def __init__(self, file: IO[bytes], wants_checkpoint: bool = True) -> None:
        import zipfile  # with all that it imports, which writing does not need

        self._file = file
        self._wants_checkpoint = wants_checkpoint
        self.end = file.seek(0, os.SEEK_END)
        try:
            self._zip = zipfile.ZipFile(file)
            entries = self._zip.infolist()
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, OverflowError) as error:
            raise Damaged(str(error)) from error
        self._records: dict[str, zipfile.ZipInfo] = {}
        for info in entries:
            self._admit(info)
        if sum(info.compress_size for info in entries) > self.end:
            raise Damaged("its records overlap")
        self.folder = self._find_folder()
        self._check_kind()
        self.swaps_bytes = False

    def _check_kind(self) -> None:
        if self.has("constants.pkl"):
            raise ScriptArchive("taeda.load: this is a TorchScript archive; open it with taeda.jit.load")

    def _check_compression(self, info: zipfile.ZipInfo) -> None:
        if info.compress_type or info.compress_size != info.file_size:
            raise Damaged(f"record {info.filename!r} is compressed; checkpoints hold plain records")

    def _admit(self, info: zipfile.ZipInfo) -> None:
        self._check_compression(info)
        if info.flag_bits & _ENCRYPTED:
            raise Damaged(f"record {info.filename!r} is encrypted")
        if not 0 <= info.header_offset < self.end:
            raise Damaged(f"record {info.filename!r} lies outside the file")
        if info.filename in self._records:
            raise Damaged(f"record {info.filename!r} occurs twice")
        self._records[info.filename] = info

    def _find_folder(self) -> str:
        for name in self._records:
            folder, slash, rest = name.partition("/")
            if slash and rest == "data.pkl":
                return folder
        folders = {name.partition("/")[0] for name in self._records}
        if self._wants_checkpoint or len(folders) != 1:
            raise Damaged("it has no data.pkl; is it a checkpoint?")
        return folders.pop()

    def names(self) -> list[str]:
        """The records in the order of the file."""
        return [name.removeprefix(f"{self.folder}/") for name in self._records]

    def has(self, name: str) -> bool:
        return f"{self.folder}/{name}" in self._records

    def size(self, name: str) -> int:
        return self._info(name).file_size

    def _info(self, name: str) -> zipfile.ZipInfo:
        try:
            return self._records[f"{self.folder}/{name}"]
        except KeyError:
            raise Damaged(f"record {name!r} is missing") from None

    def offset(self, name: str) -> int:
        """Where in the file the record's bytes start."""
        info = self._info(name)
        self._file.seek(info.header_offset)
        header = self._file.read(_LOCAL_HEADER)
        if len(header) != _LOCAL_HEADER or header[:4] != _LOCAL_MAGIC:
            raise Damaged(f"record {name!r} has no header where the directory points")
        start = info.header_offset + _LOCAL_HEADER
        start += int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        if start + info.compress_size > self.end:
            raise Damaged(f"record {name!r} runs past the end of the file")
        return start

    def read(self, name: str) -> bytes:
        data = bytearray(self.size(name))
        self.read_into(name, memoryview(data))
        return bytes(data)

    def read_into(self, name: str, target: memoryview) -> None:
        """Fill ``target``, exactly as long as the record, and check the record's CRC-32 (0 means none was written)."""
        self._file.seek(self.offset(name))
        fill(self._file, target)
        expected = self._info(name).CRC
        if expected and zlib.crc32(target) != expected:
            raise Damaged(f"record {name!r} does not match its checksum")

    def read_byteorder(self, fallback: str) -> None:
        """Learn whether storages were written on a machine of the other byte order."""
        order = self.read("byteorder").decode("latin1") if self.has("byteorder") else fallback
        if order not in ("little", "big"):
            raise Damaged(f"its byte order is {order[:20]!r}, neither 'little' nor 'big'")
        self.swaps_bytes = order != sys.byteorder


def fill(file: Any, target: memoryview) -> None:
    done = 0
    while done < len(target):
        if hasattr(file, "readinto"):
            count = file.readinto(target[done:])
        else:
            data = file.read(min(len(target) - done, _CHUNK))
            count = len(data)
            target[done : done + count] = data
        if not count:
            raise Damaged("the file ended inside a record")
        done += count


def swap_bytes(storage: taeda.UntypedStorage, itemsize: int) -> None:
    """Reverse the bytes of every ``itemsize`` group in place."""
    if itemsize > 1:
        flat = taeda.empty(0, dtype=taeda.uint8).set_(
            storage, 0, (storage.nbytes() // itemsize, itemsize), (itemsize, 1)
        )
        flat.copy_(flat.flip(1))
