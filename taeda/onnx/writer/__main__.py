"""``python -m taeda.onnx.writer``: how each declared op is said in ONNX, and which ops nothing says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import taeda
from taeda._decompositions import decomposition_table, formula_of
from taeda.onnx.writer import everything as everything
from taeda.onnx.writer.bodies import BODIES
from taeda.onnx.writer.table import find


def how(op: Any) -> str:
    """In which way an op is said."""
    name, base = op.name(), op._qualified_name
    if find(op) is not None:
        return "a function"
    if name in BODIES or base in BODIES:
        return "a body for ONNX"
    if decomposition_table.declared(op) is not None:
        return "its body"
    if formula_of(name.partition("::")[2]) is not None:
        return "its formula"
    return "what it is made of in C++, if anything"


def main() -> None:
    """Prints a line for each functional op, and how many there are of each kind."""
    found: Counter[str] = Counter()
    for name in sorted(dir(taeda.ops.aten)):
        packet = getattr(taeda.ops.aten, name)
        for overload in getattr(packet, "overloads", list)():
            op = getattr(packet, overload)
            if op._schema.is_mutable or name.endswith("_backward"):
                continue
            way = how(op)
            found[way] += 1
            print(f"{op}: {way}")
    for way, count in found.most_common():
        print(f"{count:5} by {way}")


if __name__ == "__main__":
    main()
