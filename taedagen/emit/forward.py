"""Forward mode: per differentiable op a function that gives its result a tangent (``taeda/autograd/forward.h``).

Views make the same view of the tangent. Pointwise ops read the gradient's formula the other way, as their Jacobian is
diagonal. All others transpose the gradient, unless the declaration brings a rule (``@op.forward``).
"""

from __future__ import annotations

import inspect
from typing import Any

from taedagen.emit import cpp
from taedagen.emit.lowering import Lowering, Typed, argument_kind, joint_call, used_arguments
from taedagen.emit.plan import is_view
from taedagen.opdef.declaration import Op
from taedagen.opdef.expr import Expr, arg, trace
from taedagen.opdef.schema import Argument

_TANGENT = "_tangent"  # a rule's parameter ``self_tangent`` is the tangent of ``self``


def tangent_name(op: Op) -> str:
    """An in-place op shares the function of the op that it is a form of."""
    return f"{cpp.flat((_form(op, 'functional') or op).cpp_name)}_tangent"


def tangent_function(op: Op, gradients: dict[str, Expr], result_names: list[str]) -> list[str]:
    """``mul_tangent(made, self, other)``. For an in-place op ``made`` is ``self`` as written to and ``self`` is what it
    was before, or the same tensor if nothing reads that."""
    first = f"const {cpp.return_type(op)}&"
    if op.variant == "inplace":
        first = cpp.cpp_type(op.schema.arguments[0].type)
    elif first == "const std::vector<Tensor>&":
        first = "TensorList"
    parameters = [f"{first} made", *cpp.parameters(op.schema.arguments).split(", ")]
    lines = [f"void {tangent_name(op)}({', '.join(f'[[maybe_unused]] {p}' for p in parameters)}) {{"]
    lines.append("  for (EachLevel level; level.next();) {")
    lines += [f"    {line}" for line in _body(op, gradients, result_names)]
    return [*lines, "  }", "}"]


def call_tangent(op: Op, gradients: dict[str, Expr]) -> str:
    values = [cpp.identifier(a.name) for a in op.schema.arguments]
    made = "made"
    if op.variant == "inplace":
        made = values[0]
        values[0] = "before" if reads_overwritten(op, gradients) else made
    return f"{tangent_name(op)}({', '.join([made, *values])});"


def _form(op: Op, variant: str) -> Op | None:
    return next((o for o in op.declaration.ops() if o.variant == variant and o.numbers == op.numbers), None)


def reads_overwritten(op: Op, gradients: dict[str, Expr]) -> bool:
    """Whether an in-place op's tangent reads the elements that ``self`` had before."""
    if op.variant != "inplace":
        return False
    first = op.schema.arguments[0].name
    if op.declaration.tangent is not None:
        return bool({first, first + _TANGENT} & set(inspect.signature(op.declaration.tangent).parameters))
    return "value" in used_arguments(list(gradients.values())).get(first, ())


def rule_roots(op: Op) -> list[Expr]:
    """The formula of the declaration's own rule, for those who ask which ops are called."""
    rule = op.declaration.tangent
    if rule is None:
        return []
    root: Any = trace(rule, {name: arg(name) for name in inspect.signature(rule).parameters})
    return [root]


def _body(op: Op, gradients: dict[str, Expr], result_names: list[str]) -> list[str]:
    wanted = [a for a in op.schema.arguments if a.type.is_tensor and a.name in gradients]
    end = f"{'write' if _form(op, 'inplace') else 'give'}_tangent(made, "
    if not wanted:
        return [f"{end}{{}}, level);"]
    if op.declaration.tangent is not None:
        return _declared(op, _known(op, gradients, result_names), end, wanted)
    if is_view(op):
        return _same_view(op, end)
    if op.declaration.kind == "pointwise" and len(op.declaration.schema.returns) == 1:
        return _diagonal(op, gradients, _known(op, gradients, result_names), end)
    return _transposed(op, gradients, _known(op, gradients, result_names), wanted, end)


def _known(op: Op, gradients: dict[str, Expr], result_names: list[str]) -> dict[str, Typed]:
    """What the formulas may read: results, then arguments, as what a derivative saves."""
    known: dict[str, Typed] = {}
    for i, (name, returned) in enumerate(zip(result_names, op.declaration.schema.returns, strict=True)):
        text = f"std::get<{i}>(made)" if len(result_names) > 1 else "made"
        known[name] = Typed(text, argument_kind(returned.type))
    used = used_arguments(list(gradients.values()))
    for a in op.schema.arguments:
        known[a.name] = Typed(cpp.identifier(a.name), argument_kind(a.type))
        if a.type.is_tensor and a.type.is_list and "sizes" in used.get(a.name, ()):
            known[f"{a.name}.sizes"] = Typed(f"IntList({a.name}_sizes)", "IntList")
    return known


