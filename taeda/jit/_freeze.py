"""``freeze``: a module whose attributes are constants of its graph."""

from __future__ import annotations

from typing import Any

from taeda._schema.function_schema import FunctionSchema
from taeda.jit._frozen_parts import FrozenParts
from taeda.jit._module import RecursiveScriptModule, ScriptModule
from taeda.jit.check.classes import ClassInfo, class_named
from taeda.jit.check.function import MISSING, Function, Parameter
from taeda.jit.ir import Graph, Node
from taeda.jit.optimise import fold_numerics, inline_forks, optimise, remove_dead_code
from taeda.jit.optimise.attributes import Slot, changed_slots, make_constant_attributes, overlapping, refuse, resolve
from taeda.jit.translate.build import forget


class GraphFunction(Function):
    """A method that is given as a graph.

    Args:
        like: the method that it was made from: what it takes and gives.
        self_type: the class whose method it is.
    """

    def __init__(self, name: str, graph: Graph, like: Function, self_type: Any) -> None:
        self.name, self.qualified_name, self.self_type = name, f"{self_type._name}.{name}", self_type
        self._graph, self._like, self._compiling = graph, like, False
        self.inferred: set[str] = set()

    def parameters(self) -> list[Parameter]:
        """What it takes, the object first."""
        first, *rest = self._like.parameters()
        return [Parameter(first.name, self.self_type, MISSING, False, None), *rest]

    def declared_result(self) -> Any:
        """The type of its result."""
        return self._like.return_type()

    @property
    def schema(self) -> FunctionSchema:
        """Its schema."""
        theirs = self._like.self_type._name
        return FunctionSchema(str(self._like.schema).replace(f"({theirs} ", f"({self.self_type._name} ", 1))


def _info(mod: Any) -> ClassInfo:
    info = class_named(mod._c.type()._name)
    assert info is not None
    return info


def _in_eval_mode(name: str, mod: Any) -> Any:
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(f"{name}: wants what taeda.jit.script or trace returned; got {type(mod).__name__}")
    if getattr(mod, "training", False):
        raise RuntimeError(f"{name}: the module must be in eval mode; call its eval() first")
    return mod


def freeze(mod: Any, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True) -> Any:
    """A module that does what ``mod``, compiled and in eval mode, does now: submodules, parameters and attributes are
    constants of one graph, and what follows from them is computed beforehand.

    Attributes that the program itself sets or writes to stay.

    Args:
        preserved_attrs: attributes to keep as they are, and methods beside ``forward`` to keep.
        optimize_numerics: whether results may differ by rounding: batch normalisation goes into what is before it.

    Raises:
        RuntimeError: ``mod`` is not compiled, in training mode, or has no attribute or method of such a name.
    """
    return frozen(_in_eval_mode("taeda.jit.freeze", mod), list(preserved_attrs or []), optimize_numerics)


def frozen(mod: Any, wanted: list[str], optimize_numerics: bool, keep_parameters: bool = False) -> Any:
    """As `freeze`, in whichever mode ``mod`` is. Parameters stay if ``mod`` is training, or if it is asked for."""
    info = _info(mod)
    slots = [slot for name in wanted if name not in info.methods for slot in _slots(mod, name)]
    methods = {name: info.methods[name] for name in dict.fromkeys(["forward", *wanted]) if name in info.methods}
    graphs = {name: function.graph.copy() for name, function in methods.items()}
    for graph in graphs.values():
        inline_forks(graph, _calls_methods)
    parameters = []
    if keep_parameters or getattr(mod, "training", False):
        parameters = [(part._c, name) for part in mod.modules() for name, _ in part.named_parameters(recurse=False)]
    _freeze(graphs, mod._c, slots + parameters)
    for graph in graphs.values():
        _finish(graph, optimize_numerics)
    return _module(mod, methods, graphs, slots)


def _calls_methods(fork: Node) -> bool:
    """Whether what runs aside calls methods, of objects that a frozen module does not have."""
    return bool(fork.g("Subgraph").findAllNodes("prim::CallMethod"))


