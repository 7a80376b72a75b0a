"""What all backends share of a family: ``shape/ops/<family>.h`` with the rules of results and the fused gradients."""

from __future__ import annotations

import re
from difflib import get_close_matches

from taedagen.emit.autograd.analysis import fused_of
from taedagen.emit.elementwise import elementwise_rule
from taedagen.emit.limits import limits_header
from taedagen.emit.plan import Family, Plan
from taedagen.emit.reductions import reduction_of
from taedagen.emit.table import ROOT
from taedagen.opdef.declaration import Declaration


def emit_rules(plan: Plan) -> dict[str, str]:
    _check_named_rules(plan)
    files = {"csrc/shape/ops/limits.h": limits_header()}
    for family in plan.families:
        files |= _family(plan, family)
    return files


def _check_named_rules(plan: Plan) -> None:
    """A shape rule that nobody wrote is a mistake in the declaration, not in C++."""
    rules = _written_rules()
    for family in plan.declared:
        for op in family.declared:
            rule = op.declaration.options.get("shape", "dynamic")
            if rule != "dynamic" and rule not in rules:
                close = "".join(f"; did you mean '{name}'?" for name in get_close_matches(rule, rules, 1))
                hint = close or "; it is written in csrc/shape/*_rules.cpp and declared in the header of that name"
                raise op.declaration.fail(f"the shape rule '{rule}' is no function of csrc/shape{hint}")


def _written_rules() -> set[str]:
    """The functions that the headers of ``csrc/shape`` declare."""
    headers = sorted((ROOT / "csrc" / "shape").glob("*.h"))
    return {name for path in headers for name in re.findall(r"^\S.* (\w+)\(", path.read_text(), re.MULTILINE)}


def _family(plan: Plan, family: Family) -> dict[str, str]:
    built = list(dict.fromkeys(op.declaration for op in family.ops if plan.has_body(op)))
    formulas = [d for d in built if d.kind in ("pointwise", "reduction")]
    gradients = fused_of(plan, family)
    if not formulas and not gradients:
        return {}
    path = f"csrc/shape/ops/{family.name}"
    lines = [family.made, "#pragma once", '#include "shape/fused.h"', '#include "shape/reduction.h"', ""]
    lines += ["namespace taeda::shape::rule {"]
    for declaration in [*formulas, *(kernel.declaration for kernel in gradients)]:
        lines += _rule(declaration)
    lines += ["}  // namespace taeda::shape::rule", ""]
    files = {}
    if gradients:
        kernels = [kernel.symbol.removeprefix("fused::") for kernel in gradients]
        lines += ["namespace taeda::fused {", *(f"extern Kernel {k};" for k in kernels), "}  // namespace taeda::fused"]
        files[f"{path}.cpp"] = "\n".join([
            family.made, f'#include "{path.removeprefix("csrc/")}.h"', "", "namespace taeda {",
            *(f"constinit fused::Kernel fused::{k};" for k in kernels), "}  // namespace taeda", "",
        ])  # fmt: skip
    return files | {f"{path}.h": "\n".join([*lines, ""])}


def _rule(declaration: Declaration) -> list[str]:
    return elementwise_rule(declaration) if declaration.kind == "pointwise" else reduction_of(declaration).rule()
