"""The autograd layer: per family ``autograd/ops/<family>.h`` and ``.cpp`` with a node per derivative and a function per
op."""

from __future__ import annotations

from taedagen.emit import cpp
from taedagen.emit.autograd.analysis import Derivative, derivatives_of, may_have_gradient, result_names
from taedagen.emit.autograd.functions import plain_function, recording_function
from taedagen.emit.autograd.nodes import node_struct
from taedagen.emit.autograd.views import inplace_or_view
from taedagen.emit.dispatch import prototypes
from taedagen.emit.files import part_name, shares
from taedagen.emit.forward import tangent_function
from taedagen.emit.plan import Family, Plan
from taedagen.opdef.declaration import Op


def emit_autograd(plan: Plan) -> dict[str, str]:
    files: dict[str, str] = {}
    for family in plan.families:
        if f"autograd/ops/{family.name}.h" in plan.kernel_headers(family):
            files[f"csrc/autograd/ops/{family.name}.h"] = _header(plan, family)
            files |= _sources(plan, family, derivatives_of(plan, family))
    return files


def _header(plan: Plan, family: Family) -> str:
    lines = [
        family.made,
        "#pragma once",
        '#include "taeda/ops/defaults.h"',
        "",
        "namespace taeda {",
    ]
    for layer, has in (("autograd", plan.has_autograd_layer), ("inplace_or_view", plan.has_inplace_or_view_layer)):
        lines.append(f"namespace {layer} {{")
        for op in family.ops:
            if plan.has_body(op) and has(op):
                lines.append(cpp.declaration(op, f"{cpp.return_type(op)} {op.cpp_name}({cpp.keyed_parameters(op)})"))
        lines.append(f"}}  // namespace {layer}")
    return "\n".join([*lines, "}  // namespace taeda", ""])


# Bytes of generated text in one unit, which take up to 10 s to compile.
_UNIT = 80_000


def _sources(plan: Plan, family: Family, derivatives: dict[Op, Derivative]) -> dict[str, str]:
    """All of a declaration stands in one unit, as its ops share a node."""
    bodies: dict[str, list[str]] = {}
    done: set[str] = set()
    for op in family.ops:
        if plan.has_body(op):
            bodies.setdefault(op.declaration.schema.full_name, []).extend(_layers(plan, op, derivatives.get(op), done))
    parts = shares({name: len("\n".join(body)) for name, body in bodies.items()}, _UNIT)
    sources = {}
    for part, names in enumerate(parts):
        text = [line for name in names for line in bodies[name]]
        own = [d for op, d in derivatives.items() if op.declaration.schema.full_name in names]
        sources[f"csrc/autograd/ops/{part_name(family.name, part)}.cpp"] = _source(plan, family, own, text)
    return sources


def _layers(plan: Plan, op: Op, derivative: Derivative | None, done: set[str]) -> list[str]:
    """The node, unless another op brought it, and the op's functions above the backend."""
    local: list[str] = []
    functions: list[str] = []
    if plan.has_autograd_layer(op) and may_have_gradient(op):
        if derivative and derivative.struct not in done:
            done.add(derivative.struct)
            local += node_struct(derivative)
        if derivative and op.variant != "out":
            tangent = tangent_function(op, derivative.gradients, result_names(op.declaration))
            if tangent[0] not in done:  # in-place forms share theirs
                done.add(tangent[0])
                local += tangent
        functions += [*recording_function(plan, op, derivative), ""]
    elif plan.has_autograd_layer(op):
        functions += [*plain_function(plan, op), ""]
    if plan.has_inplace_or_view_layer(op):
        functions += [*inplace_or_view(op), ""]
    return [*(["namespace {", *local, "}  // namespace"] if local else []), *functions]


def _source(plan: Plan, family: Family, derivatives: list[Derivative], body: list[str]) -> str:
    lines = [
        family.made,
        '#include "taeda/ops/defaults.h"',
        f'#include "autograd/ops/{family.name}.h"',
        '#include "taeda/autograd/record.h"',
        '#include "autograd/numbers.h"',
        f'#include "dispatch/ops/{family.name}.h"',
        *['#include "autograd/flat.h"'] * any(d.flat for d in derivatives),
        *[f'#include "shape/ops/{family.name}.h"'] * any(d.fused for d in derivatives),
        "",
        "namespace taeda {",
        *prototypes(plan, body),
        "using namespace taeda::autograd;",
        "",
    ]
    return "\n".join([*lines, *body, "}  // namespace taeda", ""])
