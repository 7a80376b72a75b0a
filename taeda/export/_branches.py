"""Branches and loops under record: each function becomes a graph of its own, which the op in the outer graph names.

What a function uses from outside becomes an input of its graph, after the operands.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda._control_flow.capture import recorders
from taeda._library.fake_tensor import is_fake
from taeda._schema.symbols import SymNode, _Symbol, symbol_of
from taeda.export._capture import UNKNOWN, Capture
from taeda.export._scope import Scope
from taeda.export.errors import UserError, UserErrorType
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node
from taeda.utils import _pytree as pytree
from taeda.utils._python_dispatch import _get_current_dispatch_mode, _pop_mode_temporarily


@contextlib.contextmanager
def _measured(capture: Capture, recorder: Capture | None) -> Iterator[None]:
    """Within, sizes that are read are told to ``recorder``."""
    former = _C._set_size_recorder(recorder)
    try:
        yield
    finally:
        _C._set_size_recorder(former)


def _recorder(function: Any) -> Any:
    """Makes it known. The sizes that it reads are plain numbers; those that the program's functions read are not."""

    @functools.wraps(function)
    def run(capture: Capture, *args: Any) -> Any:
        mode: Any = _get_current_dispatch_mode()
        if hasattr(mode, "around_branches"):  # its tensors are wrappers
            with _pop_mode_temporarily():
                return mode.around_branches(functools.partial(run, capture), args)
        with _measured(capture, None):
            return function(capture, *args)

    recorders[function.__name__.removeprefix("record_")] = run
    return run


class _Part:
    """A function that was recorded: its graph, and results on the example."""

    def __init__(self, capture: Capture, function: Callable[..., Any], operands: list[Any], spec: Any,
                 fresh: bool = False) -> None:  # fmt: skip
        self.capture = capture
        self.given: list[Any] = []
        outer = capture.scope
        scope = Scope(Graph(), outer)
        capture.scope = scope
        try:
            self.inputs = [self._input(scope, i, value, fresh) for i, value in enumerate(operands)]
            with _measured(capture, capture if capture.dynamic else None):
                self.result = function(*pytree.tree_unflatten(self.given, spec)) if spec else function(*self.given)
            self.leaves, self.spec = pytree.tree_flatten(self.result)
            self.shadows = [capture.shadow_of(v) if capture.dynamic and isinstance(v, Tensor) else None
                            for v in self.leaves]  # fmt: skip
            nodes = tuple(capture.node_of(v) if isinstance(v, (Tensor, _Symbol)) else v for v in self.leaves)
            scope.graph.output(nodes)
        finally:
            capture.scope = outer
        self.scope = scope

    def _input(self, scope: Scope, i: int, value: Any, fresh: bool) -> Any:
        name = getattr(self.capture_node(value), "name", f"arg{i}_1")
        if not isinstance(value, (Tensor, _Symbol)) and not (fresh and type(value) is int):
            self.given.append(value)
            return scope.placeholder(name)
        node = scope.placeholder(name)
        if isinstance(value, Tensor):
            alias = value
            if fresh:
                with self.capture.quiet():
                    alias = value.detach().clone()
            self.given.append(alias)
            node.meta["example"] = alias
            if alias is value:
                scope.nodes[id(value)] = node
            else:
                self.capture.track(alias, node, self.capture.shadow_of(value) if self.capture.dynamic else None)
            return node
        hint = value.node.hint if isinstance(value, _Symbol) else value
        symbol = SymNode(hint, "item", (), self.capture, name)
        self.given.append(self.capture.track_symbol(symbol, node, UNKNOWN))
        return node

    def capture_node(self, value: Any) -> Any:
        outer = self.capture.scope.outer
        if isinstance(value, Tensor) and outer is not None:
            return outer.find(id(value))
        return None

    def finish(self, lifted: list[Node]) -> GraphModule:
        """The graph with inputs for the operands and then for ``lifted``, nodes of the outer graph."""
        last = self.inputs[-1] if self.inputs else None
        for outside in lifted:
            node = self.scope.local(outside)
            if last is None:
                first = next(iter(self.scope.graph.nodes))
                if first is not node:
                    first.prepend(node)
            else:
                last.append(node)
            last = node
        self.scope.graph.eliminate_dead_code()
        inner: dict[str, Any] = {
            str(n.target): self.capture.subgraphs[str(n.target)] for n in self.scope.graph.find_nodes(op="get_attr")
        }
        return GraphModule(inner, self.scope.graph)


