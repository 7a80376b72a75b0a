"""How the arguments of a pointwise op reach its formula, and the forms that the formula takes.

A tensor is an operand, a number beside it (``alpha``) a scalar of the loop. A bool, a string and the absence of an
optional argument cannot be symbols: the formula is traced once for each combination, and each is a loop of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from taedagen.emit import cpp
from taedagen.emit.formula import expand, formula_for
from taedagen.opdef.declaration import Declaration, Op
from taedagen.opdef.expr import Expr, arg, trace
from taedagen.opdef.schema import Argument

# Compute types in the order of loop_table.h: the dtypes that run in each, the C++ type.
COMPUTES: dict[str, tuple[tuple[str, ...], str]] = {
    "F32": (("float32", "float16", "bfloat16"), "float"),
    "F64": (("float64",), "double"),
    "I32": (("int32", "int16", "int8", "uint16"), "int32_t"),
    "I64": (("int64", "uint32", "uint64"), "int64_t"),
    "U8": (("uint8",), "uint8_t"),
    "C64": (("complex64",), "Complex<float>"),
    "C128": (("complex128",), "Complex<double>"),
    "Bool": (("bool",), "uint8_t"),
}
INTEGERS = {"I32", "I64", "U8"}


@dataclass(frozen=True)
class Form:
    """One traced combination: the operands and scalars it reads, by name, and its results."""

    inputs: tuple[str, ...]
    scalars: tuple[str, ...]
    results: tuple[Expr, ...]


class Variants:
    """The forms of one pointwise declaration."""

    def __init__(self, declaration: Declaration) -> None:
        self.declaration = declaration
        self.masks = set(declaration.options.get("masks", ()))
        self.constants: dict[str, tuple[float, ...]] = declaration.options.get("constants", {})

    @cached_property
    def switches(self) -> list[tuple[Argument, tuple[Any, ...]]]:
        """The arguments that select a form, each with its values; True and False say whether an optional is there."""
        found: list[tuple[Argument, tuple[Any, ...]]] = []
        for argument in self.declaration.schema.arguments:
            if argument.type.base == "str":
                choices = (self.declaration.options.get("choices") or {}).get(argument.name)
                if not choices:
                    raise self.declaration.fail(
                        f"the string '{argument.name}' needs choices={{'{argument.name}': (...)}}"
                    )
                found.append((argument, tuple(choices)))
            elif argument.type.optional or argument.type.base == "bool":
                found.append((argument, (False, True)))
            elif argument.name in self.constants:
                found.append((argument, (None, *self.constants[argument.name])))
        return found

    @property
    def combinations(self) -> list[dict[str, Any]]:
        names = [argument.name for argument, _ in self.switches]
        return [dict(zip(names, values, strict=True)) for values in product(*(v for _, v in self.switches))]

    def form(self, chosen: dict[str, Any], compute: str) -> Form | None:
        """None where the formula returns None: the combination means nothing."""
        declaration = self.declaration
        dtype = next((d for d in COMPUTES[compute][0] if d in declaration.supported), "")
        function = formula_for(declaration, dtype)
        as_masks = compute == "Bool" and function is not declaration.function
        symbols: dict[str, Any] = {}
        inputs, scalars = [], []
        for argument in declaration.schema.arguments:
            name, type_ = argument.name, argument.type
            if type_.base == "str" or (type_.base == "bool" and not type_.optional):
                symbols[name] = chosen[name]
            elif type_.optional and not chosen[name]:
                symbols[name] = None
            elif is_operand(declaration, argument):
                inputs.append(name)
                constant = chosen.get(name) if name in self.constants else None
                symbols[name] = arg(name, mask=as_masks or name in self.masks) if constant is None else constant
            elif name in self.constants and chosen[name] is not None:
                symbols[name] = chosen[name]
            else:
                scalars.append(name)
                symbols[name] = arg(name)
        traced = trace(function, symbols)
        if traced is None:
            if not self.switches:
                raise declaration.fail("the formula returns None; is a 'return' missing?")
            return None
        results = traced if isinstance(traced, tuple) else (traced,)
        if len(results) != len(declaration.schema.returns):
            raise declaration.fail(
                f"the formula gives {len(results)} results, the schema {len(declaration.schema.returns)}"
            )
        return Form(tuple(inputs), tuple(scalars), tuple(expand(r, dtype, declaration) for r in results))

    def index_code(self, op: Op) -> list[str]:
        """C++ statements that compute ``variant`` from the arguments of ``op``."""
        if not self.switches:
            return []
        lines = ["int variant = 0;"]
        for argument, values in self.switches:
            name = cpp.identifier(argument.name)
            if argument.name in self.constants:
                lines.append(f"variant *= {len(values)};")
                tests = [f"if ({name}.equals({v})) variant += {i};" for i, v in enumerate(values) if v is not None]
                is_number = argument.name in op.numbers or not is_operand(self.declaration, argument)
                lines += [" else ".join(tests)] if is_number else []
                continue
            if argument.type.base != "str":
                asked = (
                    name
                    if not argument.type.optional
                    else f"{name}.defined()"
                    if argument.type.is_tensor
                    else f"{name}.has_value()"
                )
                lines.append(f"variant = variant * 2 + ({asked} ? 1 : 0);")
                continue
            lines.append(f"variant *= {len(values)};")
            chain = [f"if ({_equals(name, argument, v)}) variant += {i};" for i, v in enumerate(values)]
            shown = ", ".join(f"'{v}'" for v in values if v is not None)
            target = f"*{name}" if argument.type.optional else name
            lines += [
                " else ".join(chain),
                f'else TAEDA_FAIL(Runtime, "{argument.name} must be one of {shown}; got \'", {target}, "\'");',
            ]
        return lines


def _equals(name: str, argument: Argument, value: str | None) -> str:
    if value is None:
        return f"!{name}"
    return f'{name} && *{name} == "{value}"' if argument.type.optional else f'{name} == "{value}"'


def is_operand(declaration: Declaration, argument: Argument) -> bool:
    """Whether it is read element by element; numbers named in ``operands`` are, and so take part in promotion."""
    return argument.type.is_tensor or argument.name in declaration.options.get("operands", ())
