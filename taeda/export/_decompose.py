"""A program in fewer kinds of ops: bodies of composites in place of their calls, then no op that writes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import taeda
from taeda import _C, Tensor
from taeda._decompositions import decomposition_table
from taeda._decompositions.core import ENDS, bodies, laid_out
from taeda._library.fake_tensor import FakeTensor, FakeTensorMode, is_fake
from taeda._library.library import composites
from taeda._library.ops import OpOverload
from taeda._schema.symbols import SymNode, _Symbol
from taeda.export._capture import UNKNOWN, Capture
from taeda.export._origins import INHERITED
from taeda.export._scope import holder
from taeda.export._verifier import Verifier
from taeda.export.graph_signature import ExportGraphSignature, InputKind, InputSpec, TensorArgument
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node, map_aggregate
from taeda.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from taeda.export.exported_program import ExportedProgram


class CustomDecompTable(dict[Any, Callable[..., Any]]):
    """A function of tensors for each op to take apart. Ops can be taken out and others put in."""

    def materialize(self) -> dict[Any, Callable[..., Any]]:
        """A plain dict of the same."""
        return dict(self)


def _bodies_of_programs() -> dict[Any, Callable[..., Any]]:
    ops = taeda.ops
    found = {}
    for name, body in composites.items():
        namespace, _, rest = name.partition("::")
        base, _, overload = rest.partition(".")
        op = getattr(getattr(getattr(ops, namespace), base, None), overload or "default", None)
        if namespace not in _OF_LIBRARY and op is not None and not op._schema.is_mutable:
            found[op] = body
    return found


_OF_LIBRARY = {
    "_c10d_functional", "_c10d_functional_autograd", "_quantized", "aten", "c10d_functional", "onednn", "profiler",
    "python", "quantized_decomposed",
}  # fmt: skip


def default_decompositions() -> CustomDecompTable:
    """The bodies of all composites but those of PyTorch's core ATen set; of ops that the program defined, too."""
    return CustomDecompTable(
        _bodies_of_programs()
        | {
            op: body
            for op, body in {**decomposition_table, **bodies()}.items()
            if op.name().removeprefix("aten::") not in ENDS and not op._schema.is_mutable
        }
    )


def decompose(program: ExportedProgram, table: dict[Any, Callable[..., Any]] | None) -> ExportedProgram:
    """What `ExportedProgram.run_decompositions` does."""
    from taeda.export._functional import functionalize

    chosen = default_decompositions() if table is None else table
    functional = functionalize(program)
    found = functionalize(_Expansion(functional, chosen).run()) if chosen else functional
    found = copy.copy(found) if found is program else found
    found.verifiers = [Verifier]
    found.graph_module.meta.update(program.graph_module.meta)
    return found


def BELOW(*args: Any) -> Any:
    """In a table of decompositions: the op as its parts reach the kernels. Sizes are then those of the example."""
    raise TypeError("BELOW is a mark, not a function")


class _Below(TorchDispatchMode):
    """Gives the ops that reach kernels to an expansion."""

    def __init__(self, expansion: _Expansion, whole: Any) -> None:
        super().__init__()
        self.expansion, self.whole = expansion, whole

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        if func is self.whole:
            raise NotImplementedError(f"{func} has a kernel of its own")
        return self.expansion.call(func, args, kwargs or {})


