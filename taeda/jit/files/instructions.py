"""Taeda's instructions in an archive, beside the source: what runs without Python, and need not be compiled again.

``instructions/program`` is the program's text (``csrc/jit/assembler_text.cpp`` reads it), ``instructions.pkl`` the
values that it refers to by number, ``instructions/names`` which function of the source each of its functions is.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from taeda import _C, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from taeda.jit.files.archive import ProgramReader, ProgramWriter
    from taeda.jit.files.definitions import Definitions
    from taeda.jit.files.program import ArchiveProgram

PROGRAM, NAMES = "instructions/program", "instructions/names"
_PLACEHOLDER = "__torch__.PlaceholderModule.forward"  # of a function's archive; its instructions take no module


class Written(NamedTuple):
    """A program's instructions: their text, which function each is, and the values that they refer to."""

    text: bytes
    names: bytes
    values: tuple[Any, ...]


def instructions_of(definitions: Definitions, function: Any, needed: bool) -> Written | None:
    """The instructions. A program that refers to what archives do not hold has none, and runs from its source.

    Raises:
        RuntimeError: they are ``needed``, and there are none.
    """
    from taeda.jit.translate.build import name_of, program_of

    functions = definitions.functions()
    if function is not None:
        functions[_PLACEHOLDER] = function.function
    try:
        text, values = program_of(functions.values(), definitions.methods())
    except RuntimeError:
        if needed:
            raise
        return None  # what has no instructions raises when it is run
    if not all(isinstance(value, Tensor) for value in values):
        if needed:
            raise RuntimeError("taeda.jit.save: the program refers to objects of Python's, which archives do not hold")
        return None
    names = {name: name_of(each) for name, each in functions.items()}
    for type, method in definitions.methods():
        from taeda.jit.files.objects import method_of

        names[f"{type._name}.{method}"] = name_of(method_of(type, method))
    return Written(text.encode(), json.dumps(names).encode(), tuple(values))


def write_instructions(writer: ProgramWriter, written: Written) -> None:
    """Writes the records."""
    from taeda.jit.files.save import write_values

    writer.write(PROGRAM, written.text)
    writer.write(NAMES, written.names)
    write_values(writer, "instructions", lambda pickle: pickle.write(written.values))


class Instructions:
    """The instructions of an archive that was read. They are brought in when the first of its functions runs, and stand
    for its source as long as nobody changes a graph.

    Args:
        reader: the archive.
        values: reads the pickle of the values that they refer to.
    """

    def __init__(self, reader: ProgramReader, values: Callable[[], Any]) -> None:
        self._text, self._names = reader.text(PROGRAM), reader.read(NAMES)
        self._values = list(values())

    def bring(self, program: ArchiveProgram) -> None:
        """Makes them the code of the program's functions; what this build cannot read stays with its source."""
        from taeda.jit.translate.build import adopt, name_of

        try:
            names = json.loads(self._names)
            functions = {own: program.function(name) for name, own in names.items() if name != _PLACEHOLDER}
            functions = {own: function for own, function in functions.items() if function is not None}
            called = {own: name_of(function) for own, function in functions.items()}
            made = _C._jit.load(self._renamed(called | self._classes(program)), self._values, [])
            found = [(function, made[called[own]]) for own, function in functions.items()]
        except (RuntimeError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return
        for function, code in found:
            if function._graph is None:
                adopt(function, code)

    def _classes(self, program: ArchiveProgram) -> dict[str, str]:
        """The names that the archive's classes have in this process."""
        if _UNSHARED.search(self._text):
            raise ValueError("enumerations and named tuples are made from the source")
        return {name: program.named(name)._name for name in _CLASS.findall(self._text)}

    def _renamed(self, names: dict[str, str]) -> str:
        if all(name == own for name, own in names.items()):
            return self._text
        renamed = lambda found: f'"{names.get(found[1], found[1])}"'
        lines = self._text.split("\n")
        return "\n".join(line if line.startswith("source ") else _QUOTED.sub(renamed, line) for line in lines)


_CLASS = re.compile(r'^class "([^"]*)"', re.MULTILINE)
_QUOTED = re.compile(r'"(__torch__[^"]*)"')
_UNSHARED = re.compile(r"^enum | named ", re.MULTILINE)
