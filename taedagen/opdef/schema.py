"""The schema grammar: ``add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

BASES = {
    "Tensor", "Scalar", "int", "SymInt", "float", "bool", "str", "ScalarType", "Layout", "Device", "MemoryFormat",
    "Generator",
}  # fmt: skip

# Objects of a class that C++ knows go boxed: ``__torch__.torch.classes.quantized.LinearPackedParamsBase``.
_CLASS = "__torch__.torch.classes."

_TYPE = re.compile(
    r"(?P<base>[\w.]+)(?:\((?P<alias>\w+!?)\))?(?P<inner>\?)?(?P<list>\[(?P<size>\d*)\])?(?P<optional>\?)?$"
)
_HEAD = re.compile(r"(?P<name>(?:\w+::)?\w+)(?:\.(?P<overload>\w+))?\((?P<arguments>.*)\) -> (?P<returns>.+)$", re.S)


@dataclass(frozen=True)
class Type:
    """One type of the grammar, e.g. ``Tensor(a!)``, ``SymInt[2]?``, ``Tensor?[]``."""

    base: str
    alias: str = ""  # "a" or "a!"
    is_list: bool = False
    list_size: int = 0  # 0: any length
    optional: bool = False
    optional_elements: bool = False

    @property
    def is_tensor(self) -> bool:
        return self.base == "Tensor"

    @property
    def is_class(self) -> bool:
        return self.base.startswith(_CLASS)

    @property
    def is_mutable(self) -> bool:
        return self.alias.endswith("!")

    def __str__(self) -> str:
        text = self.base + (f"({self.alias})" if self.alias else "")
        if self.is_list:
            text += ("?" if self.optional_elements else "") + f"[{self.list_size or ''}]"
        return text + ("?" if self.optional else "")


@dataclass(frozen=True)
class Argument:
    """A parameter; ``default`` is the schema's own text, None without one."""

    name: str
    type: Type
    default: str | None = None
    keyword_only: bool = False

    def __str__(self) -> str:
        return f"{self.type} {self.name}" + ("" if self.default is None else f"={self.default}")


@dataclass(frozen=True)
class Return:
    """A result; ``name`` is empty where the schema gives none."""

    type: Type
    name: str = ""

    def __str__(self) -> str:
        return f"{self.type} {self.name}".rstrip()


@dataclass(frozen=True)
class Schema:
    """A parsed schema; ``str`` gives the text back in its one canonical form."""

    name: str  # with the namespace, unless that is aten: "add", "quantized::linear"
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]

    def __str__(self) -> str:
        parts, starred = [], False
        for argument in self.arguments:
            if argument.keyword_only and not starred:
                parts.append("*")
                starred = True
            parts.append(str(argument))
        returns = ", ".join(map(str, self.returns))
        returns = returns if len(self.returns) == 1 else f"({returns})"
        return f"{self.full_name}({', '.join(parts)}) -> {returns}"

    @property
    def namespace(self) -> str:
        return self.name.partition("::")[0] if "::" in self.name else "aten"

    @property
    def plain_name(self) -> str:
        """Without the namespace."""
        return self.name.rpartition("::")[2]

    @property
    def full_name(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def names(self) -> list[str]:
        return [argument.name for argument in self.arguments]

    @property
    def tensors(self) -> list[Argument]:
        return [a for a in self.arguments if a.type.is_tensor]

    @property
    def takes_objects(self) -> bool:
        """Whether an argument is an object of a class."""
        return any(a.type.is_class for a in self.arguments)

    def argument(self, name: str) -> Argument:
        return next(a for a in self.arguments if a.name == name)

    def with_arguments(self, *arguments: Argument, name: str | None = None, overload: str | None = None,
                       returns: tuple[Return, ...] | None = None) -> Schema:  # fmt: skip
        return replace(
            self,
            arguments=tuple(arguments),
            name=self.name if name is None else name,
            overload=self.overload if overload is None else overload,
            returns=self.returns if returns is None else returns,
        )


def parse_type(text: str) -> Type:
    match = _TYPE.match(text)
    if not match or (match["base"] not in BASES and not match["base"].startswith(_CLASS)):
        raise ValueError(f"'{text}' is no type of the schema grammar")
    is_list, inner = bool(match["list"]), bool(match["inner"])
    return Type(
        match["base"], match["alias"] or "", is_list, int(match["size"] or 0),
        optional=bool(match["optional"]) or (inner and not is_list), optional_elements=inner and is_list,
    )  # fmt: skip


def split_commas(text: str) -> list[str]:
    """Splits at the commas that no bracket and no quote encloses."""
    parts, depth, quote, start = [], 0, "", 0
    for i, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    tail = text[start:].strip()
    return [*parts, tail] if tail else parts


def parse_schema(text: str) -> Schema:
    """Parses ``text``; ValueError with a sentence on a mistake."""
    match = _HEAD.match(" ".join(text.split()))
    if not match:
        raise ValueError(f"a schema reads 'name.overload(Type argument, ...) -> Type'; got '{text}'")
    head = match["name"].removeprefix("aten::")
    arguments, keyword_only = [], False
    for part in split_commas(match["arguments"]):
        if part == "*":
            keyword_only = True
            continue
        declaration, _, default = part.partition("=")
        type_text, _, name = declaration.strip().rpartition(" ")
        if not type_text:
            raise ValueError(f"the parameter '{part}' lacks a type or a name")
        arguments.append(Argument(name, parse_type(type_text), default.strip() or None, keyword_only))
    names = [a.name for a in arguments]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the parameter '{name}' stands twice")
    returns = match["returns"].strip()
    inner = split_commas(returns[1:-1]) if returns.startswith("(") else [returns]
    parsed = []
    for part in inner:
        type_text, _, name = part.partition(" ")
        parsed.append(Return(parse_type(type_text), name.strip()))
    return Schema(head, match["overload"] or "", tuple(arguments), tuple(parsed))
