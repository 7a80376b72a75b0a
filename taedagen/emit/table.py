"""``ops.json``: every op with its schema, kernels and place, for tools."""

from __future__ import annotations

import json

from taedagen.emit.plan import Plan


def emit_table(plan: Plan) -> dict[str, str]:
    """``{"add.Tensor": {"schema": ..., "kind": ..., "kernels": [...], ...}}`` in the order of declaration."""
    table = {}
    for family in plan.families:
        for op in family.ops:
            declaration = op.declaration
            table[op.schema.full_name] = {
                "schema": str(op.schema),
                "kind": declaration.kind,
                "variant": op.variant,
                "family": family.name,
                "module": declaration.module,
                "variants": sorted(declaration.variants),
                "dtypes": list(declaration.dtypes),
                "declared": f"{declaration.where[0]}:{declaration.where[1]}",
                "derivative": bool(declaration.derivative),
                "kernels": {kernel.kind if kernel.takes_keys else kernel.backend: kernel.symbol for kernel in plan.kernels(op)},
            }
    return {"taeda/ops.json": json.dumps(table, indent=1) + "\n"}
