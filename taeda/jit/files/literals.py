"""Constants and types as archives spell them."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

_ESCAPES = {"\\": "\\\\", '"': '\\"', "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_LONGEST_TEXT = 2000  # what is longer goes to the table of constants


class ConstantTable:
    """What source cannot spell: tensors, text with characters outside ASCII, objects. ``CONSTANTS.c3`` is item 3."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._places: dict[Any, int] = {}

    def add(self, value: Any) -> str:
        """The expression for a value, which is added unless it is there."""
        key = (type(value), value) if isinstance(value, str) else id(value)
        place = self._places.setdefault(key, len(self.items))
        if place == len(self.items):
            self.items.append(value)  # also keeps it alive, so that its id stays its own
        return f"CONSTANTS.c{place}"

    def named(self) -> dict[str, Any]:
        """The items by name."""
        return {f"c{i}": item for i, item in enumerate(self.items)}


def type_text(type: Any) -> str:
    """A type as an annotation."""
    return type.annotation_str


def float_text(value: float) -> str:
    """A float with all of its digits, and a point or an exponent."""
    if math.isfinite(value):
        text = f"{value:.17g}"
        return text if "." in text or "e" in text else f"{text}."
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def complex_text(value: complex) -> str:
    """A complex number: ``1.+2.j``."""
    real, imaginary = float_text(value.real), float_text(value.imag)
    return f"{real}{'' if imaginary[0] == '-' else '+'}{imaginary}j"


def is_plain(text: str) -> bool:
    """Whether source can hold the text between quotes."""
    return len(text) <= _LONGEST_TEXT and all(" " <= c <= "~" or c in "\n\t\r" for c in text)


def text_literal(text: str) -> str:
    """A text between quotes."""
    return '"' + "".join(_ESCAPES.get(c, c) for c in text) + '"'


def literal(value: Any, type: Any, table: ConstantTable) -> str:
    """The expression for a constant of this type."""
    if value is None:
        return "None"
    if isinstance(value, enum.Enum) and type.kind() == "EnumType":  # its members may be texts or numbers, too
        return f"{type_text(type)}.{value.name}"
    for cls, spell in _SPELLINGS:
        if isinstance(value, cls):
            return spell(value)
    if isinstance(value, str):
        return text_literal(value) if is_plain(value) else table.add(value)
    if isinstance(value, (list, tuple, dict)):
        return _collection(value, type, table)
    return table.add(value)


def _collection(value: Any, type: Any, table: ConstantTable) -> str:
    inner: list[Any] = type.containedTypes() if type is not None else []
    if isinstance(value, dict):
        key, item = inner
        text = ", ".join(f"{literal(k, key, table)}: {literal(v, item, table)}" for k, v in value.items())
        return f"annotate({type_text(type)}, {{{text}}})"
    if isinstance(value, tuple):
        parts = [literal(v, t, table) for v, t in zip(value, inner or [None] * len(value), strict=True)]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    text = f"[{', '.join(literal(v, inner[0], table) for v in value)}]"
    return text if value and _plain_items(value) else f"annotate({type_text(type)}, {text})"


def _plain_items(values: list[Any]) -> bool:
    first = values[0].__class__
    return first in (bool, int, float, complex, str, Tensor) and all(v.__class__ is first for v in values)


_SPELLINGS: list[tuple[Any, Callable[[Any], str]]] = [
    (bool, str),
    (int, str),
    (float, float_text),
    (complex, complex_text),
    (taeda.device, lambda device: f'torch.device("{device}")'),
]
