"""Where C++ functions are defined: a scan of sources in the layout that this repository keeps.

Definitions begin at the start of a line, inside ``namespace a::b {`` or with a qualified name, and end with a line that
starts with ``}``. That is all a scan of lines needs; nothing here understands C++.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from taedagen.opdef.declaration import LAYOUTS, layout_layer

_NAMESPACE = re.compile(r"namespace ?([\w:]*) ?\{$")
_NAMESPACE_END = re.compile(r"\} *// *(?:anonymous )?namespace")
_START = re.compile(
    r"(?!return|using|namespace|else|if|for|while|typedef|#)[A-Za-z_][\w:<>,&*\s\[\]()]*?[\s&*>]([A-Za-z_][\w:]*)\("
)
_MACRO = re.compile(r"[A-Z][A-Z0-9_]+\((?:[A-Z][A-Z0-9_]+, )?([a-z_]\w*)[,)]")
_SWITCH = re.compile(r"\b(?:visit|visit_\w+|with_dtype)\(")
CALL = re.compile(r"\bops::(\w+(?:::\w+)?)\b")
# Folders of csrc where people write what an op's table points to.
HAND_WRITTEN = ("backend", "composite", *(layout_layer(functionality) for functionality in LAYOUTS))
# Entries of Python's tables of methods: of tensors, and others.
_METHOD = re.compile(r' +(?:method<\w+, "(\w+)">\(|\{"(\w+)", .*METH_)')
_USE = re.compile(r"\b([A-Za-z_]\w*)[(<]")


@dataclass
class Definition:
    """A function: its name with the namespaces below ``taeda``, its parameters' types, its place."""

    symbol: str
    types: tuple[str, ...]
    file: str
    line: int
    switch_line: int | None = None  # of the first choice by dtype in its body
    calls: list[str] = field(default_factory=list)  # ops, in the order of their first calls
    by_macro: bool = False  # TAEDA_UNARY(exp): its name is made of this one
    body: list[str] = field(default_factory=list, repr=False)

    @property
    def uses(self) -> set[str]:
        """The names in its body that may be functions."""
        return set(_USE.findall("\n".join(self.body)))

    @property
    def is_local(self) -> bool:
        """Whether it stands in an anonymous namespace, which is its own file's."""
        return "::::" in self.symbol or self.symbol.startswith("::")

    @property
    def at(self) -> str:
        return f"{self.file}:{self.line}"


def calls_through(body: Iterable[str], helpers: Mapping[str, Iterable[str]]) -> list[str]:
    """The ops that the lines of a function call, themselves or through ``helpers``, in order."""
    calls: dict[str, None] = {}
    seen: set[str] = set()
    open_ = [body]
    while open_:
        text = "\n".join(open_.pop(0))
        calls |= dict.fromkeys(CALL.findall(text))
        used = [name for name in dict.fromkeys(_USE.findall(text)) if name in helpers and name not in seen]
        seen.update(used)
        open_ += [helpers[name] for name in used]
    return list(calls)


def parameter_types(text: str) -> tuple[str, ...]:
    """The types of a C++ parameter list, names and defaults left out."""
    parts, depth, begin = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    parts.append(text[begin:])
    cleaned = (re.sub(r"/\*.*?\*/", "", part).partition("=")[0].strip() for part in parts)
    return tuple(re.sub(r"\s+\w+$", "", part) if "<" not in part.split()[-1] else part for part in cleaned if part)


def scan(path: Path, shown: str, with_local: bool = False) -> Iterator[Definition]:
    """The definitions in one file, those by macros too; anonymous namespaces only ``with_local``."""
    lines = path.read_text().splitlines()
    spaces: list[str] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        opened = _NAMESPACE.match(line)
        if opened:
            spaces.append(opened[1])
            continue
        if _NAMESPACE_END.match(line):
            spaces = spaces[:-1]
            continue
        macro = _MACRO.match(line)
        if macro and "" not in spaces:
            made = Definition("::".join([*spaces, macro[1]]).removeprefix("taeda::"), (), shown, number, by_macro=True)
            _note(made, _macro_text(lines, line.partition("(")[0]))
            yield made
            continue
        start = _START.match(line)
        if not start or ("" in spaces and not with_local):
            continue
        found = _read(lines, number - 1, start, spaces, shown)
        if found is not None:
            yield found


def _read(lines: list[str], at: int, start: re.Match[str], spaces: list[str], shown: str) -> Definition | None:
    text, last = lines[at], at
    while not text.rstrip().endswith(("{", "}", ";")) and last + 1 < len(lines) and last < at + 12:
        last += 1
        text += " " + lines[last].strip()
    closing = _closing(text, start.end() - 1)
    if closing is None or "{" not in text[closing:]:
        return None
    name = "::".join([*spaces, start[1]]).removeprefix("taeda::")
    definition = Definition(name, parameter_types(text[start.end() : closing]), shown, at + 1)
    for i in range(at, len(lines)):
        if _SWITCH.search(lines[i]) and definition.switch_line is None:
            definition.switch_line = i + 1
        _note(definition, lines[i])
        if i >= last and (lines[i].startswith("}") or (i == last and lines[i].rstrip().endswith("}"))):
            break
    return definition


def _note(definition: Definition, text: str) -> None:
    definition.calls += [call for call in CALL.findall(text) if call not in definition.calls]
    definition.body.append(text)


def _macro_text(lines: list[str], name: str) -> str:
    """What the file's macro of that name stands for; empty if it is defined elsewhere."""
    begin = next((i for i, line in enumerate(lines) if line.startswith(f"#define {name}(")), len(lines))
    end = begin
    while end < len(lines) and lines[end].endswith("\\"):
        end += 1
    return "\n".join(lines[begin : end + 1])


def _closing(text: str, opening: int) -> int | None:
    depth = 0
    for i in range(opening, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    return None


def scan_all(root: Path, folders: Iterable[str]) -> dict[str, list[Definition]]:
    """The definitions below ``root / folder`` by their names; files are shown relative to ``root``."""
    found: dict[str, list[Definition]] = {}
    for folder in folders:
        for path in sorted((root / folder).rglob("*.cpp")):
            defined = list(scan(path, str(path.relative_to(root)), with_local=True))
            local = {d.symbol.rpartition("::")[2]: d.body for d in defined if d.is_local}
            for definition in defined:
                if not definition.is_local:
                    definition.calls = calls_through(definition.body, local)
                    found.setdefault(definition.symbol, []).append(definition)
    return found


def scan_natives(root: Path) -> dict[str, str]:
    """Where the functions of ``_C`` stand that people wrote: ``tensor`` and, of tensors' methods, ``Tensor.item``."""
    found: dict[str, str] = {}
    for path in sorted((root / "csrc" / "python").rglob("*.cpp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := _METHOD.match(line):
                name = f"Tensor.{match[1]}" if match[1] else match[2]
                found.setdefault(name, f"{path.relative_to(root)}:{number}")
    return found
