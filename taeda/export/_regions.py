"""Parts of a program that run without gradients, or under autocast: graphs of their own, which an op runs in that mode.

`wrap` makes them of what was recorded, `inlined` puts their ops back, where no op needs the mode any more.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import taeda
from taeda import _C, Tensor
from taeda._library.ops import OpOverload
from taeda._schema.symbols import _Symbol
from taeda.export._scope import holder
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node, map_aggregate

if TYPE_CHECKING:
    from taeda.export.exported_program import ExportedProgram

_DEVICES = ("cpu", "cuda")
_Inside = Callable[[Node], Any]


class Mode(NamedTuple):
    """What ops are recorded in."""

    gradients: bool
    casts: tuple[tuple[bool, Any], ...]  # by device: whether autocast is on, and its dtype
    keeps_casts: bool


def current_mode() -> Mode:
    """The mode that ops are called in now."""
    casts = tuple((_C.is_autocast_enabled(kind), _C.get_autocast_dtype(kind)) for kind in _DEVICES)
    return Mode(taeda.is_grad_enabled(), casts, _C.is_autocast_cache_enabled())


# --- From modes of nodes to graphs


def wrap(graph: Graph, modules: dict[str, Any], base: Mode) -> None:
    """Makes graphs of what was recorded in another mode than ``base``, which are added to ``modules``.

    Nodes have their modes in ``meta["mode"]``, which is taken away.
    """
    for node in graph.find_nodes(op="get_attr"):
        module = modules.get(str(node.target))
        if isinstance(module, GraphModule):
            outer = next((user.meta.get("mode", base) for user in node.users), base)
            wrap(module.graph, module._modules, outer)  # type: ignore[arg-type]
            module.recompile()
    _wrap_differing(graph, modules, base, 0)
    for node in graph.nodes:
        node.meta.pop("mode", None)


def _wrap_differing(graph: Graph, modules: dict[str, Any], base: Mode, field: int) -> None:
    """Gradients first, then autocast of each device."""
    if field > len(_DEVICES):
        return

    def value(mode: Mode) -> Any:
        if field == 0:
            return mode.gradients
        enabled, dtype = mode.casts[field - 1]
        return enabled and dtype

    run: list[Node] = []
    for node in [*graph.nodes]:
        if node.op in ("placeholder", "get_attr"):
            continue
        mode = node.meta.get("mode", base)
        if run and (node.op == "output" or value(mode) != value(run[0].meta["mode"])):
            _make_region(graph, modules, run, base, field)
            run = []
        if node.op != "output" and value(mode) != value(base) and not (not run and _is_number(node)):
            run.append(node)
    _wrap_differing(graph, modules, base, field + 1)


def _make_region(graph: Graph, modules: dict[str, Any], run: list[Node], base: Mode, field: int) -> None:
    """Puts a graph in the place of nodes that follow each other."""
    inside: set[Node] = set()
    for node in run:  # numbers that come from outside stay there
        if not _is_number(node) or any(source in inside for source in node.all_input_nodes):
            inside.add(node)
    run = [node for node in run if node in inside]
    inner, parts, copies = Graph(), dict[str, Any](), dict[Node, Node]()
    given: list[Node] = []

    def within(leaf: Node) -> Node:
        if leaf not in copies:
            if leaf.op == "get_attr":
                copies[leaf] = inner.get_attr(str(leaf.target))
                parts[str(leaf.target)] = modules[str(leaf.target)]
                return copies[leaf]
            first = next((node for node in inner.nodes if node.op != "placeholder"), None)
            with inner.inserting_before(first) if first is not None else inner.inserting_after(None):
                copies[leaf] = inner.placeholder(leaf.name)
            copies[leaf].meta.update({k: v for k, v in leaf.meta.items() if k in ("val", "other")})
            given.append(leaf)
        return copies[leaf]

    for node in run:
        copies[node] = inner.node_copy(node, within)
    results = [node for node in run if any(user not in inside for user in node.users)]
    inner.output(tuple(copies[node] for node in results))
    mode = run[0].meta["mode"]
    if field == 0:
        name, said = "wrap_with_set_grad_enabled", (mode.gradients,)
        inner_base = base._replace(gradients=mode.gradients)
    else:
        enabled, dtype = mode.casts[field - 1]
        name, said = "wrap_with_autocast", (_DEVICES[field - 1], dtype, enabled, mode.keeps_casts)  # type: ignore[assignment]
        inner_base = base._replace(casts=(*base.casts[: field - 1], (enabled, dtype), *base.casts[field:]))
    _wrap_differing(inner, parts, inner_base, field + 1)
    for node in inner.nodes:
        node.meta.pop("mode", None)
    number = next(i for i in range(1, len(modules) + 2) if f"submod_{i}" not in modules)
    modules[f"submod_{number}"] = GraphModule(parts, inner)
    with graph.inserting_after(run[-1]):
        fetched = graph.create_node("get_attr", f"submod_{number}", name=f"submod_{number}")
    with graph.inserting_after(fetched):
        whole = graph.call_function(getattr(taeda.ops.higher_order, name), (*said, fetched, *given))
    whole.meta = {k: v for k, v in run[0].meta.items() if k in ("nn_module_stack", "torch_fn")}
    whole.meta["val"] = tuple(node.meta.get("val") for node in results)
    last = whole
    for i, node in enumerate(results):
        node.target, node.args, node.kwargs = operator.getitem, (whole, i), {}
        node.meta.pop("is_view", None)
        node.meta["mode"] = base
        last.append(node)
        last = node
    for node in reversed(run):
        if node not in results:
            graph.erase_node(node)
    for leaf in [leaf for leaf in copies if leaf.op == "get_attr"]:
        graph.erase_node(leaf)
        del modules[str(leaf.target)]


def _is_number(node: Node) -> bool:
    return isinstance(node.meta.get("val"), _Symbol)


# --- And back


def inlined(program: ExportedProgram) -> ExportedProgram:
    """The program with the ops of such graphs in their places. What then would have gradients is detached."""
    if not _regions(program.graph):
        return program
    modules = dict(program.graph_module._modules)
    graph = Graph()
    values: dict[Node, Any] = {}
    _Inlining(graph, modules).copy(program.graph, values, program.graph_module)
    made = tuple(map_aggregate(program.graph.output_node().args[0], lambda x: values.get(x, x)))
    graph.output(made)
    graph.eliminate_dead_code()
    signature = copy.deepcopy(program.graph_signature)
    for spec, value in zip(signature.output_specs, made):
        if isinstance(value, Node):
            spec.arg.name = value.name
    return program._with(graph, signature, holder({k: m for k, m in modules.items() if m is not None}))


def _regions(graph: Graph) -> list[Node]:
    ops = taeda.ops.higher_order
    return [n for op in (ops.wrap_with_set_grad_enabled, ops.wrap_with_autocast)
            for n in graph.find_nodes(op="call_function", target=op)]  # fmt: skip


class _Inlining:
    """Copies graphs into one."""

    def __init__(self, graph: Graph, modules: dict[str, Any]) -> None:
        self.graph, self.modules = graph, modules
        self.detached: dict[Node, Node] = {}

    def copy(self, source: Graph, values: dict[Any, Any], owner: Any, drops: bool = False, casts: bool = False) -> Any:
        """Adds what a graph does. ``drops``: without gradients; ``casts``: as autocast did it.

        Returns:
            The graph's results.
        """
        regions = set(_regions(source))
        for node in source.nodes:
            if node in values:
                continue
            if node.op == "output":
                return map_aggregate(node.args[0], lambda x: values.get(x, x))
            if node in regions:
                self._region(node, values, owner, drops, casts)
            elif node.op == "get_attr" and node.users.keys() <= regions:
                continue
            elif node.op == "get_attr":
                values[node] = self._fetch(node, owner)
            else:
                values[node] = self._op(node, values, drops, casts)
        return ()

    def _region(self, node: Node, values: dict[Any, Any], owner: Any, drops: bool, casts: bool) -> None:
        gradients = node.target is taeda.ops.higher_order.wrap_with_set_grad_enabled
        at = 1 if gradients else 4
        part = owner.get_submodule(str(node.args[at].target))  # type: ignore[union-attr]
        inputs = part.graph.find_nodes(op="placeholder")
        given = [values.get(x, x) for x in node.args[at + 1 :]]
        drops, casts = (not node.args[0], casts) if gradients else (drops, bool(node.args[2]))
        results = self.copy(part.graph, dict(zip(inputs, given, strict=True)), part, drops, casts)
        if isinstance(results, Node):
            values[node] = results
            return
        for user in node.users:
            values[user] = results[user.args[1]]  # type: ignore[index]

    def _fetch(self, node: Node, owner: Any) -> Node:
        """A graph of a branch or loop, which may come from within a region."""
        name, module = str(node.target), owner.get_submodule(str(node.target))
        number = 0
        while self.modules.get(name, module) is not module:
            name, number = f"{node.target}_{number}", number + 1
        self.modules[name] = module
        fetched = self.graph.create_node("get_attr", name, name=node.name)
        fetched.meta = copy.copy(node.meta)
        return fetched

    def _op(self, node: Node, values: dict[Any, Any], drops: bool, casts: bool) -> Node:
        args, kwargs = map_aggregate((node.args, node.kwargs), lambda x: values.get(x, x) if isinstance(x, Node) else x)
        if casts and isinstance(node.target, OpOverload):
            args, kwargs = self._as_recorded(node, args, kwargs)
        if drops and not getattr(getattr(node.target, "_schema", None), "is_mutable", True):
            args, kwargs = map_aggregate((args, kwargs), self._detach)
        made = self.graph.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def _detach(self, leaf: Any) -> Any:
        value = leaf.meta.get("val") if isinstance(leaf, Node) else None
        if not isinstance(value, Tensor) or not value.requires_grad:
            return leaf
        if leaf not in self.detached:
            plain = self.graph.call_function(taeda.ops.aten.detach.default, (leaf,))
            plain.meta = {**leaf.meta, "val": value.detach(), "is_view": True}
            self.detached[leaf] = plain
        return self.detached[leaf]

    def _as_recorded(self, node: Node, args: Any, kwargs: Any) -> Any:
        """The arguments of an op, cast as autocast did where the graph does not say it, as PyTorch's do not."""
        wanted = node.meta.get("val")
        if not isinstance(wanted, Tensor) or not wanted.is_floating_point() or node.target._schema.is_mutable:  # type: ignore[union-attr]
            return args, kwargs
        try:
            plain = map_aggregate((args, kwargs), _on_meta)
            if node.target(*plain[0], **plain[1]).dtype is wanted.dtype:  # type: ignore[operator]
                return args, kwargs
        except RuntimeError:  # of tensors of different dtypes
            pass

        def cast(leaf: Any) -> Any:
            value = leaf.meta.get("val") if isinstance(leaf, Node) else None
            if not isinstance(value, Tensor) or not value.is_floating_point() or value.dtype is wanted.dtype:
                return leaf
            made = self.graph.call_function(taeda.ops.aten.to.dtype, (leaf, wanted.dtype))
            made.meta = {**leaf.meta, "val": value.to(wanted.dtype)}
            return made

        return map_aggregate((args, kwargs), cast)


def _on_meta(leaf: Any) -> Any:
    value = leaf.meta.get("val") if isinstance(leaf, Node) else leaf
    if isinstance(value, Tensor):
        return taeda.empty_strided(list(map(int, value.shape)), value.stride(), dtype=value.dtype, device="meta")
    return value.node.hint if isinstance(value, _Symbol) else value
