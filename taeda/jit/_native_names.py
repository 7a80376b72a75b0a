"""The compiler as programs find it in ``torch._C``: passes over graphs, switches, and functions made from graphs.

A pass that only makes room for one of PyTorch's own (its fusers', its profiler's) is not here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from taeda import Tensor
from taeda.jit import optimise
from taeda.jit._ir_types import TensorFacts
from taeda.jit.ir import Graph
from taeda.jit.optimise.aliases import Aliases


# --- Passes
def _of(work: Callable[[Graph], bool]) -> Callable[..., bool]:
    """A pass as ``torch._C`` has it: of a graph or of what has one, with switches that change nothing here."""

    def run(graph: Any, *switches: Any) -> bool:
        return work(graph if isinstance(graph, Graph) else graph.graph)

    run.__doc__ = work.__doc__
    return run


_jit_pass_inline = _of(optimise.inline_calls)
_jit_pass_dce = _jit_pass_dce_allow_deleting_nodes_with_side_effects = _of(optimise.remove_dead_code)
_jit_pass_cse = _of(optimise.merge_common_subexpressions)
_jit_pass_loop_unrolling = _of(optimise.unroll_loops)
_jit_pass_lower_all_tuples = _jit_pass_lower_simple_tuples = _of(optimise.lower_tuples)


def _jit_pass_peephole(graph: Graph, disable_shape_peepholes: bool = False) -> bool:
    return optimise.simplify(graph)


def _jit_pass_constant_propagation(graph: Graph) -> bool:
    changed = False
    while optimise.fold_constants(graph) | optimise.fold_branches(graph):
        changed = True
    return changed | optimise.remove_dead_code(graph)


_jit_pass_constant_propagation_immutable_types = _jit_pass_constant_propagation


def _jit_pass_constant_pooling(graph: Graph) -> None:
    optimise.merge_common_subexpressions(graph)


def _jit_pass_lint(graph: Graph) -> None:
    graph.lint()


def _jit_pass_canonicalize(graph: Graph, keep_unique_names: bool = True) -> Graph:
    """A copy whose values are numbered in their order."""
    twin = Graph()
    twin.copy_from(graph, {})
    if not keep_unique_names:
        for value in twin._all_values():
            value.setDebugName("")
    return twin


def _jit_pass_erase_shape_information(graph: Graph) -> None:
    """Forgets what is known of tensors beyond that they are some."""
    for value in graph._all_values():
        value.facts = None


def _propagate_shapes(graph: Graph, inputs: Sequence[Any], with_grad: bool = False) -> Graph:
    """A copy in which what is known of the inputs is known of the values made from them."""
    twin = graph.copy()
    _jit_pass_complete_shape_analysis(twin, inputs, with_grad)
    return twin


def _jit_pass_complete_shape_analysis(graph: Graph, inputs: Sequence[Any], with_grad: bool = False) -> None:
    for value, given in zip(graph.inputs(), inputs, strict=False):
        if isinstance(given, Tensor):
            value.facts = TensorFacts.of(given)
    optimise.propagate_shapes(graph)


def _jit_pass_propagate_shapes_on_graph(graph: Graph) -> None:
    optimise.propagate_shapes(graph)


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

    return frozen(face_of_module(module), list(preservedAttrs), False)._c


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
_kept: dict[str, Any] = {"optimize": True, "inline": False, "profiled": 1, "bailout": 20, "warn": True}


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
_jit_get_tracer_state_warn, _jit_set_tracer_state_warn = _switch("warn")


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
        """Whether anything writes to what the node takes or gives."""
        return any(map(self._aliases.has_writers, [*node.inputs(), *node.outputs()]))

    def __str__(self) -> str:
        sets: dict[Any, list[str]] = {}
        for value in self._graph._all_values():
            sets.setdefault(self._aliases._find(value), []).append(f"%{value.debugName()}")
        return "\n".join(", ".join(names) for names in sets.values() if len(names) > 1)
