"""Pointwise ops as every target sees them: the rule of results, and how a call's arguments reach a formula."""

from __future__ import annotations

from taedagen.emit import cpp, limits
from taedagen.emit.variants import COMPUTES, Variants, is_operand
from taedagen.opdef.declaration import Declaration, Op
from taedagen.opdef.schema import Argument

_PROMOTION = {
    "result_type": "ResultType",
    "float": "Float",
    "int_to_float": "Float",
    "same": "Same",
    "bool": "ResultType",
}
_ELEMENT = {"same": "Common", "bool": "Bool", "real": "Real", "complex": "Complex"}
# The bit of a dtype in a rule's ``dtypes``, by taeda/core/dtype.h.
_DTYPES = (
    "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128", "bool",
    "bfloat16", "uint16", "uint32", "uint64",
)  # fmt: skip
_NUMBERS = ("Scalar", "int", "float", "SymInt")


def bits(flags: list[bool]) -> int:
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def dtype_bits(declaration: Declaration) -> str:
    """The dtypes that some formula is for."""
    return f"{bits([d in declaration.supported for d in _DTYPES]):#x}"


def rule_name(declaration: Declaration) -> str:
    """Of the constant in ``shape/ops/<family>.h``."""
    return f"rule::{cpp.constant_name(declaration)}"


def result_elements(declaration: Declaration) -> list[str]:
    """What each result holds, relative to the common dtype."""
    options = declaration.options
    out = options.get("dtype_out") or ("bool" if options.get("promote") == "bool" else "same")
    return [out] * len(declaration.schema.returns) if isinstance(out, str) else list(out)


def elementwise_rule(declaration: Declaration) -> list[str]:
    """The definition of the rule that all targets share."""
    arguments, masks = declaration.schema.arguments, Variants(declaration).masks
    operands = [a.name for a in arguments if is_operand(declaration, a)]
    elements, scalars = result_elements(declaration), _numbers(declaration)
    for what, count, most in (
        ("operands and results", len(operands) + len(elements), limits.OPERANDS),
        ("results", len(elements), limits.RESULTS),
        ("numbers", len(scalars), limits.SCALARS),
    ):
        if count > most:
            raise declaration.fail(f"it has {count} {what}; the loops have room for {most} (taedagen/emit/limits.py)")
    fields = {
        "promotion": f"Promotion::{_PROMOTION[str(declaration.options.get('promote', 'result_type'))]}",
        "mask_inputs": f"{bits([o in masks for o in operands]):#x}",
        "operands": str(len(operands)),
        "scalars": str(len(scalars)),
        "results": str(len(elements)),
        "result": f"{{{', '.join(f'Element::{_ELEMENT[e]}' for e in elements)}}}",
        "dtypes": dtype_bits(declaration),
        "contiguous": str({None: 0, "always": 1, "number first": 2}[declaration.options.get("contiguous")]),
        "exact_out": "true" if declaration.options.get("out") == "same" else "0",
    }
    fields = {name: value for name, value in fields.items() if value not in ("0", "0x0")}
    return cpp.constant("inline constexpr ElementwiseRule", cpp.constant_name(declaration), fields, "elementwise")


def _numbers(declaration: Declaration) -> list[Argument]:
    """The arguments that a formula takes beside its operands."""
    return [a for a in declaration.schema.arguments if not is_operand(declaration, a) and a.type.base in _NUMBERS]


def operand_array(op: Op) -> tuple[list[str], str]:
    """Statements that make the array ``in`` of what the formula reads, and how a call names it."""
    tensors = [op.schema.argument(a.name) for a in op.declaration.schema.arguments if is_operand(op.declaration, a)]
    optional = [a for a in tensors if op.declaration.schema.argument(a.name).type.optional]
    if not optional:
        return [f"const Operand in[] = {{{cpp.names(tensors)}}};"], "in"
    lines = [f"Operand in[{len(tensors)}];", "size_t n = 0;"]
    for argument in tensors:
        name = cpp.identifier(argument.name)
        if argument not in optional:
            lines.append(f"in[n++] = {name};")
        else:
            test = f"{name}.defined()" if argument.type.is_tensor else f"{name}.has_value()"
            lines.append(f"if ({test}) in[n++] = {name if argument.type.is_tensor else '*' + name};")
    return lines, "Operands(in, n)"


def scalar_array(op: Op) -> tuple[list[str], str]:
    """Statements that make the array ``s`` of the numbers beside the operands, and how a call names it."""
    numbers = _numbers(op.declaration)
    if not numbers:
        return [], "{}"
    if not any(a.type.optional for a in numbers):
        values = ", ".join(f"Scalar({cpp.identifier(a.name)})" for a in numbers)
        return [f"const Scalar s[] = {{{values}}};"], "s"
    lines = [f"Scalar s[{len(numbers)}];", "size_t c = 0;"]
    for argument in numbers:
        name = cpp.identifier(argument.name)
        lines.append(
            f"if ({name}) s[c++] = Scalar(*{name});" if argument.type.optional else f"s[c++] = Scalar({name});"
        )
    return lines, "std::span<const Scalar>(s, c)"


def operand_check(op: Op, operands: str) -> list[str]:
    """The call of ``shape::check_<name>`` with the operands and the other arguments, where the option ``check`` names
    one."""
    name = op.declaration.options.get("check")
    declared = op.declaration.schema.argument
    others = [cpp.identifier(a.name) for a in op.inputs if not is_operand(op.declaration, declared(a.name))]
    return [f"check_{name}({', '.join([operands, *others])});"] if name else []


def absent_check(op: Op) -> list[str]:
    """A statement that raises where no optional argument is given and that means nothing."""
    variants = Variants(op.declaration)
    optional = [a.name for a in op.declaration.schema.arguments if a.type.optional]
    absent = [c for c in variants.combinations if not any(c.get(name) for name in optional)]
    computes = [c for c in COMPUTES if any(d in op.declaration.supported for d in COMPUTES[c][0])]
    if not optional or variants.form(absent[0], computes[0]) is not None:
        return []
    given = " || ".join(
        f"{cpp.identifier(a.name)}.{'defined' if a.type.is_tensor else 'has_value'}()"
        for a in op.declaration.schema.arguments
        if a.type.optional
    )
    return [f'TAEDA_CHECK({given}, "at least one of the optional arguments must be given");']


def returned(name: str, count: int) -> str:
    if count == 1:
        return f"return {name}[0];"
    return f"return {{{', '.join(f'{name}[{i}]' for i in range(count))}}};"


def written(op: Op) -> list[str]:
    """The tensors that an in-place or out= form writes to."""
    return [cpp.identifier(a.name) for a in (op.outs if op.variant == "out" else op.schema.arguments[:1])]
