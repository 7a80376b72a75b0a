"""Pointwise ops: per family the loops of each formula, compiled per instruction set, and the functions that run
them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from taedagen.emit import cpp
from taedagen.emit.files import part_name, shares
from taedagen.emit.formula import Formula, formula_for, supported
from taedagen.emit.plan import Family, Plan
from taedagen.emit.variants import COMPUTES, INTEGERS, Form, Variants, is_operand
from taedagen.opdef.declaration import Declaration, Op
from taedagen.opdef.expr import walk

ISAS = {"default": "baseline", "avx2": "avx2", "avx512": "avx512"}
_PROMOTION = {
    "result_type": "ResultType",
    "float": "Float",
    "int_to_float": "Float",
    "same": "Same",
    "bool": "ResultType",
}
_ELEMENT = {"same": "Common", "bool": "Bool", "real": "Real", "complex": "Complex"}
# The bit of a dtype in ElementwiseRule::dtypes, by taeda/core/dtype.h.
DTYPES = (
    "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128", "bool",
    "bfloat16", "uint16", "uint32", "uint64",
)  # fmt: skip


# Formulas of so many of these take less time than converting their operands.
_FEW = 8
_CHEAP = {"add", "sub", "mul", "div", "sqrt"}
# These give one of their operands, but for its sign, or a truth value.
_PICKS = {"neg", "abs", "conj", "copysign", "maximum", "minimum", "where", "eq", "ne", "lt", "le", "gt", "ge", "isnan",
          "logical_and", "logical_or", "logical_not"}  # fmt: skip


def emit_pointwise(plan: Plan) -> dict[str, str]:
    files: dict[str, str] = {}
    for family in plan.families:
        ops = [op for op in family.ops if op.declaration.kind in ("pointwise", "reduction") and plan.has_body(op)]
        if not ops:
            continue
        for backend in ("cpu", "meta"):
            files[f"csrc/backend/{backend}/{family.name}.h"] = _header(family, ops, backend)
        pointwise = [op for op in ops if op.declaration.kind == "pointwise"]
        if pointwise:
            files |= _family(family, pointwise)
    return files


def _header(family: Family, ops: list[Op], space: str) -> str:
    lines = [family.made, "#pragma once", '#include "taeda/ops/defaults.h"', "",
             f"namespace taeda::{space} {{"]  # fmt: skip
    lines += [f"{cpp.return_type(op)} {op.cpp_name}({cpp.parameters(op.schema.arguments)});" for op in ops]
    return "\n".join([*lines, f"}}  // namespace taeda::{space}", ""])


def _family(family: Family, ops: list[Op]) -> dict[str, str]:
    kernels = {d: Kernel(d) for d in dict.fromkeys(op.declaration for op in ops)}
    folder = f"csrc/backend/cpu/{family.name}"
    files = loop_files(family, family.name, list(kernels.values()))
    lines = [family.made, f'#include "backend/cpu/{family.name}.h"', f'#include "backend/meta/{family.name}.h"',
             '#include "backend/cpu/engine/loops.h"', '#include "shape/operands.h"', "", "namespace taeda {", "",
             "namespace {"]  # fmt: skip
    lines += ["using namespace shape;", "using cpu::Pointwise;", "}  // namespace", ""]
    lines += [loop_tables(kernels.values()), "", "namespace {"]
    lines += [f"constexpr Pointwise k_{k.name}{k.initializer()};" for k in kernels.values()]
    lines += ["}  // namespace", ""]
    for op in ops:
        lines += functions(op, partial(_body, op, kernels[op.declaration]))
    return files | {f"{folder}.cpp": "\n".join([*lines, "}  // namespace taeda", ""])}


@dataclass(eq=False)
class Kernel:
    """The loops of one declaration."""

    declaration: Declaration
    structs: list[str] = field(default_factory=list)  # definitions of formula structs
    rows: list[str] = field(default_factory=list)  # the table

    def __post_init__(self) -> None:
        self.name = self.declaration.schema.full_name.replace(".", "_")
        self.variants = Variants(self.declaration)
        self.table = f"k_{self.name}_loops"
        self._names: dict[str, str] = {}
        for chosen in self.variants.combinations:
            loops = [self._loop(chosen, compute) for compute in COMPUTES]
            self.rows.append(", ".join([*loops, self._bfloat16_loop(chosen, loops[0])]))

    @property
    def elements(self) -> list[str]:
        options = self.declaration.options
        out = options.get("dtype_out") or ("bool" if options.get("promote") == "bool" else "same")
        return [out] * len(self.declaration.schema.returns) if isinstance(out, str) else list(out)

    def _loop(self, chosen: dict[str, object], compute: str) -> str:
        if not any(d in supported(self.declaration) for d in COMPUTES[compute][0]):
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
        if form is None or "bfloat16" not in supported(self.declaration):
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

    def initializer(self) -> str:
        """Of its ``Pointwise``: the rule, and the loops by instruction set."""
        declaration = self.declaration
        promote = _PROMOTION[str(declaration.options.get("promote", "result_type"))]
        tensors = [a.name for a in declaration.schema.arguments if is_operand(declaration, a)]
        elements = ", ".join(f"Element::{_ELEMENT[e]}" for e in self.elements)
        dtypes = bits([d in supported(declaration) for d in DTYPES])
        contiguous = {None: 0, "always": 1, "number first": 2}[declaration.options.get("contiguous")]
        rule = (
            f"{{Promotion::{promote}, {bits([t in self.variants.masks for t in tensors])}, {len(self.elements)}, "
            f"{{{elements}}}, {dtypes}, {contiguous}}}"
        )
        return f"{{{rule}, TAEDA_ISA_TABLES({self.table})}}"


def _as_bools(inputs: Iterable[str], are_masks: list[bool]) -> list[str]:
    """Bytes other than 0 become 1: views of other dtypes and memory from elsewhere hold more than these two."""
    names = [cpp.identifier(n) for n, is_mask in zip(inputs, are_masks, strict=True) if not is_mask]
    return [f"    {name} = from_mask<T>({name} != splat(T(0)));" for name in names]


def bits(flags: list[bool]) -> int:
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def loop_tables(kernels: Iterable[Kernel]) -> str:
    """Declarations of the kernels' loops."""
    return f"TAEDA_PER_ISA(extern const Loop {', '.join(f'{k.table}[]' for k in kernels)};)"


