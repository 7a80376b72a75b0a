"""The layer below autograd: it counts writes and tracks views."""

from __future__ import annotations

from taedagen.emit import cpp
from taedagen.emit.autograd.functions import done_below, made_below, signature
from taedagen.emit.plan import is_view
from taedagen.opdef.declaration import Op


def inplace_or_view(op: Op) -> list[str]:
    keys = "  keys = keys & KeySet::below(Functionality::ADInplaceOrView);"
    guard = "Below guard(Functionality::ADInplaceOrView);"
    lines = [cpp.place_comment(op.declaration), signature(op, "inplace_or_view"), keys]
    if op.variant == "inplace" or is_view(op):
        lines.append(f"  if (recorded_in_parts(keys)) [[unlikely]] return {cpp.call(op, 'keys')};")
    if not is_view(op):
        written = [cpp.identifier(a.name) for a in op.schema.arguments if a.type.is_mutable]
        bumps = [f'  bump({w}, "{op.schema.name}");' for w in written]
        if op.variant == "functional" and op.schema.returns:
            return [*lines, *made_below(op, guard), *bumps, "  return made;", "}"]
        return [*lines, *done_below(op, guard), *bumps, "}"]
    base = cpp.identifier(next(a for a in op.schema.arguments if a.type.alias).name)
    if not op.declaration.differentiable:  # detach: shares versions, but in-place calls on it are nobody's history
        return [
            *lines,
            *made_below(op, guard),
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
        *made_below(op, guard),
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
