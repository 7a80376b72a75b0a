"""Puts loggers into graphs, and steps of one graph beside those of another."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor, fx
from taeda.ao.ns.fx.graph_matcher import op_of
from taeda.ao.ns.fx.loggers import OutputLogger
from taeda.ao.ns.fx.mappings import _OBSERVERS
from taeda.ao.ns.fx.ns_types import NSSingleResultValuesType, NSSubgraph
from taeda.ao.ns.fx.utils import fqn_of, type_of
from taeda.ao.quantization.fx import patterns

Pairs = dict[str, tuple[NSSubgraph, NSSubgraph]]
_INPUT, _OUTPUT = NSSingleResultValuesType.NODE_INPUT.value, NSSingleResultValuesType.NODE_OUTPUT.value


class Logging:
    """A copy of a graph, with the modules of the first, that loggers are put into."""

    def __init__(self, source: fx.GraphModule, name: str, logger_cls: Callable[..., Any], suffix: str = "") -> None:
        self.source, self.name, self.logger_cls, self.suffix = source, name, logger_cls, suffix
        self.node_of: dict[fx.Node, fx.Node] = {}
        graph = fx.Graph()
        graph.output(graph.graph_copy(source.graph, self.node_of))
        self.model = fx.GraphModule(source, graph)
        self.model.meta.update(source.meta)
        self.model.train(source.training)

    def inputs(self, step: NSSubgraph, key: str) -> None:
        """Loggers of what a step takes."""
        start = self.node_of[step.start_node]
        for place in _logged_arguments(start):
            arg = start.args[place]
            for within, value in enumerate(arg if isinstance(arg, (list, tuple)) else (arg,)):
                if isinstance(value, fx.Node):
                    self.input(start, value, step, key, place, within)

    def input(self, start: fx.Node, value: fx.Node, step: NSSubgraph, key: str, place: int, within: int) -> fx.Node:
        """A logger of one argument of a node."""
        logger = self._logger(value, start.name, step, self.source, self.name, key, (_INPUT, within, place))
        with self.model.graph.inserting_before(start):
            seen = self._call(f"{value.name}_ns_logger{self.suffix and self.suffix + '_inp'}_", logger, value)
        start.replace_input_with(value, seen)
        return seen

    def output(self, step: NSSubgraph, key: str) -> None:
        """A logger of what a step gives."""
        end = self.node_of[step.end_node]
        logger = self._logger(end, end.name, step, self.source, self.name, key, (_OUTPUT, 0, 0))
        with self.model.graph.inserting_after(end):
            seen = self._call(f"{end.name}_ns_logger{self.suffix}_", logger, end)
        end.replace_all_uses_with(seen, delete_user_cb=lambda user: user is not seen)

    def _logger(
        self, node: fx.Node, ref: str, step: NSSubgraph, source: fx.GraphModule, name: str, key: str,
        kind: tuple[str, int, int],
    ) -> Any:  # fmt: skip
        of = type_of(node, self.model), type_of(step.base_op_node, source)
        return self.logger_cls(ref, node.name, name, key, *of, *kind, fqn_of(step.base_op_node, source), "")

    def _call(self, prefix: str, logger: Any, value: fx.Node) -> fx.Node:
        name = free_name(self.model, prefix)
        setattr(self.model, name, logger)
        return self.model.graph.create_node("call_module", name, (value,), {}, name=name)


def _logged_arguments(node: fx.Node) -> list[int]:
    """Where a node's values stand among its arguments."""
    binary = (*patterns.ADDS, *patterns.MULS, taeda.ops.quantized.add, taeda.ops.quantized.mul)
    if patterns.is_call(node, binary):
        return [place for place, arg in enumerate(node.args[:2]) if isinstance(arg, fx.Node)]
    return [0] if node.args else []


def free_name(model: Any, prefix: str) -> str:
    """The first of ``prefix`` and a number that a module has no attribute of."""
    number = 0
    while hasattr(model, f"{prefix}{number}"):
        number += 1
    return f"{prefix}{number}"


