"""Reductions: per family the loops over each formula, compiled per instruction set, and the functions that run them."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

from taedagen.emit import cpp
from taedagen.emit.formula import Formula, expand, supported
from taedagen.emit.plan import Family, Plan
from taedagen.emit.pointwise import DTYPES, bits, functions, units
from taedagen.emit.variants import COMPUTES, INTEGERS
from taedagen.opdef.declaration import REGISTRY, Declaration, Op
from taedagen.opdef.expr import Expr, arg, trace

_RESULT = {"same": "Same", "long": "Long", "float": "Float", "real": "Real", "bool": "Bool", "index": "Index"}
_IDENTITY = {"zero": "Zero", "one": "One", "lowest": "Lowest", "highest": "Highest"}
_KINDS = {"value": "Value", "index": "Index", "moments": "Moments"}


def emit_reduction(plan: Plan) -> dict[str, str]:
    files: dict[str, str] = {}
    for family in plan.families:
        ops = [op for op in family.ops if op.declaration.kind == "reduction" and plan.has_body(op)]
        if ops:
            files |= _family(family, ops)
    return files


def _family(family: Family, ops: list[Op]) -> dict[str, str]:
    kernels = {d: Kernel(d) for d in dict.fromkeys(op.declaration for op in ops)}
    folder = f"csrc/backend/cpu/{family.name}_reduction"
    files = _loops(family, [k for k in kernels.values() if k.rows])
    lines = [family.made, f'#include "backend/cpu/{family.name}.h"', f'#include "backend/meta/{family.name}.h"',
             '#include "backend/cpu/engine/reduce_engine.h"', "", "namespace taeda {", ""]  # fmt: skip
    tables = ", ".join(f"* const {k.table}[]" for k in kernels.values() if k.rows)
    lines += [f"TAEDA_PER_ISA(extern const ReduceLoops {tables};)", "", "namespace {", "using namespace shape;",
              "using cpu::Reduction;"]  # fmt: skip
    lines += [k.constant() for k in kernels.values()] + ["}  // namespace", ""]
    for op in ops:
        lines += functions(op, partial(_body, op, kernels[op.declaration]))
    return files | {f"{folder}.cpp": "\n".join([*lines, "}  // namespace taeda", ""])}


class Kernel:
    """The loops of one declaration's class."""

    def __init__(self, declaration: Declaration) -> None:
        self.declaration = declaration
        self.spec: Any = declaration.function
        schema = declaration.schema
        self.name = schema.full_name.replace(".", "_")
        twin = declaration.options.get("same_as")
        if twin:
            self.spec = next(d for d in REGISTRY.declarations if d.schema.full_name == twin).function
        self.table = f"k_{str(twin or self.name).replace('.', '_')}_loops"
        self.kind = str(getattr(self.spec, "state", "value"))
        if self.kind not in _KINDS:
            raise declaration.fail(f"the state '{self.kind}' is unknown; there are {sorted(_KINDS)}")
        identity = getattr(self.spec, "identity", None)
        self.identities = [identity] if isinstance(identity, str) else list(identity or ())
        for name in self.identities:
            if name not in _IDENTITY:
                raise declaration.fail(f"the identity '{name}' is unknown; there are {sorted(_IDENTITY)}")
        if self.kind == "value" and not self.identities:
            raise declaration.fail(
                "a value reduction needs an identity, also where an empty one raises (nonempty=True)"
            )
        options = declaration.options
        self.through_bool = options.get("via") == "bool"
        result = options.get("result", "same")
        self.results = [result] if isinstance(result, str) else list(result)
        if len(self.results) != len(schema.returns):
            raise declaration.fail(
                f"result= names {len(self.results)} dtypes, the schema has {len(schema.returns)} results"
            )
        self.structs: list[str] = []
        self._names: dict[str, str] = {}
        self.rows = [] if twin else [self._loops(compute) for compute in COMPUTES]

    @property
    def scalars(self) -> list[str]:
        """The arguments that the formulas may name: numbers, except the dimensions."""
        return [a.name for a in self.declaration.schema.arguments
                if a.type.base in ("Scalar", "float", "int") and not a.type.is_list and a.name != "dim"]  # fmt: skip

    def _loops(self, compute: str) -> str:
        dtypes, cpp_type = COMPUTES[compute]
        if self.through_bool:
            wanted = "Bool" if self.results[0] == "bool" else "I64"
            if compute != wanted:
                return "nullptr"
        elif self.results[0] == "long" and compute in ("I32", "U8", "Bool"):
            return self._row(compute, cpp_type)  # dtype=torch.int32 asks for these
        elif not any(d in supported(self.declaration) for d in dtypes):
            return "nullptr"
        if self.kind == "index" and compute in ("U8", "Bool", "C64", "C128"):
            return "nullptr"
        return self._row(compute, cpp_type)

    def _row(self, compute: str, cpp_type: str) -> str:
        body = self._struct(compute)
        name = self._names.setdefault(body, f"{self.name}_{len(self._names)}")
        if len(self.structs) < len(self._names):
            self.structs.append(f"struct {name} {{\n{body}\n}};")
        return f"&{_KINDS[self.kind]}Reduction<{name}>::loops<{cpp_type}>"

    def _struct(self, compute: str) -> str:
        integer = compute in INTEGERS or compute == "Bool"
        dtype = COMPUTES[compute][0][0]
        count = 2 if self.kind == "moments" else len(self.identities)
        if self.kind == "index":
            better = self._lower(self.spec.better, {"a": "a", "b": "b"}, dtype, integer, [True])
            return "\n".join(["  template <class T>", "  TAEDA_INLINE M<T> better(V<T> a, V<T> b) {", *better[0],
                              f"    return {better[1][0]};", "  }"])  # fmt: skip
        lines = [
            f"  static constexpr int kStates = {count}, kResults = {len(self.results)}, "
            f"kScalars = {len(self.scalars)};",
            f"  static constexpr bool kRealResults = {str(self.results[0] == 'real').lower()};",
        ]
        scalars = {name: f"s[{i}]" for i, name in enumerate(self.scalars)}
        if self.kind == "value":
            identities = ", ".join(f"Identity::{_IDENTITY[i]}" for i in self.identities)
            lines.append(f"  static constexpr Identity kIdentity[] = {{{identities}}};")
            load = getattr(self.spec, "load", None) or (lambda x: (x,) * count if count > 1 else x)
            lines += self._method(
                "load", "V<T> x, [[maybe_unused]] const V<T>* s, V<T>* out", load, {"x": "x"} | scalars, dtype, integer
            )
            states = {f"{side}{i}": f"{side}[{i}]" for side in "ab" for i in range(count)}
            lines += self._method(
                "combine", "const V<T>* a, const V<T>* b, V<T>* out", self.spec.combine, states, dtype, integer
            )
        finish = getattr(self.spec, "finish", None) or (lambda acc: acc)
        states = {f"acc{i}": f"a[{i}]" for i in range(count)} | {"n": "n"} | scalars
        parameters = "const V<T>* a, [[maybe_unused]] V<T> n, [[maybe_unused]] const V<T>* s, V<T>* out"
        lines += self._method("finish", parameters, finish, states, dtype, integer)
        return "\n".join(lines)

    def _method(
        self, name: str, parameters: str, function: Any, names: dict[str, str], dtype: str, integer: bool
    ) -> list[str]:
        statements, values = self._lower(function, names, dtype, integer, None)
        return [
            "  template <class T>",
            f"  TAEDA_INLINE void {name}({parameters}) {{",
            *statements,
            *(f"    out[{i}] = {v};" for i, v in enumerate(values)),
            "  }",
        ]

    def _lower(
        self, function: Any, names: dict[str, str], dtype: str, integer: bool, masks: list[bool] | None
    ) -> tuple[list[str], list[str]]:
        symbols: dict[str, Any] = {}
        for parameter in inspect.signature(function).parameters:
            several = sorted(n for n in names if n[:-1] == parameter and n[-1].isdigit())
            if parameter in names:
                symbols[parameter] = arg(parameter)
            elif several:
                symbols[parameter] = arg(several[0]) if len(several) == 1 else tuple(arg(n) for n in several)
            else:
                raise self.declaration.fail(f"'{function.__name__}' takes '{parameter}'; there are {sorted(names)}")
        traced = trace(function, symbols)
        roots: list[Expr] = [
            expand(r, dtype, self.declaration) for r in (traced if isinstance(traced, tuple) else (traced,))
        ]
        formula = Formula(self.declaration, names, integer=integer)
        values = formula.lower(roots, masks or [False] * len(roots))
        return [f"    {s}" for s in formula.statements], values

    def constant(self) -> str:
        rule = self.declaration
        results = ", ".join(f"ReducedType::{_RESULT[r]}" for r in self.results)
        has_identity = self.kind != "index" and not rule.options.get("nonempty")
        out_widens = any(r in ("float", "real") for r in self.results) or bool(rule.options.get("out_widens"))
        dtypes = bits([d in supported(rule) for d in DTYPES])
        spec = (
            f"{{StateKind::{_KINDS[self.kind]}, {len(self.results)}, {{{results}}}, "
            f"{str(self.through_bool).lower()}, {str(has_identity).lower()}, {str(out_widens).lower()}, {dtypes}}}"
        )
        return f"constexpr Reduction k_{self.name}{{{spec}, TAEDA_ISA_TABLES({self.table})}};"


