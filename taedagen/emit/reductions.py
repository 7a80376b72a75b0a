"""Reductions as every target sees them: what a declaration's class says, the rule of results, and how a call's
arguments reach an engine."""

from __future__ import annotations

from functools import cache
from typing import Any

from taedagen.emit import cpp, limits
from taedagen.emit.elementwise import dtype_bits, returned
from taedagen.opdef.declaration import REGISTRY, Declaration, Op

_RESULT = {"same": "Same", "long": "Long", "float": "Float", "real": "Real", "bool": "Bool", "index": "Index"}
IDENTITIES = {"zero": "Zero", "one": "One", "lowest": "Lowest", "highest": "Highest"}
KINDS = {"value": "Value", "index": "Index", "moments": "Moments"}


class Reduction:
    """What one declaration's class says."""

    def __init__(self, declaration: Declaration) -> None:
        self.declaration = declaration
        self.spec: Any = declaration.function
        schema = declaration.schema
        self.name = cpp.constant_name(declaration)
        self.twin: Declaration | None = None  # whose loops it shares
        if "same_as" in declaration.options:
            twin = declaration.options["same_as"]
            self.twin = next(d for d in REGISTRY.declarations if d.schema.full_name == twin)
            self.spec = self.twin.function
        self.kind = str(getattr(self.spec, "state", "value"))
        if self.kind not in KINDS:
            raise declaration.fail(f"the state '{self.kind}' is unknown; there are {sorted(KINDS)}")
        identity = getattr(self.spec, "identity", None)
        self.identities = [identity] if isinstance(identity, str) else list(identity or ())
        for name in self.identities:
            if name not in IDENTITIES:
                raise declaration.fail(f"the identity '{name}' is unknown; there are {sorted(IDENTITIES)}")
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
        self._check_limits()

    def _check_limits(self) -> None:
        for what, count, most in (
            ("results", len(self.results), limits.REDUCTION_RESULTS),
            ("numbers", len(self.scalars), limits.REDUCTION_SCALARS),
        ):
            if count > most:
                raise self.declaration.fail(
                    f"it has {count} {what}; reductions have room for {most} (taedagen/emit/limits.py)"
                )

    @property
    def scalars(self) -> list[str]:
        """The arguments that the formulas may name: numbers, except the dimensions."""
        return [a.name for a in self.declaration.schema.arguments
                if a.type.base in ("Scalar", "float", "int") and not a.type.is_list and a.name != "dim"]  # fmt: skip

    def rule(self) -> list[str]:
        """The definition of the rule that all targets share."""
        options = self.declaration.options
        out_widens = any(r in ("float", "real") for r in self.results) or bool(options.get("out_widens"))
        fields = {
            "kind": f"StateKind::{KINDS[self.kind]}",
            "results": str(len(self.results)),
            "scalars": str(len(self.scalars)),
            "result": f"{{{', '.join(f'ReducedType::{_RESULT[r]}' for r in self.results)}}}",
            "through_bool": str(self.through_bool).lower(),
            "has_identity": str(self.kind != "index" and not options.get("nonempty")).lower(),
            "out_widens": str(out_widens).lower(),
            "dtypes": dtype_bits(self.declaration),
        }
        fields = {name: value for name, value in fields.items() if value not in ("0", "false")}
        return cpp.constant("inline constexpr ReductionRule", self.name, fields, "reduction")


@cache
def reduction_of(declaration: Declaration) -> Reduction:
    return Reduction(declaration)


def reduce_call(op: Op) -> list[str]:
    """Statements that make ``call``, a ``shape::Reduce``."""
    reduction = reduction_of(op.declaration)
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
    if reduction.scalars:
        values = [_number(op, name) for name in reduction.scalars]
        lines.append(f"const Scalar s[] = {{{', '.join(values)}}};")
        fields.append(".scalars = s")
    return [*lines, f"const Reduce call{{{', '.join(fields)}}};"]


def _number(op: Op, name: str) -> str:
    argument = op.schema.argument(name)
    spelled = cpp.identifier(name)
    if not argument.type.optional:
        return f"Scalar({spelled})"
    absent = (op.declaration.options.get("absent") or {}).get(name)
    if absent is None:
        raise op.declaration.fail(f"the optional '{name}' needs a value for when it is absent: absent={{'{name}': 1}}")
    return f"{spelled} ? Scalar(*{spelled}) : Scalar({absent})"


def run_reduction(op: Op, run: str) -> list[str]:
    """Statements that call the engine ``run``, a function and its first argument: ``"reduce(k_sum"``."""
    lines = reduce_call(op)
    function, _, constant = run.partition("(")
    if op.variant == "out":
        return [
            *lines,
            f"{function}_out({constant}, call, {{{', '.join(f'&{cpp.identifier(a.name)}' for a in op.outs)}}});",
        ]
    count = len(op.declaration.schema.returns)
    return [*lines, f"Tensor results[{count}];", f"{function}({constant}, call, results);", returned("results", count)]
