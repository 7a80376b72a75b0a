"""Which ops a selective build holds: those that a file names, and what these are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from taedagen.emit.any_device import emit_any_device
from taedagen.emit.autograd import emit_autograd
from taedagen.emit.composite import emit_composite
from taedagen.emit.layouts import emit_layouts
from taedagen.emit.plan import Plan
from taedagen.emit.sources import CALL, HAND_WRITTEN, Definition, scan
from taedagen.emit.targets import emit_targets
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


# What writes functions that may call other ops.
_BODIES = (emit_autograd, emit_composite, emit_any_device, emit_layouts, emit_targets)


def with_parts(names: set[str], registry: Registry, root: Path, autograd: bool = True) -> Callable[[Op], bool]:
    """Selects ``names``, what the core and the bindings call themselves, and what derivatives and bodies of all these
    call, until nothing is missing.

    Bodies are the generated code and, by their names, the functions that people wrote.
    """
    by_hand = HandWritten(root)
    chosen = set(names)

    def selects(op: Op) -> bool:
        return op.schema.full_name in chosen

    known = {op.cpp_name for declaration in registry.declarations for op in declaration.ops()}
    calls = by_hand.calls_of_core() & known
    while True:
        plan = Plan(registry, selects, autograd)
        for emit in _BODIES:
            calls |= set(CALL.findall("\n".join(emit(plan).values())))
        ops = [op for family in plan.families for op in family.ops if plan.has_body(op)]
        for op in ops:
            calls |= by_hand.calls([kernel.symbol for kernel in plan.backend_kernels(op)])
        needed = {op.schema.full_name for name in calls for op in plan.ops_named(name)}
        needed |= {str(op.declaration.options["same_as"]) for op in ops if "same_as" in op.declaration.options}
        if needed <= chosen:
            return selects
        chosen |= needed


class HandWritten:
    """Which ops the C++ functions that people wrote call, themselves or through others."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._by_symbol: dict[str, list[Definition]] = {}
        self._by_name: dict[str, list[Definition]] = {}
        for folder in (*HAND_WRITTEN, "shape"):
            for path in sorted((root / "csrc" / folder).rglob("*.[ch]*")):
                for definition in scan(path, str(path), with_local=True):
                    self._by_symbol.setdefault(definition.symbol, []).append(definition)
                    self._by_name.setdefault(definition.symbol.rpartition("::")[2], []).append(definition)

    def calls_of_core(self) -> set[str]:
        """Of what every build has."""
        csrc = (self._root / "csrc" / name for name in ("core", "dispatch", "autograd", "shape", "python"))
        folders = (self._root / "include", *csrc)
        texts = (path.read_text() for folder in folders for path in folder.rglob("*.[ch]*"))
        return {name for text in texts for name in CALL.findall(text)}

    def calls(self, symbols: Iterable[str]) -> set[str]:
        """Of the functions with these names. Those they use are told by their names alone, so a few too many count."""
        found: set[str] = set()
        seen: set[int] = set()
        open_ = [definition for symbol in symbols for definition in self._by_symbol.get(symbol, [])]
        while open_:
            definition = open_.pop()
            if id(definition) not in seen:
                seen.add(id(definition))
                found |= set(definition.calls)
                open_ += [
                    d for name in definition.uses for d in self._by_name.get(name, []) if self._reaches(definition, d)
                ]
        return found

    def _reaches(self, user: Definition, used: Definition) -> bool:
        return user.file == used.file or not used.is_local
