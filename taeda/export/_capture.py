"""Recording a program's ops as a graph while it runs: composites whole, sizes as values.

The program runs once, on the example. Beside it, where sizes may vary, runs a *shadow*: the same ops through their
shape rules alone, on other sizes. A size that differs between the two is a value of the graph; a branch that they take
differently, or an op that fails in the shadow, depends on the example's sizes and is refused or makes them fixed.
"""

from __future__ import annotations

import builtins
import contextlib
import math
import operator
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda._control_flow import capturing
from taeda._library.ops import OpOverload
from taeda._schema.recorder import SizeRecorder
from taeda._schema.symbols import SymNode, _Symbol, symbol_of
from taeda._schema.tags import Tag
from taeda.export._facts import Facts
from taeda.export._origins import Origins
from taeda.export._places import Place, asked_by_library, user_place
from taeda.export._regions import current_mode
from taeda.export._relations import Number, wanted_by_op
from taeda.export._scope import Scope
from taeda.export._size_ops import SIZE_OPS, assert_scalar, item
from taeda.export.errors import DataDependence, UserError
from taeda.export.guards import expression_of
from taeda.fx.graph import Graph
from taeda.fx.node import Node
from taeda.fx.traceback import has_preserved_node_meta, inherited
from taeda.utils import _pytree as pytree

aten: Any = taeda.ops.aten
UNKNOWN: Any = object()  # the shadow of what depends on values


def _tensors_in(arguments: Sequence[Any]) -> list[Tensor]:
    """The tensors among an op's arguments and in its lists of them."""
    found: list[Tensor] = []
    for value in arguments:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _tensors_in(value)
    return found


class ShapeDependence(Exception):
    """What the program did holds for the example's sizes alone. ``sizes``: names of those that are to blame; ``pairs``:
    numbers that are to be equal, each as it is in the example and in the shadow."""

    def __init__(self, message: str, sizes: set[str], pairs: Sequence[tuple[Number, Number]] = ()) -> None:
        super().__init__(message)
        self.message, self.sizes, self.pairs = message, sizes, list(pairs)
        self.related: Any = None  # what to ask of sizes instead


class _Wishes(threading.local):
    """How a thread's programs are recorded."""

    rounding: Any = None  # `_quantized` where without quantised tensors
    failures: list[str] | None = None  # where draft_export collects what export refuses


wishes = _Wishes()


@contextlib.contextmanager
def permissive(failures: list[str]) -> Iterator[None]:
    """Branches on values go the example's way within; ``failures`` is told of them."""
    before, wishes.failures = wishes.failures, failures
    try:
        yield
    finally:
        wishes.failures = before


_REFUSED = {
    "is_nonzero": "a branch on a tensor's value",
    "_local_scalar_dense": "a number out of a tensor (int(), float(), an index)",
    "equal": "a comparison of tensors' values",
}


