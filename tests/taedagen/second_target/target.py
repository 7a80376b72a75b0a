"""A second target, for the device that takes the slot ``PrivateUse1``: formulas as loops over one number at a time.

Run as a program it is the generator with that target: ``python target.py --extension ops --out folder``.
"""

from __future__ import annotations

import sys

from taedagen.emit import cpp
from taedagen.emit.elementwise import operand_array, returned, scalar_array, written
from taedagen.emit.formula import Formula
from taedagen.emit.fused import Fused
from taedagen.emit.plan import Family
from taedagen.emit.run import main
from taedagen.emit.targets import TARGETS
from taedagen.emit.targets.base import Target
from taedagen.emit.variants import Variants
from taedagen.opdef.declaration import Declaration, Op


def formula(declaration: Declaration) -> list[str]:
    """The lambda that computes one element of each result."""
    form = Variants(declaration).form({}, "F64")
    assert form is not None
    names = {name: f"x[{i}]" for i, name in enumerate(form.inputs)} | {n: f"s[{i}]" for i, n in enumerate(form.scalars)}
    lowered = Formula(declaration, names, integer=False)
    values = lowered.lower(form.results, [False] * len(form.results))
    head = "[]([[maybe_unused]] const double* x, [[maybe_unused]] const double* s, double* out) {"
    return [head, "  using T = double;", *(f"  {line}" for line in lowered.statements),
            *(f"  out[{i}] = {value};" for i, value in enumerate(values)), "}"]  # fmt: skip


class Reference(Target):
    """Runs on the host."""

    backend = "PrivateUse1"
    includes = {"pointwise": ("reference.h",)}

    def pointwise(self, op: Op) -> list[str]:
        lines, operands = operand_array(op)
        numbers, scalars = scalar_array(op)
        names = [] if op.variant == "functional" else written(op)
        count = len(op.declaration.schema.returns)
        lines += [*numbers, f"Tensor results[{count}] = {{{', '.join(names)}}};", "using namespace reference;"]
        lines += [f"fill({operands}, {scalars}, results,", *formula(op.declaration), ");"]
        return lines if names else [*lines, returned("results", count)]

    def gradients(self, family: Family, kernels: list[Fused]) -> dict[str, str]:
        lines = [family.made, '#include "reference.h"', f'#include "shape/ops/{family.name}.h"',
                 "namespace taeda {", "namespace {", "using namespace reference;"]  # fmt: skip
        for kernel in kernels:
            name = cpp.constant_name(kernel.declaration)
            lines += [f"void {name}(shape::Operands in, Tensor* results, std::span<const Scalar> scalars) {{"]
            lines += [f"fill(in, scalars, {{results, {len(kernel.of)}}},", *formula(kernel.declaration), ");", "}"]
            lines += [f"const fused::Bring brought_{name}({kernel.symbol}, DeviceType::{self.backend}, {name});"]
        return {f"csrc/{self.folder}/{family.name}_gradients.cpp": "\n".join([*lines, "}", "}", ""])}


if __name__ == "__main__":
    TARGETS[Reference.backend] = Reference()
    sys.exit(main([*sys.argv[1:], "--backends", Reference.backend]))
