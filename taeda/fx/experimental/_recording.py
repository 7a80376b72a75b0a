"""Recording ops below autograd: the recorder of export, given what reaches kernels, over the graph of a tracer."""

from __future__ import annotations

import contextlib
import math
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda._library.fake_tensor import FakeTensor, FakeTensorMode
from taeda._library.ops import OpOverload
from taeda._schema.symbols import SymNode, _Symbol
from taeda._schema.tags import Tag
from taeda.export._capture import UNKNOWN, Capture, ShapeDependence, _function, _shown_as
from taeda.export._places import Place
from taeda.export._scope import Scope
from taeda.export._size_ops import SIZE_OPS, item, sym_size
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node
from taeda.fx.passes.shape_prop import _extract_tensor_metadata
from taeda.utils import _pytree as pytree
from taeda.utils._python_dispatch import _disable_current_modes

_aten: Any = taeda.ops.aten
# What the library has for itself, as PyTorch's graphs have it.
_STAND_FOR = {
    "aten.lift_fresh.default": lambda: _aten.lift_fresh_copy.default,
    "aten._native_layer_norm.default": lambda: _aten.native_layer_norm.default,
}
_READS_VALUES = frozenset(["_local_scalar_dense", "equal", "is_nonzero"])
_MOST_KNOWN = 1  # elements of a constant whose value the program may ask for


def _memory(tensor: Tensor) -> Any:
    """What two objects have in common that show the same elements; None where memory does not tell."""
    shown = tensor._meta if isinstance(tensor, FakeTensor) else tensor
    if shown.layout is not taeda.strided or not shown.numel():
        return None
    try:
        storage = shown.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        return None
    return storage, shown.storage_offset(), tuple(shown.shape), shown.stride(), shown.dtype


