"""The autograd layer: per family ``autograd/<family>.h`` and ``.cpp`` with a node per derivative and a function per
op."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field

from taedagen.emit import cpp
from taedagen.emit.dispatch import prototypes
from taedagen.emit.files import part_name, shares
from taedagen.emit.forward import call_tangent, reads_overwritten, tangent_function
from taedagen.emit.fused import Fused, fused_files, fused_kernels, gains
from taedagen.emit.lowering import METADATA, Lowering, Typed, argument_kind, joint_call, used_arguments
from taedagen.emit.plan import Family, Plan, is_view
from taedagen.opdef.declaration import REGISTRY, Declaration, Op
from taedagen.opdef.expr import Expr, arg, trace
from taedagen.opdef.schema import Argument

_OWNED = {"IntList": "std::vector<int64_t>", "floatList": "std::vector<double>", "ScalarList": "std::vector<Scalar>",
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
        lends = any(owned in self.cpp_type for owned in _OWNED.values())
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
    def struct(self) -> str:
        marks = [self.op.schema.overload] * bool(self.op.numbers) + ["inplace"] * self.op.declaration.name.endswith("_")
        return "_".join([node_name(self.op), *marks])


# Where PyTorch's nodes, whose names programs print and compare, are not numbered in the order of our declarations.
NODE_NUMBERS = {
    "sum": 0, "sum.dim_IntList": 1, "mean": 0, "mean.dim": 1, "prod": 0, "prod.dim_int": 1, "max.dim": 0, "max": 1,
    "min.dim": 0, "min": 1, "median": 0, "median.dim": 1, "nanmedian": 0, "nanmedian.dim": 1, "rsub.Scalar": 1,
    "clamp.Tensor": 0, "clamp": 1, "pow.Tensor_Tensor": 1, "pow.Tensor_Scalar": 0, "pow.Scalar": 2,
}  # fmt: skip


def node_name(op: Op) -> str:
    """``AddBackward0``: the number tells overloads with derivatives of their own apart."""
    name = op.declaration.name.lstrip("_")
    camel = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    for digit in "123":
        camel = camel.replace(f"{digit}d", f"{digit}D")
    plain = op.declaration.name.removesuffix("_")  # ``copy_`` and ``copy`` would be called the same
    siblings = [d for d in REGISTRY.declarations if d.derivative and d.name.removesuffix("_") == plain]
    index = siblings.index(op.declaration) if op.declaration in siblings else 0
    index = NODE_NUMBERS.get(f"{plain}.{op.schema.overload}".removesuffix("."), index)
    return f"{camel}Backward{index}"


def trace_derivative(op: Op) -> Derivative | None:
    declaration = op.declaration
    if declaration.derivative is None:
        return None
    schema = (
        op.schema
        if op.variant == "functional"
        else next(o for o in declaration.ops() if o.numbers == op.numbers).schema
    )
    result_names = _result_names(declaration)
    allowed = {*schema.names, *_INCOMING, *result_names}
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
    tensors = [a for a in schema.arguments if a.type.is_tensor]
    known = {a.name for a in declaration.schema.tensors}
    for name in result:
        if name not in known:
            raise declaration.fail(f"the derivative gives a gradient for '{name}', which is no tensor argument; "
                                   f"there are {sorted(known)}", declaration.derivative_where)  # fmt: skip
    gradients = {k: v for k, v in result.items() if v is not None and k in {a.name for a in tensors}}
    members = _members(op, schema.arguments, result_names, gradients, tensors)
    kernels = fused_kernels(declaration, {k: v for k, v in result.items() if v is not None})
    names = [a.name for a in tensors]
    fused = [k for k in kernels if set(k.of) <= set(names) and gains([gradients[n] for n in k.of], names)]
    return Derivative(op, gradients, members, tensors, fused)


def _result_names(declaration: Declaration) -> list[str]:
    returns = declaration.schema.returns
    if len(returns) == 1:
        return ["result"]
    return [r.name or f"result{i}" for i, r in enumerate(returns)]


def _members(op: Op, arguments: Iterable[Argument], result_names: list[str], gradients: dict[str, Expr],
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
    for i, name in enumerate(result_names):
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
    owned = _OWNED.get(kind, cpp.cpp_type(argument.type).removeprefix("const ").removesuffix("&"))
    if kind in _OWNED and argument.type.optional:
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


# --- files


def emit_autograd(plan: Plan) -> dict[str, str]:
    files: dict[str, str] = {}
    for family in plan.families:
        if f"autograd/ops/{family.name}.h" in plan.kernel_headers(family):
            derivatives = _derivatives(plan, family)
            kernels = list({k.symbol: k for d in derivatives.values() for k in d.fused}.values())
            files[f"csrc/autograd/ops/{family.name}.h"] = _header(plan, family)
            files |= _sources(plan, family, derivatives)
            files |= fused_files(family, kernels) if kernels else {}
    return files


def _header(plan: Plan, family: Family) -> str:
    lines = [
        family.made,
        "#pragma once",
        '#include "taeda/ops/defaults.h"',
        "",
        "namespace taeda {",
    ]
    for layer, has in (("autograd", plan.has_autograd_layer), ("inplace_or_view", plan.has_inplace_or_view_layer)):
        lines.append(f"namespace {layer} {{")
        for op in family.ops:
            if plan.has_body(op) and has(op):
                lines.append(f"{cpp.return_type(op)} {op.cpp_name}({cpp.keyed_parameters(op)});")
        lines.append(f"}}  // namespace {layer}")
    return "\n".join([*lines, "}  // namespace taeda", ""])


def _derivatives(plan: Plan, family: Family) -> dict[Op, Derivative]:
    """Of the ops that record."""
    recording = [op for op in family.ops if plan.has_body(op) and plan.has_autograd_layer(op) and op.variant != "out"]
    traced = {op: trace_derivative(op) for op in recording if may_have_gradient(op)}
    return {op: derivative for op, derivative in traced.items() if derivative}


# Bytes of generated text in one unit, which take up to 10 s to compile.
_UNIT = 80_000


def _sources(plan: Plan, family: Family, derivatives: dict[Op, Derivative]) -> dict[str, str]:
    """All of a declaration stands in one unit, as its ops share a node."""
    bodies: dict[str, list[str]] = {}
    done: set[str] = set()
    for op in family.ops:
        if plan.has_body(op):
            bodies.setdefault(op.declaration.schema.full_name, []).extend(_layers(plan, op, derivatives.get(op), done))
    parts = shares({name: len("\n".join(body)) for name, body in bodies.items()}, _UNIT)
    sources = {}
    for part, names in enumerate(parts):
        text = [line for name in names for line in bodies[name]]
        own = [d for op, d in derivatives.items() if op.declaration.schema.full_name in names]
        sources[f"csrc/autograd/ops/{part_name(family.name, part)}.cpp"] = _source(plan, family, own, text)
    return sources


def _layers(plan: Plan, op: Op, derivative: Derivative | None, done: set[str]) -> list[str]:
    """The node, unless another op brought it, and the op's functions above the backend."""
    local: list[str] = []
    functions: list[str] = []
    if plan.has_autograd_layer(op) and may_have_gradient(op):
        if derivative and derivative.struct not in done:
            done.add(derivative.struct)
            local += _node(derivative)
        if derivative and op.variant != "out":
            tangent = tangent_function(op, derivative.gradients, _result_names(op.declaration))
            if tangent[0] not in done:  # in-place forms share theirs
                done.add(tangent[0])
                local += tangent
        functions += [*_function(plan, op, derivative), ""]
    elif plan.has_autograd_layer(op):
        functions += [*_plain(plan, op), ""]
    if plan.has_inplace_or_view_layer(op):
        functions += [*_inplace_or_view(op), ""]
    return [*(["namespace {", *local, "}  // namespace"] if local else []), *functions]


