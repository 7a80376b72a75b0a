"""The loops of reductions, compiled per instruction set."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from taedagen.emit import cpp
from taedagen.emit.elementwise import rule_name
from taedagen.emit.formula import Formula, expand
from taedagen.emit.plan import Family
from taedagen.emit.reductions import IDENTITIES, KINDS, Reduction, reduction_of
from taedagen.emit.targets.cpu.loops import units
from taedagen.emit.variants import COMPUTES, INTEGERS
from taedagen.opdef.declaration import Declaration
from taedagen.opdef.expr import Expr, arg, trace


class ReduceKernel:
    """The loops over one declaration's class."""

    def __init__(self, declaration: Declaration) -> None:
        self.declaration = declaration
        self.reduction: Reduction = reduction_of(declaration)
        self.name = self.reduction.name
        self.table = f"k_{cpp.constant_name(self.reduction.twin or declaration)}_loops"
        self.structs: list[str] = []
        self._names: dict[str, str] = {}
        self.rows = [] if self.reduction.twin else [self._loops(compute) for compute in COMPUTES]

    def _loops(self, compute: str) -> str:
        dtypes, cpp_type = COMPUTES[compute]
        if self.reduction.through_bool:
            wanted = "Bool" if self.reduction.results[0] == "bool" else "I64"
            if compute != wanted:
                return "nullptr"
        elif self.reduction.results[0] == "long" and compute in ("I32", "U8", "Bool"):
            return self._row(compute, cpp_type)  # dtype=torch.int32 asks for these
        elif not any(d in self.declaration.supported for d in dtypes):
            return "nullptr"
        if self.reduction.kind == "index" and compute in ("U8", "Bool", "C64", "C128"):
            return "nullptr"
        return self._row(compute, cpp_type)

    def _row(self, compute: str, cpp_type: str) -> str:
        body = self._struct(compute)
        name = self._names.setdefault(body, f"{self.name}_{len(self._names)}")
        if len(self.structs) < len(self._names):
            self.structs.append(f"struct {name} {{\n{body}\n}};")
        return f"&{KINDS[self.reduction.kind]}Reduction<{name}>::loops<{cpp_type}>"

    def _struct(self, compute: str) -> str:
        integer = compute in INTEGERS or compute == "Bool"
        dtype = COMPUTES[compute][0][0]
        count = 2 if self.reduction.kind == "moments" else len(self.reduction.identities)
        if self.reduction.kind == "index":
            better = self._lower(self.reduction.spec.better, {"a": "a", "b": "b"}, dtype, integer, [True])
            return "\n".join(["  template <class T>", "  TAEDA_INLINE M<T> better(V<T> a, V<T> b) {", *better[0],
                              f"    return {better[1][0]};", "  }"])  # fmt: skip
        lines = [
            f"  static constexpr int kStates = {count}, kResults = {len(self.reduction.results)}, "
            f"kScalars = {len(self.reduction.scalars)};",
            f"  static constexpr bool kRealResults = {str(self.reduction.results[0] == 'real').lower()};",
        ]
        scalars = {name: f"s[{i}]" for i, name in enumerate(self.reduction.scalars)}
        if self.reduction.kind == "value":
            identities = ", ".join(f"Identity::{IDENTITIES[i]}" for i in self.reduction.identities)
            lines.append(f"  static constexpr Identity kIdentity[] = {{{identities}}};")
            load = getattr(self.reduction.spec, "load", None) or (lambda x: (x,) * count if count > 1 else x)
            lines += self._method(
                "load", "V<T> x, [[maybe_unused]] const V<T>* s, V<T>* out", load, {"x": "x"} | scalars, dtype, integer
            )
            states = {f"{side}{i}": f"{side}[{i}]" for side in "ab" for i in range(count)}
            lines += self._method(
                "combine",
                "const V<T>* a, const V<T>* b, V<T>* out",
                self.reduction.spec.combine,
                states,
                dtype,
                integer,
            )
        finish = getattr(self.reduction.spec, "finish", None) or (lambda acc: acc)
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

    def constant(self) -> list[str]:
        """Its ``Reduction``: the rule, and the loops by instruction set."""
        fields = {"rule": rule_name(self.declaration), "loops": f"TAEDA_ISA_TABLES({self.table})"}
        return cpp.constant("constexpr Reduction", f"k_{self.name}", fields)


# What the loops of one reduction cost to compile, in those of a pointwise formula.
_COST = 8


def reduction_tables(kernels: Iterable[ReduceKernel]) -> list[str]:
    """Declarations of the kernels' loops."""
    tables = dict.fromkeys(f"* const {k.table}[]" for k in kernels)
    return cpp.wrapped("TAEDA_PER_ISA(extern const ReduceLoops ", tables, ";)") if tables else []


def reduction_files(family: Family, kernels: list[ReduceKernel]) -> dict[str, str]:
    structs = [line for k in kernels for line in (cpp.place_comment(k.declaration), *k.structs)]
    made = {k.table: ("const ReduceLoops* const", k.rows) for k in kernels if k.rows}
    return (
        units(family, f"{family.name}_reduction", "backend/cpu/engine/reduce_loop.h", structs, made, _COST)
        if made
        else {}
    )
