"""Python functions and methods: ``python/ops/<family>.cpp`` and ``.inc``, and ``python/bound.h`` naming them all."""

from __future__ import annotations

from dataclasses import dataclass, field

from taedagen.emit import cpp
from taedagen.emit.examples import example_of
from taedagen.emit.locations import function_mark
from taedagen.emit.plan import Family, Plan, is_view
from taedagen.emit.text_signature import text_signature
from taedagen.opdef.declaration import Declaration, Op
from taedagen.opdef.schema import Argument

# Modules of _C and the public namespaces whose functions they hold.
MODULES = {"": "functions", "nn": "nn", "linalg": "linalg", "fft": "fft", "special": "special"}
_FAST_READERS = {"int": "IntArg", "SymInt": "IntArg", "bool": "BoolArg", "float": "FloatArg", "ScalarType": "DTypeArg"}
_MOST_OPTIONAL = 2  # positional arguments with defaults that the straight path still takes


@dataclass
class Bound:
    """A Python name with its overloads, in the order in which they are tried."""

    name: str
    module: str
    family: str
    overloads: list[tuple[Op, Op | None]] = field(default_factory=list)
    function: bool = False
    method: bool = False

    @property
    def symbol(self) -> str:
        return _symbol(self.module, self.name)

    @property
    def where(self) -> str:
        public = {"nn": "nn.functional.", "": ""}.get(self.module, f"{self.module}.")
        plain = self.name.removeprefix(f"{self.module}_") if self.module else self.name
        if self.overloads:  # a name that a build leaves out has none
            plain = str(self.declaration.options.get("called", plain))
        return ("Tensor." if self.method and not self.function else public) + plain

    @property
    def declaration(self) -> Declaration:
        return self.overloads[0][0].declaration


def _symbol(module: str, name: str) -> str:
    return cpp.identifier((f"{module}_" if module else "") + name)


def bound_names(plan: Plan) -> list[Bound]:
    found: dict[tuple[str, str], Bound] = {}
    outs = {
        (id(op.declaration), op.numbers): op
        for f in plan.families
        for op in f.ops
        if op.variant == "out" and plan.has_body(op)
    }
    for family in plan.families:
        for op in family.ops:
            declaration = op.declaration
            if op.variant == "out" or not is_bound(declaration) or not plan.has_body(op):
                continue
            key = (declaration.module, op.schema.name)
            bound = found.setdefault(key, Bound(op.schema.name, declaration.module, family.name))
            out = outs.get((id(declaration), op.numbers)) if op.variant == "functional" else None
            bound.overloads.append((op, out))
            bound.function |= _is_function(op)
            bound.method |= "method" in declaration.variants and _takes_self(op)
    return [b for b in found.values() if b.function or b.method]


def is_bound(declaration: Declaration) -> bool:
    """Whether it has a name in Python outside ``taeda.ops``."""
    return declaration.schema.namespace == "aten" and not declaration.options.get("unbound")


def _is_function(op: Op) -> bool:
    variants = op.declaration.variants
    if op.variant == "functional":
        return "function" in variants
    in_place_only = op.schema is op.declaration.schema
    named = in_place_only or bool(op.declaration.module) or "inplace_function" in variants
    return "function" in variants and named


def _takes_self(op: Op) -> bool:
    return bool(op.schema.arguments) and op.schema.arguments[0].name == "self" and op.schema.arguments[0].type.is_tensor


def emit_bindings(plan: Plan) -> dict[str, str]:
    names = bound_names(plan)
    absent = _absent(plan, names)
    files = {"csrc/python/bound.h": _bound_header(names, absent), "csrc/python/bound.cpp": _tables(plan, absent),
             "csrc/python/operators.cpp": _operators(names, absent)}  # fmt: skip
    for family in plan.families:
        own = [b for b in names if b.family == family.name]
        files[f"csrc/python/ops/{family.name}.cpp"] = _family(family, own)
        files[f"csrc/python/ops/{family.name}.inc"] = _methods(family, own)
    return files


def _absent(plan: Plan, names: list[Bound]) -> list[Bound]:
    """Names that the build leaves out, in case bindings written by hand go through one."""
    present = {b.symbol for b in names}
    made = (
        Bound(op.schema.name, op.declaration.module, op.declaration.family)
        for op in plan.left_out
        if op.schema.namespace == "aten"
    )
    return list({b.symbol: b for b in made if b.symbol not in present}.values())


