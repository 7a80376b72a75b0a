"""The functions of the autograd layer: whether a call records, its node, the call below, the results' history."""

from __future__ import annotations

from taedagen.emit import cpp
from taedagen.emit.autograd.analysis import Derivative, Member
from taedagen.emit.forward import call_tangent, reads_overwritten
from taedagen.emit.locations import function_mark
from taedagen.emit.plan import Plan
from taedagen.opdef.declaration import Op


def made_below(op: Op, guard: str) -> list[str]:
    """``made``: what the layers below return."""
    return ["  auto made = [&] {", f"    {guard}", f"    return {cpp.call(op, 'keys')};", "  }();"]


def done_below(op: Op, guard: str) -> list[str]:
    """The same for an op that returns nothing."""
    return ["  {", f"    {guard}", f"    {cpp.call(op, 'keys')};", "  }"]


def signature(op: Op, space: str = "autograd") -> str:
    mark = function_mark(op, space)
    return f"{mark}{cpp.return_type(op)} {space}::{op.cpp_name}({cpp.keyed_parameters(op)}) {{"


def _skip(plan: Plan, op: Op) -> tuple[str, str]:
    """What the call goes on without, and the guard that keeps inner calls without it too."""
    if plan.has_inplace_or_view_layer(op):
        return "Functionality::Autograd", "Below guard(Functionality::Autograd);"
    return "Functionality::ADInplaceOrView", "BelowAutograd guard;"


def _tensor_names(op: Op) -> str:
    return ", ".join(cpp.identifier(a.name) for a in op.schema.arguments if a.type.is_tensor)


def plain_function(plan: Plan, op: Op) -> list[str]:
    """An op whose results never have a gradient."""
    floor, guard = _skip(plan, op)
    lines = [cpp.place_comment(op.declaration), signature(op), f"  keys = keys & KeySet::below({floor});"]
    if op.variant == "out" and not any(a.type.is_tensor for a in op.inputs):
        lines.append(f'  check_out("{op.schema.name}", {", ".join(cpp.identifier(a.name) for a in op.outs)});')
    if op.variant == "inplace":
        lines.append(f"  if (recorded_in_parts(keys)) return {cpp.call(op, 'keys')};")
    else:
        return [*lines, f"  {guard}", f"  return {cpp.call(op, 'keys')};", "}"]
    first = cpp.identifier(op.schema.arguments[0].name)
    lines += [f"  check_inplace({first}, recording({first}));", *done_below(op, guard)]
    return [*lines, f"  if (has_tangents({first})) [[unlikely]] zero_tangents({first});", "}"]


def recording_function(plan: Plan, op: Op, derivative: Derivative | None) -> list[str]:
    floor, guard = _skip(plan, op)
    tensors, first = _tensor_names(op), cpp.identifier(op.schema.arguments[0].name)
    lines = [cpp.place_comment(op.declaration), signature(op), f"  keys = keys & KeySet::below({floor});"]
    if op.variant == "out":
        return [*lines, f'  check_out("{op.schema.name}", {tensors});', f"  {guard}", f"  {cpp.call(op, 'keys')};", "}"]
    inplace = op.variant == "inplace"
    lines += [
        f"  const bool records = recording({tensors}), forward = has_tangents({tensors});",
        f"  if ((!records && !forward) || recorded_in_parts(keys)) [[likely]] return {cpp.call(op, 'keys')};",
    ]
    if derivative:
        lines += _before(op, derivative)
    lines += _node_of(op, derivative)
    lines += done_below(op, guard) if inplace else made_below(op, guard)
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
