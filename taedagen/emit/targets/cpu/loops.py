"""The loops of pointwise formulas, compiled per instruction set."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from taedagen.emit import cpp
from taedagen.emit.elementwise import bits, result_elements, rule_name
from taedagen.emit.files import part_name, shares
from taedagen.emit.formula import Formula, formula_for
from taedagen.emit.plan import Family
from taedagen.emit.variants import COMPUTES, INTEGERS, Form, Variants
from taedagen.opdef.declaration import Declaration
from taedagen.opdef.expr import walk

_ISAS = {"default": "baseline", "avx2": "avx2", "avx512": "avx512"}
# Formulas of so many of these take less time than converting their operands.
_FEW = 8
_CHEAP = {"add", "sub", "mul", "div", "sqrt"}
# These give one of their operands, but for its sign, or a truth value.
_PICKS = {"neg", "abs", "conj", "copysign", "maximum", "minimum", "where", "eq", "ne", "lt", "le", "gt", "ge", "isnan",
          "logical_and", "logical_or", "logical_not"}  # fmt: skip


@dataclass(eq=False)
class LoopKernel:
    """The loops of one declaration."""

    declaration: Declaration
    structs: list[str] = field(default_factory=list)  # definitions of formula structs
    rows: list[str] = field(default_factory=list)  # the table

    def __post_init__(self) -> None:
        self.name = cpp.constant_name(self.declaration)
        self.elements = result_elements(self.declaration)
        self.variants = Variants(self.declaration)
        self.table = f"k_{self.name}_loops"
        self._names: dict[str, str] = {}
        for chosen in self.variants.combinations:
            loops = [self._loop(chosen, compute) for compute in COMPUTES]
            self.rows.append(", ".join([*loops, self._bfloat16_loop(chosen, loops[0])]))

    def _loop(self, chosen: dict[str, object], compute: str) -> str:
        if not any(d in self.declaration.supported for d in COMPUTES[compute][0]):
            return "nullptr"
        form = self.variants.form(chosen, compute)
        if form is None:
            return "nullptr"
        body = self._struct_body(form, compute)
        name = self._names.setdefault(body, f"{self.name}_{len(self._names)}")
        if len(self.structs) < len(self._names):
            self.structs.append(f"struct {name} {{\n{body}\n}};")
        return f"loop<{name}, {COMPUTES[compute][1]}>"

    def _bfloat16_loop(self, chosen: dict[str, object], float_loop: str) -> str:
        """The formula for float over elements of bfloat16, where converting them apart would take most of the time."""
        form = self.variants.form(chosen, "F32")
        if form is None or "bfloat16" not in self.declaration.supported:
            return "nullptr"
        nodes = walk(form.results)
        calls = [node.name for node in nodes if node.kind == "call"]
        if len(calls) > _FEW or not (_PICKS | _CHEAP).issuperset(calls):
            return "nullptr"
        constants = {node.value for node in nodes if node.kind == "const"}
        exact = _PICKS.issuperset(calls) and constants <= {0, 1} and not form.scalars
        name = float_loop.removeprefix("loop<").removesuffix(", float>")
        return f"loop_bfloat16<{name}, {str(exact).lower()}>"

    def _struct_body(self, form: Form, compute: str) -> str:
        as_masks = [e == "bool" or compute == "Bool" for e in self.elements]
        names = {n: cpp.identifier(n) for n in form.inputs} | {n: f"s[{i}]" for i, n in enumerate(form.scalars)}
        formula = Formula(self.declaration, names, integer=compute in INTEGERS)
        values = formula.lower(form.results, as_masks)
        inputs_as_masks = self._mask_inputs(form, compute)
        parameters = [f"[[maybe_unused]] {'M' if m else 'V'}<T> {cpp.identifier(n)}"
                      for n, m in zip(form.inputs, inputs_as_masks, strict=True)]  # fmt: skip
        result = values[0] if len(values) == 1 else f"std::tuple({', '.join(values)})"
        if len(values) == 1 and as_masks[0]:
            result = f"M<T>({result})" if compute == "C64" or compute == "C128" else result
        return "\n".join(
            [
                f"  static constexpr int kInputs = {len(form.inputs)}, kOutputs = {len(values)}, "
                f"kScalars = {len(form.scalars)};",
                f"  static constexpr unsigned kMaskInputs = {bits(inputs_as_masks)}, kMaskOutputs = {bits(as_masks)}, "
                f"kRealOutputs = {bits([e == 'real' for e in self.elements])};",
                "  template <class T>",
                f"  TAEDA_INLINE auto run({', '.join(['[[maybe_unused]] const V<T>* s', *parameters])}) {{",
                *([] if compute != "Bool" else _as_bools(form.inputs, inputs_as_masks)),
                *(f"    {statement}" for statement in formula.statements),
                f"    return {result};",
                "  }",
            ]
        )

    def _mask_inputs(self, form: Form, compute: str) -> list[bool]:
        own = compute == "Bool" and formula_for(self.declaration, "bool") is not self.declaration.function
        return [own or n in self.variants.masks for n in form.inputs]

    def constant(self) -> list[str]:
        """Its ``Pointwise``: the rule, and the loops by instruction set."""
        fields = {"rule": rule_name(self.declaration), "loops": f"TAEDA_ISA_TABLES({self.table})"}
        return cpp.constant("constexpr Pointwise", f"k_{self.name}", fields)


def _as_bools(inputs: Iterable[str], are_masks: list[bool]) -> list[str]:
    """Bytes other than 0 become 1: views of other dtypes and memory from elsewhere hold more than these two."""
    names = [cpp.identifier(n) for n, is_mask in zip(inputs, are_masks, strict=True) if not is_mask]
    return [f"    {name} = from_mask<T>({name} != splat(T(0)));" for name in names]


def loop_tables(kernels: Iterable[LoopKernel]) -> list[str]:
    """Declarations of the kernels' loops."""
    tables = [f"{k.table}[]" for k in kernels]
    return [*cpp.wrapped("TAEDA_PER_ISA(extern const Loop ", tables, ";)")] if tables else []