def _source(plan: Plan, family: Family, derivatives: list[Derivative], body: list[str]) -> str:
    lines = [
        family.made,
        '#include "taeda/ops/defaults.h"',
        f'#include "autograd/ops/{family.name}.h"',
        '#include "taeda/autograd/record.h"',
        '#include "autograd/numbers.h"',
        *[f'#include "backend/cpu/{family.name}_gradients.h"'] * any(d.fused for d in derivatives),
        f'#include "dispatch/ops/{family.name}.h"',
        "",
        "namespace taeda {",
        *prototypes(plan, body),
        "using namespace taeda::autograd;",
        "",
    ]
    return "\n".join([*lines, *body, "}  // namespace taeda", ""])


def may_have_gradient(op: Op) -> bool:
    """False where the declaration says so, and for results that are truth values."""
    options = op.declaration.options
    return op.declaration.differentiable and "bool" not in (options.get("promote"), options.get("dtype_out"))


# --- nodes


def _node(derivative: Derivative) -> list[str]:
    op, members = derivative.op, derivative.members
    lines = [cpp.place_comment(op.declaration), f"struct {derivative.struct} final : Node {{"]
    lines += [f"  {m.cpp_type} {m.name};" for m in members]
    if any(a.type.is_list for a in derivative.differentiable):
        lines += [f"  size_t {a.name}_count_ = 1;" for a in derivative.differentiable]
    lines += [f'  std::string_view name() const override {{ return "{node_name(op)}"; }}']
    lines += _release(members) + _visit(members) + _apply(derivative)
    return [*lines, "};"]