class _Expansion(Capture):
    """Copies a program's graph, with bodies in place of some calls: these run on fake tensors."""

    def __init__(self, program: ExportedProgram, table: dict[Any, Callable[..., Any]]) -> None:
        super().__init__(bool(program.sizes))
        self.program, self.table = program, table
        self.values: dict[Node, Any] = {}
        self.constants = dict(program.constants)
        self.signature = copy.deepcopy(program.graph_signature)
        vals = (n.meta.get("val") for n in program.graph.nodes)
        known: Any = next((v for v in vals if isinstance(v, FakeTensor)), None)
        self.mode: Any = FakeTensorMode() if known is None else known.fake_mode

    def run(self) -> ExportedProgram:
        """The program with the new graph; the very program if there is nothing to take apart."""
        if not self.applies():
            return self.program
        graph = self.scope.graph
        self.on_constant = self._fresh_constant
        for node in self.program.graph.nodes:
            self._copy(node)
        self._rename_outputs()
        graph.eliminate_dead_code()
        for node in graph.nodes:
            example = node.meta.pop("example", None)
            if example is not None:
                node.meta["val"] = example
            if isinstance(example, Tensor):
                node.meta["other"] = self.other_sizes(example)
        modules = self.program.graph_module._modules
        root: dict[str, Any] = {k: _inner(m, self.program, self.table) for k, m in modules.items() if m is not None}
        return self.program._with(graph, self.signature, holder(root), constants=self.constants)

    def applies(self) -> bool:
        """Whether there is an op to take apart."""
        modules = self.program.graph_module.modules()
        graphs = [self.program.graph, *(m.graph for m in modules if isinstance(m, GraphModule))]
        return any(
            isinstance(node.target, OpOverload) and self.table.get(node.target) is not None
            for graph in graphs for node in graph.nodes
        )  # fmt: skip

    def _copy(self, node: Node) -> None:
        if node in self.values:  # part of a result that is there already
            return
        body = self.table.get(node.target) if isinstance(node.target, OpOverload) else None
        if body is not None and self._expand_node(node, body):
            return
        args, kwargs = map_aggregate((node.args, node.kwargs), self._new_node)
        twin = self.scope.graph.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        twin.meta = copy.copy(node.meta)
        self._know(node, twin)

    def _new_node(self, leaf: Any) -> Any:
        if not isinstance(leaf, Node):
            return leaf
        value = self.values[leaf]
        return value if isinstance(value, Node) else self.node_of(value)

    def _know(self, old: Node, new: Node) -> None:
        """From now on the value of ``old`` is that of ``new``."""
        value = old.meta.get("val")
        if isinstance(value, Tensor):
            other = old.meta.get("other")
            shadow: Any = UNKNOWN
            if other is not None:
                shadow = taeda.empty(other, dtype=value.dtype, device="meta")
                if tuple(other) == tuple(value.shape):
                    shadow = taeda.empty_strided(other, value.stride(), dtype=value.dtype, device="meta")
            if isinstance(value, FakeTensor) and value._shown is not None:
                value = FakeTensor(self.mode, value._meta, value.fake_device, requires_grad=value.requires_grad)
            value = value.detach() if id(value) in self.scope.nodes else value
            self.track(value, new, shadow)
            self.values[old] = value
        elif isinstance(value, _Symbol):
            node = SymNode(value.node.hint, "input", (), self, new.name)
            other = old.meta.get("other")
            self.values[old] = self.track_symbol(node, new, UNKNOWN if other is None else other)
        else:
            self.values[old] = new

    def _expand_node(self, node: Node, body: Callable[..., Any]) -> bool:
        known = map_aggregate(
            (node.args, node.kwargs), lambda leaf: self.values[leaf] if isinstance(leaf, Node) else leaf
        )
        args, kwargs = known
        if any(isinstance(leaf, Node) for leaf in taeda.utils._pytree.tree_leaves(known)):
            return False
        result = self._expand(node.target, body, args, kwargs, node)
        if result is None:
            return False
        if isinstance(result, (tuple, list)):
            for user in list(node.users):
                if user.op == "call_function" and getattr(user.target, "__name__", "") == "getitem":
                    self.values[user] = result[user.args[1]]
            self.values[node] = tuple(result)
        else:
            self.values[node] = result
        return True

    def _expand(self, op: Any, body: Callable[..., Any], args: Any, kwargs: Any, node: Node | None = None) -> Any:
        """What the body gives; None where it cannot run without values."""
        self.module_stack = node.meta.get("nn_module_stack", {}) if node is not None else self.module_stack
        before = list(self.scope.graph.nodes)[-1] if len(self.scope.graph.nodes) else None
        former, recorder = _C._set_capture(self.call), _C._set_size_recorder(self)
        recording, self.is_recording = self.is_recording, True
        try:
            result = self._below(op, args, kwargs) if body is BELOW else body(*_plain(args), **kwargs)
            like = None if node is None or op.is_view else node.meta.get("val")
            if isinstance(result, Tensor) and isinstance(like, Tensor):
                result = laid_out(result, like)
            if result is NotImplemented:
                raise NotImplementedError(f"{op} with such arguments")
        except Exception:
            self._drop_after(before)
            return None
        finally:
            self.is_recording = recording
            _C._set_size_recorder(recorder)
            _C._set_capture(former)
        if node is not None:
            self._mark(before, node)
        return result

    def _below(self, op: Any, args: Any, kwargs: Any) -> Any:
        """What the kernels see of a composite that is written in C++."""
        with self.quiet(), taeda.no_grad(), _Below(self, op):
            return op(*_plain(args), **kwargs)

    def _drop_after(self, before: Node | None) -> None:
        for node in reversed(list(self.scope.graph.nodes)):
            if node is before:
                return
            if not node.users and node.op == "call_function":
                self.scope.graph.erase_node(node)

    def _mark(self, before: Node | None, source: Node) -> None:
        for node in reversed(list(self.scope.graph.nodes)):
            if node is before:
                return
            for key in INHERITED:
                node.meta.pop(key, None)
                if key in source.meta:
                    node.meta[key] = source.meta[key]

    def answer(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], given: Any) -> Any:
        """A composite within a body is expanded, too."""
        body = self.table.get(op)
        if body is not None:
            names = [parameter.name for parameter in op._schema.arguments]
            inner = [_with_symbols(a, given.get(n)) for a, n in zip(args, names)]
            result = self._expand(op, body, inner, {k: _with_symbols(a, given.get(k)) for k, a in kwargs.items()})
            if result is not None:
                return result
        return super().answer(op, args, kwargs, given)

    def compute(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What an op gives on fake tensors: those that a body makes are such, too."""
        args, kwargs = taeda.utils._pytree.tree_map(self._fake, (args, kwargs))
        return taeda.utils._pytree.tree_map(self._fake, op(*args, **kwargs))

    def _fake(self, value: Any) -> Any:
        plain = isinstance(value, Tensor) and not is_fake(value) and value.device.type != "meta"
        return self.mode.from_tensor(value) if plain else value

    def _fresh_constant(self, tensor: Tensor) -> Node:
        """A tensor that a body made of plain data: one more input of the graph."""
        if is_fake(tensor):
            raise NotImplementedError("a tensor that nobody recorded")
        path = f"lifted_tensor_{len(self.constants)}"
        self.constants[path] = tensor
        graph = self.scope.graph
        first = next(n for n in graph.nodes)
        with graph.inserting_before(first):
            node = graph.placeholder(f"c_{path}")
        node.meta["val"] = self.mode.from_tensor(tensor)
        node.meta["other"] = tuple(tensor.shape)
        self.signature.input_specs.insert(0, InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(node.name), path))
        return node

    def _rename_outputs(self) -> None:
        output = self.scope.graph.output_node()
        for spec, value in zip(self.signature.output_specs, output.args[0]):
            if isinstance(value, Node):
                spec.arg.name = value.name


def _plain(args: Any) -> list[Any]:
    return [list(a) if isinstance(a, (list, tuple)) else a for a in args]


def _with_symbols(value: Any, symbols: dict[int | None, Any] | None) -> Any:
    if not symbols:
        return value
    if None in symbols:
        return symbols[None]
    return [symbols.get(i, v) for i, v in enumerate(value)]


def _inner(module: Any, program: Any, table: dict[Any, Callable[..., Any]]) -> Any:
    """The graph of a branch or loop, expanded like the one that it stands in."""
    if not isinstance(module, GraphModule):
        return module
    signature = ExportGraphSignature([], [])
    part = _Part(module.graph, module, program.sizes, {}, signature)
    expansion = _Expansion(part, table)  # type: ignore[arg-type]
    return expansion.run() if expansion.applies() else module


class _Part:
    """As much of an exported program as an expansion asks for."""

    def __init__(
        self, graph: Any, graph_module: Any, sizes: Any, constants: Any, signature: ExportGraphSignature
    ) -> None:
        self.graph, self.graph_module, self.sizes = graph, graph_module, sizes
        self.constants, self.graph_signature = constants, signature

    def _with(self, graph: Any, signature: Any, root: Any, constants: dict[str, Any]) -> GraphModule:
        if constants:
            raise NotImplementedError("a body in a branch that makes tensors of data")
        return GraphModule(dict(root.named_children()), graph)


__all__ = ["CustomDecompTable", "GraphModule", "decompose", "default_decompositions"]
