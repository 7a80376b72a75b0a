"""An exported program's graph as an ONNX graph, node by node."""

from __future__ import annotations

import math
import operator
from typing import Any, NoReturn

import taeda
from taeda import Tensor
from taeda._decompositions import decomposition_table, formula_of
from taeda._library.ops import OpOverload
from taeda._schema.symbols import _Symbol
from taeda.export._decompose import BELOW
from taeda.export._places import Place
from taeda.export.graph_signature import InputKind, OutputKind
from taeda.fx.node import Node, map_aggregate
from taeda.onnx.errors import OnnxExporterError
from taeda.onnx.reader.values import onnx_package, to_numpy
from taeda.onnx.writer import everything as everything
from taeda.onnx.writer.bodies import BODIES
from taeda.onnx.writer.builder import Builder, Value
from taeda.onnx.writer.foreign import foreign
from taeda.onnx.writer.named import NAMESPACE
from taeda.onnx.writer.pointwise import floor_divide, translate_mul
from taeda.onnx.writer.table import find
from taeda.utils import _pytree as pytree

SIZE_OPERATORS = {
    operator.add: "Add", operator.sub: "Sub", operator.mul: "Mul", operator.truediv: "Div", operator.eq: "Equal",
    operator.lt: "Less", operator.gt: "Greater", operator.le: "LessOrEqual", operator.ge: "GreaterOrEqual",
    operator.mod: "Mod", operator.pow: "Pow", operator.and_: "And", operator.or_: "Or",
}  # fmt: skip


class Refusal(Exception):
    """An op that cannot be said, or not with these arguments."""

    def __init__(self, op: Any, why: str, place: Any) -> None:
        super().__init__(why)
        self.op, self.why, self.place = op, why, place


def known_shape(value: Any, other: Any) -> tuple[int | None, ...]:
    """The sizes of an example; None where the shadow's are others, or unknown."""
    if other is None:
        return (None,) * value.dim()
    return tuple(int(a) if int(a) == int(b) else None for a, b in zip(value.shape, other))


