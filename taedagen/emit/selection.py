"""Which ops a selective build holds: those that a file names, and what these are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from taedagen.emit.autograd import emit_autograd
from taedagen.emit.plan import Plan
from taedagen.emit.sources import CALL, Definition, scan_all
from taedagen.emit.structured import emit_structured
from taedagen.opdef.declaration import Op, Registry


def read_selection(path: Path, registry: Registry) -> set[str]:
    """Full names of the schemas that a file selects.

    Its lines are ``add`` (all overloads and variants) or ``add.Tensor`` (one schema); ``#`` starts a comment.

    Raises:
        SystemExit: a line names no op.
    """
    lines = [line.partition("#")[0].strip() for line in path.read_text().splitlines()]
    chosen = {line.removeprefix("aten::") for line in lines if line}
    ops = [op for declaration in registry.declarations for op in declaration.ops()]
    known = {name for op in ops for name in _names(op)}
    for name in sorted(chosen - known):
        raise SystemExit(f"taedagen: {path}: there is no op '{name}'")
    return {op.schema.full_name for op in ops if chosen & _names(op)}


def _names(op: Op) -> set[str]:
    return {op.declaration.name, op.schema.name, op.schema.full_name}


def with_parts(names: set[str], registry: Registry, root: Path, autograd: bool = True) -> Callable[[Op], bool]:
    """Selects ``names`` and, until nothing is missing, the ops that their derivatives and bodies call.

    Bodies are the generated code and, by their names, the functions below ``csrc/composite`` and ``csrc/backend``.
    """
    written = scan_all(root, ("csrc/backend", "csrc/composite"))
    chosen = set(names)

    def selects(op: Op) -> bool:
        return op.schema.full_name in chosen

    while True:
        plan = Plan(registry, selects, autograd)
        calls = set(CALL.findall("\n".join({**emit_autograd(plan), **emit_structured(plan)}.values())))
        for op in (op for family in plan.families for op in family.ops if plan.has_body(op)):
            calls |= _calls_by_hand([kernel.symbol for kernel in plan.backend_kernels(op)], written)
        needed = {op.schema.full_name for name in calls for op in plan.ops_named(name)}
        if needed <= chosen:
            return selects
        chosen |= needed


def _calls_by_hand(symbols: Iterable[str], written: dict[str, list[Definition]]) -> set[str]:
    return {name for symbol in symbols for definition in written.get(symbol, []) for name in definition.calls}