def _release(members: list[Member]) -> list[str]:
    parts = []
    for m in members:
        if m.cpp_type == "SavedTensor":
            parts.append(f"{m.name}.reset();")
        elif m.cpp_type == "std::vector<SavedTensor>":
            parts.append(f"reset_list({m.name});")
    return [f"  void release_saved() override {{ {' '.join(parts)} }}"] if parts else []


def _visit(members: list[Member]) -> list[str]:
    parts = []
    for m in members:
        plain = m.name.rstrip("_")
        if m.cpp_type == "SavedTensor":
            parts.append(f'v.tensor("{plain}", {m.name});')
        elif m.cpp_type == "std::vector<SavedTensor>":
            parts.append(f'v.tensors("{plain}", {m.name});')
        elif "Generator" not in m.cpp_type:
            parts.append(f'v.value("{plain}", box({m.name}));')
    return [f"  void visit_saved(SavedVisitor& v) override {{ {' '.join(parts)} }}"] if parts else []


def _apply(derivative: Derivative) -> list[str]:
    results = "std::span<Tensor> grad_inputs" if derivative.gradients else "std::span<Tensor>"
    lines = [f"  void apply(std::span<Tensor> grads, {results}) override {{"]
    used = used_arguments(list(derivative.gradients.values()))
    known: dict[str, Typed] = {}
    if "grad" in used or "grads" not in used:
        lines += ["    const Tensor& grad = grads[0];", "    if (!grad.defined()) return;"]
        known["grad"] = Typed("grad", "Tensor")
    if "grads" in used:
        lines += [
            "    if (std::none_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); })) return;",
        ]
        if not derivative.op.declaration.options.get("optional_grads"):
            lines.append("    fill_undefined(grads, metadata());")
        known["grads"] = Typed("grads", "TensorList")
    if "needs" in used:
        flags = ", ".join(_needed(derivative, a) for a in derivative.differentiable)
        lines.append(f"    const int64_t needs[] = {{{flags}}};")
        known["needs"] = Typed("IntList(needs)", "IntList")
    lines += _unpacked(derivative, known)
    joint = joint_call(derivative.gradients.values())
    if joint is not None:
        lines += _joint(derivative, joint, known)
    else:
        together = next((k for k in derivative.fused if len(k.of) > 1), None)
        if together:
            wanted = " && ".join(_needed(derivative, a) for a in derivative.differentiable if a.name in together.of)
            lines.append(f"    const bool fused = {wanted} && {_fused_call(derivative, together, known)};")
        for name, root in derivative.gradients.items():
            lines += _single(derivative, name, root, known, "!fused && " * bool(together and name in together.of))
    return [*lines, "  }"]


def _fused_call(derivative: Derivative, kernel: Fused, known: dict[str, Typed]) -> str:
    """True where the kernel made the gradients."""
    order = [a.name for a in derivative.differentiable]
    results = ", ".join(f"&grad_inputs[{order.index(name)}]" for name in kernel.of)
    operands = ", ".join(known[name].text for name in kernel.operands)
    scalars = ", ".join(known[name].text for name in kernel.scalars)
    return f"cpu::fused(cpu::{kernel.symbol}, {{{operands}}}, {{{results}}}{f', {{{scalars}}}' * bool(scalars)})"


