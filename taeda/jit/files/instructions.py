"""Taeda's instructions in an archive, beside the source: what runs without Python, and need not be compiled again.

``instructions/program`` is the program's text (``csrc/jit/assembler_text.cpp`` reads it), ``instructions.pkl`` the
values that it refers to by number, ``instructions/names`` which function of the source each of its functions is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from taeda import Tensor

if TYPE_CHECKING:
    from taeda.jit.files.archive import ProgramWriter
    from taeda.jit.files.definitions import Definitions

PROGRAM, NAMES = "instructions/program", "instructions/names"


def write_instructions(writer: ProgramWriter, definitions: Definitions, function: Any, needed: bool) -> None:
    """Writes the records. A program that refers to what archives do not hold has none, and runs from its source.

    Raises:
        RuntimeError: they are ``needed``, and there are none.
    """
    from taeda.jit.files.save import write_values
    from taeda.jit.translate.build import _name_of, program_of

    functions = definitions.functions()
    if function is not None:
        functions["__torch__.PlaceholderModule.forward"] = function.function
    try:
        text, values = program_of(functions.values(), definitions.methods())
    except RuntimeError:
        if needed:
            raise
        return  # what has no instructions raises when it is run
    if not all(isinstance(value, Tensor) for value in values):
        if needed:
            raise RuntimeError("taeda.jit.save: the program refers to objects of Python's, which archives do not hold")
        return
    names = {name: _name_of(each) for name, each in functions.items()}
    for type, method in definitions.methods():
        from taeda.jit.files.objects import method_of

        names[f"{type._name}.{method}"] = _name_of(method_of(type, method))
    writer.write(PROGRAM, text.encode())
    writer.write(NAMES, json.dumps(names).encode())
    write_values(writer, "instructions", lambda pickle: pickle.write(tuple(values)))
