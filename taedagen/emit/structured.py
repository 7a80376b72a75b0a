"""Views, kernels and composites: ``shape/<family>.h`` and ``.cpp`` make results by the shape rules and call what is
written by hand in ``csrc/backend`` and ``csrc/composite``."""

from __future__ import annotations

import re
from difflib import get_close_matches

from taedagen.emit import cpp
from taedagen.emit.composite import composite_body
from taedagen.emit.dispatch import prototypes
from taedagen.emit.plan import Family, Plan
from taedagen.emit.table import ROOT
from taedagen.emit.wrappers import device_checks, is_shaped, kernel_body, kernel_parameters
from taedagen.opdef.declaration import Op


def emit_structured(plan: Plan) -> dict[str, str]:
    files: dict[str, str] = {}
    rules = _written_rules()
    for family in plan.declared:
        for op in family.declared:
            rule = op.declaration.options.get("shape", "dynamic")
            if rule != "dynamic" and rule not in rules:
                close = "".join(f"; did you mean '{name}'?" for name in get_close_matches(rule, rules, 1))
                raise op.declaration.fail(f"the shape rule '{rule}' is no function of csrc/shape{close}")
        declared = [op for op in family.declared if op.declaration.kind in ("view", "kernel", "composite")]
        ops = [op for op in declared if plan.has_body(op)]
        if declared:
            files[f"csrc/shape/ops/{family.name}.h"] = _header(plan, family, declared)
        if ops:
            files[f"csrc/shape/ops/{family.name}.cpp"] = _source(plan, family, ops)
    return files


def _written_rules() -> set[str]:
    """The functions that the headers of ``csrc/shape`` declare."""
    headers = sorted((ROOT / "csrc" / "shape").glob("*.h"))
    return {name for path in headers for name in re.findall(r"^\S.* (\w+)\(", path.read_text(), re.MULTILINE)}


def _declare(op: Op, scope: str = "") -> str:
    return f"{cpp.return_type(op)} {scope}{op.cpp_name}({cpp.parameters(op.schema.arguments)})"


def _namespaces(plan: Plan, op: Op) -> list[str]:
    return list(dict.fromkeys(kernel.symbol.split("::")[0] for kernel in plan.backend_kernels(op)))


def _header(plan: Plan, family: Family, ops: list[Op]) -> str:
    lines = [
        family.made,
        "#pragma once",
        '#include "taeda/ops/defaults.h"',
        "",
        "namespace taeda {",
    ]
    for op in ops:
        lines.append(cpp.place_comment(op.declaration))
        for space in _namespaces(plan, op):
            lines.append(f"namespace {space} {{ {_declare(op)}; }}")
        if is_shaped(op.declaration) and op.variant == "functional":
            for backend in _handwritten_backends(plan):
                lines.append(f"namespace {backend} {{ void {op.cpp_name}({kernel_parameters(op)}); }}")
    return "\n".join([*lines, "}  // namespace taeda", ""])


def _handwritten_backends(plan: Plan) -> list[str]:
    return [b.lower() for b in plan.backends if b != "Meta"]


def _source(plan: Plan, family: Family, ops: list[Op]) -> str:
    body: list[str] = []
    for op in ops:
        body += _definitions(plan, op)
    lines = [family.made, '#include "taeda/ops/defaults.h"',
             '#include "autograd/numbers.h"', '#include "autograd/overwritten.h"', '#include "shape/arguments.h"',
             f'#include "shape/ops/{family.name}.h"',
             '#include "shape/rules.h"', '#include "shape/spec.h"', "",
             "namespace taeda {", *prototypes(plan, body), "using namespace taeda::autograd;", ""]  # fmt: skip
    return "\n".join([*lines, *body, "}  // namespace taeda", ""])


def _definitions(plan: Plan, op: Op) -> list[str]:
    declaration = op.declaration
    comment = cpp.place_comment(declaration)
    lines: list[str] = []
    for space in _namespaces(plan, op):
        body = composite_body(op) if declaration.kind == "composite" else kernel_body(op, space)
        if body is not None:
            body = [*(device_checks(op) if space == "meta" else ()), *body]
            body = [*_unused(op, body), *body]
            lines += [comment, f"{_declare(op, f'{space}::')} {{", *(f"  {line}" for line in body), "}", ""]
    return lines


def _unused(op: Op, body: list[str]) -> list[str]:
    """Statements that name the arguments which the function ignores, as a compiler warns of them."""
    used = set(re.findall(r"\w+", "\n".join(body)))
    names = (cpp.identifier(a.name) for a in op.schema.arguments)
    return [f"(void){name};" for name in names if name not in used]
