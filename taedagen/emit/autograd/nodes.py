"""The nodes of backward: what each saves, and how it makes the gradients."""

from __future__ import annotations

from taedagen.emit import cpp
from taedagen.emit.autograd.analysis import OWNED, Derivative, Member, node_name
from taedagen.emit.fused import Fused
from taedagen.emit.lowering import METADATA, Lowering, Typed, argument_kind, joint_call, used_arguments
from taedagen.opdef.expr import Expr
from taedagen.opdef.schema import Argument


def node_struct(derivative: Derivative) -> list[str]:
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
            lines.append(f"    const bool done = {wanted} && {_fused_call(derivative, together, known)};")
        for name, root in derivative.gradients.items():
            lines += _single(derivative, name, root, known, "!done && " * bool(together and name in together.of))
    return [*lines, *_ties(derivative), "  }"]


def _ties(derivative: Derivative) -> list[str]:
    order = [a.name for a in derivative.differentiable]
    return [
        f"    tie_to_input(*this, {order.index(name)}, grad_inputs[{order.index(name)}]);" for name in derivative.flat
    ]


def _fused_call(derivative: Derivative, kernel: Fused, known: dict[str, Typed]) -> str:
    """True where the kernel made the gradients."""
    order = [a.name for a in derivative.differentiable]
    results = ", ".join(f"&grad_inputs[{order.index(name)}]" for name in kernel.of)
    operands = ", ".join(known[name].text for name in kernel.operands)
    scalars = ", ".join(known[name].text for name in kernel.scalars)
    numbers = f", {{{scalars}}}" if scalars else ""
    return f"fused::run({kernel.symbol}, {{{operands}}}, {{{results}}}{numbers})"


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
            text = f"view_of({member.name})" if argument_kind(type_) in OWNED else member.name
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
    if len(derivative.gradients) < len(derivative.differentiable):  # others alone may be asked for
        wanted = [_needed(derivative, a) for a in derivative.differentiable if a.name in derivative.gradients]
        lines.insert(0, f"    if (!({' || '.join(wanted)})) return;")
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
