"""Modules whose methods were traced."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

from taeda import _C, nn
from taeda.jit._module import RecursiveScriptModule, ScriptModule, _held
from taeda.jit.tracing.function import GraphFunction
from taeda.jit.tracing.methods import Row

if TYPE_CHECKING:
    from taeda.jit.check.classes import ClassInfo
    from taeda.jit.ir import Graph
    from taeda.jit.tracing.trace import Recorded


class TracedModule(RecursiveScriptModule):
    """What ``trace`` makes of a module."""

    def _get_name(self) -> str:
        return self.original_name

    def extra_repr(self) -> str:
        """``original_name=Net``."""
        return f"original_name={self.original_name}"


class TopLevelTracedModule(TracedModule):
    """What ``trace`` makes of the module that it is called with."""


class TracedTree:
    """The objects that stand for a module that is about to be traced and for the modules in it, each with a class of
    its own.

    Raises:
        ValueError: a module has backward hooks.
    """

    def __init__(self, module: nn.Module) -> None:
        import taeda.jit.check.front  # noqa: F401

        self.paths: dict[int, tuple[str, ...]] = {}  # where those in it stand, by their ids
        self._made: dict[tuple[str, ...], TracedModule] = {}
        self._taken: dict[tuple[str, ...], set[str]] = {}
        self.top = self._traced(module, (), {}, TopLevelTracedModule)

    def _traced(self, module: nn.Module, path: tuple[str, ...], memo: dict[int, Any], cls: Any = TracedModule) -> Any:
        if isinstance(module, ScriptModule):
            return module
        if id(module) in memo:
            return memo[id(module)]
        if module._hook_table("_backward_hooks") or module._hook_table("_backward_pre_hooks"):
            raise ValueError(f"taeda.jit.trace: {type(module).__name__} has backward hooks, which no program can hold")
        from taeda.jit.check.classes import free_name
        from taeda.jit.check.modules import ModuleInfo, _facts, _fill

        ignored = getattr(module, "__jit_ignored_attributes__", ())
        children = {name: self._traced(child, (*path, name), memo) for name, child in module._modules.items()
                    if child is not None and name not in ignored}  # fmt: skip
        info = ModuleInfo(free_name(_C._program_name(type(module))), module, passing=True)
        facts = _facts(module, children)
        for name in [name for name, child in module._modules.items() if child is None]:
            del facts.attributes[name]
        _fill(info, facts)
        info.properties.clear()
        made = _C._jit.Object(info.type)
        for name, type_ in info.attributes().items():
            child = children.get(name)
            made.setattr(name, child._c if child is not None else _held(module, name, type_))
        memo[id(module)] = twin = cls(made, info, children, {})
        if path:
            self.paths[id(module)], self._made[path] = path, twin
        return twin

    def keep(self, name: str, recorded: Recorded) -> GraphFunction:
        """What was recorded as a method of the top; calls of modules in it become methods of these."""
        info, shown = self.top._info, None
        if recorded.calls and recorded.attributes is not None:
            row = Row(recorded.graph, recorded.calls, recorded.attributes, self.top.__dict__["_kept"])
            calls = list(row.top.calls())
            for call in calls:
                call.name = self._free_name(call.path)
            for call in calls:
                self._add(self._made[call.path]._info, call.name, functools.partial(row.graph_of, call))
            shown = functools.partial(row.graph_of, row.top)
        return self._add(info, name, shown, recorded.graph)

    def _add(self, info: ClassInfo, name: str, shown: Any, graph: Graph | None = None) -> GraphFunction:
        made = info.methods[name] = GraphFunction(graph, f"{info.name}.{name}", info.type, shown)
        return made

    def _free_name(self, path: tuple[str, ...]) -> str:
        """``forward`` for the first call of a module, ``forward1`` for the second."""
        info, taken = self._made[path]._info, self._taken.setdefault(path, set())
        is_free = lambda name: not (name in taken or name in info.methods or hasattr(info.example, name))
        names = itertools.chain(["forward"] if not taken else [], (f"forward{i}" for i in itertools.count(1)))
        found = next(name for name in names if name == "forward" or is_free(name))
        taken.add(found)
        return found