class Shadows(Logging):
    """A copy of the graph of ``b`` in which the steps of ``a`` run beside those that do the same."""

    def __init__(
        self, name_a: str, a: fx.GraphModule, name_b: str, b: fx.GraphModule, logger_cls: Callable[..., Any],
        io_types: dict[str, set[Any]],
    ) -> None:  # fmt: skip
        super().__init__(b, name_b, logger_cls, "_b")
        self.a, self.name_a, self.io_types = a, name_a, io_types
        self.modules_a = dict(a.named_modules(remove_duplicate=False))
        self.modules_b = dict(b.named_modules(remove_duplicate=False))

    def add(self, one: NSSubgraph, other: NSSubgraph, key: str, log_inputs: bool) -> None:
        """The step ``one`` of ``a`` beside ``other`` of ``b``; says why where that cannot be."""
        problem = self._problem(one, other)
        if problem:
            print(f"no shadow of {other.base_op_node.name!r} by {one.base_op_node.name!r}: {problem}")
            return
        takes_a, takes_b = self._takes(one, self.modules_a), self._takes(other, self.modules_b)
        place = self.node_of[other.end_node]
        value: Any = _value_of(self.node_of[other.start_node])
        if log_inputs:
            value = self.input(self.node_of[other.start_node], value, other, key, 0, 0)
        base = other.start_node.name
        with self.model.graph.inserting_after(place):
            after = self.model.graph.call_function(_nothing)  # what the copies stand before
        with self.model.graph.inserting_before(after):
            if takes_a != takes_b:
                value = self._cast(value, base, one, takes_a)
            if log_inputs:
                value = self._seen(value, f"{base}_shadow_copy_0", one, key, (_INPUT, 0, 0))
            last = self._copies(one, value, self.node_of[other.start_node].args[1:], base)
            self._seen(last, last.name, one, key, (_OUTPUT, 0, 0))
        self.model.graph.erase_node(after)
        self.output(other, key)

    def _seen(self, value: fx.Node, ref: str, step: NSSubgraph, key: str, kind: tuple[str, int, int]) -> fx.Node:
        logger = self._logger(value, ref, step, self.a, self.name_a, key, kind)
        return self._call(f"{value.name}_ns_logger_a{'_inp' if kind[0] == _INPUT else ''}_", logger, value)

    def _problem(self, one: NSSubgraph, other: NSSubgraph) -> str:
        unknown = self._takes(one, self.modules_a) is None or self._takes(other, self.modules_b) is None
        if unknown:
            return "what it takes is not known, or any of floats and integers"
        if _value_of(one.start_node) is None or _value_of(other.start_node) is None:
            return "its first argument is no tensor"
        known = {*_from(one), _value_of(one.start_node)}
        if one.start_node.op == other.start_node.op == "call_module":  # the first states of recurrent layers
            known |= set(self._computed(one.start_node))
        for arg in (arg for node in _from(one) for arg in node.all_input_nodes):
            if arg not in known and not _is_constant(arg, self.modules_a):
                return f"its argument {arg.name!r} is computed"
        quantises = self._takes(one, self.modules_a) == "int8" != self._takes(other, self.modules_b)
        if quantises and self._qparams(_value_of(one.start_node)) is None:
            return "the scale of what it takes is not known"
        return ""

    def _takes(self, step: NSSubgraph, modules: dict[str, Any]) -> str | None:
        """``fp32``, ``int8`` or ``fp16``; None for what takes any, and for sums, products and joints."""
        if step.start_node is not step.base_op_node and step.start_node.target == "dequantize":
            return "fp16"
        node, kind = step.base_op_node, op_of(step.base_op_node, modules)
        ops = taeda.ops.quantized
        mixing = (
            *patterns.ADDS, *patterns.MULS, *patterns.CATS, operator.iadd, operator.imul, taeda.stack, ops.add,
            ops.add_relu, ops.mul, ops.mul_relu, ops.cat,
        )  # fmt: skip
        return None if kind in mixing else self._gives(node, modules)

    def _gives(self, node: fx.Node | None, modules: dict[str, Any]) -> str | None:
        """The same of what a node gives; what takes any gives what it is given."""
        if node is None or node.op not in ("call_module", "call_function", "call_method"):
            return None
        of = {taeda.quantize_per_tensor: "int8", "dequantize": "fp32", "to": "fp16"}.get(node.target)
        if of is not None:
            return of
        kind = op_of(node, modules)
        home = {"call_module": "mods", "call_function": "funs", "call_method": "meths"}[node.op]
        for dtype in ("fp32", "int8", "fp16"):
            if kind in self.io_types.get(f"{home}_io_type_{dtype}", ()):
                return dtype
        watches = isinstance(patterns.module_of(node, modules), (*_OBSERVERS, OutputLogger))
        passes = watches or kind in self.io_types.get(f"{home}_io_type_fp32_or_int8", ())
        return self._gives(_value_of(node), modules) if passes else None

    def _computed(self, start: fx.Node) -> list[fx.Node]:
        """The arguments of a step's first node, after the first, that are no parameters."""
        found: list[fx.Node] = []
        fx.node.map_arg(start.args[1:], lambda arg: found.append(arg))
        return [arg for arg in found if not _is_constant(arg, self.modules_a)]

    def _qparams(self, value: fx.Node | None) -> tuple[Any, Any] | None:
        """The scale and zero point of a value of ``a``."""
        while value is not None:
            if value.target is taeda.quantize_per_tensor:
                scale, zero = value.args[1:3]
                return tuple(  # type: ignore[return-value]
                    operator.attrgetter(str(part.target))(self.a) if isinstance(part, fx.Node) else part
                    for part in (scale, zero)
                )
            module: Any = patterns.module_of(value, self.modules_a)
            if hasattr(module, "scale") and hasattr(module, "zero_point"):
                return module.scale, module.zero_point
            if value.op == "call_function" and len(value.args) >= 4 and "quantized" in str(value.target):
                found = [operator.attrgetter(str(p.target))(self.a) for p in value.args[2:4] if isinstance(p, fx.Node)]
                return (found[0], found[1]) if len(found) == 2 else None
            passes = patterns.kind_of(value, self.modules_a) == "share" or type(module).__name__.endswith("Logger")
            value = _value_of(value) if passes else None
        return None

    def _cast(self, value: fx.Node, base: str, step: NSSubgraph, wanted: str | None) -> fx.Node:
        graph, name = self.model.graph, free_name(self.model, f"{base}_dtype_cast_")
        if wanted == "fp32":
            return graph.create_node("call_function", taeda.dequantize, (value,), {}, name=name)
        if wanted == "fp16":
            return graph.create_node("call_method", "to", (value, taeda.float16), {}, name=name)
        found = self._qparams(_value_of(step.start_node))
        assert found is not None
        held = []
        for kind, part in zip(("scale", "zero_point"), found, strict=True):
            place = free_name(self.model, f"{step.start_node.name}_input_{kind}_")
            number = part.clone() if isinstance(part, Tensor) else part
            setattr(self.model, place, number)
            held.append(graph.get_attr(place) if isinstance(part, Tensor) else number)
        return graph.create_node(
            "call_function", taeda.quantize_per_tensor, (value, *held, taeda.quint8), {}, name=name
        )

    def _copies(self, step: NSSubgraph, value: fx.Node, others: Any, base: str) -> fx.Node:
        """The nodes of a step of ``a``, of another value, and where they are computed other further arguments."""
        made: dict[fx.Node, fx.Node] = {_value_of(step.start_node): value}  # type: ignore[dict-item]
        theirs: list[fx.Node] = []
        fx.node.map_arg(others, lambda arg: theirs.append(arg))
        made |= dict(zip(self._computed(step.start_node), theirs, strict=False))
        for node in _from(step):
            for arg in node.all_input_nodes:
                if arg not in made:
                    made[arg] = self._constant(arg)
            target = node.target
            if node.op == "call_module":
                target = free_name(self.model, f"{base}_shadow_copy_")
                setattr(self.model, target, self.modules_a[str(node.target)])
            args, kwargs = (fx.node.map_arg(part, made.__getitem__) for part in (node.args, node.kwargs))
            made[node] = self.model.graph.create_node(node.op, target, args, kwargs, name=f"{base}_shadow_copy_0")
        return made[step.end_node]

    def _constant(self, node: fx.Node) -> fx.Node:
        if node.op == "call_module":  # the observer of a weight
            inner = self._constant(node.all_input_nodes[0])
            target = free_name(self.model, f"{node.name}_shadow_copy_")
            setattr(self.model, target, self.modules_a[str(node.target)])
            return self.model.graph.call_module(target, (inner,))
        if node.op != "get_attr":
            args = fx.node.map_arg(node.args, self._constant)
            return self.model.graph.create_node(node.op, node.target, args, dict(node.kwargs))
        held = operator.attrgetter(str(node.target))(self.a)
        name = free_name(self.model, f"{node.name}_shadow_copy_")
        setattr(self.model, name, copy.deepcopy(held.detach()) if isinstance(held, Tensor) else held)
        return self.model.graph.get_attr(name)


