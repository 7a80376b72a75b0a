"""Derivatives, traced: what a node keeps, whose gradients it makes, and which kernels make several at once."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from taedagen.emit import cpp
from taedagen.emit.fused import Fused, fused_kernels, gains
from taedagen.emit.lowering import argument_kind, used_arguments
from taedagen.emit.plan import Family, Plan
from taedagen.opdef.declaration import REGISTRY, Declaration, Op
from taedagen.opdef.expr import Expr, arg, trace
from taedagen.opdef.schema import Argument

OWNED = {"IntList": "std::vector<int64_t>", "floatList": "std::vector<double>", "ScalarList": "std::vector<Scalar>",
          "str": "std::string"}  # fmt: skip
# In a derivative these are what comes in, whatever the op's own arguments are called.
_INCOMING = ("grad", "grads", "needs")


@dataclass
class Member:
    """Something that a node keeps: a tensor, a list of them, part of a tensor's geometry, or a plain value."""

    name: str
    cpp_type: str
    value: str  # what is kept
    source: str  # the argument it is of
    after: bool = False  # of the results: saved once they exist
    used_by: set[int] = field(default_factory=set)  # indices of the gradients whose formula reads it

    @property
    def save(self) -> str:
        """The statement that keeps it."""
        if self.cpp_type == "SavedTensor":
            return f"node->{self.name}.save({self.value});"
        if self.cpp_type == "std::vector<SavedTensor>":
            return f"save_list(node->{self.name}, {self.value});"
        lends = any(owned in self.cpp_type for owned in OWNED.values())
        return f"keep(node->{self.name}, {self.value});" if lends else f"node->{self.name} = {self.value};"


@dataclass
class Derivative:
    """A traced derivative of one op."""

    op: Op
    gradients: dict[str, Expr]
    members: list[Member]
    differentiable: list[Argument]  # the op's tensor arguments, in edge order
    fused: list[Fused] = field(default_factory=list)  # kernels that spare this op a pass over memory

    @property
    def flat(self) -> list[str]:
        """The arguments whose gradients do not change with them."""
        return str(self.op.declaration.options.get("flat", "")).split()

    @property
    def struct(self) -> str:
        schema = self.op.schema
        marks = [] if schema.namespace == "aten" else [f"of_{schema.namespace}"]
        marks += [self.op.schema.overload] * bool(self.op.numbers) + ["inplace"] * self.op.declaration.name.endswith(
            "_"
        )
        return "_".join([node_name(self.op), *marks])


def node_name(op: Op) -> str:
    """``AddBackward0``: the number tells overloads with derivatives of their own apart."""
    name = op.declaration.schema.plain_name.lstrip("_")
    camel = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    for digit in "123":
        camel = camel.replace(f"{digit}d", f"{digit}D")
    # ``copy_`` and ``copy`` would be called the same
    siblings = [d for d in REGISTRY.siblings(op.declaration.name) if d.derivative]
    index = siblings.index(op.declaration) if op.declaration in siblings else 0
    number = op.declaration.node_number(op.plain)
    return f"{camel}Backward{index if number is None else number}"


def trace_derivative(op: Op) -> Derivative | None:
    declaration = op.declaration
    if declaration.derivative is None:
        return None
    schema = (
        op.schema
        if op.variant == "functional"
        else next(o for o in declaration.ops() if o.numbers == op.numbers).schema
    )
    results = result_names(declaration)
    allowed = {*schema.names, *_INCOMING, *results}
    parameters = list(inspect.signature(declaration.derivative).parameters)
    for name in parameters:
        if name not in allowed:
            raise declaration.fail(
                f"the derivative takes '{name}', which is no argument, result, grad, grads or needs; there are "
                f"{sorted(allowed)}", declaration.derivative_where)  # fmt: skip
    result = trace(declaration.derivative, {name: arg(name) for name in parameters})
    if not isinstance(result, dict):
        raise declaration.fail(
            "the derivative must return a dict from argument to gradient", declaration.derivative_where
        )
    if not result:
        raise declaration.fail("the derivative gives no gradient; say not_differentiable=True if there is none",
                               declaration.derivative_where)  # fmt: skip
    tensors = [a for a in schema.arguments if a.type.is_tensor]
    known = {a.name for a in declaration.schema.tensors}
    for name in result:
        if name not in known:
            raise declaration.fail(f"the derivative gives a gradient for '{name}', which is no tensor argument; "
                                   f"there are {sorted(known)}", declaration.derivative_where)  # fmt: skip
    gradients = {k: v for k, v in result.items() if v is not None and k in {a.name for a in tensors}}
    members = _members(op, schema.arguments, results, gradients, tensors)
    kernels = fused_kernels(declaration, {k: v for k, v in result.items() if v is not None})
    names = [a.name for a in tensors]
    fused = [k for k in kernels if set(k.of) <= set(names) and gains([gradients[n] for n in k.of], names)]
    return Derivative(op, gradients, members, tensors, fused)


