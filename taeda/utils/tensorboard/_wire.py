"""The bytes of an event file: protocol buffers, written field by field, in records with checksums."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

Message = bytes


def _make_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _make_table()


def crc32c(data: bytes) -> int:
    """The Castagnoli checksum of ``data``."""
    table, crc = _TABLE, 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _masked(data: bytes) -> bytes:
    """The checksum as the format stores it: rotated and shifted, so that checksums of checksums stay useful."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data: bytes) -> bytes:
    """``data`` with its length before it and a checksum after each."""
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _varint(value: int) -> bytes:
    value &= 0xFFFFFFFFFFFFFFFF  # a negative number is written as its 64-bit complement
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


class Single(float):
    """A number that is written with 32 bits, not 64."""


class Packed(tuple[float, ...]):
    """Numbers that are written one after the other as one field of 64 bits each."""


class PackedSingles(tuple[float, ...]):
    """Numbers that are written one after the other as one field of 32 bits each."""


def _field(number: int, value: Any) -> bytes:
    if isinstance(value, Single):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, float):
        return _varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, (Packed, PackedSingles)):
        value = struct.pack(f"<{len(value)}{'d' if isinstance(value, Packed) else 'f'}", *value)
    elif isinstance(value, str):
        value = value.encode(errors="replace")
    elif not isinstance(value, bytes):
        raise TypeError(f"SummaryWriter: wants text; got {type(value).__name__}")
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def message(fields: Mapping[int, Any]) -> Message:
    """A message of fields by number. A ``float`` has 64 bits, an ``int`` or ``bool`` is a varint, ``str`` and ``bytes``
    (another message, too) have their length before them; a list is a repeated field, and ``None`` is left out."""
    parts: list[bytes] = []
    for number, value in fields.items():
        values: Iterable[Any] = value if isinstance(value, list) else [] if value is None else [value]
        parts.extend(_field(number, one) for one in values)
    return b"".join(parts)
