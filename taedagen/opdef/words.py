"""What the body of a composite may say besides ops, operators, numbers and lists.

``WORDS``, which ``body_vocabulary.py`` fills, are functions with a C++ form in
``taedagen/emit/body/words.py`` and a Python one in ``taeda/_decomp``, which
runs bodies on tensors; ``NAMES`` are dtypes and memory formats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from taedagen.opdef.errors import DeclarationError


@dataclass(frozen=True)
class Word:
    """A function of bodies; in a formula it has no meaning."""

    name: str
    doc: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise DeclarationError(("taedagen", 0), f"'{self.name}' is for the bodies of composites: {self.doc}")


@dataclass(frozen=True)
class Name:
    """A dtype (``kind`` is ScalarType) or a memory format, as bodies name it."""

    name: str
    kind: str


WORDS: dict[str, Word] = {}
NAMES: dict[str, Name] = {}


def word(name: str, doc: str) -> Word:
    WORDS[name] = Word(name, doc)
    return WORDS[name]


def dtype(name: str, python_name: str | None = None) -> Name:
    return NAMES.setdefault(python_name or name, Name(name, "ScalarType"))


def memory_format(name: str) -> Name:
    return NAMES.setdefault(name, Name(name, "MemoryFormat"))