class Translation:
    """One program on its way to ONNX."""

    def __init__(self, program: Any, opset: int, custom: dict[Any, Any], fold: bool, foreign: int = 0,
                 joins: bool = True) -> None:  # fmt: skip
        self.program, self.custom, self.foreign, self.joins = program, custom, foreign, joins
        self.g = Builder(opset, fold=fold)
        self.values: dict[Node, Any] = {}
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.parameters: dict[str, Value] = {}
        self.by_value: dict[str, Node] = {}
        self.refusals: list[Refusal] = []

    def run(self, input_names: list[str], output_names: list[str]) -> None:
        """Translates all nodes.

        Raises:
            OnnxExporterError: some cannot be; all of them are named, with the program's lines.
        """
        self._take_inputs(input_names)
        self._nodes(self.g, self.program.graph, self.program.graph_module)
        if self.refusals:
            self.refuse()
        self._give_outputs(output_names)

    def refuse(self) -> NoReturn:
        """Raises the error that names all that could not be translated."""
        raise OnnxExporterError(_report(self.refusals))

    def _take_inputs(self, names: list[str]) -> None:
        taken = iter(names)
        placeholders = [n for n in self.program.graph.nodes if n.op == "placeholder"]
        users = [s for s in self.program.graph_signature.input_specs if s.kind is InputKind.USER_INPUT]
        tensors = sum(not hasattr(s.arg, "value") for s in users)
        if len(names) > tensors + len(placeholders) - len(users):
            raise ValueError(f"taeda.onnx.export: there are {tensors} inputs; got {len(names)} input_names")
        for spec, node in zip(self.program.graph_signature.input_specs, placeholders):
            example = node.meta.get("val")
            if spec.kind is InputKind.USER_INPUT:
                if hasattr(spec.arg, "value"):
                    self.values[node] = spec.arg.value
                    continue
                name = self.g.names.fresh(next(taken, node.name))
                value = self._typed(Value(name), node)
                self.inputs.append(value)
                self.values[node] = value
                continue
            array = to_numpy(self.program.tensor_of(spec.target))
            value = Value(self.g.names.fresh(str(spec.target)), example.dtype, tuple(map(int, example.shape)), array)
            value.is_parameter = True
            self.parameters[value.name] = value
            self.values[node] = value
        for value, name in zip([v for v in self.parameters.values()], taken):  # further names are the parameters'
            del self.parameters[value.name]
            value.name = self.g.names.fresh(name)
            self.parameters[value.name] = value

    def _typed(self, value: Value, node: Node) -> Value:
        example = node.meta.get("val")
        if isinstance(example, Tensor):
            value.dtype, value.shape = example.dtype, known_shape(example, node.meta.get("other", example.shape))
        elif isinstance(example, (_Symbol, int, float)):
            hint = example.node.hint if isinstance(example, _Symbol) else example
            value.dtype = (
                taeda.bool if isinstance(hint, bool) else taeda.int64 if isinstance(hint, int) else taeda.float64
            )
            value.shape = ()
        return value

    # --- nodes

    def _nodes(self, g: Builder, graph: Any, module: Any) -> Any:
        result: Any = None
        for node in graph.nodes:
            if node.op == "placeholder":
                continue
            if node.op == "get_attr":
                self.values[node] = getattr(module, str(node.target))
            elif node.op == "output":
                result = map_aggregate(node.args[0], self._leaf)
            elif node.op == "call_function":
                self._call(g, node)
        return result

    def _leaf(self, leaf: Any) -> Any:
        return self.values[leaf] if isinstance(leaf, Node) else leaf

    def _call(self, g: Builder, node: Node) -> None:
        args, kwargs = map_aggregate((node.args, node.kwargs), self._leaf)
        if node.target is operator.getitem:
            self.values[node] = self._part(node, args[0], args[1])
            return
        place = node.meta.get("place")
        if place is None and node.meta.get("stack_trace"):
            place = _TextPlace(node.meta["stack_trace"])
        example, other = node.meta.get("val"), node.meta.get("other")
        dtype, shape = _expected(example, other, node)
        with g.at(place, dtype, shape):
            try:
                result = self._translated(g, node, args, kwargs)
            except Exception as error:
                try:
                    result = self._foreign(g, node.target, args, kwargs, error)
                except Exception as reason:
                    self.refusals.append(Refusal(node.target, _why(reason), place))
                    result = _stand_in(example, node)
        self.values[node] = self._named(result, node)

    def _part(self, node: Node, whole: Any, index: Any) -> Any:
        """One of several results; the op is refused if its translation does not give it."""
        if whole is None:
            return None
        value = None if isinstance(whole, Value) else whole[index]
        if value is None and isinstance(node.meta.get("val"), Tensor):
            source: Any = node.args[0]
            self.refusals.append(Refusal(source.target, f"its result {index} is not said", source.meta.get("place")))
            return _stand_in(node.meta["val"], node)
        return self._named(value, node)

    def _foreign(self, g: Builder, op: Any, args: Any, kwargs: Any, error: Exception) -> Any:
        """The node of an op that ONNX does not have, where the export was told to write such."""
        if not self.foreign or not isinstance(op, OpOverload):
            raise error
        return foreign(g, op, args, kwargs, self.foreign)

    def _named(self, result: Any, node: Node) -> Any:
        if isinstance(result, Value) and result.const is None and result not in self.inputs:
            self._typed(result, node)
            self.by_value.setdefault(result.name, node)
        return result

    def _translated(self, g: Builder, node: Node, args: Any, kwargs: Any) -> Any:
        target: Any = node.target
        if isinstance(target, OpOverload):
            g.current = target.name()
            function = (
                self.custom.get(target) or self.custom.get(target.name()) or self.custom.get(target._qualified_name)
            )
            if function is not None:
                names = [a.name for a in target._schema.arguments]
                given = dict(zip(names, args)) | kwargs
                every = [given.get(a.name, a.default_value) for a in target._schema.arguments]
                return function(g, *every)
            function = find(target)
            first = node.args[0] if node.args and g is self.g else None
            g.sole_use = self.joins and isinstance(first, Node) and len(first.users) == 1
            known = not any(isinstance(leaf, Value) for leaf in pytree.tree_leaves((args, kwargs)))
            if known and not _draws(target) and target.namespace != NAMESPACE:
                result = target(*args, **kwargs)
                return tuple(map(g.constant, result)) if isinstance(result, (tuple, list)) else g.constant(result)
            if function is None:
                raise NotImplementedError("there is no translation, no body and no formula of it")
            return function(g, *args, **kwargs)
        if getattr(target, "namespace", "") == "higher_order":
            from taeda.onnx.writer import control

            return getattr(control, target.__name__)(self, g, *args)
        return self._on_sizes(g, target, args)

    def _on_sizes(self, g: Builder, target: Any, args: Any) -> Any:
        """Arithmetic on sizes."""
        if not any(isinstance(a, Value) for a in args):
            return target(*args)
        if target is operator.floordiv:
            return floor_divide(g, *args)
        if target is operator.neg:
            return g.op("Neg", args[0])
        if target in (operator.not_,):
            return g.op("Not", args[0])
        if target is operator.ne:
            return g.op("Not", g.op("Equal", *(g.number(a, taeda.int64) for a in args)))
        if target in (math.floor, math.ceil, math.trunc, int, round):
            return g.cast(
                args[0]
                if target in (math.trunc, int)
                else g.op({math.floor: "Floor", math.ceil: "Ceil"}.get(target, "Round"), args[0]),
                taeda.int64,
            )
        if target in (max, min):
            return g.op("Max" if target is max else "Min", *(g.number(a, taeda.int64) for a in args))
        if target not in SIZE_OPERATORS:
            raise NotImplementedError(f"{target.__name__} of sizes")
        if target is operator.mul:
            return translate_mul(g, *args)
        real = target is operator.truediv or any(
            isinstance(a, float) or (isinstance(a, Value) and a.dtype == taeda.float64) for a in args
        )
        logical = target in (operator.and_, operator.or_)
        kind = taeda.bool if logical else taeda.float64 if real else taeda.int64
        return g.op(SIZE_OPERATORS[target], *(g.number(a, kind) for a in args))

    # --- outputs

    def _give_outputs(self, names: list[str]) -> None:
        g = self.g
        results = map_aggregate(self.program.graph.output_node().args[0], self._leaf)
        specs = self.program.graph_signature.output_specs
        wanted = [v for s, v in zip(specs, results) if s.kind is OutputKind.USER_OUTPUT]
        taken = iter(names)
        seen: set[str] = set()
        for value in wanted:
            if value is None:
                continue
            if not isinstance(value, Value):
                value = g.constant(value)
            name = next(taken, None)
            made_here = value.const is None and value not in self.inputs and value.name not in seen
            if name is None and made_here:
                seen.add(value.name)
                self.outputs.append(value)
                continue
            output = Value(g.names.fresh(name or f"{value.name}_output"), value.dtype, value.shape)
            g.nodes.append(onnx_package().helper.make_node("Identity", [value.name], [output.name], name=output.name))
            self.outputs.append(output)