def _needed(derivative: Derivative, argument: Argument) -> str:
    arguments = derivative.differentiable
    index = arguments.index(argument)
    if not any(a.type.is_list for a in arguments):
        return f"needed({index})"
    return f"needed({_begin(arguments[:index])}, {argument.name}_count_)"


def _begin(before: list[Argument]) -> str:
    """Where the gradients of an argument begin, after those of the arguments before it."""
    return " + ".join(f"{a.name}_count_" for a in before) or "0"


def _unpacked(derivative: Derivative, known: dict[str, Typed]) -> list[str]:
    """Locals for what was saved; tensors are unpacked only where some wanted gradient reads them."""
    lines = []
    arguments = {a.name: a for a in derivative.op.schema.arguments}
    for member in derivative.members:
        plain = member.name.rstrip("_")
        readers = [_needed(derivative, derivative.differentiable[i]) for i in sorted(member.used_by)]
        if member.cpp_type == "SavedTensor":
            lines.append(f"    Tensor {plain}_v = {' || '.join(readers)} ? {member.name}.unpack(this) : Tensor();")
            known[plain] = Typed(f"{plain}_v", "Tensor")
        elif member.cpp_type == "std::vector<SavedTensor>":
            lines.append(f"    std::vector<Tensor> {plain}_v = unpack_list({member.name}, this);")
            known[plain] = Typed(f"{plain}_v", "TensorList")
        elif member.source in arguments and not arguments[member.source].type.is_tensor:
            type_ = arguments[member.source].type
            text = f"view_of({member.name})" if argument_kind(type_) in _OWNED else member.name
            known[member.source] = Typed(text, argument_kind(type_))
        else:
            _, _, question = plain.rpartition("_")
            question = "storage_offset" if plain.endswith("storage_offset") else question
            text = f"IntList({member.name})" if question in ("sizes", "strides") else member.name
            known[f"{member.source}.{question}"] = Typed(text, METADATA[question])
    return lines


def _joint(derivative: Derivative, call: Expr, known: dict[str, Typed]) -> list[str]:
    """All gradients, of which ``call`` makes several."""
    lowering = Lowering(derivative.op.declaration, known)
    value = lowering.expression(call)
    lines = [*(f"    {s}" for s in lowering.statements), f"    auto all = {value.text};"]
    for name, root in derivative.gradients.items():
        index = next(i for i, a in enumerate(derivative.differentiable) if a.name == name)
        is_part = root.kind == "item" and root.args[0] is call
        text = f"std::get<{root.value}>(all)" if is_part else lowering.expression(root).text
        lines.append(f"    if ({_needed(derivative, derivative.differentiable[index])}) grad_inputs[{index}] = {text};")
    return lines


def _single(derivative: Derivative, name: str, root: Expr, known: dict[str, Typed], condition: str = "") -> list[str]:
    index = next(i for i, a in enumerate(derivative.differentiable) if a.name == name)
    argument = derivative.differentiable[index]
    lowering = Lowering(derivative.op.declaration, known)
    (value,) = lowering.lower([root])
    begin = _begin(derivative.differentiable[:index])
    lists = any(a.type.is_list for a in derivative.differentiable)
    target = f"grad_inputs[{begin if lists else index}]"
    if argument.type.is_list:
        assign = f"place_list({value.text}, grad_inputs.subspan({begin}, {argument.name}_count_));"
    else:
        assign = f"{target} = {value.text};"
    body = " ".join([*lowering.statements, assign])
    alone = next((k for k in derivative.fused if k.of == (name,)), None)
    condition += _needed(derivative, argument)
    condition += f" && !{_fused_call(derivative, alone, known)}" if alone else ""
    return [f"    if ({condition}) {{ {body} }}"]


# --- functions


def _made_below(op: Op, guard: str) -> list[str]:
    """``made``: what the layers below return."""
    return ["  auto made = [&] {", f"    {guard}", f"    return {cpp.call(op, 'keys')};", "  }();"]


