"""Tensors without memory: results get their shape, dtype and strides, and nothing is computed."""

from __future__ import annotations

from taedagen.emit.elementwise import (
    absent_check,
    operand_array,
    operand_check,
    result_elements,
    returned,
    rule_name,
    written,
)
from taedagen.emit.reductions import run_reduction
from taedagen.emit.targets.base import Target
from taedagen.opdef.declaration import Op


class Meta(Target):
    """The shape rules alone."""

    backend = "Meta"
    has_elements = False

    def pointwise(self, op: Op) -> list[str]:
        rule, count = rule_name(op.declaration), len(result_elements(op.declaration))
        lines, operands = operand_array(op)
        lines += [*operand_check(op, operands), *absent_check(op)]
        if op.variant == "functional":
            return [*lines, f"Tensor results[{count}];", f"elementwise_meta({rule}, {operands}, results);",
                    returned("results", count)]  # fmt: skip
        outs, in_place = ", ".join(f"&{name}" for name in written(op)), str(op.variant == "inplace").lower()
        return [*lines, f"const Tensor* const outs[] = {{{outs}}};",
                f"elementwise_meta_out({rule}, {operands}, outs, {in_place});"]  # fmt: skip

    def reduction(self, op: Op) -> list[str]:
        return run_reduction(op, f"reduce_meta({rule_name(op.declaration)}")
