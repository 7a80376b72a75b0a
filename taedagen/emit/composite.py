"""Composites whose bodies are written in Python: ``composite/ops/<family>.cpp``."""

from __future__ import annotations

import re

from taedagen.emit import cpp
from taedagen.emit.body.unit import Unit
from taedagen.emit.dispatch import prototypes
from taedagen.emit.plan import Family, Plan
from taedagen.opdef.declaration import Op


def emit_composite(plan: Plan) -> dict[str, str]:
    files = {}
    for family in plan.declared:
        ops = [op for op in family.declared if has_written_body(op) and plan.has_body(op)]
        if ops:
            files[f"csrc/composite/ops/{family.name}.cpp"] = _source(plan, family, ops)
    return files


def has_written_body(op: Op) -> bool:
    """Whether the op itself is the function of its declaration, in Python."""
    declaration = op.declaration
    is_own = op.variant == "functional" or (op.variant == "inplace" and declaration.schema.name == op.schema.name)
    return declaration.kind == "composite" and is_own and "files" not in declaration.options


def _source(plan: Plan, family: Family, ops: list[Op]) -> str:
    unit = Unit(family.name)
    functions: list[str] = []
    for op in ops:
        body = unit.composite(op)
        functions += [
            cpp.place_comment(op.declaration),
            f"{cpp.return_type(op)} composite::{op.cpp_name}({cpp.parameters(op.schema.arguments)}) {{",
            *(f"  {line}" for line in [*_unused(op, body), *body]), "}", "",
        ]  # fmt: skip
    helpers = [f"namespace composite::{unit.space} {{", *unit.helpers, "}", ""] if unit.helpers else []
    lines = [
        family.made, '#include "taeda/ops/defaults.h"', '#include "composite/body.h"',
        f'#include "shape/ops/{family.name}.h"', "", "namespace taeda {", *prototypes(plan, [*helpers, *functions]),
        "using namespace taeda::autograd;", "",
    ]  # fmt: skip
    return "\n".join([*lines, *helpers, *functions, "}  // namespace taeda", ""])


def _unused(op: Op, body: list[str]) -> list[str]:
    """Statements that name the arguments which the function ignores, as a compiler warns of them."""
    used = set(re.findall(r"\w+", "\n".join(body)))
    names = (cpp.identifier(a.name) for a in op.schema.arguments)
    return [f"(void){name};" for name in names if name not in used]