def loop_files(family: Family, name: str, kernels: list[LoopKernel]) -> dict[str, str]:
    """The loops' header and the units that compile them."""
    structs = [line for k in kernels for line in (cpp.place_comment(k.declaration), *k.structs)]
    made = {k.table: ("const Loop", k.rows) for k in kernels}
    return units(family, name, "backend/cpu/engine/loop_bfloat16.h", structs, made)


# Loops in one unit: 25 ms each for a short formula.
_UNIT = 320


def units(
    family: Family, name: str, header: str, structs: list[str], made: dict[str, tuple[str, list[str]]], cost: int = 1
) -> dict[str, str]:
    """``<name>_loops.h`` with formulas and the tables of what is made of them (by their names: type and rows), and
    units per instruction set, of which each compiles its share of the tables; ``cost`` is that of one loop."""
    weights = {
        table: cost * sum(len(re.findall(r"\bloop\w*<", row)) for row in rows) for table, (_, rows) in made.items()
    }
    parts = shares(weights, _UNIT)
    lines = [family.made, "#pragma once", f'#include "{header}"', "",
             "namespace taeda::cpu::TAEDA_ISA {", "", "namespace {", *structs, "}  // namespace", ""]  # fmt: skip
    for part, names in enumerate(parts):
        lines += [f"#if TAEDA_PART == {part}"] * (len(parts) > 1)
        for table in names:
            type_, rows = made[table]
            body = "".join(f"\n    {row}," for row in rows)
            lines += [f"extern {type_} {table}[];", f"{type_} {table}[] = {{{body}}};"]
        lines += ["#endif"] * (len(parts) > 1)
    files = {
        f"csrc/backend/cpu/ops/{name}_loops.h": "\n".join([*lines, "", "}  // namespace taeda::cpu::TAEDA_ISA", ""])
    }
    for part in range(len(parts)):
        text = [
            lines[0],
            *[f"#define TAEDA_PART {part}"] * (len(parts) > 1),
            f'#include "backend/cpu/ops/{name}_loops.h"',
        ]
        for isa in _ISAS:
            files[f"csrc/backend/cpu/ops/{part_name(name, part)}.{isa}.cpp"] = "\n".join([*text, ""])
    return files
