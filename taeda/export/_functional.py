"""A graph in which no op writes: what was written to becomes a new value, and views of it are taken again."""

from __future__ import annotations

import copy
import dataclasses
import operator
from typing import TYPE_CHECKING, Any

import taeda
from taeda._control_flow.auto_functionalize import auto_functionalized_v2, written
from taeda._library.ops import OpOverload
from taeda._schema.symbols import SymInt, SymNode
from taeda.export._origins import INHERITED
from taeda.export._regions import inlined
from taeda.export._scope import holder
from taeda.export._size_ops import functional_batch_norm, sym_size
from taeda.export.graph_signature import InputKind, OutputKind, OutputSpec, TensorArgument
from taeda.fx.graph import Graph
from taeda.fx.node import Node, map_aggregate, nodes_in

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


def functionalize(program: ExportedProgram) -> ExportedProgram:
    """The program without ops that write, if there are any: new values of buffers and inputs become outputs. Modes that
    parts of it ran in are those of their ops."""
    program = inlined(program)
    if not any(_writes(node) for node in program.graph.nodes):
        return program
    return _Functional(program).run()


def _writes(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return bool(schema is not None and schema.is_mutable) or _updates_statistics(node)


def _updates_statistics(node: Node) -> bool:
    name = getattr(node.target, "_opname", "")
    return name == "batch_norm" and len(node.args) > 5 and bool(node.args[5]) and isinstance(node.args[3], Node)


class _Bases:
    """The tensors that an op writes to, each memory once: views of the same are described by sizes and strides."""

    def __init__(self, entries: list[_Entry]) -> None:
        self.found: list[_Entry] = []
        seen: dict[int, int] = {}
        for entry in entries:
            seen[id(entry.base)] = seen.get(id(entry.base), 0) + 1
        self._shared = {key for key, count in seen.items() if count > 1}

    def place(self, prefix: str, entry: _Entry | None) -> dict[str, Any]:
        """The arguments that say where an argument of the op is."""
        if entry is None:
            return {f"{prefix}_base_index": None}
        if id(entry.base) not in self._shared:
            return {f"{prefix}_base_index": self._index(entry)}
        base = entry.base
        index = self._index(_Entry(base, (), base.node, base.version))
        if not entry.chain:
            return {f"{prefix}_base_index": index}
        whole = base.node.meta["val"]
        if not whole.is_contiguous() or any(_varies(n) for n in (entry.chain[-1], base.node)):
            raise NotImplementedError(
                "taeda.export: an op writes to several views of a tensor whose sizes vary, or that is not contiguous; "
                "give it copies"
            )
        view = _seen_through(taeda.empty(list(map(int, whole.shape)), dtype=whole.dtype, device="meta"), entry.chain)
        where = {"base_index": index, "size": list(view.shape), "stride": list(view.stride())}
        return {f"{prefix}_{word}": said for word, said in where.items()} | {
            f"{prefix}_storage_offset": view.storage_offset()
        }

    def _index(self, entry: _Entry) -> int:
        for i, known in enumerate(self.found):
            if known.base is entry.base and known.chain == entry.chain:
                return i
        self.found.append(entry)
        return len(self.found) - 1


def _seen_through(value: Any, chain: tuple[Node, ...]) -> Any:
    """A tensor seen through views, whose other arguments are numbers."""
    for step in chain:
        args = map_aggregate(step.args[1:], lambda leaf: int(leaf.meta["val"]) if isinstance(leaf, Node) else leaf)
        value = step.target(value, *args, **step.kwargs)  # type: ignore[operator]
    return value


def _varies(node: Node) -> bool:
    other = node.meta.get("other", ())
    return other is None or tuple(other) != tuple(map(int, node.meta["val"].shape))


def _returning(op: OpOverload, names: list[str]) -> OpOverload:
    """The overload that returns what ``op`` writes to the arguments of these names."""
    wanted = [(p.name, str(p.type)) for p in op._schema.arguments if p.name not in names]
    packet: Any = op.overloadpacket
    for name in packet.overloads():
        found: OpOverload = getattr(packet, name)
        if [(p.name, str(p.type)) for p in found._schema.arguments] == wanted and not found._schema.is_mutable:
            return found
    raise NotImplementedError(f"taeda.export: {op} has no form that does not write")


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
        targets = written(op)
        if op.namespace != "aten":
            return self._auto(node, op)
        if targets[-1].kwarg_only:
            return self._into(node, op, [p.name for p in targets])
        if len(targets) > 1 or targets[0] != op._schema.arguments[0]:
            raise NotImplementedError(f"taeda.export: {op} has no form that does not write")
        new = self._without_write(node, op)
        if isinstance(node.args[0], Node):
            self.entries[node] = self.entries[node.args[0]]
            self._replace(self.entries[node], new)
        else:
            self._replace_all([self.entries[item] for item in node.args[0]], new, 0)
            self.entries[node] = _Entry(_Base(new), (), new)

    def _into(self, node: Node, op: OpOverload, names: list[str]) -> None:
        """A call with ``out=``: the results are new values of these."""
        functional = _returning(op, names)
        args, kwargs = map_aggregate((node.args, node.kwargs), self._leaf)
        outputs: list[Any] = [node.kwargs[name] for name in names]
        whole = self._call(functional, args, {k: v for k, v in kwargs.items() if k not in names}, node)
        if len(outputs) == 1:
            self.entries[node] = self.entries[outputs[0]]
            value = outputs[0].meta["val"]
            self._replace(self.entries[node], self._call(aten.to.dtype, (whole, value.dtype), {}, node))
        else:
            self._replace_all([self.entries[output] for output in outputs], whole, 0)
            self.entries[node] = _Entry(_Base(whole), (), whole)

    def _replace_all(self, targets: list[_Entry], whole: Node, first: int) -> None:
        """Makes the parts of a result, from ``first`` on, the new values of ``targets``."""
        likes = [self._value(target) for target in targets]
        parts = [self._call(operator.getitem, (whole, first + i), {}, like) for i, like in enumerate(likes)]
        for target, part in zip(targets, parts):
            part.meta.pop("is_view", None)
            part.meta.update({k: whole.meta[k] for k in INHERITED if k in whole.meta})
            self._replace(target, part)

    def _auto(self, node: Node, op: OpOverload) -> None:
        """An op of the program's own: one op calls it with copies and returns these."""
        parameters, names = op._schema.arguments, [p.name for p in written(op)]
        if any(r.alias_info is not None for r in op._schema.returns):
            raise NotImplementedError(
                f"taeda.export: {op} returns what it writes to, which has no form without writes; let it return "
                "nothing, or a new tensor"
            )
        given: dict[str, Any] = {p.name: p.default_value for p in parameters if p.has_default_value()}
        given |= {**dict(zip((p.name for p in parameters), node.args)), **node.kwargs}
        kwargs = {p.name: map_aggregate(given[p.name], self._leaf) for p in parameters if p.name not in names}
        bases = _Bases([self.entries[n] for n in nodes_in([given[name] for name in names])])
        for name in names:
            value = given[name]
            if isinstance(value, (list, tuple)):
                kwargs[f"_{name}_length"] = len(value)
                for i, item in enumerate(value):
                    kwargs |= bases.place(f"_{name}_{i}", self.entries[item])
            else:
                kwargs |= bases.place(f"_{name}", None if value is None else self.entries[value])
        kwargs["_all_bases"] = [self._value(base) for base in bases.found]
        whole = self._call(auto_functionalized_v2, (op,), kwargs, node)
        found: Any = node.meta.get("val")
        several = len(op._schema.returns) > 1
        results = tuple(found) if several else (found,)
        whole.meta["val"] = (*results, *(base.node.meta["val"] for base in bases.found))
        made = whole if several or found is None else self._call(operator.getitem, (whole, 0), {}, node)
        self.entries[node] = _Entry(_Base(made), (), made)
        self._replace_all(bases.found, whole, len(results))

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