def _slots(mod: Any, name: str) -> list[Slot]:
    """The objects and attributes that ``a.b.c`` names in a module, from ``a`` on; the last may be a method."""
    found: list[Slot] = []
    held = mod._c
    try:
        for part in name.split("."):
            found.append((held, part))
            info = class_named(held.type()._name)
            if not held.hasattr(part):
                known = info is not None and info.function(part) is not None and held is not mod._c
                break
            inner = held.getattr(part)
            known, held = True, getattr(inner, "_c", inner)
    except (AttributeError, RuntimeError, TypeError):
        known = False
    if not known or len(found) != name.count(".") + 1:
        raise RuntimeError(f"taeda.jit.freeze: the module has no attribute or method '{name}' to preserve")
    return found


def _freeze(graphs: dict[str, Graph], held: Any, kept: list[Any]) -> None:
    """Numbers and texts first: with them branches fall away, and what these wrote to is constant, too."""
    for tensors in (False, True, True):
        keep = set(kept)
        names: set[str] = set()
        owned = {}
        for name, graph in graphs.items():
            owned[name] = resolve(graph, held)
            refuse(graph, owned[name], held)
            slots, unknown = changed_slots(graph, owned[name])
            keep, names = keep | slots, names | unknown
        keep |= overlapping(keep, [slot for each in owned.values() for slot in each.reads.values()])
        for name, graph in graphs.items():
            make_constant_attributes(graph, owned[name], keep, names, tensors)
            optimise(graph)


def _finish(graph: Graph, optimize_numerics: bool) -> bool:
    changed = optimize_numerics and fold_numerics(graph)
    if changed:
        optimise(graph)
    remove_dead_code(graph)
    return changed


def _module(mod: Any, methods: dict[str, Any], graphs: dict[str, Graph], kept: list[Slot]) -> RecursiveScriptModule:
    frozen = FrozenParts(mod, list(graphs.values()), kept).root
    made = frozen._info
    for name, graph in graphs.items():
        made.methods[name] = GraphFunction(name, graph, methods[name], made.type)
    frozen.__dict__["_is_frozen"] = True
    return frozen


def run_frozen_optimizations(
    mod: Any, optimize_numerics: bool = True, preserved_methods: list[str] | None = None
) -> None:
    """Applies to the graphs of a frozen module, in place, what `freeze` does at its end.

    Raises:
        RuntimeError: ``mod`` is not compiled.
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(f"taeda.jit.run_frozen_optimizations: wants a frozen module; got {type(mod).__name__}")
    info = _info(mod)
    for name in ["forward", *(preserved_methods or [])]:
        if (method := info.methods.get(name)) is not None:
            _finish(method.graph, optimize_numerics)
            method.set_graph(method.graph)
            forget(method)  # code is made anew when it is asked for


def optimize_for_inference(mod: Any, other_methods: list[str] | None = None) -> Any:
    """``mod``, a compiled module, which is put into eval mode, frozen and made as fast as may be.

    Raises:
        RuntimeError: another module.
    """
    if isinstance(mod, ScriptModule) and getattr(mod, "training", False):
        mod.eval()
    _in_eval_mode("taeda.jit.optimize_for_inference", mod)
    if not mod.__dict__.get("_is_frozen"):
        return freeze(mod, other_methods)
    run_frozen_optimizations(mod, True, other_methods)
    return mod


def export_opnames(m: Any) -> list[str]:
    """The ops that a compiled module or function calls, by name and overload, sorted.

    Raises:
        RuntimeError: ``m`` is not compiled.
    """
    if isinstance(m, ScriptModule):
        pending = [f.graph for f in _info(m).methods.values()]
    elif hasattr(m, "graph"):
        pending = [m.graph]
    else:
        raise RuntimeError(f"taeda.jit.export_opnames: wants what taeda.jit.script gave; got {type(m).__name__}")
    from taeda.jit._script import inlined

    found = set()
    for graph in map(inlined, pending):
        for node in graph.all_nodes():
            schema = node.op_schema() if node.kind().startswith("aten::") else None
            if schema is not None:
                found.add(f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name)
    return sorted(found)


def last_executed_optimized_graph() -> Any:
    """Raises ``RuntimeError``: programs are not observed; ``function.graph_for(*args)`` gives the graph that runs."""
    raise RuntimeError(
        "taeda.jit.last_executed_optimized_graph: programs are not observed while they run; function.graph_for(*args) "
        "gives the graph that does"
    )
