"""Views, and kernels that serve all backends: per family ``backend/any_device/ops/<family>.h`` and ``.cpp``."""

from __future__ import annotations

from taedagen.emit import cpp
from taedagen.emit.forms import through_functional
from taedagen.emit.functions import header, source
from taedagen.emit.plan import Plan, layer_folder
from taedagen.opdef.declaration import Op

_SPACE = "any_device"


def emit_any_device(plan: Plan) -> dict[str, str]:
    files: dict[str, str] = {}
    for family in plan.declared:
        served = [op for op in family.declared if plan.backend_kernels(op)[0].symbol.startswith(f"{_SPACE}::")]
        path = f"csrc/{layer_folder(_SPACE)}/{family.name}"
        if served:
            files[f"{path}.h"] = header(family, served, _SPACE)
        ops = [op for op in served if plan.has_body(op)]
        if ops:
            includes = ["shape/arguments.h", "shape/rules.h", "shape/spec.h"]
            files[f"{path}.cpp"] = source(plan, family, ops, _SPACE, layer_folder(_SPACE), _body, includes, [])
    return files


def _body(op: Op) -> list[str] | None:
    declaration = op.declaration
    if declaration.kind == "view":
        base = cpp.identifier(declaration.schema.arguments[0].name)
        rule = f"shape::{declaration.options['shape']}({cpp.names(op.schema.arguments)})"
        return [f"return shape::alias({base}, {rule});"]
    declared_inplace = op.variant == "inplace" and declaration.schema.name == op.schema.name
    if declared_inplace or not declaration.schema.returns or op.variant == "functional":
        return None
    return through_functional(op, _SPACE)