def _nothing() -> None:
    """What the nodes of a shadow stand before while they are made."""


def _value_of(node: fx.Node) -> fx.Node | None:
    """What a step computes of: its first argument, or the one named ``input``."""
    found = node.args[0] if node.args else node.kwargs.get("input")
    return found if isinstance(found, fx.Node) else None


def _from(step: NSSubgraph) -> list[fx.Node]:
    """The nodes of a step, the first first."""
    found = [step.end_node]
    while found[-1] is not step.start_node:
        before = _value_of(found[-1])
        assert before is not None
        found.append(before)
    return found[::-1]


def _is_constant(node: fx.Node, modules: dict[str, Any]) -> bool:
    """Whether a node is a parameter, or an observer or a conversion of one."""
    if node.op == "get_attr":
        return True
    inner = node.all_input_nodes
    return (
        node.op in ("call_module", "call_method", "call_function")
        and bool(inner)
        and all(_is_constant(arg, modules) for arg in inner)
        and (node.op != "call_function" or node.target in (taeda.quantize_per_tensor, taeda.quantize_per_channel))
    )


def with_loggers(
    name: str, model: fx.GraphModule, steps: Iterator[tuple[str, NSSubgraph]], logger_cls: Callable[..., Any],
    log_inputs: bool,
) -> fx.GraphModule:  # fmt: skip
    """A model of the same modules with loggers of what its steps give, and take."""
    made = Logging(model, name, logger_cls)
    for key, step in steps:
        module = patterns.module_of(step.base_op_node, dict(model.named_modules(remove_duplicate=False)))
        if module is not None and not type(module).__module__.startswith(("torch.", "taeda.")):
            continue  # of the user's own, which may give anything
        if log_inputs:
            made.inputs(step, key)
        made.output(step, key)
    made.model.recompile()
    return made.model


def shadowed(
    name_a: str, a: fx.GraphModule, name_b: str, b: fx.GraphModule, pairs: Pairs, logger_cls: Callable[..., Any],
    log_inputs: bool, io_types: dict[str, set[Any]],
) -> fx.GraphModule:  # fmt: skip
    """A model of ``b`` in which steps of ``a`` run beside those that do the same."""
    made = Shadows(name_a, a, name_b, b, logger_cls, io_types)
    for key, (one, other) in pairs.items():
        made.add(one, other, key, log_inputs)
    made.model.graph.lint()
    made.model.recompile()
    return made.model
