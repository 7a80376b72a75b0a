"""Schemas of ops as objects: ``op._schema``."""

from __future__ import annotations

from typing import Any

from taeda._schema_types import named


class AliasInfo:
    """Which memory an argument or result shares (``before_set``), and whether it is written to."""

    def __init__(self, text: str) -> None:
        sets, _, after = text.partition("->")
        self.is_write = "!" in sets
        names = {name.strip(" !") for name in sets.split("|")}
        self.before_set = names
        self.after_set = {name.strip() for name in after.split("|")} if after else names

    def __repr__(self) -> str:
        return f"({'|'.join(sorted(self.before_set))}{'!' if self.is_write else ''})"


def _read_type(text: str) -> tuple[str, AliasInfo | None, int | None]:
    """What ``Tensor(a!)?`` or ``SymInt[2]`` says: the plain type, the alias, the size of the list."""
    alias, size = None, None
    if "(" in text:
        before, _, rest = text.strip().partition("(")
        inside, _, after = rest.partition(")")
        text, alias = before + after, AliasInfo(inside)
    before, _, rest = text.strip().rpartition("[")
    inside, _, after = rest.partition("]")
    if before and inside:
        text, size = f"{before}[]{after}", int(inside)
    return text.strip(), alias, size


class Argument:
    """A parameter or a result of a schema."""

    def __init__(self, type_text: str, name: str, default: Any = None, has_default: bool = False,
                 kwarg_only: bool = False) -> None:  # fmt: skip
        plain, self.alias_info, self.N = _read_type(type_text)
        self.type, self.real_type = named(plain, real=False), named(plain, real=True)
        self.name = name
        self.default_value = default
        self._has_default = has_default
        self.kwarg_only = kwarg_only

    def has_default_value(self) -> bool:
        return self._has_default

    @property
    def is_write(self) -> bool:
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def is_out(self) -> bool:
        return self.kwarg_only and self.is_write

    def __repr__(self) -> str:
        return f"Argument(name='{self.name}', type={self.type})"


class FunctionSchema:
    """The schema of an op; ``str`` gives its text."""

    def __init__(self, text: str, defaults: dict[str, Any]) -> None:
        self.text = text
        opening = text.index("(")
        full_name = text[:opening].strip()
        self.name, _, self.overload_name = full_name.partition(".")
        closing = _matching(text, opening)
        self.arguments = _arguments(text[opening + 1 : closing], defaults)
        self.returns = _returns(text[closing + 1 :].strip().removeprefix("->").strip())

    @property
    def is_mutable(self) -> bool:
        """Whether a call writes to an argument."""
        return any(argument.is_write for argument in self.arguments)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionSchema) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def parse_schema(text: str) -> FunctionSchema:
    """Reads ``"ns::name.overload(Tensor self, int dim=0) -> Tensor"``; defaults stay text."""
    return FunctionSchema(text, {})


def _matching(text: str, opening: int) -> int:
    """Where the bracket at ``opening`` is closed."""
    depth = 0
    for i in range(opening, len(text)):
        depth += (text[i] in "([") - (text[i] in ")]")
        if depth == 0:
            return i
    raise RuntimeError(f"taeda.ops: the schema '{text}' has a bracket that is not closed")


def _split(text: str) -> list[str]:
    """At the commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    parts.append(text[begin:].strip())
    return [part for part in parts if part]


def _arguments(text: str, defaults: dict[str, Any]) -> list[Argument]:
    arguments, keyword_only = [], False
    for part in _split(text):
        if part == "*":
            keyword_only = True
            continue
        declared, equals, default = part.partition("=")
        type_text, _, name = declared.strip().rpartition(" ")
        arguments.append(
            Argument(type_text, name, defaults.get(name, default if equals else None), bool(equals), keyword_only)
        )
    return arguments


def _returns(text: str) -> list[Argument]:
    if text.startswith("(") and _matching(text, 0) == len(text) - 1:
        text = text[1:-1]
    results = []
    for part in _split(text):
        type_text, _, name = part.rpartition(" ")
        results.append(Argument(type_text or name, name if type_text else ""))
    return results
