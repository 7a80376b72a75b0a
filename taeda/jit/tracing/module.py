"""Modules whose methods were traced."""

from __future__ import annotations

from taeda import _C, nn
from taeda.jit._module import RecursiveScriptModule, _held, wrapped


class TracedModule(RecursiveScriptModule):
    """What ``trace`` makes of a module."""

    def _get_name(self) -> str:
        return self.original_name

    def extra_repr(self) -> str:
        """``original_name=Net``."""
        return f"original_name={self.original_name}"


class TopLevelTracedModule(TracedModule):
    """What ``trace`` makes of the module that it is called with."""


def traced_module(module: nn.Module) -> TopLevelTracedModule:
    """The object that stands for a module that is about to be traced, with a class of its own."""
    import taeda.jit.check.front  # noqa: F401
    from taeda.jit.check.classes import free_name
    from taeda.jit.check.modules import ModuleInfo, _facts, _fill

    for part in module.modules():
        if part._backward_hooks or part._backward_pre_hooks:
            raise ValueError(f"taeda.jit.trace: {type(part).__name__} has backward hooks, which no program can hold")
    children = {name: wrapped(child, {}) for name, child in module._modules.items() if child is not None}
    info = ModuleInfo(free_name(_C._program_name(type(module))), module)
    facts = _facts(module)
    for name in [name for name, child in module._modules.items() if child is None]:
        del facts.attributes[name]
    _fill(info, facts)
    info.properties.clear()
    made = _C._jit.Object(info.type)
    for name, type_ in info.attributes().items():
        child = children.get(name)
        made.setattr(name, child._c if child is not None else _held(module, name, type_))
    return TopLevelTracedModule(made, info, children, {})  # type: ignore[arg-type]
