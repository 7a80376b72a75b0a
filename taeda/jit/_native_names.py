"""The compiler as programs find it in ``torch._C``: switches, and functions made from graphs. Passes are in
``_native_passes.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from taeda import Tensor
from taeda.jit.ir import Graph, Value
from taeda.jit.optimise.aliases import Aliases


# --- Functions and modules
def _create_function_from_graph(name: str, graph: Graph) -> Any:
    """A compiled function that does what a graph says."""
    from taeda.jit._script import ScriptFunction
    from taeda.jit.tracing.function import GraphFunction

    return ScriptFunction(GraphFunction(graph, f"__torch__.{name}"))


def _jit_interpret_graph(graph: Graph, inputs: Sequence[Any], unwrap: bool = True) -> Any:
    """What a graph gives for these inputs."""
    return _create_function_from_graph("interpreted", graph.copy())(*inputs)


def _freeze_module(
    module: Any, preservedAttrs: Sequence[str] = (), freezeInterfaces: bool = True, preserveParameters: bool = False
) -> Any:
    """The object of a frozen module, of the object of one, in whichever mode it is."""
    from taeda.jit._freeze import frozen
    from taeda.jit._module import face_of_module

    return frozen(face_of_module(module), list(preservedAttrs), False, preserveParameters)._c


def import_ir_module(cu: Any, filename: Any, map_location: Any = None, extra_files: Any = None,
                     restore_shapes: bool = False) -> Any:  # fmt: skip
    """The object of the module in an archive; `torch.jit.load` gives the module."""
    from taeda.jit import load

    return load(filename, map_location, extra_files)._c


def import_ir_module_from_buffer(cu: Any, buffer: bytes, map_location: Any = None, extra_files: Any = None,
                                 restore_shapes: bool = False) -> Any:  # fmt: skip
    """As `import_ir_module`, of an archive's bytes."""
    import io

    return import_ir_module(cu, io.BytesIO(buffer), map_location, extra_files)


def _jit_flatten(values: Any) -> tuple[list[Tensor], Any]:
    """The tensors in tuples, lists and dicts, in order; and the structure they were in."""
    from taeda.utils import _pytree

    return _pytree.tree_flatten(values)


def _jit_unflatten(tensors: list[Tensor], structure: Any) -> Any:
    """What `_jit_flatten` took apart."""
    from taeda.utils import _pytree

    return _pytree.tree_unflatten(tensors, structure)


def _jit_clear_class_registry() -> None:
    """Does nothing: classes are known as long as programs that use them."""


# --- Switches: kept, and read by nobody
_kept: dict[str, Any] = {
    "symbolic": False,
    "optimize": True,
    "inline": False,
    "profiled": 1,
    "bailout": 20,
    "warn": True,
}


def _switch(name: str) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    def get(new: Any = None) -> Any:
        before = _kept[name]
        if new is not None:
            _kept[name] = new
        return before

    def put(value: Any) -> Any:
        before, _kept[name] = _kept[name], value
        return before

    return get, put


_get_graph_executor_optimize, _set_graph_executor_optimize = _switch("optimize")
_jit_get_inline_everything_mode, _jit_set_inline_everything_mode = _switch("inline")
_jit_get_num_profiled_runs, _jit_set_num_profiled_runs = _switch("profiled")
_jit_get_bailout_depth, _jit_set_bailout_depth = _switch("bailout")
_jit_symbolic_shapes_test_mode_enabled, _jit_set_symbolic_shapes_test_mode = _switch("symbolic")
_jit_get_tracer_state_warn, _jit_set_tracer_state_warn = _switch("warn")


class InferredType:
    """A type that was found, or the reason why none was."""

    def __init__(self, found: Any) -> None:
        self._found = found

    def success(self) -> bool:
        """Whether there is one."""
        return not isinstance(self._found, str)

    def reason(self) -> str:
        """Why there is none; empty if there is one."""
        return "" if self.success() else self._found

    def type(self) -> Any:
        """The type.

        Raises:
            RuntimeError: there is none; says why.
        """
        if not self.success():
            raise RuntimeError(f"InferredType.type: no type was found: {self._found}")
        return self._found


class AliasDb:
    """Which values of a graph may share memory: `Graph.alias_db`."""

    def __init__(self, graph: Graph) -> None:
        self._aliases = Aliases(graph)
        self._graph = graph

    def may_contain_alias(self, a: Any, b: Any) -> bool:
        """Whether values of ``a`` and ``b``, each a value or a list of them, may share memory."""
        left, right = (x if isinstance(x, (list, tuple)) else [x] for x in (a, b))
        return any(self._aliases.may_share(x, y) for x in left for y in right)

    def has_writers(self, node: Any) -> bool:
        """Whether anything writes to a value, or to what a node takes or gives."""
        if isinstance(node, Value):
            return self._aliases.has_writers(node)
        return any(map(self._aliases.has_writers, [*node.inputs(), *node.outputs()]))

    def __str__(self) -> str:
        sets: dict[Any, list[str]] = {}
        for value in self._graph._all_values():
            sets.setdefault(self._aliases._find(value), []).append(f"%{value.debugName()}")
        outside = {self._aliases._find(word) for word in self._aliases._outside_words()}
        lines = [
            ", ".join([*names, *(["WILDCARD"] if root in outside else [])])
            for root, names in sets.items()
            if len(names) > 1 or root in outside
        ]
        return "\n".join(lines)

    def to_graphviz_str(self) -> str:
        """The sets as a graph in the language of Graphviz: what may be one is connected."""
        edges = []
        for line in str(self).splitlines():
            first, *rest = line.split(", ")
            edges += [f'  "{first}" -> "{other}"' for other in rest]
        return "digraph alias_db {\n" + "".join(edge + "\n" for edge in edges) + "}\n"
