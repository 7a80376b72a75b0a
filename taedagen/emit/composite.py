"""Composites: per family ``composite/ops/<family>.h`` and ``.cpp``, with the bodies of those that are traced and the
in-place and out= forms of all."""

from __future__ import annotations

from taedagen.emit import cpp
from taedagen.emit.forms import through_functional
from taedagen.emit.functions import header, source
from taedagen.emit.lowering import Lowering, Typed, argument_kind
from taedagen.emit.plan import Plan
from taedagen.opdef.declaration import Op
from taedagen.opdef.expr import arg, trace


def emit_composite(plan: Plan) -> dict[str, str]:
    files: dict[str, str] = {}
    for family in plan.declared:
        composites = [op for op in family.declared if op.declaration.kind == "composite"]
        path = f"csrc/composite/ops/{family.name}"
        if composites:
            files[f"{path}.h"] = header(family, composites, "composite")
        ops = [op for op in composites if plan.has_body(op)]
        if ops:
            includes = ["autograd/numbers.h", "autograd/overwritten.h", "shape/arguments.h", "shape/spec.h"]
            before = ["using namespace taeda::autograd;"]
            files[f"{path}.cpp"] = source(plan, family, ops, "composite", composite_body, includes, before)
    return files


def composite_body(op: Op) -> list[str] | None:
    """The statements; None where it is written by hand."""
    declaration = op.declaration
    if op.variant == "functional":
        return None if declaration.options.get("files") else _traced(op)
    written_inplace = op.variant == "inplace" and declaration.schema.name == op.schema.name
    return None if written_inplace else through_functional(op, "composite")


def _traced(op: Op) -> list[str]:
    result = trace(op.declaration.function, {a.name: arg(a.name) for a in op.schema.arguments})  # type: ignore[arg-type]
    known = {a.name: Typed(cpp.identifier(a.name), argument_kind(a.type)) for a in op.schema.arguments}
    parts = list(result) if isinstance(result, tuple) else [result]
    lowering = Lowering(op.declaration, known)
    values = lowering.lower(parts)
    text = values[0].text if len(values) == 1 else f"{{{', '.join(v.text for v in values)}}}"
    return [*lowering.statements, f"return {text};"]
