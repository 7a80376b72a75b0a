"""The autocast layer: per family ``autocast/<family>.h`` and ``.cpp``, a function per op that says ``autocast=``."""

from __future__ import annotations

from taedagen.emit import cpp
from taedagen.emit.plan import Family, Plan
from taedagen.opdef.declaration import Op

_RULES = {"lower": "Lower", "fp32": "Fp32", "promote": "Promote"}


def emit_autocast(plan: Plan) -> dict[str, str]:
    """File name to text, relative to the output folder."""
    files: dict[str, str] = {}
    for family in plan.families:
        ops = [op for op in family.ops if plan.has_body(op) and plan.has_autocast_layer(op)]
        if ops:
            files[f"csrc/autocast/ops/{family.name}.h"] = _header(family, ops)
            files[f"csrc/autocast/ops/{family.name}.cpp"] = _source(family, ops)
    return files


def _signature(op: Op) -> str:
    return f"{cpp.return_type(op)} {op.cpp_name}({cpp.keyed_parameters(op)})"


def _header(family: Family, ops: list[Op]) -> str:
    lines = [family.made, "#pragma once", '#include "taeda/ops/defaults.h"', ""]
    lines += [
        "namespace taeda::autocast {",
        *(cpp.declaration(op, _signature(op)) for op in ops),
        "}  // namespace taeda::autocast",
    ]
    return "\n".join([*lines, ""])


def _source(family: Family, ops: list[Op]) -> str:
    lines = [
        family.made,
        f'#include "autocast/ops/{family.name}.h"',
        "",
        f'#include "taeda/ops/{family.name}.h"',
        '#include "autograd/casting.h"',
        "",
        "namespace taeda::autocast {",
    ]
    for op in ops:
        lines += ["", *_function(op)]
    return "\n".join([*lines, "", "}  // namespace taeda::autocast", ""])


def _function(op: Op) -> list[str]:
    """Casts the tensors, then calls the op again, below this layer."""
    rule = op.declaration.options["autocast"]
    tensors = [cpp.identifier(a.name) for a in op.schema.arguments if a.type.is_tensor]
    widest_of = str(op.declaration.options.get("widest_of", "")).split() or tensors
    seen = "".join(f", {name}" for name in widest_of) if rule == "promote" else ""
    values = (cpp.identifier(a.name) for a in op.schema.arguments)
    arguments = ", ".join(f"cast({name})" if name in tensors else name for name in values)
    return [
        cpp.place_comment(op.declaration),
        f"{_signature(op)} {{",
        f"  casting::Scope cast(keys, casting::Rule::{_RULES[rule]}{seen});",
        f"  return ops::{op.cpp_name}({arguments});",
        "}",
    ]
