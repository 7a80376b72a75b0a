"""The CPU: loops over formulas, compiled per instruction set."""

from __future__ import annotations

from functools import cache

from taedagen.emit import cpp
from taedagen.emit.elementwise import (
    operand_array,
    operand_check,
    result_elements,
    returned,
    scalar_array,
    written,
)
from taedagen.emit.fused import Fused
from taedagen.emit.plan import Family
from taedagen.emit.reductions import run_reduction
from taedagen.emit.targets.base import Target
from taedagen.emit.targets.cpu.loops import LoopKernel, loop_files, loop_tables
from taedagen.emit.targets.cpu.reduction import ReduceKernel, reduction_files, reduction_tables
from taedagen.opdef.declaration import Declaration, Op


class Cpu(Target):
    """Generated loops run in the engines of ``csrc/backend/cpu``."""

    backend = "CPU"
    includes = {"pointwise": ("backend/cpu/engine/loops.h",), "reduction": ("backend/cpu/engine/reduce_engine.h",)}

    def pointwise(self, op: Op) -> list[str]:
        declaration = op.declaration
        variants = _loops(declaration).variants
        lines, operands = operand_array(op)
        numbers, scalars = scalar_array(op)
        lines += [*operand_check(op, operands), *numbers, *variants.index_code(op)]
        tail = f", {scalars}, variant" if variants.switches else f", {scalars}" if numbers else ""
        constant, count = f"k_{cpp.constant_name(declaration)}", len(result_elements(declaration))
        if op.variant != "functional":
            outs = ", ".join(f"&{name}" for name in written(op))
            in_place = str(op.variant == "inplace").lower()
            return [*lines, f"pointwise_out({constant}, {operands}, {{{outs}}}, {in_place}{tail});"]
        if count == 1:
            return [*lines, f"return pointwise({constant}, {operands}{tail});"]
        return [*lines, f"Tensor results[{count}];", f"pointwise_many({constant}, {operands}, results{tail});",
                returned("results", count)]  # fmt: skip

    def reduction(self, op: Op) -> list[str]:
        return run_reduction(op, f"reduce(k_{cpp.constant_name(op.declaration)}")

    def constants(self, declarations: list[Declaration]) -> list[str]:
        pointwise = [_loops(d) for d in declarations if d.kind == "pointwise"]
        reductions = [_reduction(d) for d in declarations if d.kind == "reduction"]
        lines = [*loop_tables(pointwise), *reduction_tables(reductions)]
        if not lines:
            return []
        lines += ["namespace {", "using namespace shape;", "using cpu::Pointwise;"]
        lines += ["using cpu::Reduction;"] * bool(reductions)
        lines += [line for kernel in pointwise for line in kernel.constant()]
        lines += [line for kernel in reductions for line in kernel.constant()]
        return [*lines, "}  // namespace", ""]

    def loops(self, family: Family, declarations: list[Declaration]) -> dict[str, str]:
        pointwise = [_loops(d) for d in declarations if d.kind == "pointwise"]
        reductions = [_reduction(d) for d in declarations if d.kind == "reduction"]
        files = loop_files(family, family.name, pointwise) if pointwise else {}
        return files | reduction_files(family, reductions)

    def gradients(self, family: Family, kernels: list[Fused]) -> dict[str, str]:
        name = f"{family.name}_gradients"
        loops = [LoopKernel(kernel.declaration) for kernel in kernels]
        lines = [family.made, '#include "backend/cpu/engine/fused.h"', f'#include "shape/ops/{family.name}.h"', "",
                 "namespace taeda {", *loop_tables(loops), "", "namespace cpu {", "namespace {",
                 "using namespace shape;"]  # fmt: skip
        for kernel, loop in zip(kernels, loops, strict=True):
            lines += [cpp.place_comment(kernel.declaration), *loop.constant()]
        lines += [f"const fused::Bring {family.name}_brought[] = {{"]
        lines += [f"    {{{k.symbol}, DeviceType::CPU, run_fused<k_{loop.name}>}},"
                  for k, loop in zip(kernels, loops, strict=True)]  # fmt: skip
        lines += ["};", "}  // namespace", "}  // namespace cpu", "}  // namespace taeda", ""]
        return loop_files(family, name, loops) | {f"csrc/backend/cpu/ops/{name}.cpp": "\n".join(lines)}


@cache
def _loops(declaration: Declaration) -> LoopKernel:
    return LoopKernel(declaration)


@cache
def _reduction(declaration: Declaration) -> ReduceKernel:
    return ReduceKernel(declaration)