def _lifted(*parts: _Part) -> list[Node]:
    found: dict[Node, None] = {}
    for part in parts:
        found.update(dict.fromkeys(part.scope.lifted))
    return list(found)


def _keep(capture: Capture, base: str, module: GraphModule) -> Node:
    """Makes a graph part of the outer one: the node that fetches it."""
    number = 0
    while f"{base}_{number}" in capture.subgraphs:
        number += 1
    name = f"{base}_{number}"
    capture.subgraphs[name] = module
    node = capture.scope.graph.create_node("get_attr", name, name=name)
    return node


def _add(capture: Capture, op: str, args: tuple[Any, ...], results: list[Any], shadows: list[Any]) -> list[Any]:
    """The op's node, and results that are its parts."""
    node = capture.create(getattr(taeda.ops.higher_order, op), args, {})
    node.meta["example"] = tuple(results)
    given = []
    for i, value in enumerate(results):
        part = capture.create(operator.getitem, (node, i), {})
        part.meta["example"] = value
        if isinstance(value, Tensor):
            with capture.quiet():
                value = value.detach().clone() if value.grad_fn is None else value.clone()
            part.meta["example"] = value
            capture.track(value, part, shadows[i])
        elif type(value) in (int, float, bool):
            symbol = SymNode(value, "item", (), capture, part.name)
            capture.track_symbol(symbol, part, UNKNOWN)
            value = symbol_of(symbol) if capture.dynamic else value
        given.append(value)
    return given


@_recorder
def record_cond(capture: Capture, pred: Any, true_fn: Any, false_fn: Any, operands: tuple[Any, ...]) -> Any:
    """`taeda.cond` under record."""
    leaves, spec = pytree.tree_flatten(operands)
    parts = [_Part(capture, function, leaves, spec) for function in (true_fn, false_fn)]
    if parts[0].spec != parts[1].spec:
        raise UserError(
            UserErrorType.INVALID_OUTPUT,
            f"taeda.cond: both functions must return the same kind of thing; got {parts[0].spec} and {parts[1].spec}",
        )
    for a, b in zip(parts[0].leaves, parts[1].leaves):
        if isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype != b.dtype:
            raise UserError(
                UserErrorType.INVALID_OUTPUT,
                f"taeda.cond: both functions must return tensors of one dtype; got {a.dtype} and {b.dtype}",
            )
    lifted = _lifted(*parts)
    predicate = capture.node_of(pred)
    graphs = [_keep(capture, base, part.finish(lifted)) for base, part in zip(("true_graph", "false_graph"), parts)]
    with capture.quiet():  # a tensor without values takes neither way: both give the same kinds
        taken = parts[0] if is_fake(pred) or bool(_value(pred)) else parts[1]
    shadows = [
        s if s is None or t is None or s is UNKNOWN or t is UNKNOWN or s.shape == t.shape else UNKNOWN
        for s, t in zip(parts[0].shadows, parts[1].shadows)
    ]
    nodes = tuple(capture.node_of(leaf) for leaf in leaves)
    results = _add(capture, "cond", (predicate, *graphs, (*nodes, *lifted)), taken.leaves, shadows)
    return pytree.tree_unflatten(results, taken.spec)


def _value(value: Any) -> Any:
    return value.node.hint if isinstance(value, _Symbol) else value


@_recorder
def record_while_loop(capture: Capture, cond_fn: Any, body_fn: Any, carried: tuple[Any, ...]) -> Any:
    """`taeda.while_loop` under record."""
    leaves, spec = pytree.tree_flatten(carried)
    condition = _Part(capture, cond_fn, leaves, spec, fresh=True)
    body = _Part(capture, body_fn, leaves, spec, fresh=True)
    if len(body.leaves) != len(leaves):
        raise UserError(
            UserErrorType.INVALID_OUTPUT,
            f"taeda.while_loop: body_fn must return {len(leaves)} values; got {len(body.leaves)}",
        )
    lifted = _lifted(condition, body)
    graphs = (
        _keep(capture, "while_loop_cond_graph", condition.finish(lifted)),
        _keep(capture, "while_loop_body_graph", body.finish(lifted)),
    )
    if any(is_fake(leaf) for leaf in (*leaves, *condition.leaves)):
        results: Any = body.leaves  # what each round gives
    else:
        with capture.quiet():
            results = taeda._control_flow.while_loop(cond_fn, body_fn, tuple(pytree.tree_map(_value, carried)))
    nodes = tuple(capture.node_of(leaf) for leaf in leaves)
    flat = pytree.tree_leaves(results)
    shadows = [
        UNKNOWN if capture.dynamic and isinstance(a, Tensor) and a.shape != b.shape
        else capture.shadow_of(a) if capture.dynamic and isinstance(a, Tensor) else None
        for a, b in zip(leaves, flat)
    ]  # fmt: skip
    given = _add(capture, "while_loop", (*graphs, nodes, tuple(lifted)), flat, shadows)
    return pytree.tree_unflatten(given, spec)


