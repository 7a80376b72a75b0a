"""A graph in which no op writes: what was written to becomes a new value, and views of it are taken again."""

from __future__ import annotations

import copy
import dataclasses
import operator
from typing import TYPE_CHECKING, Any

import taeda
from taeda._library.ops import OpOverload
from taeda._schema.symbols import SymInt, SymNode
from taeda.export._scope import holder
from taeda.export._size_ops import functional_batch_norm, sym_size
from taeda.export.graph_signature import InputKind, OutputKind, OutputSpec, TensorArgument
from taeda.fx.graph import Graph
from taeda.fx.node import Node, map_aggregate

if TYPE_CHECKING:
    from taeda.export.exported_program import ExportedProgram

aten: Any = taeda.ops.aten


@dataclasses.dataclass
class _Base:
    """A value with memory of its own, as it is now."""

    node: Node
    version: int = 0


@dataclasses.dataclass
class _Entry:
    """A value of the old graph: a base seen through views, and the node that has it as of a version."""

    base: _Base
    chain: tuple[Node, ...]
    node: Node
    version: int = 0


class Unsupported(Exception):
    """A write that has no form without."""


def functionalize(program: ExportedProgram) -> ExportedProgram:
    """The program without ops that write, if there are any: new values of buffers and inputs become outputs."""
    if not any(_writes(node) for node in program.graph.nodes):
        return program
    return _Functional(program).run()


