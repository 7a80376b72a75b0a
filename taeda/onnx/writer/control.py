"""Branches and loops: their graphs become those of ``If``, ``Loop`` and ``Scan``."""

from __future__ import annotations

from typing import Any

import taeda
from taeda.fx.node import map_aggregate
from taeda.onnx.reader.values import onnx_package
from taeda.onnx.writer.builder import Builder, Value


def _inner(t: Any, g: Builder, module: Any, given: list[Any]) -> tuple[Builder, list[Value]]:
    """The nodes of a function's graph; values of the outer graph are seen by it."""
    inner = g.subgraph()
    nodes = [n for n in module.graph.nodes if n.op == "placeholder"]
    for node, value in zip(nodes, given):
        t.values[node] = value
    results = t._nodes(inner, module.graph, module)
    made = []
    for value in map_aggregate(results, lambda leaf: leaf):
        value = value if isinstance(value, Value) else inner.constant(value)
        own = Value(inner.names.fresh("result"), value.dtype, value.shape)
        inner.nodes.append(onnx_package().helper.make_node("Identity", [value.name], [own.name]))
        made.append(own)
    return inner, made


def _scalar(g: Builder, value: Any) -> Value:
    value = value if isinstance(value, Value) else g.constant(bool(value))
    return value if value.shape == () else g.reshape(value, [])


def cond(t: Any, g: Builder, pred: Any, true_graph: Any, false_graph: Any, operands: Any) -> Any:
    """``If``."""
    graphs = []
    for module, name in ((true_graph, "then"), (false_graph, "else")):
        inner, results = _inner(t, g, module, list(operands))
        graphs.append(inner.proto(name, [], results))
        count = len(results)
    made = g.op(
        "If", g.cast(_scalar(g, pred), taeda.bool), outputs=count, then_branch_g=graphs[0], else_branch_g=graphs[1]
    )
    return made if isinstance(made, tuple) else (made,)


def while_loop(t: Any, g: Builder, cond_graph: Any, body_graph: Any, carried: Any, additional: Any = ()) -> Any:
    """``Loop`` without a limit. The condition is computed before it, and in its body on the new values."""
    extra = list(additional)
    first = [v if isinstance(v, Value) else g.constant(v) for v in carried]
    before, (start,) = _inner(t, g, cond_graph, [*first, *extra])
    g.nodes.extend(before.nodes)
    g.initializers.update(before.initializers)
    body = g.subgraph()
    step = Value(body.names.fresh("step"), taeda.int64, ())
    flag = Value(body.names.fresh("go_on"), taeda.bool, ())
    state = [Value(body.names.fresh("carried"), v.dtype, None if v.shape is None else v.shape) for v in first]
    inside, results = _inner(t, body, body_graph, [*state, *extra])
    again, (holds,) = _inner(t, body, cond_graph, [*results, *extra])
    for part in (inside, again):
        body.nodes.extend(part.nodes)
        body.initializers.update(part.initializers)
    holds = body.cast(_scalar(body, holds), taeda.bool)
    for value in results:
        value.shape = None if value.shape is None else (None,) * len(value.shape)
    proto = body.proto("body", [step, flag, *state], [holds, *results])
    made = g.op("Loop", None, g.cast(_scalar(g, start), taeda.bool), *first, outputs=len(first), body_g=proto)
    return made if isinstance(made, tuple) else (made,)


def _slices(g: Builder, xs: Any) -> list[Value]:
    return [Value(g.names.fresh("slice"), x.dtype, None if x.shape is None else x.shape[1:]) for x in xs]


def map_impl(t: Any, g: Builder, graph: Any, xs: Any, additional: Any = ()) -> Any:
    """``Scan`` without a state."""
    return scan(t, g, graph, [], xs, additional)


def scan(t: Any, g: Builder, graph: Any, init: Any, xs: Any, additional: Any = ()) -> Any:
    """``Scan``."""
    body = g.subgraph()
    first = [v if isinstance(v, Value) else g.constant(v) for v in init]
    state = [Value(body.names.fresh("state"), v.dtype, v.shape) for v in first]
    slices = _slices(body, xs)
    inside, results = _inner(t, body, graph, [*state, *slices, *additional])
    body.nodes.extend(inside.nodes)
    body.initializers.update(inside.initializers)
    proto = body.proto("body", [*state, *slices], results)
    made = g.op("Scan", *first, *xs, outputs=len(results), body_g=proto, num_scan_inputs_i=len(xs))
    return made if isinstance(made, tuple) else (made,)