def _draws(op: Any) -> bool:
    from taeda._schema.tags import Tag

    return Tag.nondeterministic_seeded in op.tags


class _TextPlace(str):
    """Where a node comes from, as far as a file says."""

    __slots__ = ()


def _expected(example: Any, other: Any, node: Node) -> tuple[Any, Any]:
    if isinstance(example, Tensor):
        return example.dtype, known_shape(example, node.meta.get("other", example.shape))
    if isinstance(example, (tuple, list)):
        parts = {user.args[1]: user for user in node.users if user.target is operator.getitem}
        shapes = [
            known_shape(v, parts[i].meta.get("other", v.shape) if i in parts else v.shape)
            if isinstance(v, Tensor)
            else None
            for i, v in enumerate(example)
        ]
        first = next((v for v in example if isinstance(v, Tensor)), None)
        return (None if first is None else first.dtype), shapes
    return taeda.int64, ()


def _stand_in(example: Any, node: Node) -> Any:
    """A value in place of one that could not be said, so that all refusals are found."""
    if isinstance(example, (tuple, list)):
        return tuple(_stand_in(item, node) for item in example)
    made = Value("missing")
    if isinstance(example, Tensor):
        made.dtype, made.shape = example.dtype, tuple(map(int, example.shape))
    return made


def _why(error: Exception) -> str:
    """A refusal's words; anything else is a mistake in a translation, and says so."""
    meant = isinstance(error, (NotImplementedError, OnnxExporterError))
    return str(error) if meant else f"its translation fails: {type(error).__name__}: {error}"


def _report(refusals: list[Refusal]) -> str:
    lines = [f"taeda.onnx.export: {len(refusals)} of the model's ops cannot be said in ONNX:"]
    for refusal in refusals:
        where = f"\n{refusal.place}" if isinstance(refusal.place, (Place, str)) else ""
        lines.append(f"- {refusal.op}: {refusal.why}{where}")
    lines.append("taeda.onnx.register_custom_op_symbolic says how an op is written; another opset_version may have it")
    return "\n".join(lines)


def expansions(program: Any, custom: dict[Any, Any], forced: set[Any]) -> dict[Any, Any]:
    """Bodies and formulas of the ops that have no translation."""
    return _Lazy(custom, forced)


def body_of(op: OpOverload) -> Any:
    """What an op is made of, as a function of tensors; None if nobody says."""
    own = BODIES.get(op.name()) or BODIES.get(op._qualified_name)
    return own or decomposition_table.declared(op) or formula_of(op.name().partition("::")[2])


class _Lazy(dict[Any, Any]):
    """A table of decompositions that looks an op up when asked."""

    def __init__(self, custom: dict[Any, Any], forced: set[Any]) -> None:
        super().__init__()
        self._custom, self._forced = custom, forced

    def __bool__(self) -> bool:
        return True

    def get(self, op: Any, default: Any = None) -> Any:
        """The body of an op that needs one."""
        if not isinstance(op, OpOverload):
            return default
        given = op in self._custom or op.name() in self._custom or op._qualified_name in self._custom
        if given or (find(op) is not None and op not in self._forced):
            return default
        if op not in self:
            self[op] = body_of(op) or BELOW
        return self[op]