# What the loops of one reduction cost to compile, in those of a pointwise formula.
_COST = 8


def _loops(family: Family, kernels: list[Kernel]) -> dict[str, str]:
    structs = [line for k in kernels for line in (cpp.place_comment(k.declaration), *k.structs)]
    made = {k.table: ("const ReduceLoops* const", k.rows) for k in kernels}
    return units(family, f"{family.name}_reduction", "backend/cpu/engine/reduce_loop.h", structs, made, _COST)


# --- functions


def _body(op: Op, kernel: Kernel, space: str) -> list[str]:
    arguments = {a.name: a for a in op.inputs}
    lines = []
    fields = [f".self = {cpp.identifier(op.inputs[0].name)}"]
    dim = arguments.get("dim")
    if dim is not None:
        name = cpp.identifier(dim.name)
        if dim.type.is_list:
            fields.append(f".dims = {name}.value_or(IntList())" if dim.type.optional else f".dims = {name}")
        elif dim.type.optional:
            lines.append(f"int64_t one = {name}.value_or(0);")
            fields.append(f".dims = {name} ? IntList(&one, 1) : IntList()")
        else:
            fields.append(f".dims = IntList(&{name}, 1)")
    if "keepdim" in arguments:
        fields.append(".keepdim = keepdim")
    if "dtype" in arguments:
        fields.append(".dtype = dtype")
    if kernel.scalars:
        values = [_number(op, name) for name in kernel.scalars]
        lines.append(f"const Scalar s[] = {{{', '.join(values)}}};")
        fields.append(".scalars = s")
    count, constant = len(kernel.results), f"k_{kernel.name}"
    lines.append(f"const Reduce call{{{', '.join(fields)}}};")
    run, rule = ("cpu::reduce", constant) if space == "cpu" else ("reduce_meta", f"{constant}.rule")
    if op.variant == "out":
        return [*lines, f"{run}_out({rule}, call, {{{', '.join(f'&{cpp.identifier(a.name)}' for a in op.outs)}}});"]
    lines += [f"Tensor results[{count}];", f"{run}({rule}, call, results);"]
    if count == 1:
        return [*lines, "return results[0];"]
    return [*lines, f"return {{{', '.join(f'results[{i}]' for i in range(count))}}};"]


def _number(op: Op, name: str) -> str:
    argument = op.schema.argument(name)
    spelled = cpp.identifier(name)
    if not argument.type.optional:
        return f"Scalar({spelled})"
    absent = (op.declaration.options.get("absent") or {}).get(name)
    if absent is None:
        raise op.declaration.fail(f"the optional '{name}' needs a value for when it is absent: absent={{'{name}': 1}}")
    return f"{spelled} ? Scalar(*{spelled}) : Scalar({absent})"