class Recording(Capture):
    """Adds the ops of a mode to the graph of ``tracer``, which makes the nodes.

    Args:
        tracer: has ``graph``, ``create_node`` and ``create_arg``.
        varying: whether sizes of the inputs are values of the graph.
    """

    without_mode: Any = contextlib.nullcontext  # within, the mode that records is off; the mode's module gives it

    def __init__(self, tracer: Any, varying: bool = False) -> None:
        super().__init__(varying)
        self.tracer = tracer
        self.scope = Scope(tracer.graph, None)
        self.on_constant = tracer.create_arg
        self.proxies: dict[Node, Any] = {}
        self._wants_gradients = taeda.is_grad_enabled()
        self.pre_dispatch = False  # whether the ops are those that the program calls
        self.asks_values = True  # whether a value that is asked for ends the trace
        self._by_memory: dict[Any, Node] = {}
        self._known: dict[int, Tensor] = {}
        self._snapshots: Any = FakeTensorMode()
        self._others: dict[int, int] = {}
        self.places: dict[int, tuple[str, int | None]] = {}  # by symbol: the input and its dimension

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """Within, nothing is recorded, by the mode neither."""
        with super().quiet(), self.without_mode():
            yield

    # --- values and nodes

    def track(self, tensor: Tensor, node: Node, shadow: Any = None) -> None:
        super().track(tensor, node, shadow)
        with self.quiet(), _disable_current_modes():
            key = _memory(tensor)
        if key is not None:
            self._by_memory[key] = node

    def track_symbol(self, node: SymNode, fx_node: Node, shadow: Any) -> Any:
        symbol = fx_node.meta["val"] = super().track_symbol(node, fx_node, shadow)
        fx_node.meta.pop("example", None)
        return symbol

    def tracked(self, tensor: Tensor) -> Node | None:
        """The node of a tensor, or of another object for the same elements; None for what the graph did not make."""
        node = self.scope.find(id(tensor))
        if node is None and type(tensor) in (Tensor, taeda.nn.Parameter, FakeTensor):
            with self.quiet(), _disable_current_modes():
                node = self._by_memory.get(_memory(tensor))
            if node is not None and not self.scope.sees(node):
                return None
            if node is not None:
                node = self.scope.nodes[id(tensor)] = self.scope.local(node)
                self._kept.append(tensor)
        return node

    def depends(self, value: Any) -> bool:
        return isinstance(value, Tensor) and self.tracked(value) is not None and id(value) not in self._known

    def node_of(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            node = self.tracked(value)
            if node is None:
                node = self.tracer.create_arg(value)
            return self.scope.local(node) if isinstance(node, Node) else node
        return super().node_of(value)

    def create(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None) -> Node:
        if self.pre_dispatch:
            self.note_gradient_mode(taeda.is_grad_enabled())
        if target is item and not self.pre_dispatch:
            target = taeda.ops.aten._local_scalar_dense.default
        if isinstance(target, OpOverload):
            target = _shown_as(_STAND_FOR.get(str(target), lambda: target)())
            name = name or (f"{target._opname}_int" if target is sym_size else target._opname)
        whole, self.tracer.graph = self.tracer.graph, self.scope.graph  # that of a branch or loop, within one
        try:
            node: Node = self.tracer.create_node("call_function", target, args, kwargs, name)
        finally:
            self.tracer.graph = whole
        return node

    def note_gradient_mode(self, enabled: bool) -> None:
        """Before autograd it matters whether the program wants gradients: where that changes the graph says it."""
        if enabled is not self._wants_gradients:
            self._wants_gradients = enabled
            self.tracer.create_node("call_function", _C._set_grad_enabled, (enabled,), {})  # type: ignore[attr-defined]

    def add_input(self, value: Any, node: Node) -> Any:
        """From now on ``value`` is what a placeholder brings; where sizes vary a whole number becomes a symbol."""
        if isinstance(value, Tensor):
            shadow = self._shadow_input(value) if self.varying else None
            self.track(value, node, shadow)
            self.describe(node, value)
            return value
        if self.varying and type(value) is int:
            symbol = SymNode(value, "input", (), self, node.name)
            self.places[id(symbol)] = str(node.target), None
            return self.track_symbol(symbol, node, self._other(value))
        node.meta["val"] = value
        return value

    def _other(self, size: int) -> int:
        """The size of the shadow for a size of the inputs: one for each, and 0 and 1 are fixed."""
        if size < 2:
            return size
        if size not in self._others:
            from taeda.export.dynamic_shapes import UNLIMITED, choose

            taken = set(self._others.values())
            nths = (choose(size, 2, UNLIMITED, nth) for nth in range(len(taken), len(taken) + 9))
            self._others[size] = next((other for other in nths if other not in taken), size * 13)
        return self._others[size]

    def _shadow_input(self, tensor: Tensor) -> Tensor:
        with self.quiet(), _disable_current_modes():
            return taeda.empty([self._other(int(s)) for s in tensor.shape], dtype=tensor.dtype, device="meta")

    def describe(self, node: Node, value: Any) -> None:
        """Notes of what kind a result is: ``meta["val"]`` and ``meta["tensor_meta"]``."""
        node.meta.pop("example", None)
        with self.quiet(), _disable_current_modes():
            node.meta["val"] = pytree.tree_map(self._snapshot, value)
            if self.varying and isinstance(value, Tensor):
                node.meta["other"] = self.other_sizes(value)
            if isinstance(value, Tensor) and value.layout is taeda.strided:
                node.meta["tensor_meta"] = _extract_tensor_metadata(value)

    def describe_examples(self, graph: Graph) -> None:
        """Describes the inputs of branches and loops, and what these give, by the values on the example."""
        for node in graph.nodes:
            if "example" in node.meta:
                self.describe(node, node.meta["example"])

    def _snapshot(self, value: Any) -> Any:
        if isinstance(value, FakeTensor):
            return value.detach()
        if not isinstance(value, Tensor):
            return value
        try:
            return self._snapshots._like(value)
        except (RuntimeError, ValueError):
            return None

    # --- ops

    def answer(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], given: Any) -> Any:
        """Runs an op and adds its node."""
        if self._asks_for_values(op):
            leaves = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
            if any(map(self.depends, leaves)):
                self.refuse(str(op))
            known = [self._known.get(id(x), x) for x in leaves]
            with _disable_current_modes():
                return op(*_exchanged(args, leaves, known), **kwargs)
        known_result = self._known_result(op, args, kwargs)
        names = [parameter.name for parameter in op._schema.arguments]
        if "pin_memory" in names and op._opname != "scalar_tensor":
            kwargs = _as_told(names, args, kwargs)
        done, args = args, self._freed(op, args, given)
        self._look_for_sizes(op, args, given)
        node_args = tuple(self._argument(a, given.get(n)) for a, n in zip(args, names))
        node_kwargs = {k: self._argument(a, given.get(k)) for k, a in kwargs.items()}
        node = self.create(op, node_args, node_kwargs)
        result = self.compute(op, done, kwargs)
        if op._opname == "lift_fresh" and isinstance(result, Tensor) and not isinstance(result, FakeTensor):
            with self.quiet(), _disable_current_modes():  # the graph copies its constants: writes go to the copy
                result = result.clone()
        self._note(node, result, self._shadow_call(op, args, kwargs, given, names))
        for made, known in zip(pytree.tree_leaves(result), pytree.tree_leaves(known_result)):
            if isinstance(known, Tensor):
                self._known[id(made)] = known
        self.describe(node, result)
        return result

    @staticmethod
    def _asks_for_values(op: OpOverload) -> bool:
        return op._opname in _READS_VALUES or Tag.data_dependent_output in op.tags

    def _known_result(self, op: OpOverload, args: Any, kwargs: Any) -> Any:
        """What an op gives of constants, which the program may ask for; None for what only the graph's run tells."""
        leaves = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
        fresh = op._opname == "lift_fresh" and not isinstance(args[0], FakeTensor)
        is_known = fresh or (bool(leaves) and all(id(x) in self._known for x in leaves))
        is_small = sum(x.numel() for x in leaves) <= _MOST_KNOWN * len(leaves)
        if not is_known or not is_small or Tag.nondeterministic_seeded in op.tags:
            if op._schema.is_mutable:
                for leaf in leaves:
                    self._known.pop(id(leaf), None)
            return None
        with _disable_current_modes(), self.quiet(), taeda.no_grad():
            if fresh:
                return args[0].clone()
            known = [self._known[id(x)] for x in leaves]
            return op(*_exchanged(args, leaves, known), **kwargs)

    def _note(self, node: Node, result: Any, shadow: Any) -> None:
        several = isinstance(result, (tuple, list)) and isinstance(shadow, (tuple, list))
        if several and len(shadow) != len(result):
            _warn_of_sizes(node.target)
            shadow = UNKNOWN
        super()._note(node, result, shadow)
        for user in node.users:
            example = user.meta.pop("example", None)
            if example is not None:
                self.describe(user, example)

    # --- sizes

    def _freed(self, op: OpOverload, args: tuple[Any, ...], given: Any) -> tuple[Any, ...]:
        """The arguments of a view, with -1 for the size that the library has calculated from those that vary, if one
        alone can be meant: ``x.reshape(-1)`` comes here as ``view(x, [12])``."""
        if not self.varying or op._opname not in ("view", "_unsafe_view", "reshape") or given.get("size"):
            return args
        shadow, sizes = self._shadow_argument(args[0], {}), list(args[1])
        if not isinstance(shadow, Tensor) or 0 in sizes or shadow.numel() == math.prod(sizes):
            return args
        places = [k for k, size in enumerate(sizes) if shadow.numel() % (math.prod(sizes) // size) == 0]
        if len(places) != 1:
            return args
        sizes[places[0]] = -1
        return args[0], sizes, *args[2:]

    def _look_for_sizes(self, op: OpOverload, args: tuple[Any, ...], given: Any) -> None:
        """Warns of numbers in place of sizes that are those of inputs: a gradient may have calculated them from these
        (``expand(grad, [4, 3])`` after ``sum``), which nothing else tells."""
        for parameter, value in zip(op._schema.arguments, args):
            is_sizes = isinstance(value, (list, tuple)) and "size" in parameter.name and parameter.name not in given
            if is_sizes and any(type(size) is int and size in self._others for size in value):
                _warn_of_sizes(op)

    def _taken(self, op: OpOverload) -> dict[str, dict[int | None, Any]]:
        """The symbols that this call was given, also where it is the part of another that gets the same list."""
        given, self._given = self._given, None
        if given is None:
            return {}
        told, symbols = given
        if told is op or {a.name for a in told._schema.arguments} == {a.name for a in op._schema.arguments}:
            return dict(symbols)
        return {}

    def inherited(self, op: OpOverload, args: tuple[Any, ...]) -> dict[str, dict[int | None, Any]]:
        """Like ``_taken`` for an op below autograd: a list of the same numbers is the list that was given."""
        given = self._given
        if given is None:
            return {}
        told, symbols = given
        if told is op:
            self._given = None
            return dict(symbols)
        found: dict[str, dict[int | None, Any]] = {}
        for parameter, value in zip(op._schema.arguments, args):
            for name, items in symbols.items():
                if _fits(value, items) and (parameter.name == name or None not in items):
                    found[parameter.name] = items
        return found

    def read(self, tensor: Tensor, what: str, dim: int | None, value: int) -> Any:
        node = self.tracked(tensor) if self.varying else None
        if node is None:
            return value
        symbol = super().read(tensor, what, dim, value)
        if isinstance(symbol, _Symbol) and node.op == "placeholder" and what == "size":
            self.places[id(symbol.node)] = str(node.target), dim
        return symbol

    def show_sizes(self, module: GraphModule) -> None:
        """Gives the values that nodes are described by the sizes that vary as symbols."""
        from taeda.export._shown_sizes import show_pairs

        show_pairs(module, self._others)

    def number(self, node: Any, inputs: dict[str, Any]) -> Any:
        """What a symbol is for other inputs, by name; LookupError if they do not tell."""
        if not isinstance(node, SymNode):
            return node
        place = self.places.get(id(node))
        if place is not None:
            value = inputs[place[0]]
            return value if place[1] is None else int(value.shape[place[1]])
        if node.operation in ("input", "item", *SIZE_OPS):
            raise LookupError(f"{node} is no size of an input")
        return _function(node.operation)(*(self.number(operand, inputs) for operand in node.operands))

    def guard(self, condition: SymNode, value: bool, place: tuple[str, int]) -> None:
        """A branch on sizes: the graph goes the way of the example, and the guard is noted."""
        try:
            super().guard(condition, value, place)
        except ShapeDependence:
            self._keep_guard(condition, value, Place(*place))

    def _shadow_call(self, op: OpOverload, args: Any, kwargs: Any, given: Any, names: list[str]) -> Any:
        if not self.varying:
            return None
        try:
            with _disable_current_modes():
                return super()._shadow_call(op, args, kwargs, given, names)
        except ShapeDependence:
            _warn_of_sizes(op)
            return UNKNOWN

    def take_number(self, tensor: Tensor, take: Callable[[Tensor], Any]) -> Any:
        if tensor is not None and id(tensor) in self._known:
            return take(self._known[id(tensor)])
        if not self.varying:
            self.refuse("item()")
            return take(tensor)
        return super().take_number(tensor, take)

    def shown(self, tensor: Tensor, show: Callable[[], str]) -> str:
        if self.varying:
            return super().shown(tensor, show)
        with self.quiet(), _disable_current_modes():
            return show()

    def refuse(self, what: str) -> None:
        if self.asks_values:
            raise _reads(what)


def _as_told(names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords of an op that makes a tensor, as PyTorch's functions give them: with ``pin_memory``, and ``device``
    where no tensor tells it."""
    told: dict[str, Any] = {"pin_memory": False}
    if not any(isinstance(a, Tensor) for a in args):
        told["device"] = taeda.get_default_device()
    told |= {name: value for name, value in kwargs.items() if value is not None or name not in told}
    return {name: told[name] for name in names if name in told}


def _warn_of_sizes(op: Any) -> None:
    warnings.warn(
        f"taeda.fx.experimental.make_fx: {op} was given numbers that the library seems to have calculated from sizes "
        "of inputs; the graph then holds for the example's sizes alone. Give the sizes in the program (x.shape[0])",
        stacklevel=2,
    )


def _fits(value: Any, items: dict[int | None, Any]) -> bool:
    if None in items:
        hint = items[None].node.hint
        return type(value) is type(hint) and value == hint
    return isinstance(value, (list, tuple)) and all(
        i is not None and i < len(value) and value[i] == s.node.hint for i, s in items.items()
    )


def _exchanged(args: Any, old: list[Any], new: list[Any]) -> Any:
    table = {id(a): b for a, b in zip(old, new, strict=True)}
    return pytree.tree_map(lambda x: table.get(id(x), x), args)


def _reads(what: str) -> RuntimeError:
    return RuntimeError(
        f"taeda.fx.experimental.make_fx: {what} takes a value out of a tensor that is being traced, on which a graph "
        "cannot depend. Select with torch.where, or branch with torch.cond; tracing_mode='symbolic' keeps item()"
    )


_recordings: weakref.WeakKeyDictionary[Any, tuple[weakref.ref[Graph], Recording]] = weakref.WeakKeyDictionary()


def recording_of(tracer: Any, varying: bool = False) -> Recording:
    """What records for a tracer, as long as it has the same graph."""
    graph, found = _recordings.get(tracer, (None, None))
    if found is None or graph is None or graph() is not tracer.graph:
        found = Recording(tracer, varying)
        _recordings[tracer] = weakref.ref(tracer.graph), found
    return found


@contextlib.contextmanager
def sizes_as_values(recording: Recording) -> Iterator[None]:
    """Within, the sizes of traced tensors that vary are symbols."""
    if not recording.varying:
        yield
        return
    former = _C._set_size_recorder(recording)
    recording.is_recording = True
    try:
        yield
    finally:
        recording.is_recording = False
        _C._set_size_recorder(former)