def _done_below(op: Op, guard: str) -> list[str]:
    """The same for an op that returns nothing."""
    return ["  {", f"    {guard}", f"    {cpp.call(op, 'keys')};", "  }"]


def _signature(op: Op, space: str = "autograd") -> str:
    return f"{cpp.return_type(op)} {space}::{op.cpp_name}({cpp.keyed_parameters(op)}) {{"


def _skip(plan: Plan, op: Op) -> tuple[str, str]:
    """What the call goes on without, and the guard that keeps inner calls without it too."""
    if plan.has_inplace_or_view_layer(op):
        return "Functionality::Autograd", "Below guard(Functionality::Autograd);"
    return "Functionality::ADInplaceOrView", "BelowAutograd guard;"


def _tensor_names(op: Op) -> str:
    return ", ".join(cpp.identifier(a.name) for a in op.schema.arguments if a.type.is_tensor)


def _plain(plan: Plan, op: Op) -> list[str]:
    """An op whose results never have a gradient."""
    floor, guard = _skip(plan, op)
    lines = [cpp.place_comment(op.declaration), _signature(op), f"  keys = keys & KeySet::below({floor});"]
    if op.variant == "out" and not any(a.type.is_tensor for a in op.inputs):
        lines.append(f'  check_out("{op.schema.name}", {", ".join(cpp.identifier(a.name) for a in op.outs)});')
    if op.variant != "inplace":
        return [*lines, f"  {guard}", f"  return {cpp.call(op, 'keys')};", "}"]
    first = cpp.identifier(op.schema.arguments[0].name)
    lines += [f"  check_inplace({first}, recording({first}));", *_done_below(op, guard)]
    return [*lines, f"  if (has_tangents({first})) [[unlikely]] zero_tangents({first});", "}"]


def _function(plan: Plan, op: Op, derivative: Derivative | None) -> list[str]:
    floor, guard = _skip(plan, op)
    tensors, first = _tensor_names(op), cpp.identifier(op.schema.arguments[0].name)
    lines = [cpp.place_comment(op.declaration), _signature(op), f"  keys = keys & KeySet::below({floor});"]
    if op.variant == "out":
        return [*lines, f'  check_out("{op.schema.name}", {tensors});', f"  {guard}", f"  {cpp.call(op, 'keys')};", "}"]
    inplace = op.variant == "inplace"
    lines += [
        f"  const bool records = recording({tensors}), forward = has_tangents({tensors});",
        f"  if (!records && !forward) [[likely]] return {cpp.call(op, 'keys')};",
    ]
    if derivative:
        lines += _before(op, derivative)
    lines += _node_of(op, derivative)
    lines += _done_below(op, guard) if inplace else _made_below(op, guard)
    lines += [f"  if (records) rebase_history({first}, *node);"] if inplace else _set_history(op)
    lines.append(f"  if (forward) {_tangent_call(op, derivative)}")
    late = [_save(derivative, m) for m in derivative.members if m.after] if derivative else []
    lines += _when_recording(late)
    return [*lines, *([] if inplace else ["  return made;"]), "}"]


def _before(op: Op, derivative: Derivative) -> list[str]:
    """What an in-place op overwrites, if a derivative reads it."""
    recorded = any(m.value == "before" for m in derivative.members)
    forward = reads_overwritten(op, derivative.gradients)
    if not recorded and not forward:
        return []
    clone = f"clone_for_inplace({cpp.identifier(op.schema.arguments[0].name)})"
    if recorded and forward:
        return [f"  Tensor before = {clone};"]
    return [f"  Tensor before = {'records' if recorded else 'forward'} ? {clone} : Tensor();"]


def _tangent_call(op: Op, derivative: Derivative | None) -> str:
    if derivative is not None:
        return call_tangent(op, derivative.gradients)
    written = cpp.identifier(op.schema.arguments[0].name) if op.variant == "inplace" else "made"
    return f'refuse_tangents("{op.schema.name}", {written});'


def _when_recording(statements: list[str]) -> list[str]:
    if len(statements) < 2:
        return [f"  if (records) {statement}" for statement in statements]
    return ["  if (records) {", *(f"    {statement}" for statement in statements), "  }"]