def _bound_header(names: list[Bound], absent: list[Bound]) -> str:
    lines = [
        "// Made by taedagen: every Python name's straight path and overloads.",
        "#pragma once",
        '#include "python/fast.h"',
        "",
        "namespace taeda::python::bound {",
    ]
    for bound in names:
        lines.append(f"PyObject* {bound.symbol}(PyObject* const* args, Py_ssize_t n) noexcept;")
        lines.append(f"extern const Name {bound.symbol}_name;")
    lines += [f"extern const Name {bound.symbol}_name;" for bound in absent]
    return "\n".join([*lines, "}  // namespace taeda::python::bound", ""])


def _family(family: Family, names: list[Bound]) -> str:
    used = sorted({op.declaration.family for b in names for pair in b.overloads for op in pair if op})
    lines = [family.made]
    lines += [f'#include "taeda/ops/{u}.h"\n#include "dispatch/ops/{u}.h"' for u in used]
    # Not bound.h, which any new op changes.
    lines += ['#include "python/fast.h"', "", "namespace taeda::python {", "namespace bound {", ""]
    lines += [f"extern const Name {bound.symbol}_name;" for bound in names]
    for bound in names:
        lines += [_overload_table(bound), _fast(bound), ""]
    lines += [
        "}  // namespace bound",
        "",
        f'#include "python/ops/{family.name}.inc"',
        "}  // namespace taeda::python",
        "",
    ]
    return "\n".join(lines)


def _methods(family: Family, names: list[Bound]) -> str:
    """Python's tables of what the family brings, with the documentation."""
    lines = [family.made]
    for flavour, chosen in _flavours(names).items():
        template = "method" if flavour == "methods" else "function"
        lines += ["", f"PyMethodDef {family.name}_{flavour}[] = {{"]
        for b in chosen:
            pointer = f"{template}<bound::{b.symbol}, bound::{b.symbol}_name>"
            cast = f"reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&{pointer}))"
            doc = cpp.string(_doc(b, flavour == "methods"))
            lines.append(f'    {{"{b.name}", {cast}, METH_FASTCALL | METH_KEYWORDS, {doc}}},')
        lines += ["    {}};"]
    return "\n".join([*lines, ""])


def _flavours(names: list[Bound]) -> dict[str, list[Bound]]:
    result = {"methods": [b for b in names if b.method]}
    for module, attribute in MODULES.items():
        result[attribute] = [b for b in names if b.function and b.module == module]
    return result


def _doc(bound: Bound, is_method: bool) -> str:
    factory = any(is_factory(op) for op, _ in bound.overloads)
    signature = text_signature(bound.name, bound.overloads, is_method, factory)
    schemas = [str(op.schema) for op, _ in bound.overloads]
    example = "" if is_method and bound.function else example_of(bound.where)  # once
    return signature + "\n".join(schemas) + "\n\n" + bound.declaration.doc + (example and f"\n\n{example}")


def _overload_table(bound: Bound) -> str:
    rows = []
    for op, out in bound.overloads:
        rows.append(f"{{&{cpp.table_symbol(op)}.op, {f'&{cpp.table_symbol(out)}.op' if out else 'nullptr'}}}")
    factory = str(any(is_factory(op) for op, _ in bound.overloads)).lower()
    symbol = bound.symbol
    return (
        f"{cpp.place_comment(bound.declaration)}\n"
        f"static const Overload {symbol}_overloads[] = {{{', '.join(rows)}}};\n"
        f'constinit const Name {symbol}_name{{"{bound.name}", "{bound.where}", '
        f"{symbol}_overloads, {len(rows)}, {factory}, {_leniency(bound)}}};"
    )


def _leniency(bound: Bound) -> str:
    """The place of the tensor that may be a number, and the keyword that stood among the positional arguments."""
    options = bound.declaration.options
    place = bound.overloads[0][0].schema.names.index(options["number"]) if "number" in options else -1
    return f"{place}, {cpp.string(options['old_factor']) if 'old_factor' in options else 'nullptr'}"


def is_factory(op: Op) -> bool:
    """Whether the op makes a tensor of a chosen dtype and device, so that Python's ``requires_grad=`` makes sense."""
    bases = {a.type.base for a in op.schema.arguments}
    return {"ScalarType", "Layout", "Device"} <= bases and op.schema.returns[0].type.is_tensor and not is_view(op)


def _fast(bound: Bound) -> str:
    blocks = []
    for op, _ in bound.overloads:
        blocks += _fast_blocks(bound, op)
    marks = "".join(function_mark(op, "python") for pair in bound.overloads for op in pair if op)
    unused = "" if blocks else "  (void)args;\n  (void)n;\n"
    return (
        f"{marks}PyObject* {bound.symbol}(PyObject* const* args, Py_ssize_t n) noexcept {{\n{unused}"
        + "".join(blocks)
        + "  return nullptr;\n}"
    )


