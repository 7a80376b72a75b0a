"""Which overload of an op a call in a body means, and the call as C++."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from taedagen.emit import cpp
from taedagen.emit.body.values import Value, convert, fits, of_schema
from taedagen.opdef.declaration import REGISTRY
from taedagen.opdef.schema import Schema


def op_call(name: str, values: Sequence[Value], named: Mapping[str, Value]) -> Value | str:
    """The call of an op, or what is wrong with it."""
    candidates = [
        op.schema for d in REGISTRY.named(name.removesuffix("_")) + REGISTRY.named(name) for op in d.ops()
        if op.schema.name == name and op.variant != "out"
    ]  # fmt: skip
    # Second time round, an optional may stand where one is needed, and a number where an op takes only tensors.
    for schema, lenient in [(c, lenient) for lenient in (False, True) for c in candidates]:
        bound = _bound(schema, values, named, lenient)
        if bound is not None:
            texts = [
                convert(bound[a.name], of_schema(a.type), a.type) if a.name in bound else str(cpp.default(a))
                for a in schema.arguments
            ]
            is_inplace = bool(schema.returns) and any(r.type.is_mutable for r in schema.returns)
            return Value(
                f"ops::{cpp.identifier(name)}({', '.join(texts)})",
                "void" if is_inplace else _result(schema),
                owned=True,
            )
    shown = ", ".join([v.type for v in values] + [f"{k}={v.type}" for k, v in named.items()])
    return f"there is no op '{name}'" if not candidates else f"no overload of '{name}' takes ({shown})"


def _result(schema: Schema) -> str:
    types = [of_schema(r.type) for r in schema.returns]
    return types[0] if len(types) == 1 else f"({', '.join(types)})" if types else "void"


def _bound(
    schema: Schema, values: Sequence[Value], named: Mapping[str, Value], lenient: bool
) -> dict[str, Value] | None:
    positional = [a for a in schema.arguments if not a.keyword_only]
    if len(values) > len(positional) or any(k not in schema.names for k in named):
        return None
    bound = {a.name: v for a, v in zip(positional, values, strict=False)} | dict(named)
    for argument in schema.arguments:
        if argument.name not in bound:
            if argument.default is None:
                return None
            continue
        value, type_ = bound[argument.name], argument.type
        if value.type == "None" and type_.is_tensor and type_.optional:
            continue
        if not fits(value, of_schema(type_), lenient, type_.list_size):
            return None
    return bound
