"""Composites: per family ``composite/ops/<family>.h`` and ``.cpp``, with the bodies of those that are written in Python
and the in-place and out= forms of all."""

from __future__ import annotations

from taedagen.emit.body.unit import Unit
from taedagen.emit.forms import through_functional
from taedagen.emit.functions import header, source
from taedagen.emit.plan import Plan
from taedagen.opdef.declaration import Op


def emit_composite(plan: Plan) -> dict[str, str]:
    files: dict[str, str] = {}
    for family in plan.declared:
        composites = [op for op in family.declared if op.declaration.kind == "composite"]
        path = f"csrc/composite/ops/{family.name}"
        if composites:
            files[f"{path}.h"] = header(family, composites, "composite")
        ops = [op for op in composites if plan.has_body(op)]
        if ops:
            unit = Unit(family.name)
            bodies = {op: composite_body(op, unit) for op in ops}
            includes = ["autograd/overwritten.h", "composite/body.h", "shape/arguments.h", "shape/spec.h"]
            before = ["using namespace taeda::autograd;", *unit.functions()]
            files[f"{path}.cpp"] = source(
                plan, family, ops, "composite", "composite/ops", bodies.__getitem__, includes, before
            )
    return files


def has_body(op: Op) -> bool:
    """Whether the op itself, and no other form of it, is its declaration's function in Python."""
    declaration = op.declaration
    is_own = op.variant == "functional" or (op.variant == "inplace" and declaration.schema.name == op.schema.name)
    return declaration.kind == "composite" and is_own and "files" not in declaration.options


def composite_body(op: Op, unit: Unit) -> list[str] | None:
    """The statements; None where it is written by hand."""
    if has_body(op):
        return unit.composite(op)
    is_form = op.variant == "out" or (op.variant == "inplace" and op.declaration.schema.name != op.schema.name)
    return through_functional(op, "composite") if is_form else None