def _reader(argument: Argument) -> str | None:
    """The class that reads this argument on the straight path; None leaves the call to the parser."""
    type_ = argument.type
    if type_.is_tensor and not type_.is_list:
        return "OptTensorArg" if type_.optional else "TensorArg"
    if type_.base in ("int", "SymInt") and type_.is_list:
        return f"IntListArg<{type_.list_size}>"
    if type_.is_list:
        return None
    if type_.base == "Scalar":
        return None if type_.optional else "ScalarArg"
    return _FAST_READERS.get(type_.base)


def _fast_blocks(bound: Bound, op: Op) -> list[str]:
    positional = [a for a in op.schema.arguments if not a.keyword_only]
    if any(a.keyword_only and a.default is None for a in op.schema.arguments) or is_factory(op):
        return []
    if not any(a.type.is_tensor and not a.type.optional and not a.type.is_list for a in positional):
        return []
    required = sum(a.default is None for a in positional)
    blocks = []
    for count in range(required, min(len(positional), required + _MOST_OPTIONAL) + 1):
        readers = [_reader(a) for a in positional[:count]]
        if None in readers:
            break
        blocks.append(_fast_block(op, positional[:count], [r for r in readers if r]))
        if _takes_varargs(positional, count):
            blocks.append(_varargs_block(op, positional))
    return blocks


def _takes_varargs(positional: list[Argument], count: int) -> bool:
    """``x.view(2, 3)``: an int list that is the only argument besides self may be spelled out."""
    last = positional[-1]
    is_list = (
        last.type.is_list and last.type.base in ("int", "SymInt") and not last.type.list_size and not last.type.optional
    )
    return count == len(positional) == 2 and is_list


def _call(op: Op, given: list[Argument]) -> str:
    names = {a.name for a in given}
    values = [
        f"{cpp.identifier(a.name)}.get()" if a.name in names else str(cpp.default(a)) for a in op.schema.arguments
    ]
    return f"ops::{op.cpp_name}({', '.join(values)})"


def _fast_block(op: Op, given: list[Argument], readers: list[str]) -> str:
    names = [cpp.identifier(a.name) for a in given]
    declared = " ".join(f"{reader} {name};" for reader, name in zip(readers, names, strict=True))
    tests = " && ".join(f"{name}.read(args[{i}])" for i, name in enumerate(names))
    return f"  if (n == {len(given)}) {{\n    {declared}\n    if ({tests})\n      {_run(op, given)}\n  }}\n"


def _varargs_block(op: Op, positional: list[Argument]) -> str:
    first, rest = (cpp.identifier(a.name) for a in positional)
    return (
        f"  if (n > 1) {{\n    TensorArg {first}; IntListArg<0> {rest};\n"
        f"    if ({first}.read(args[0]) && {rest}.read_items(args + 1, n - 1))\n      {_run(op, positional)}\n  }}\n"
    )


def _run(op: Op, given: list[Argument]) -> str:
    tensors = [cpp.identifier(a.name) for a in given if a.type.is_tensor]
    work = f"work({tensors[0]})" if not is_view(op) else "0"
    name = f"{_symbol(op.declaration.module, op.schema.name)}_name"
    if op.variant == "inplace":
        return f"return run_inplace({name}, {work}, args[0], [&] {{ {_call(op, given)}; }});"
    return f"return run({name}, {cpp.table_symbol(op)}.op, {work}, [&] {{ return {_call(op, given)}; }});"


def _tables(plan: Plan, absent: list[Bound]) -> str:
    """All families' tables, by what they are merged into."""
    lines = [
        "// Made by taedagen: the tables that _C's init reads.",
        '#include "python/tables.h"',
        "",
        "namespace taeda::python {",
    ]
    flavours = ["methods", *MODULES.values()]
    for family in plan.families:
        lines += [f"extern PyMethodDef {family.name}_{flavour}[];" for flavour in flavours]
    for flavour in flavours:
        rows = ", ".join(f"{family.name}_{flavour}" for family in plan.families)
        lines.append(f"PyMethodDef* const all_{flavour}[] = {{{rows + ', ' * bool(rows)}nullptr}};")
    if absent:
        lines.insert(1, '#include "python/bound.h"')
        lines += [
            f'constinit const Name bound::{b.symbol}_name{{"{b.name}", "{b.where}", nullptr, 0, false, -1, nullptr}};'
            for b in absent
        ]
    return "\n".join([*lines, "}  // namespace taeda::python", ""])