def loop_files(family: Family, name: str, kernels: list[Kernel]) -> dict[str, str]:
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
    files = {f"csrc/backend/cpu/{name}_loops.h": "\n".join([*lines, "", "}  // namespace taeda::cpu::TAEDA_ISA", ""])}
    for part in range(len(parts)):
        text = [lines[0], *[f"#define TAEDA_PART {part}"] * (len(parts) > 1), f'#include "backend/cpu/{name}_loops.h"']
        for isa in ISAS:
            files[f"csrc/backend/cpu/{part_name(name, part)}.{isa}.cpp"] = "\n".join([*text, ""])
    return files


# --- functions


def functions(op: Op, body: Callable[[str], list[str]]) -> list[str]:
    """The op's kernels for the CPU and for tensors without memory, of which ``body`` gives the statements."""
    lines = []
    for space in ("cpu", "meta"):
        head = f"{cpp.return_type(op)} {space}::{op.cpp_name}({cpp.parameters(op.schema.arguments)}) {{"
        lines += [cpp.place_comment(op.declaration), head, *(f"  {s}" for s in body(space)), "}"]
    return [*lines, ""]


def _operands(op: Op) -> list[str]:
    """The array ``in`` (and its length ``n`` where optional tensors make it vary)."""
    tensors = [op.schema.argument(a.name) for a in op.declaration.schema.arguments if is_operand(op.declaration, a)]
    optional = [a for a in tensors if op.declaration.schema.argument(a.name).type.optional]
    if not optional:
        return [f"const Operand in[] = {{{cpp.names(tensors)}}};"]
    lines = [f"Operand in[{len(tensors)}];", "size_t n = 0;"]
    for argument in tensors:
        name = cpp.identifier(argument.name)
        if argument not in optional:
            lines.append(f"in[n++] = {name};")
        else:
            test = f"{name}.defined()" if argument.type.is_tensor else f"{name}.has_value()"
            lines.append(f"if ({test}) in[n++] = {name if argument.type.is_tensor else '*' + name};")
    return lines