@_recorder
def record_map(capture: Capture, f: Any, leaves: list[Tensor], spec: Any, args: tuple[Any, ...]) -> Any:
    """`taeda.map` under record."""
    with capture.quiet():
        slices = [leaf[0].detach() for leaf in leaves]
    extra, extra_spec = pytree.tree_flatten(args)

    def call(*values: Any) -> Any:
        xs = pytree.tree_unflatten(values[: len(leaves)], spec)
        return f(xs, *pytree.tree_unflatten(values[len(leaves) :], extra_spec))

    _track_slices(capture, slices, leaves, 0)
    part = _Part(capture, call, [*slices, *extra], None)
    lifted = _lifted(part)
    graph = _keep(capture, "body_graph", part.finish(lifted))
    with capture.quiet():
        results = pytree.tree_leaves(taeda._control_flow.map(f, pytree.tree_unflatten(leaves, spec), *args))
    nodes = [capture.node_of(leaf) for leaf in leaves]
    more = [*(capture.node_of(leaf) for leaf in extra), *lifted]
    shadows = [_stacked(capture, s, leaves[0], 0) for s in part.shadows]
    given = _add(capture, "map_impl", (graph, nodes, more), results, shadows)
    return pytree.tree_unflatten(given, part.spec)


def _track_slices(capture: Capture, slices: list[Tensor], leaves: list[Tensor], dim: int) -> None:
    """Slices are inputs of the inner graph alone; beside them run slices of the shadows."""
    if not capture.dynamic:
        return
    for piece, whole in zip(slices, leaves):
        shadow = capture.shadow_of(whole)
        with capture.quiet():
            capture._shadows[id(piece)] = shadow if shadow is UNKNOWN else shadow.select(dim, 0)
        capture._kept.append(piece)


def _stacked(capture: Capture, shadow: Any, whole: Tensor, dim: int) -> Any:
    if shadow is UNKNOWN or shadow is None:
        return shadow
    outer: Any = capture.shadow_of(whole)
    if outer is UNKNOWN:
        return UNKNOWN
    with capture.quiet():
        return taeda.empty((outer.shape[dim], *shadow.shape), dtype=shadow.dtype, device="meta")


@_recorder
def record_scan(
    capture: Capture, combine_fn: Any, init: Any, leaves: list[Tensor], spec: Any, dim: int, reverse: bool
) -> Any:
    """`taeda.scan` under record: along the first dimension, forwards, as the graph's op goes."""
    moved = [leaf.movedim(dim, 0) for leaf in leaves]
    if reverse:
        moved = [leaf.flip(0) for leaf in moved]
    state, state_spec = pytree.tree_flatten(init)
    with capture.quiet():
        slices = [leaf[0].detach() for leaf in moved]
    _track_slices(capture, slices, moved, 0)

    def call(*values: Any) -> Any:
        before = pytree.tree_unflatten(values[: len(state)], state_spec)
        after, result = combine_fn(before, pytree.tree_unflatten(values[len(state) :], spec))
        inner["spec"] = pytree.tree_structure(result)
        return (*pytree.tree_leaves(after), *pytree.tree_leaves(result))

    inner: dict[str, Any] = {}
    part = _Part(capture, call, [*state, *slices], None)
    lifted = _lifted(part)
    graph = _keep(capture, "scan_combine_graph", part.finish(lifted))
    with capture.quiet():
        results = taeda.ops.higher_order.scan(call, state, moved, ())
    count = len(state)
    shadows = [*part.shadows[:count], *(_stacked(capture, s, moved[0], 0) for s in part.shadows[count:])]
    nodes = [capture.node_of(leaf) for leaf in state], [capture.node_of(leaf) for leaf in moved]
    given = _add(capture, "scan", (graph, *nodes, lifted), list(results), shadows)
    outputs = given[count:]
    if reverse:
        outputs = [y.flip(0) for y in outputs]
    return pytree.tree_unflatten(given[:count], state_spec), pytree.tree_unflatten(outputs, inner["spec"])