# Slot of Python's number protocol: the template of python/operators.h and the names it is made of.
OPERATORS = {
    "nb_add": "binary add add", "nb_subtract": "binary sub rsub", "nb_multiply": "binary mul mul",
    "nb_true_divide": "binary_function div", "nb_floor_divide": "binary_function floor_divide",
    "nb_remainder": "binary_function remainder", "nb_power": "power pow",
    "nb_matrix_multiply": "binary_function matmul",
    "nb_and": "binary bitwise_and bitwise_and", "nb_or": "binary bitwise_or bitwise_or",
    "nb_xor": "binary bitwise_xor bitwise_xor", "nb_lshift": "binary_function bitwise_left_shift",
    "nb_rshift": "binary_function bitwise_right_shift", "nb_negative": "unary neg", "nb_positive": "unary positive",
    "nb_absolute": "unary abs", "nb_invert": "invert bitwise_not", "nb_inplace_add": "inplace add_",
    "nb_inplace_subtract": "inplace sub_", "nb_inplace_multiply": "inplace mul_",
    "nb_inplace_true_divide": "inplace div_",
    "nb_inplace_floor_divide": "inplace floor_divide_", "nb_inplace_remainder": "inplace remainder_",
    "nb_inplace_power": "inplace_power pow_", "nb_inplace_and": "inplace bitwise_and_",
    "nb_inplace_or": "inplace bitwise_or_",
    "nb_inplace_xor": "inplace bitwise_xor_", "nb_inplace_lshift": "inplace bitwise_left_shift_",
    "nb_inplace_rshift": "inplace bitwise_right_shift_",
}  # fmt: skip


_COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")  # in the order of Py_LT and its kin
_PYTHON_NAMES = {
    "subtract": "sub", "multiply": "mul", "true_divide": "truediv", "floor_divide": "floordiv", "remainder": "mod",
    "power": "pow", "matrix_multiply": "matmul", "negative": "neg", "positive": "pos", "absolute": "abs",
}  # fmt: skip


def _python_name(slot: str) -> str:
    name = slot.removeprefix("nb_").removeprefix("inplace_")
    return _PYTHON_NAMES.get(name, name)


def _is_reflected(slot: str, template: str) -> bool:
    """Whether Python has the operator for the right operand, too."""
    return not slot.startswith("nb_inplace_") and template not in ("unary", "invert")


def operator_names() -> dict[str, str]:
    """The op that each of Python's operators is: ``{"__add__": "add", "__iadd__": "add_", ...}``."""
    found = {}
    for slot, spec in OPERATORS.items():
        template, *ops = spec.split()
        name = _python_name(slot)
        found[f"__i{name}__" if slot.startswith("nb_inplace_") else f"__{name}__"] = ops[0]
        if _is_reflected(slot, template):
            found[f"__r{name}__"] = ops[-1]
    return found | {f"__{name}__": name for name in _COMPARISONS}


def _operators(names: list[Bound], absent: list[Bound]) -> str:
    """The slots of the number protocol; those of ops that the build leaves out say so."""
    pointers = {b.symbol: f"{b.symbol}, {b.symbol}_name" for b in names}
    pointers |= {b.symbol: f"no_fast, {b.symbol}_name" for b in absent}
    lines = ["// Made by taedagen: Tensor's operators.", '#include "python/operators.h"', '#include "python/bound.h"',
             '#include "python/module_parts.h"', "", "namespace taeda::python {", "using namespace bound;",
             "using namespace operators;", ""]  # fmt: skip
    compared = [f"compare_with<{pointers[n]}>" if n in pointers else "nullptr"
                for n in _COMPARISONS]  # fmt: skip
    reflected = {slot: f"r{_python_name(slot)}" for slot, spec in OPERATORS.items()
                 if _is_reflected(slot, spec.split()[0])}  # fmt: skip
    lines += [f'constexpr char {name}_method[] = "__{name}__";' for name in reflected.values()]
    lines += [
        "",
        f"const Compare operators::comparisons[6] = {{{', '.join(compared)}}};",
        "",
        "void fill_operators(PyTypeObject& type) {",
    ]
    for slot, spec in OPERATORS.items():
        template, *used = spec.split()
        if all(n in pointers for n in used):
            chosen = [*([f"{reflected[slot]}_method"] if slot in reflected else []), *(pointers[n] for n in used)]
            lines.append(f"  tensor_number.{slot} = {template}<{', '.join(chosen)}>;")
    return "\n".join([*lines, "  type.tp_richcompare = compare;", "}", "", "}  // namespace taeda::python", ""])