def _same_view(op: Op, end: str) -> list[str]:
    base = next(a for a in op.schema.arguments if a.type.alias)
    values = [
        f"laid_out_tangent({cpp.identifier(a.name)}, level)" if a is base else cpp.identifier(a.name)
        for a in op.schema.arguments
    ]
    return [
        f"if (has_tangent({cpp.identifier(base.name)}, level))",
        f"  {end}ops::{op.cpp_name}({', '.join(values)}), level);",
    ]


def _diagonal(op: Op, gradients: dict[str, Expr], known: dict[str, Typed], end: str) -> list[str]:
    lines = ["Diagonal jacobian(made, level);"]
    for name, root in gradients.items():
        lowering = Lowering(op.declaration, known | {"grad": Typed("grad", "Tensor")})
        (value,) = lowering.lower([root])
        lines += [
            f"if (has_tangent({cpp.identifier(name)}, level))",
            f"  jacobian.add({cpp.identifier(name)}, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {{",
            *(f"    {statement}" for statement in lowering.statements),
            f"    return {value.text};",
            "  });",
        ]
    return [*lines, f"{end}jacobian.sum(), level);"]


def _transposed(op: Op, gradients: dict[str, Expr], known: dict[str, Typed],
                wanted: list[Argument], end: str) -> list[str]:  # fmt: skip
    used = used_arguments(list(gradients.values()))
    inplace = _form(op, "inplace")
    none = f"{{ {end}{{}}, level); continue; }}" if inplace else "continue;"
    lines = [f"if (!({' || '.join(_has(a) for a in wanted)})) {none}"]
    lines += [f'Transposed jacobian("{op.schema.name}", made, level{_skipped(op)});']
    if "grad" in used or "grads" not in used:
        lines += ["const Tensor& grad = jacobian.grads()[0];", "if (!grad.defined()) continue;"]
        known = known | {"grad": Typed("grad", "Tensor")}
    if "grads" in used:
        lines.append("std::span<Tensor> grads = jacobian.grads();")
        known = known | {"grads": Typed("grads", "TensorList")}
    if "needs" in used:
        tensors = [a for a in op.schema.arguments if a.type.is_tensor]
        lines.append(f"const int64_t needs[] = {{{', '.join(_has(a) for a in tensors)}}};")
        known = known | {"needs": Typed("IntList(needs)", "IntList")}
    lines += [
        f"const std::vector<int64_t> {name.removesuffix('.sizes')}_sizes = pack_sizes({known[name[:-6]].text});"
        for name in known
        if name.endswith(".sizes")
    ]
    lines += _additions(op, gradients, known, wanted)
    if inplace:
        many = op.schema.arguments[0].type.is_list
        return [*lines, f"{end}{'jacobian.finish()' if many else 'jacobian.finish()[0]'}, level);"]
    return [*lines, "jacobian.give();"]


def _additions(op: Op, gradients: dict[str, Expr], known: dict[str, Typed], wanted: list[Argument]) -> list[str]:
    lines: list[str] = []
    joint = joint_call(gradients.values())
    shared = Lowering(op.declaration, known)
    if joint is not None:
        value = shared.expression(joint)
        lines += [*shared.statements, f"auto all = {value.text};"]
    for a in wanted:
        root, name = gradients[a.name], cpp.identifier(a.name)
        if joint is not None and root.kind == "item" and root.args[0] is joint:
            lines.append(f"if ({_has(a)}) jacobian.add({name}, std::get<{root.value}>(all));")
            continue
        lowering = Lowering(op.declaration, known)
        (value,) = lowering.lower([root])
        body = " ".join([*lowering.statements, f"jacobian.add({name}, {value.text});"])
        lines.append(f"if ({_has(a)}) {{ {body} }}")
    return lines


def _has(argument: Argument) -> str:
    return f"has_tangent({cpp.identifier(argument.name)}, level)"


def _skipped(op: Op) -> str:
    """The results without a gradient, as a bit each."""
    names = str(op.declaration.options.get("nondiff", "")).split()
    bits = sum(1 << i for i, result in enumerate(op.schema.returns) if result.name in names)
    return f", {bits}" if bits else ""


def _declared(op: Op, known: dict[str, Typed], end: str, wanted: list[Argument]) -> list[str]:
    """The rule of the declaration: its parameters are arguments, results, and tangents (zero where there is none)."""
    rule = op.declaration.tangent
    assert rule is not None
    parameters = list(inspect.signature(rule).parameters)
    tangents = {a.name + _TANGENT: a for a in wanted}
    for name in parameters:
        if name not in known and name not in tangents:
            raise op.declaration.fail(f"the forward rule takes '{name}'; there are {sorted({*known, *tangents})}")
    lines = []
    for name, a in tangents.items():
        if name in parameters:
            lines.append(f"Tensor {name} = tangent_or_zeros({cpp.identifier(a.name)}, level);")
            known = known | {name: Typed(name, "Tensor")}
    lowering = Lowering(op.declaration, known)
    (value,) = lowering.lower(rule_roots(op))
    return [
        f"if (!({' || '.join(_has(a) for a in wanted)})) continue;",
        *lines,
        *lowering.statements,
        f"{end}{value.text}, level);",
    ]
