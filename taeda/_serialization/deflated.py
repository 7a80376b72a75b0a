"""Archives whose text may be compressed: programs, and packages with programs in them."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from taeda._serialization.archive import ArchiveReader, Damaged

if TYPE_CHECKING:
    import zipfile

_BEST_RATIO = 1032  # no deflated text is smaller: more is a bomb
_DEFLATED = 8  # in the directory of an archive


class DeflatedReader(ArchiveReader):
    """An `ArchiveReader` that takes compressed records, too."""

    def _check_compression(self, info: zipfile.ZipInfo) -> None:
        if info.compress_type != _DEFLATED:
            super()._check_compression(info)
        elif info.file_size > info.compress_size * _BEST_RATIO:
            raise Damaged(f"record {info.filename!r} claims more than its compressed bytes can hold")

    def read(self, name: str) -> bytes:
        info = self._info(name)
        if info.compress_type != _DEFLATED:
            return super().read(name)
        self._file.seek(self.offset(name))
        machine = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            data = machine.decompress(self._file.read(info.compress_size), info.file_size + 1)
        except zlib.error as error:
            raise Damaged(f"record {name!r} cannot be decompressed ({error})") from error
        if len(data) != info.file_size or (info.CRC and zlib.crc32(data) != info.CRC):
            raise Damaged(f"record {name!r} does not match its checksum")
        return data