def _writes(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return bool(schema is not None and schema.is_mutable) or _updates_statistics(node)


def _updates_statistics(node: Node) -> bool:
    name = getattr(node.target, "_opname", "")
    return name == "batch_norm" and len(node.args) > 5 and bool(node.args[5]) and isinstance(node.args[3], Node)


class _Functional:
    def __init__(self, program: ExportedProgram) -> None:
        self.program = program
        self.graph = Graph()
        self.entries: dict[Node, _Entry] = {}

    def run(self) -> ExportedProgram:
        signature = copy.deepcopy(self.program.graph_signature)
        for node in self.program.graph.nodes:
            if node.op == "output":
                break
            self._step(node)
        results = list(map_aggregate(self.program.graph.output_node().args[0], self._leaf))
        mutations: list[OutputSpec] = []
        values: list[Node] = []
        kinds = {InputKind.BUFFER: OutputKind.BUFFER_MUTATION, InputKind.PARAMETER: OutputKind.PARAMETER_MUTATION,
                 InputKind.USER_INPUT: OutputKind.USER_INPUT_MUTATION}  # fmt: skip
        inputs = [n for n in self.program.graph.nodes if n.op == "placeholder"]
        for spec, node in zip(signature.input_specs, inputs):
            entry = self.entries[node]
            if entry.base.version and spec.kind in kinds:
                target = spec.target if spec.kind is not InputKind.USER_INPUT else spec.arg.name
                mutations.append(OutputSpec(kinds[spec.kind], TensorArgument(entry.base.node.name), target))
                values.append(entry.base.node)
        for result, value in zip(signature.output_specs, results):
            if isinstance(value, Node):
                result.arg.name = value.name
        order = sorted(range(len(values)), key=lambda i: mutations[i].kind is OutputKind.USER_INPUT_MUTATION)
        signature.output_specs[:0] = [mutations[i] for i in order]
        self.graph.output((*(values[i] for i in order), *results))
        self.graph.eliminate_dead_code()
        modules = {k: m for k, m in self.program.graph_module._modules.items() if m is not None}
        return self.program._with(self.graph, signature, holder(modules))

    # --- values

    def _leaf(self, leaf: Any) -> Any:
        return self._value(self.entries[leaf]) if isinstance(leaf, Node) else leaf

    def _value(self, entry: _Entry) -> Node:
        if entry.version != entry.base.version:
            entry.node = self._through(entry.base, entry.chain)[-1]
            entry.version = entry.base.version
        return entry.node

    def _through(self, base: _Base, chain: tuple[Node, ...]) -> list[Node]:
        """The base, and what each view shows of it."""
        found = [base.node]
        for step in chain:
            args = [self._leaf(a) if i else found[-1] for i, a in enumerate(step.args)]
            found.append(self._call(step.target, tuple(args), dict(step.kwargs), step))
        return found

    def _call(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], like: Node) -> Node:
        name = getattr(target, "_opname", None)
        node = self.graph.create_node("call_function", target, args, kwargs, name)
        node.meta = copy.copy(like.meta)
        return node

    # --- steps

    def _step(self, node: Node) -> None:
        if node.op == "call_function" and _updates_statistics(node):
            return self._batch_norm(node)
        if node.op == "call_function" and _writes(node):
            return self._write(node)
        args, kwargs = map_aggregate((node.args, node.kwargs), self._leaf)
        twin = self.graph.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        twin.meta = copy.copy(node.meta)
        source = node.args[0] if node.args and isinstance(node.args[0], Node) else None
        if source is not None and (node.meta.get("is_view") or self._part_of_view(node)):
            inner = self.entries[source]
            self.entries[node] = _Entry(inner.base, (*inner.chain, node), twin, inner.base.version)
        else:
            self.entries[node] = _Entry(_Base(twin), (), twin)

    @staticmethod
    def _part_of_view(node: Node) -> bool:
        return node.target is operator.getitem and bool(node.args[0].meta.get("is_view"))

    def _write(self, node: Node) -> None:
        op: Any = node.target
        written = [i for i, a in enumerate(op._schema.arguments) if a.alias_info is not None and a.alias_info.is_write]
        if written != [0]:
            raise NotImplementedError(
                f"taeda.export: {op} writes to other arguments than its first; there is no form without"
            )
        target = node.args[0]
        entry = self.entries[target]
        new = self._without_write(node, op)
        self._replace(entry, new)
        self.entries[node] = entry

    def _without_write(self, node: Node, op: OpOverload) -> Node:
        args, kwargs = map_aggregate((node.args, node.kwargs), self._leaf)
        name = op._opname.removesuffix("_")
        if name in ("detach", "requires_grad"):
            return args[0]
        if name == "zero":
            return self._call(aten.zeros_like.default, (args[0],), {}, node)
        name = "normal_functional" if name == "normal" else name
        packet = getattr(aten, name, None) if hasattr(aten, name) else None
        overload = getattr(packet, op._overloadname or "default", None) if packet is not None else None
        if overload is None:
            raise NotImplementedError(f"taeda.export: {op} has no form that does not write")
        return self._call(overload, args, kwargs, node)

    def _replace(self, entry: _Entry, new: Node) -> None:
        """Makes ``new`` the value of an entry, in its base and all that shows the same memory."""
        values = self._through(entry.base, entry.chain[:-1]) if entry.chain else []
        for step, whole in zip(reversed(entry.chain), reversed(values)):
            new = self._put_back(step, whole, new)
        entry.base.node = new
        entry.base.version += 1

    def _put_back(self, step: Node, whole: Node, part: Node) -> Node:
        """``whole`` with ``part`` in place of what the view ``step`` shows of it."""
        name = getattr(step.target, "_opname", "getitem")
        rest = [self._leaf(a) for a in step.args[1:]]
        if name in ("select", "slice", "diagonal", "as_strided"):
            scatter = getattr(aten, f"{name}_scatter").default
            return self._call(scatter, (whole, part, *rest), dict(step.kwargs), step.args[0])
        if name in ("detach", "alias"):
            return part
        if name == "unsqueeze":
            return self._call(aten.squeeze.dim, (part, *rest), {}, step.args[0])
        if name == "squeeze" and rest:
            return self._call(aten.unsqueeze.default, (part, *rest), {}, step.args[0])
        if name in ("transpose", "swapaxes", "t"):
            return self._call(step.target, (part, *rest), {}, step.args[0])
        if name == "permute":
            dims = [d % len(rest[0]) for d in rest[0]]
            return self._call(aten.permute.default, (part, [dims.index(i) for i in range(len(dims))]), {}, step.args[0])
        if name in ("view", "reshape", "flatten", "unflatten", "squeeze", "_unsafe_view", "view_as", "contiguous"):
            return self._call(aten.view.default, (part, self._sizes(whole, step.args[0])), {}, step.args[0])
        if name == "getitem":
            return self._put_back_part(step, whole, part)
        raise NotImplementedError(f"taeda.export: a write through the view {step.target} has no form without")

    def _sizes(self, whole: Node, like: Node) -> list[Any]:
        value, other = like.meta["val"], like.meta.get("other")
        return [
            size if other is not None and other[d] == size else self._size(whole, d, size, None if other is None else
            other[d], like) for d, size in enumerate(map(int, value.shape))
        ]  # fmt: skip

    def _size(self, whole: Node, dim: int, size: int, other: int | None, like: Node) -> Node:
        node = self._call(sym_size, (whole, dim), {}, like)
        node.meta["val"], node.meta["other"] = SymInt(SymNode(size, "input", (), None, node.name)), other
        return node

    def _put_back_part(self, step: Node, whole: Node, part: Node) -> Node:
        source: Any = step.args[0]
        index = step.args[1]
        name = getattr(source.target, "_opname", "")
        dim = source.args[2] if len(source.args) > 2 else source.kwargs.get("dim", 0)
        if name == "unbind":
            dim = source.args[1] if len(source.args) > 1 else 0
            return self._call(aten.select_scatter.default, (whole, part, dim, index), {}, source.args[0])
        if name in ("chunk", "split", "split_with_sizes", "tensor_split"):
            lengths = [int(v.shape[dim]) for v in source.meta["val"]]
            start = sum(lengths[:index])
            args = whole, part, dim, start, start + lengths[index]
            return self._call(aten.slice_scatter.default, args, {}, source.args[0])
        raise NotImplementedError(f"taeda.export: a write through the view {source.target} has no form without")

    def _batch_norm(self, node: Node) -> None:
        """Training: the statistics of the batch and the running ones are results."""
        args = list(map_aggregate(node.args, self._leaf))
        x, weight, bias, mean, var, _, momentum, eps = args[:8]
        op = functional_batch_norm
        whole = self._call(op, (x, weight, bias, mean, var, True, momentum, eps), {}, node)
        whole.meta.pop("val", None)
        parts = []
        for i, like in ((0, node), (3, node.args[3]), (4, node.args[4])):
            part = self._call(operator.getitem, (whole, i), {}, like)
            parts.append(part)
        self.entries[node] = _Entry(_Base(parts[0]), (), parts[0])
        self._replace(self.entries[node.args[3]], parts[1])
        self._replace(self.entries[node.args[4]], parts[2])