def result_names(declaration: Declaration) -> list[str]:
    returns = declaration.schema.returns
    if len(returns) == 1:
        return ["result"]
    return [r.name or f"result{i}" for i, r in enumerate(returns)]


def _members(op: Op, arguments: Iterable[Argument], results: list[str], gradients: dict[str, Expr],
             tensors: list[Argument]) -> list[Member]:  # fmt: skip
    order = [a.name for a in tensors]
    uses: dict[str, dict[str, set[int]]] = {}
    for name, root in gradients.items():
        for used, how in used_arguments([root]).items():
            for kind in how:
                uses.setdefault(used, {}).setdefault(kind, set()).add(order.index(name))
    members: list[Member] = []
    for argument in arguments:
        if argument.name in uses and argument.name not in _INCOMING:
            members += _argument_members(op, argument, uses[argument.name])
    for i, name in enumerate(results):
        if name in uses and name not in {a.name for a in arguments}:
            members += _result_members(op, name, i, uses[name])
    return members


def _argument_members(op: Op, argument: Argument, how: dict[str, set[int]]) -> list[Member]:
    name, spelled = argument.name, cpp.identifier(argument.name)
    everyone = set().union(*how.values())
    if argument.type.is_tensor and argument.type.is_list and set(how) == {"sizes"}:
        return [Member(f"{name}_sizes_", "std::vector<int64_t>", f"pack_sizes({spelled})", name, used_by=everyone)]
    if argument.type.is_tensor and argument.type.is_list:
        return [Member(f"{name}_", "std::vector<SavedTensor>", spelled, name, used_by=everyone)]
    if argument.type.is_tensor and "value" in how:
        is_target = op.variant == "inplace" and name == op.schema.arguments[0].name
        return [Member(f"{name}_", "SavedTensor", "before" if is_target else spelled, name, used_by=everyone)]
    if argument.type.is_tensor:
        return _geometry_members(name, spelled, set(how), everyone, after=False)
    kind = argument_kind(argument.type)
    owned = OWNED.get(kind, cpp.cpp_type(argument.type).removeprefix("const ").removesuffix("&"))
    if kind in OWNED and argument.type.optional:
        owned = f"std::optional<{owned}>"
    return [Member(f"{name}_", owned, spelled, name, used_by=everyone)]


def _geometry_members(name: str, spelled: str, how: set[str], everyone: set[int], after: bool) -> list[Member]:
    members = []
    if how & {"sizes", "size", "dim", "numel"}:
        members.append(Member(f"{name}_sizes_", "std::vector<int64_t>", f"{spelled}.sizes()", name, after, everyone))
    for question, cpp_type in (("strides", "std::vector<int64_t>"), ("dtype", "DType"), ("storage_offset", "int64_t")):
        if question in how:
            members.append(Member(f"{name}_{question}_", cpp_type, f"{spelled}.{question}()", name, after, everyone))
    return members


def _result_members(op: Op, name: str, index: int, how: dict[str, set[int]]) -> list[Member]:
    everyone = set().union(*how.values())
    many = len(op.declaration.schema.returns) > 1
    text = op.schema.arguments[0].name if op.variant == "inplace" else f"std::get<{index}>(made)" if many else "made"
    returned = op.declaration.schema.returns[index].type
    if returned.is_list:
        return [Member(f"{name}_", "std::vector<SavedTensor>", f"{text}, true", name, True, everyone)]
    if "value" in how:
        return [Member(f"{name}_", "SavedTensor", f"{text}, true", name, True, everyone)]
    return _geometry_members(name, text, set(how), everyone, after=True)


@cache
def derivatives_of(plan: Plan, family: Family) -> dict[Op, Derivative]:
    """Of the ops that record."""
    recording = [op for op in family.ops if plan.has_body(op) and plan.has_autograd_layer(op) and op.variant != "out"]
    traced = {op: trace_derivative(op) for op in recording if may_have_gradient(op)}
    return {op: derivative for op, derivative in traced.items() if derivative}


def fused_of(plan: Plan, family: Family) -> list[Fused]:
    """The kernels that the family's nodes ask backends for."""
    return list({k.symbol: k for d in derivatives_of(plan, family).values() for k in d.fused}.values())


def may_have_gradient(op: Op) -> bool:
    """False where the declaration says so, and for results that are truth values."""
    options = op.declaration.options
    return op.declaration.differentiable and "bool" not in (options.get("promote"), options.get("dtype_out"))