def _node_of(op: Op, derivative: Derivative | None) -> list[str]:
    """``node``: null unless the call records, else with its edges and what it saves before the call."""
    collect = f"collect(*node, {_tensor_names(op)});"
    first = cpp.identifier(op.schema.arguments[0].name)
    lines = [f"check_inplace({first}, true);"] if op.variant == "inplace" else []
    if derivative is None:
        lines += [f'node = Ref<Node>(new NotDifferentiable("{op.schema.name}"));', collect]
        return ["  Ref<Node> node;", *_when_recording(lines)]
    lines += [f"node = make_node<{derivative.struct}>();", collect]
    if any(a.type.is_list for a in derivative.differentiable):
        lines += [f"node->{a.name}_count_ = count_of({cpp.identifier(a.name)});" for a in derivative.differentiable]
    lines += [_save(derivative, m) for m in derivative.members if not m.after]
    return [f"  Ref<{derivative.struct}> node;", *_when_recording(lines)]


def _save(derivative: Derivative, member: Member) -> str:
    everyone = set(range(len(derivative.differentiable)))
    if (
        "SavedTensor" not in member.cpp_type
        or member.used_by >= everyone
        or any(a.type.is_list for a in derivative.differentiable)
    ):
        return member.save
    wanted = " || ".join(f"node->should_compute({i})" for i in sorted(member.used_by))
    return f"if ({wanted}) {member.save}"


def _set_history(op: Op) -> list[str]:
    """Results that the declaration calls non-differentiable are skipped."""
    skipped = str(op.declaration.options.get("nondiff", "")).split()
    if not skipped:
        return ["  if (records) set_history(made, *node);"]
    return _when_recording([
        "skip_output(*node);" if result.name in skipped else f"set_history(std::get<{i}>(made), *node);"
        for i, result in enumerate(op.schema.returns)
    ])  # fmt: skip


# --- the layer below: versions and views


def _inplace_or_view(op: Op) -> list[str]:
    keys = "  keys = keys & KeySet::below(Functionality::ADInplaceOrView);"
    guard = "Below guard(Functionality::ADInplaceOrView);"
    lines = [cpp.place_comment(op.declaration), _signature(op, "inplace_or_view"), keys]
    if not is_view(op):
        written = [cpp.identifier(a.name) for a in op.schema.arguments if a.type.is_mutable]
        bumps = [f'  bump({w}, "{op.schema.name}");' for w in written]
        if op.variant == "functional" and op.schema.returns:
            return [*lines, *_made_below(op, guard), *bumps, "  return made;", "}"]
        return [*lines, *_done_below(op, guard), *bumps, "}"]
    base = cpp.identifier(next(a for a in op.schema.arguments if a.type.alias).name)
    if not op.declaration.differentiable:  # detach: shares versions, but in-place calls on it are nobody's history
        return [
            *lines,
            *_made_below(op, guard),
            f"  if (!made->is_inference()) made->share_versions_of(*{base}.impl());",
            "  return made;",
            "}",
        ]
    owned, captures = _captures(op, base)
    many = op.schema.returns[0].type.is_list
    call = f"ops::{op.cpp_name}({', '.join(captures)})"
    repeat = f"[{', '.join(owned)}](const Tensor& base_) {{ return {call}{'[i]' if many else ''}; }}"
    function, parameter = ("as_views", "size_t i") if many else ("as_view", "")
    repeat = repeat.replace("[", "[i, " if owned else "[i", 1) if many else repeat
    return [
        *lines,
        *_made_below(op, guard),
        f"  return {function}({base}, std::move(made), [&]({parameter}) {{ return make_replay({repeat}); }});",
        "}",
    ]


def _captures(op: Op, base: str) -> tuple[list[str], list[str]]:
    """Captures that own lists, and the call's arguments within the closure."""
    owned, arguments = [], []
    for a in op.schema.arguments:
        name = cpp.identifier(a.name)
        if name == base:
            arguments.append("base_")
        elif a.type.is_list or a.type.base == "str":
            owned.append(f"{name} = own({name})")
            arguments.append(f"view_of({name})")
        else:
            owned.append(name)
            arguments.append(name)
    return owned, arguments
