"""The last hand on generated C++: long lines are broken, and what emitters marked gets its file and line.

An emitter puts a mark in front of the line that it speaks of; ``settle`` takes the marks out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from taedagen.emit.sources import calls_through
from taedagen.opdef.declaration import Op

_WIDTH = 120  # as in the repository's own sources
_MARK = re.compile("\x01([^\x01]*)\x01")
_FIELD = "\x02"
_HELPER = re.compile(r"static [\w:<>&*, ]*?(\w+)\(")
# Layers whose functions are made of other ops.
_CALLING = re.compile(r"composite|(sparse|sparse_csr|quantized|nested)(_\w+)?")


@dataclass
class Locations:
    """Locations are ``csrc/folder/file.cpp:12``, below the folder of generated files."""

    functions: dict[str, dict[str, str]] = field(default_factory=dict)  # by full name and layer (a C++ namespace)
    calls: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # likewise, of those made of other ops
    loops: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # by kernel and compute type: loop and place

    def __or__(self, other: Locations) -> Locations:
        both = Locations(dict(self.functions), dict(self.calls), self.loops | other.loops)
        for name, found in other.functions.items():
            both.functions[name] = both.functions.get(name, {}) | found
        for name, calls in other.calls.items():
            both.calls[name] = both.calls.get(name, {}) | calls
        return both


def function_mark(op: Op, layer: str) -> str:
    """Before the head of the function that serves ``op`` in a layer."""
    return f"\x01{_FIELD.join(('function', op.schema.full_name, layer))}\x01"


def loop_mark(kernel: str, compute: str, loop: str) -> str:
    """Before the formula that ``loop`` runs for the elements of a compute type."""
    return f"\x01{_FIELD.join(('loop', kernel, compute, loop))}\x01"


def settle(files: Mapping[str, str]) -> tuple[dict[str, str], Locations]:
    """The files as they are written, and the locations that were marked in them."""
    locations, settled = Locations(), dict(files)
    for name, text in files.items():
        if name.endswith((".h", ".cpp", ".inc")):
            settled[name] = _settle(name, text, locations)
    return settled, locations


def _settle(name: str, text: str, locations: Locations) -> str:
    lines: list[str] = []
    body: list[str] | None = None  # of the function that the line stands in
    callers: list[tuple[list[str], list[str]]] = []  # of a function made of ops: what it calls, its body
    helpers: dict[str, list[str]] = {}  # the bodies of plain functions by their names
    for line in text.split("\n"):
        for mark in _MARK.findall(line) if "\x01" in line else ():
            kind, *fields = mark.split(_FIELD)
            at = f"{name}:{len(lines) + 1}"
            if kind == "loop":
                kernel, compute, loop = fields
                locations.loops.setdefault(kernel, {})[compute] = [loop, at]
                continue
            full_name, layer = fields
            locations.functions.setdefault(full_name, {})[layer] = at
            if _CALLING.fullmatch(layer):
                body = []
                callers.append((locations.calls.setdefault(full_name, {}).setdefault(layer, []), body))
        plain = _MARK.sub("", line)
        if helper := _HELPER.match(plain):
            body = helpers.setdefault(helper[1], [])
        if body is not None:
            body.append(plain)
            body = None if plain == "}" else body
        lines += _broken(plain)
    for calls, body in callers:
        calls += [call for call in calls_through(body, helpers) if call not in calls]
    return "\n".join(lines)


def _broken(line: str) -> list[str]:
    """``line`` in as many as it takes, broken after commas and between statements, else at operators."""
    if len(line) <= _WIDTH or line.lstrip().startswith(("#", "//")) or line.endswith("\\"):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    lines = []
    while len(line) > _WIDTH:
        breaks = _breaks(line, ",;{")
        fitting = [at for at in breaks if at <= _WIDTH + 1] or [
            at for at in _breaks(line, "&|+*-/=<>?:") if at <= _WIDTH + 1
        ]
        if not fitting and not breaks:
            break
        at = fitting[-1] if fitting else breaks[0]
        lines.append(line[:at].rstrip())
        line = indent + line[at:]
    return [*lines, line]


def _breaks(line: str, behind: str) -> list[int]:
    """Where a new line may begin: at spaces behind one of these characters, outside of quotes."""
    begin = len(line) - len(line.lstrip())
    found = re.finditer(rf"""(["'])(?:\\.|(?!\1).)*\1|(?<=[{re.escape(behind)}]) (?=.)""", line)
    return [at.end() for at in found if not at[1] and at.start() > begin]