def _scalars(op: Op) -> list[str]:
    """The array ``s`` of the numbers beside the tensors."""
    numbers = [
        a
        for a in op.declaration.schema.arguments
        if not is_operand(op.declaration, a) and a.type.base in ("Scalar", "int", "float", "SymInt")
    ]
    if not numbers:
        return []
    if not any(a.type.optional for a in numbers):
        return [f"const Scalar s[] = {{{', '.join(f'Scalar({cpp.identifier(a.name)})' for a in numbers)}}};"]
    lines = [f"Scalar s[{len(numbers)}];", "size_t c = 0;"]
    for argument in numbers:
        name = cpp.identifier(argument.name)
        lines.append(
            f"if ({name}) s[c++] = Scalar(*{name});" if argument.type.optional else f"s[c++] = Scalar({name});"
        )
    return lines


def _meta_checks(op: Op, kernel: Kernel) -> list[str]:
    """A statement that raises where no optional argument is given and that means nothing."""
    optional = [a.name for a in op.declaration.schema.arguments if a.type.optional]
    absent = [c for c in kernel.variants.combinations if not any(c.get(name) for name in optional)]
    computes = [c for c in COMPUTES if any(d in supported(op.declaration) for d in COMPUTES[c][0])]
    if not optional or kernel.variants.form(absent[0], computes[0]) is not None:
        return []
    given = " || ".join(
        f"{cpp.identifier(a.name)}.{'defined' if a.type.is_tensor else 'has_value'}()"
        for a in op.declaration.schema.arguments
        if a.type.optional
    )
    return [f'TAEDA_CHECK({given}, "at least one of the optional arguments must be given");']


def _body(op: Op, kernel: Kernel, space: str) -> list[str]:
    many, constant = len(kernel.elements) > 1, f"k_{kernel.name}"
    lines = _operands(op)
    operands = "Operands(in, n)" if any("n++" in line for line in lines) else "in"
    if space == "meta":
        unused = [cpp.identifier(a.name) for a in op.declaration.schema.arguments if not a.type.is_tensor]
        lines += [" ".join(f"(void){name};" for name in unused)] if unused else []
    lines += _check(op, operands)
    outs = [cpp.identifier(a.name) for a in (op.outs if op.variant == "out" else op.schema.arguments[:1])]
    in_place = str(op.variant == "inplace").lower()
    if space == "meta":
        lines += _meta_checks(op, kernel)
        if op.variant == "functional":
            lines += [
                f"Tensor results[{len(kernel.elements)}];",
                f"elementwise_meta({constant}.rule, {operands}, results);",
                _return("results", len(kernel.elements)),
            ]
            return lines
        pointers = ", ".join(f"&{n}" for n in outs)
        return [*lines, f"const Tensor* const outs[] = {{{pointers}}};",
                f"elementwise_meta_out({constant}.rule, {operands}, outs, {in_place});"]  # fmt: skip
    scalars = _scalars(op)
    lines += [*scalars, *kernel.variants.index_code(op)]
    s = "std::span<const Scalar>(s, c)" if any("c++" in line for line in scalars) else "s" if scalars else "{}"
    tail = f"{s}, variant" if kernel.variants.switches else s if scalars else ""
    tail = f", {tail}" if tail else ""
    if op.variant == "functional" and not many:
        return [*lines, f"return pointwise({constant}, {operands}{tail});"]
    if op.variant == "functional":
        return [
            *lines,
            f"Tensor results[{len(kernel.elements)}];",
            f"pointwise_many({constant}, {operands}, results{tail});",
            _return("results", len(kernel.elements)),
        ]
    pointers = ", ".join(f"&{n}" for n in outs)
    return [*lines, f"pointwise_out({constant}, {operands}, {{{pointers}}}, {in_place}{tail});"]


def _check(op: Op, operands: str) -> list[str]:
    """The call of ``shape::check_<name>`` with the operands and the other arguments, where the option ``check`` names
    one."""
    name = op.declaration.options.get("check")
    declared = op.declaration.schema.argument
    others = [cpp.identifier(a.name) for a in op.inputs if not is_operand(op.declaration, declared(a.name))]
    return [f"check_{name}({', '.join([operands, *others])});"] if name else []


def _return(name: str, count: int) -> str:
    if count == 1:
        return f"return {name}[0];"
    return f"return {{{', '.join(f'{name}[{i}]' for i in range(count))}}};"
