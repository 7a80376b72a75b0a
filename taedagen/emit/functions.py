"""The functions that the op table points to, below autograd: a header and a source per family and layer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from taedagen.emit import cpp
from taedagen.emit.dispatch import boxed_values, prototypes
from taedagen.emit.locations import function_mark
from taedagen.emit.plan import Family, Plan
from taedagen.opdef.declaration import Op


def header(family: Family, ops: Iterable[Op], space: str, by_hand: Callable[[Op], str | None] | None = None) -> str:
    """Declares the functions of a layer, and the kernels that they call where ``by_hand`` gives one."""
    ops = list(ops)
    lines = [family.made, "#pragma once", '#include "taeda/ops/defaults.h"', "", *boxed_values(ops),
             f"namespace taeda::{space} {{"]  # fmt: skip
    place = ""
    for op in ops:
        if cpp.place_comment(op.declaration) != place:
            lines.append(place := cpp.place_comment(op.declaration))
        lines.append(cpp.declaration(op, cpp.signature_of(op)))
        kernel = by_hand(op) if by_hand else None
        lines += [cpp.declaration(op, kernel)] if kernel else []
    return "\n".join([*lines, f"}}  // namespace taeda::{space}", ""])


def source(plan: Plan, family: Family, ops: Iterable[Op], space: str, folder: str,
           body: Callable[[Op], list[str] | None], includes: list[str], before: list[str]) -> str:  # fmt: skip
    """Defines those that have a ``body``."""
    lines: list[str] = []
    for op in ops:
        statements = body(op)
        if statements is not None:
            statements = [*_unused(op, statements), *statements]
            head = f"{function_mark(op, space)}{cpp.signature_of(op, f'{space}::')} {{"
            lines += [cpp.place_comment(op.declaration), head, *(f"  {line}" for line in statements), "}", ""]
    shown = sorted({"taeda/ops/defaults.h", f"{folder}/{family.name}.h", *includes})
    text = [
        family.made,
        *(f'#include "{name}"' for name in shown),
        "",
        "namespace taeda {",
        *prototypes(plan, [*before, *lines]),
    ]
    return "\n".join([*text, *before, "", *lines, "}  // namespace taeda", ""])


def _unused(op: Op, body: list[str]) -> list[str]:
    """Statements that name the arguments which the function ignores, as a compiler warns of them."""
    used = set(re.findall(r"(?<!::)\b\w+", "\n".join(body)))
    names = (cpp.identifier(a.name) for a in op.schema.arguments)
    return [f"(void){name};" for name in names if name not in used]
