"""Kernels for data that is not dense: per family ``sparse/ops/<family>.h`` and ``.cpp``, and so for each layout."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from taedagen.emit import cpp
from taedagen.emit.functions import header, source
from taedagen.emit.lowering import Lowering, Typed, argument_kind
from taedagen.emit.plan import Family, Kernel, Plan
from taedagen.opdef.declaration import LAYOUTS, Op
from taedagen.opdef.expr import arg, trace


def emit_layouts(plan: Plan) -> dict[str, str]:
    files: dict[str, str] = {}
    for family in plan.declared:
        layers: dict[str, tuple[Kernel, list[Op]]] = {}
        for op in family.declared:
            for kernel in plan.backend_kernels(op):
                if kernel.functionality in LAYOUTS:
                    layers.setdefault(kernel.layer, (kernel, []))[1].append(op)
        for kernel, ops in layers.values():
            files |= _layer(plan, family, kernel, ops)
    return files


def _layer(plan: Plan, family: Family, kernel: Kernel, ops: list[Op]) -> dict[str, str]:
    path = f"csrc/{kernel.folder}/{family.name}"
    files = {f"{path}.h": header(family, ops, kernel.layer)}
    built = [op for op in ops if plan.has_body(op)]
    if built:
        includes, before = ["autograd/numbers.h"], ["using namespace taeda::autograd;"]
        body = partial(_body, kernel.layer)
        files[f"{path}.cpp"] = source(plan, family, built, kernel.layer, kernel.folder, body, includes, before)
    return files


def _body(layer: str, op: Op) -> list[str] | None:
    kernel = next(k for k in op.declaration.layouts if k.layer == layer)
    return None if kernel.files else _traced(op, kernel.function)


def _traced(op: Op, function: Callable[..., Any]) -> list[str]:
    """The statements of a function that is made of other ops."""
    result = trace(function, {a.name: arg(a.name) for a in op.schema.arguments})
    known = {a.name: Typed(cpp.identifier(a.name), argument_kind(a.type)) for a in op.schema.arguments}
    parts = list(result) if isinstance(result, tuple) else [result]
    lowering = Lowering(op.declaration, known)
    values = lowering.lower(parts)
    text = values[0].text if len(values) == 1 else f"{{{', '.join(v.text for v in values)}}}"
    return [*lowering.statements, f"return {text};"]