class Capture(SizeRecorder):
    """Records the calls of its thread within ``with capture:``. ``varying``: whether any size of the inputs does."""

    dynamic = True

    def __init__(self, varying: bool, sources: bool = False) -> None:
        super().__init__()
        self.varying = varying
        self.origins = Origins(sources)
        self.facts = Facts()
        self.records_modes = False
        self._depends = False  # whether anything's sizes depend on values
        self._inside = False  # of what is recorded in place of an op
        self.scope = Scope(Graph(), None)
        self.names: dict[int, str] = {}  # of tensors that belong to the module
        self.constants: dict[str, Tensor] = {}
        self.on_constant: Callable[[Tensor], Node] | None = None
        self.module_stack: dict[str, Any] = {}
        self.overwritten: dict[int, Tensor] = {}
        self.subgraphs: dict[str, Any] = {}
        self._shadows: dict[int, Any] = {}
        self._fixed: set[int] = set()  # ids of tensors that are made of constants alone
        self._kept: list[Any] = []
        self._printed: dict[Number, str] = {}  # names of sizes that vary
        self._symbols: dict[int, tuple[Node, Any]] = {}
        self._given: tuple[Any, dict[str, dict[int | None, Any]]] | None = None
        self._former: Any = None

    def __enter__(self) -> Capture:
        super().__enter__()
        self._former = _C._set_capture(self.call)
        return self

    def __exit__(self, *error: Any) -> None:
        _C._set_capture(self._former)
        super().__exit__(*error)

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """What is called within is not recorded."""
        listener, recorder = _C._set_capture(None), _C._set_size_recorder(None)
        try:
            with capturing(None):
                yield
        finally:
            _C._set_size_recorder(recorder)
            _C._set_capture(listener)

    # --- values and nodes

    def track(self, tensor: Tensor, node: Node, shadow: Any = None) -> None:
        """From now on ``tensor`` is the result of ``node``."""
        self.scope.nodes[id(tensor)] = node
        self._kept.append(tensor)
        self._depends |= shadow is UNKNOWN
        self._shadows[id(tensor)] = shadow

    def track_symbol(self, node: SymNode, fx_node: Node, shadow: Any) -> Any:
        """From now on the symbol of ``node`` is the result of ``fx_node``."""
        self._symbols[id(node)] = fx_node, shadow
        self._depends |= shadow is UNKNOWN
        self._kept.append(node)
        symbol = symbol_of(node)
        fx_node.meta["example"] = symbol
        fx_node.meta["other"] = None if shadow is UNKNOWN else shadow
        return symbol

    def node_of(self, value: Any) -> Any:
        """The node of a tensor or symbol, and constants as they are."""
        if isinstance(value, _Symbol):
            return self._symbol_node(value.node)
        if not isinstance(value, Tensor):
            return value
        node = self.scope.find(id(value))
        if node is None:
            assert self.on_constant is not None
            node = self.on_constant(value)
            self.scope.root().nodes[id(value)] = node
            self._kept.append(value)
            node = self.scope.find(id(value))
        return node

    def _symbol_node(self, node: SymNode) -> Any:
        found = self._symbols.get(id(node))
        return node.hint if found is None else self.scope.local(found[0])

    def shadow_of(self, tensor: Tensor) -> Any:
        """The tensor of the other sizes, on the meta device."""
        found = self._shadows.get(id(tensor))
        if found is None:
            with self.quiet():
                found = taeda.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
            self._shadows[id(tensor)] = found
            self._kept.append(tensor)
        return found

    def other_sizes(self, tensor: Tensor) -> tuple[int, ...] | None:
        """The sizes that the shadow of a tensor has; None where they depend on values."""
        shadow = self._shadows.get(id(tensor))
        return None if shadow is UNKNOWN else tuple(map(int, (tensor if shadow is None else shadow).shape))

    def create(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None) -> Node:
        """Adds a call to the graph that is being recorded."""
        if isinstance(target, OpOverload):
            target, name = _shown_as(target), name or target._opname
        node = self.scope.graph.create_node("call_function", target, args, kwargs, name)
        self.origins.note(node)
        if self.records_modes:
            node.meta["mode"] = current_mode()
        if self.module_stack:
            node.meta["nn_module_stack"] = dict(self.module_stack)
        place = user_place()
        node.meta["stack_trace"] = place.trace
        node.meta["place"] = place
        if has_preserved_node_meta():
            noted = inherited()
            if len(self.module_stack) > 1:  # within a module that the graph calls
                noted.pop("nn_module_stack", None)
            node.meta.update(noted)
        return node

    # --- ops

    def call(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answers an op of the program: runs it, and adds its node."""
        recorder = _C._set_size_recorder(None)
        try:
            return self._call(op, args, kwargs)
        finally:
            _C._set_size_recorder(recorder)

    def _call(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op.namespace == "profiler":  # marks are no part of what a program computes
            return op(*args, **kwargs)
        return self.answer(op, args, kwargs, self._taken(op))

    def answer(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], given: Any) -> Any:
        """Runs an op and adds its node. ``given``: which arguments are symbols, by name and place in a list."""
        instead = wishes.rounding.stand_in(op) if wishes.rounding is not None else None
        if instead is not None:
            return self.recorded(lambda: instead(*args, **kwargs))
        if op._opname in _REFUSED and any(self.depends(leaf) for leaf in (*args, *kwargs.values())):
            refuse(_REFUSED[op._opname])
            return op(*args, **kwargs)
        is_fixed = self._is_fixed(op, args, kwargs, given)
        parameters = op._schema.arguments
        names = [parameter.name for parameter in parameters]
        self._keep_overwritten(op, args)
        node_args = tuple(self._argument(a, given.get(n)) for a, n in zip(args, names))
        node_kwargs = {k: self._argument(a, given.get(k)) for k, a in kwargs.items()}
        node = self.create(op, node_args, node_kwargs)
        result = self.compute(op, args, kwargs)
        if is_fixed and isinstance(result, Tensor):
            self._fixed.add(id(result))
        self._note_aliases(node, op, args, result)
        self._note(node, result, self._shadow_call(op, args, kwargs, given, names))
        how = wishes.rounding.rounding_among(args) if wishes.rounding is not None and not self._inside else None
        return result if how is None else self.recorded(lambda: wishes.rounding.after(op, result, how))

    def _is_fixed(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], given: Any) -> bool:
        """Whether an op's result is the same at each call: it is made of constants alone."""
        tensors = _tensors_in((*args, *kwargs.values()))
        if op._schema.is_mutable:
            if any(id(tensor) in self._fixed for tensor in tensors):
                self._fixed.clear()  # what is written to may be seen elsewhere, too
            return False
        if given or Tag.nondeterministic_seeded in op.tags:
            return False
        if not all(id(tensor) in self._fixed or self.scope.find(id(tensor)) is None for tensor in tensors):
            return False
        self._fixed.update(map(id, tensors))  # they have nodes from now on
        return True

    def recorded(self, function: Callable[[], Any]) -> Any:
        """What a function gives whose ops become nodes."""
        former, recorder = _C._set_capture(self.call), _C._set_size_recorder(self)
        inside, self._inside = self._inside, True
        try:
            return function()
        finally:
            self._inside = inside
            _C._set_size_recorder(recorder)
            _C._set_capture(former)

    def refuse(self, what: str) -> None:
        """The program asks for a value that the graph calculates."""
        refuse(what)

    def take_number(self, tensor: Tensor, take: Callable[[Tensor], Any]) -> Any:
        """A number out of a tensor, as a value of the graph."""
        with self.quiet():
            value = take(tensor)
        node = self.create(item, (self.node_of(tensor),), {})
        return self.track_symbol(SymNode(value, "item", (), self, node.name), node, UNKNOWN)

    def shown(self, tensor: Tensor, show: Callable[[], str]) -> str:
        """How the program prints a tensor whose values the graph calculates; ``show`` prints those of the example."""
        shadow = self._shadows.get(id(tensor)) if self.varying else None
        with self.quiet():
            other = tuple(tensor.shape if shadow is None or shadow is UNKNOWN else shadow.shape)
            sizes = [str(a) if a == b else self._printed.setdefault((a, b), f"s{len(self._printed)}")
                     for a, b in zip(tensor.shape, other)]  # fmt: skip
            dtype = "" if tensor.dtype is taeda.get_default_dtype() else f", dtype={tensor.dtype}"
            return f"FakeTensor(..., size=({', '.join(sizes)}{',' if len(sizes) == 1 else ''}){dtype})"

    def take_alias(self, tensor: Tensor, make: Callable[[Tensor], Tensor]) -> Tensor:
        """A tensor of another class that shares the elements: to the graph, ``tensor`` without its history."""
        plain = tensor.detach()
        with self.quiet():
            made = make(plain)
        self.track(made, self.node_of(plain), self._shadows.get(id(plain)))
        return made

    def depends(self, value: Any) -> bool:
        """Whether a value comes from the graph."""
        return isinstance(value, Tensor) and self.scope.find(id(value)) is not None and id(value) not in self._fixed

    def _taken(self, op: OpOverload) -> dict[str, dict[int | None, Any]]:
        """The symbols that this very call was given."""
        given, self._given = self._given, None
        if given is None:
            return {}
        told, symbols = given
        if told is not op and {a.name for a in told._schema.arguments} != {a.name for a in op._schema.arguments}:
            for items in symbols.values():
                for symbol in items.values():
                    self._fix(symbol)
            return {}
        return symbols

    def _fix(self, symbol: Any) -> None:
        condition = SymNode(True, "eq", (symbol.node, symbol.node.hint), self)
        self.operation(condition)
        place = user_place()
        self.guard(condition, True, (place.file, place.line))

    def given(self, op: Any, arguments: list[tuple[str, int | None, Any]]) -> None:
        """Remembers which numbers of the next op are symbols."""
        table: dict[str, dict[int | None, Any]] = {}
        for name, index, symbol in arguments:
            table.setdefault(name, {})[index] = symbol
        self._given = op, table

    def _argument(self, value: Any, symbols: dict[int | None, Any] | None) -> Any:
        if symbols:
            if None in symbols:
                return self.node_of(symbols[None])
            items = list(value) if isinstance(value, (list, tuple)) else [value] * len(symbols)
            return [self.node_of(symbols[i]) if i in symbols else self.node_of(v) for i, v in enumerate(items)]
        if isinstance(value, (list, tuple)):
            return [self.node_of(item) for item in value]
        return self.node_of(value)

    def _shadow_argument(self, value: Any, symbols: dict[int | None, Any] | None) -> Any:
        if symbols:
            if None in symbols:
                return self._shadow_number(symbols[None])
            items = list(value) if isinstance(value, (list, tuple)) else [value] * len(symbols)
            return [self._shadow_number(symbols[i]) if i in symbols else v for i, v in enumerate(items)]
        if isinstance(value, (list, tuple)):
            return [self._shadow_tensor(item) if isinstance(item, Tensor) else item for item in value]
        return self._shadow_tensor(value) if isinstance(value, Tensor) else value

    def _shadow_tensor(self, tensor: Tensor) -> Any:
        return self.shadow_of(tensor) if self.varying else self._shadows.get(id(tensor))

    def _shadow_number(self, symbol: Any) -> Any:
        found = self._symbols.get(id(symbol.node))
        return symbol.node.hint if found is None else found[1]

    def _shadow_call(self, op: OpOverload, args: Any, kwargs: Any, given: Any, names: list[str]) -> Any:
        if not (self.varying or self._depends):
            return UNKNOWN if _sized_by_values(op, args) else None
        shadow_args = [self._shadow_argument(a, given.get(n)) for a, n in zip(args, names)]
        shadow_kwargs = {k: self._shadow_argument(a, given.get(k)) for k, a in kwargs.items() if k != "generator"}
        if any(leaf is UNKNOWN for leaf in pytree.tree_leaves((shadow_args, shadow_kwargs))):
            return UNKNOWN
        if not self.varying:
            return UNKNOWN if _sized_by_values(op, args) else None
        if "device" in names:
            at = names.index("device")
            if at < len(shadow_args):
                shadow_args[at] = taeda.device("meta")
            else:
                shadow_kwargs["device"] = taeda.device("meta")
        try:
            return op(*shadow_args, **shadow_kwargs)
        except NotImplementedError:
            return UNKNOWN
        except Exception as error:
            sizes = [tuple(leaf.shape) for leaf in pytree.tree_leaves((shadow_args, shadow_kwargs))
                     if isinstance(leaf, Tensor)]  # fmt: skip
            place = user_place()
            raise ShapeDependence(
                f"{op} works for the example's sizes only. With others (its arguments then have shapes "
                f"{', '.join(map(str, sizes))}): {error}\n{place}", set(), _wanted(op, args, shadow_args)
            ) from None  # fmt: skip

    def _note(self, node: Node, result: Any, shadow: Any) -> None:
        if isinstance(result, (tuple, list)):
            if isinstance(shadow, (tuple, list)) and len(shadow) != len(result):
                raise ShapeDependence(
                    f"{node.target} gives {len(result)} tensors for the example's sizes only\n{user_place()}", set()
                )
            for i, item in enumerate(result):
                if isinstance(item, Tensor):
                    part = self.create(operator.getitem, (node, i), {})
                    part.meta["example"] = item
                    self.track(item, part, shadow if shadow is UNKNOWN or shadow is None else shadow[i])
            node.meta["example"] = result
        elif isinstance(result, Tensor):
            node.meta["example"] = result
            self.track(result, node, shadow)
        else:
            node.meta["example"] = result

    def compute(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What an op gives on the example."""
        return op(*args, **kwargs)

    def _note_aliases(self, node: Node, op: OpOverload, args: tuple[Any, ...], result: Any) -> None:
        """Whether the result shows the memory of the first argument."""
        if not op.is_view or not args or not isinstance(args[0], Tensor):
            return
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        if isinstance(first, Tensor) and first is not args[0]:
            base = args[0]._base if args[0]._is_view() else args[0]
            node.meta["is_view"] = op is aten.detach.default or (first._is_view() and first._base is base)

    def _keep_overwritten(self, op: OpOverload, args: tuple[Any, ...]) -> None:
        """What the module had, before an op writes to it."""
        if not op._schema.is_mutable:
            return
        for parameter, value in zip(op._schema.arguments, args):
            if parameter.alias_info is not None and parameter.alias_info.is_write:
                for tensor in value if isinstance(value, (list, tuple)) else (value,):
                    if id(tensor) in self.names and id(tensor) not in self.overwritten:
                        self.overwritten[id(tensor)] = tensor.detach().clone()

    # --- sizes

    def read(self, tensor: Tensor, what: str, dim: int | None, value: int) -> Any:
        """A size that the program reads: a symbol if the shadow has another, or none."""
        node = self.scope.find(id(tensor))
        if node is None:
            return value
        shadow = self.shadow_of(tensor)
        other = UNKNOWN
        if shadow is not UNKNOWN:
            function = getattr(shadow, what)
            other = function() if dim is None else function(dim)
            if other == value:
                return value
        symbol = super().read(tensor, what, dim, value)
        if id(symbol.node) not in self._symbols:
            args: tuple[Any, ...] = (node,) if dim is None else (node, dim)
            self.track_symbol(symbol.node, self.create(SIZE_OPS[what], args, {}), other)
        return symbol

    def operation(self, node: SymNode) -> None:
        """Arithmetic on sizes becomes a node."""
        super().operation(node)
        operands = [self.node_of(symbol_of(o)) if isinstance(o, SymNode) else o for o in node.operands]
        shadows = [self._symbols[id(o)][1] if isinstance(o, SymNode) else o for o in node.operands]
        function = _function(node.operation)
        shadow = UNKNOWN
        if not any(s is UNKNOWN for s in shadows):
            try:
                shadow = function(*shadows)
            except (ArithmeticError, ValueError):
                shadow = UNKNOWN
        self.track_symbol(node, self.create(function, tuple(operands), {}), shadow)

    def guard(self, condition: SymNode, value: bool, place: tuple[str, int]) -> None:
        """A branch on sizes: allowed where the shadow takes the same way."""
        shadow = self._symbols[id(condition)][1] if id(condition) in self._symbols else value
        where = Place(*place)
        if shadow is UNKNOWN:
            if self.facts.decide(condition) is value:
                return
            if _reads_values(condition):
                refuse("a branch on a number out of a tensor", where)
        elif builtins.bool(shadow) != value:
            text = self.text(condition)
            wanted = text if value else f"not ({text})"
            raise ShapeDependence(
                f"the program goes on as it does only while {wanted}, which the example's sizes fulfil and others do "
                f"not\n{where}",
                {self.text(leaf) for leaf in _leaves(condition)},
                self._equal(condition, value),
            )
        if asked_by_library():
            return  # a check of the library's own, which held both times
        self._keep_guard(condition, value, where)

    def _equal(self, condition: SymNode, value: bool) -> list[tuple[Number, Number]]:
        """The numbers that a condition wants to be equal."""
        if condition.operation != ("eq" if value else "ne"):
            return []
        pair: list[Any] = [
            (o.hint, self._symbols[id(o)][1]) if isinstance(o, SymNode) and id(o) in self._symbols else (o, o)
            for o in condition.operands
        ]
        whole = all(type(n) is int for number in pair for n in number)
        return [(pair[0], pair[1])] if whole else []

    def _keep_guard(self, condition: SymNode, value: bool, where: Place) -> None:
        known = len(self.guards)
        super().guard(condition, value, (where.file, where.line))
        if len(self.guards) > known and expression_of(condition, self._symbols) is None:
            self._assert(condition, value, where)

    def check(self, condition: SymNode) -> bool:
        """A check of the program (``torch._check``) on numbers out of tensors is an assertion of the graph."""
        if id(condition) not in self._symbols:
            return False
        shadow = self._symbols[id(condition)][1]
        if shadow is not UNKNOWN:
            if condition.hint and shadow:
                self._keep_guard(condition, True, user_place())
            return bool(condition.hint and shadow)
        if condition.hint:
            if self.facts.decide(condition) is None:
                self._assert(condition, True, user_place())
            self.facts.learn(condition)
        return True

    def _assert(self, condition: SymNode, value: bool, where: Place) -> None:
        """A condition on sizes that are no inputs' is checked in the graph."""
        found = self._symbols.get(id(condition))
        if found is not None:
            node = self.scope.local(found[0])
            if not value:
                other = found[1] if found[1] is UNKNOWN else not found[1]
                node = self.create(operator.not_, (node,), {})
                self.track_symbol(SymNode(True, "not_", (condition,), self), node, other)
            self.create(assert_scalar, (node, f"{self.text(condition)} is {value}, wanted at {where}"), {})

    def text(self, node: SymNode) -> str:
        """A symbol over the names of the inputs: ``x.size(0) % 2``."""
        if node.operation in SIZE_OPS:
            found = self._symbols.get(id(node))
            owner = found[0].args[0] if found else "?"
            where = node.operands[1]
            return f"{owner}.{node.operation}({'' if where is None else where})"
        if node.operation in ("input", "item"):
            return node.name
        inner = SymNode(node.hint, node.operation, tuple(
            SymNode(o.hint, "input", (), None, self.text(o)) if isinstance(o, SymNode) else o for o in node.operands
        ), None)  # fmt: skip
        return inner.expr


def _sized_by_values(op: OpOverload, args: tuple[Any, ...]) -> bool:
    """Whether the result's sizes depend on elements: positions select as many as there are, truths those that hold."""
    if Tag.dynamic_output_shape not in op.tags:
        return False
    if op is aten.index.Tensor:
        return any(isinstance(at, Tensor) and at.dtype in (taeda.bool, taeda.uint8) for at in args[1])
    return op is not aten.one_hot.default or len(args) < 2 or args[1] < 0


def _wanted(op: OpOverload, args: Any, shadows: Any) -> list[tuple[Number, Number]]:
    """Which sizes an op wants to be equal that are not so in the shadow."""
    both = list(zip(pytree.tree_leaves(args), pytree.tree_leaves(shadows)))
    tensors = [(a, b) for a, b in both if isinstance(a, Tensor) and isinstance(b, Tensor)]
    free = next((a for a in args[1:2] if type(a) is int), 0) if op._opname in ("cat", "concat") else None
    return wanted_by_op(op._opname, [a for a, _ in tensors], [b for _, b in tensors], free)


def _leaves(node: SymNode) -> list[SymNode]:
    inner = [o for o in node.operands if isinstance(o, SymNode)]
    return [leaf for o in inner for leaf in _leaves(o)] if inner else [node]


def _reads_values(node: SymNode) -> bool:
    return any(leaf.operation == "item" for leaf in _leaves(node))


def refuse(what: str, place: Place | None = None) -> None:
    """Ends the export; `draft_export` goes on the example's way and notes it."""
    error = data_dependent(what, place)
    if wishes.failures is None:
        raise error
    wishes.failures.append(str(error))


def data_dependent(what: str, place: Place | None = None) -> UserError:
    """The error for a program whose way depends on values."""
    return DataDependence(
        f"taeda.export.export: {what} decides how the program goes on, which a graph cannot hold\n"
        f"{place or user_place()}\nUse torch.cond(predicate, true_fn, false_fn, operands) for a branch, torch.where to "
        "select, torch._higher_order_ops.while_loop for a loop; x.item() gives a number that the program computes with",
    )


_ARITHMETIC = ("add", "sub", "mul", "div", "floor_divide")


def _shown_as(op: OpOverload) -> OpOverload:
    """Arithmetic with a number goes by the name of the tensor overload, which is what programs look for."""
    if op._overloadname == "Scalar" and op._opname.removesuffix("_") in _ARITHMETIC and op.namespace == "aten":
        packet = op.overloadpacket
        return packet.Tensor if "Tensor" in packet.overloads() else op
    return op


def _function(name: str) -> Callable[..., Any]:
    for module in (operator, math, builtins):
        if hasattr(module, name):
            return getattr(module, name)
    return getattr(taeda, name)
