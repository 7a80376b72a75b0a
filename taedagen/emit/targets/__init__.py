"""The backends that code is made for, each a target: per family ``backend/<name>/ops/<family>.h`` and ``.cpp``."""

from __future__ import annotations

from taedagen.emit.autograd.analysis import fused_of
from taedagen.emit.functions import header, source
from taedagen.emit.plan import Family, Plan
from taedagen.emit.targets.base import Target
from taedagen.emit.targets.cpu import Cpu
from taedagen.emit.targets.meta import Meta
from taedagen.emit.wrappers import filled_kernel

TARGETS: dict[str, Target] = {target.backend: target for target in (Cpu(), Meta())}


def emit_targets(plan: Plan) -> dict[str, str]:
    files: dict[str, str] = {}
    for backend in plan.backends:
        for family in plan.declared:
            files |= _family(plan, family, TARGETS[backend])
    return files


def _family(plan: Plan, family: Family, target: Target) -> dict[str, str]:
    served = [op for op in family.declared if target.space in {k.layer for k in plan.backend_kernels(op)}]
    ops = [op for op in served if plan.has_body(op)]
    files: dict[str, str] = {}
    path = f"csrc/{target.folder}/{family.name}"
    if served:
        by_hand = filled_kernel if target.has_elements else None
        files[f"{path}.h"] = header(family, served, target.space, by_hand)
    if ops:
        declarations = list(dict.fromkeys(op.declaration for op in ops))
        formulas = [d for d in declarations if d.kind in ("pointwise", "reduction")]
        kinds = {d.kind for d in declarations}
        includes = [name for kind, names in target.includes.items() if kind in kinds for name in names]
        includes += [f"shape/ops/{family.name}.h", "shape/operands.h"] * bool(formulas)
        includes += ["shape/arguments.h", "shape/rules.h"] * ("kernel" in kinds)
        uses = ["using namespace shape;"] * bool(formulas)
        before = [*target.constants(formulas), *uses]
        files[f"{path}.cpp"] = source(plan, family, ops, target.space, target.folder, target.body, includes, before)
        files |= target.loops(family, formulas)
    gradients = fused_of(plan, family)
    return files | (target.gradients(family, gradients) if gradients else {})
