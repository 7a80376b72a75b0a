"""Fused gradients: pointwise kernels made of the derivatives of pointwise ops.

A derivative that a formula could say is one more formula, of ``grad``, what the node saved and the op's numbers. From
it come a kernel for all gradients at once and one for each, on every backend whose target makes them; the node takes
one of them where its op form would go straight to loops like these (``csrc/shape/fused.h``), and calls ops otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from taedagen.emit import cpp, limits
from taedagen.emit.formula import can_expand
from taedagen.emit.variants import is_operand
from taedagen.opdef.declaration import FLOATING, Declaration
from taedagen.opdef.expr import Expr, substitute, walk
from taedagen.opdef.schema import Argument, parse_schema

_NUMBERS = ("Scalar", "int", "SymInt", "float")


@dataclass(frozen=True)
class Fused:
    """One kernel: ``declaration`` is pointwise, its formula the gradients of ``of``."""

    declaration: Declaration
    of: tuple[str, ...]
    operands: tuple[str, ...]
    scalars: tuple[str, ...]

    @property
    def symbol(self) -> str:
        return f"fused::{cpp.constant_name(self.declaration)}"


def fused_kernels(declaration: Declaration, gradients: dict[str, Expr]) -> list[Fused]:
    """The kernels that spare a pass over memory: for all gradients but those that are ``grad`` itself, and for each."""
    if declaration.kind != "pointwise" or len(declaration.schema.returns) != 1 or not _dtypes(declaration):
        return []
    made = {n: root for n, root in gradients.items() if root.kind == "call" and _is_formula(declaration, root)}
    names = {a.name for a in declaration.schema.arguments if a.type.is_tensor}
    kernels = []
    if len(made) > 1 and gains(made.values(), names):
        kernels.append(_kernel(declaration, made, "gradients"))
    kernels += [_kernel(declaration, {n: root}, f"gradient_{n}") for n, root in made.items() if gains([root], names)]
    return [k for k in kernels if _has_room(k)]


def _has_room(kernel: Fused) -> bool:
    operands = len(kernel.operands) + len(kernel.of)
    return len(kernel.of) <= limits.RESULTS and operands <= limits.OPERANDS and len(kernel.scalars) <= limits.SCALARS


def gains(roots: Iterable[Expr], tensors: Iterable[str]) -> bool:
    """Whether ``roots`` take several ops; ``tensors`` are the arguments that are tensors in them.

    A product with a number of the op's does not count: the number is 1 in most calls, and then it is no op.
    """
    depends = {"grad", "result", *tensors}
    on_tensors: set[int] = set()
    ops = 0
    for node in walk(roots):
        if node.kind == "arg" and node.name in depends:
            on_tensors.add(id(node))
        if node.kind != "call" or not any(id(a) in on_tensors for a in node.args):
            continue
        on_tensors.add(id(node))
        scales = node.name == "mul" and id(node.args[1]) not in on_tensors and node.args[1].kind != "const"
        ops += node.name != "conj" and not scales
    return ops > 1


def _dtypes(declaration: Declaration) -> tuple[str, ...]:
    """Complex gradients are left to ops: few programs would repay their loops."""
    return tuple(d for d in FLOATING if d in declaration.supported)


def _is_formula(declaration: Declaration, root: Expr) -> bool:
    plain = {a.name for a in declaration.schema.arguments if _is_plain(a)} | {"grad", "result"}
    for node in walk([root]):
        said = (
            node.name in plain
            if node.kind == "arg"
            else can_expand(node, "float32")
            if node.kind == "call"
            else node.kind == "const" and isinstance(node.value, (bool, int, float))
        )
        if not said:
            return False
    return True


def _is_plain(argument: Argument) -> bool:
    type_ = argument.type
    return not type_.optional and not type_.is_list and (type_.is_tensor or type_.base in _NUMBERS)


def _kernel(declaration: Declaration, gradients: dict[str, Expr], suffix: str) -> Fused:
    used = {node.name for node in walk(gradients.values()) if node.kind == "arg"}
    arguments = [a for a in declaration.schema.arguments if a.name in used and a.name != "grad"]
    operands = ["grad", *(a.name for a in arguments if is_operand(declaration, a))]
    operands += ["result"] * ("result" in used and "result" not in declaration.schema.names)
    scalars = [a.name for a in arguments if a.name not in operands]
    schema = declaration.schema
    name = "_".join(filter(None, [schema.name, schema.overload, suffix]))
    taken = ", ".join([*(f"Tensor {n}" for n in operands), *(f"Scalar {n}" for n in scalars)])
    given = ", ".join(["Tensor"] * len(gradients))
    roots = tuple(gradients.values())
    formula = Declaration(
        "pointwise", parse_schema(f"{name}({taken}) -> ({given})"),
        lambda **symbols: tuple(substitute(root, symbols) for root in roots),
        declaration.derivative_where or declaration.where, declaration.family,
        dtypes=_dtypes(declaration),
        options={"masks": declaration.options.get("masks", ())},
    )  # fmt: skip
    return Fused(formula, tuple(gradients), tuple(operands), tuple(scalars))
