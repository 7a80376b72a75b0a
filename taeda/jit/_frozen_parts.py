"""The objects of a frozen module: of each part of it only the attributes that are still used."""

from __future__ import annotations

from typing import Any

from taeda import _C
from taeda.jit._module import RecursiveScriptModule
from taeda.jit._slots import share
from taeda.jit.check.classes import ClassInfo, class_named, free_name
from taeda.jit.check.types import BOOL
from taeda.jit.ir import Graph, Value
from taeda.jit.optimise.attributes import Slot, objects_in


class FrozenParts:
    """What stands for a module and the modules in it, once their graphs were made smaller.

    Args:
        mod: the module as it was.
        graphs: its methods' graphs. Their values get the types of the new objects.
        kept: attributes that are kept though no graph uses them, of the module itself or of modules in it.
    """

    def __init__(self, mod: Any, graphs: list[Graph], kept: list[Slot]) -> None:
        self._modules = {part._c: part for part in mod.modules()}
        self._names: dict[Any, dict[str, None]] = {mod._c: {}}
        self._whole: set[Any] = set()
        self._made: dict[Any, RecursiveScriptModule] = {}
        for owner, name in kept:
            self._use(owner, name)
            if owner.hasattr(name):
                held = owner.getattr(name)
                held = getattr(held, "_c", held)
            else:  # a method
                held = owner
            if isinstance(held, _C._jit.Object) and not any(held == other for other, _ in kept if other != owner):
                self._whole.add(held)
        owned = [objects_in(graph, mod._c) for graph in graphs]
        for each in owned:
            for value, held in each.objects.items():
                self._read(value, held)
        self._whole.discard(mod._c)
        self._share()
        self.root = self._twin(mod._c)
        for each in owned:
            for value, held in each.objects.items():
                if held in self._made:
                    value.setType(self._made[held]._info.type)

    def _share(self) -> None:
        """Modules of one class keep the same attributes, so that they still are of one class."""
        by_class: dict[str, list[Any]] = {}
        for held in self._names:
            by_class.setdefault(held.type()._name, []).append(held)
        for alike in by_class.values():
            names = {name: None for held in alike for name in self._names[held]}
            for held in alike:
                self._names[held] = names
        whole = {held.type()._name for held in self._whole}
        self._whole.update(held for held in self._names if held.type()._name in whole and held in self._modules)

    def _use(self, owner: Any, name: str) -> None:
        self._names.setdefault(owner, {})[name] = None

    def _read(self, value: Value, held: Any) -> None:
        for node in value._users:
            if node.kind() in ("prim::GetAttr", "prim::SetAttr") and node.inputsAt(0) is value:
                self._use(held, node.s("name"))
            else:
                self._whole.add(held)

    def _twin(self, held: Any) -> RecursiveScriptModule:
        if held in self._made:
            return self._made[held]
        if held in self._whole or held not in self._names:
            self._made[held] = self._modules[held].copy()
            return self._made[held]
        info = class_named(held.type()._name)
        assert info is not None
        made = ClassInfo(free_name(info.name), info.python_class, True, passing=True)
        declared = {name: (type, kind) for name, type, kind in _C._class_attributes(info.type)}
        children, values = {}, {}
        for name in self._names[held]:
            type, kind = declared.get(name, (BOOL, 0))
            value = held.getattr(name) if name in declared else False
            part = getattr(value, "_c", value)
            if isinstance(part, _C._jit.Object) and part in self._modules:
                children[name] = self._twin(part)
                type, value = children[name]._info.type, children[name]._c
            made.add_attribute(name, type, kind)
            values[name] = value
        twin = _C._jit.Object(made.type)
        for name, value in values.items():
            twin.setattr(name, value)
        share(held, twin, [name for name in values if name in declared and name not in children])
        self._made[held] = RecursiveScriptModule(twin, made, children, {})  # type: ignore[arg-type]
        return self._made[held]
