"""Records what a program calls while it runs, at the dispatcher, as nodes of a graph; sizes are values."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from taeda import _C, Tensor, ops
from taeda._schema.recorder import SizeRecorder
from taeda._schema.symbols import SymNode, _Symbol
from taeda._schema.types import DictType, FloatType, IntType, ListType, StringType, TensorType, Type
from taeda.autograd.profiler import _marks as marks
from taeda.jit._graph import ScriptObject
from taeda.jit._ir_types import FunctionType
from taeda.jit.ir import Graph, Node, Value
from taeda.jit.source import SourceRange
from taeda.jit.tracing.methods import MARK, READS, Attributes, ModuleCall
from taeda.jit.tracing.places import place_in, user_name, user_place
from taeda.jit.tracing.state import state

# How operations on sizes are called in graphs.
_ON_SIZES = {
    "add": "aten::add", "sub": "aten::sub", "mul": "aten::mul", "floordiv": "aten::floordiv", "truediv": "aten::div",
    "mod": "aten::remainder", "pow": "aten::pow", "neg": "aten::neg", "eq": "aten::eq", "ne": "aten::ne",
    "lt": "aten::lt", "le": "aten::le", "gt": "aten::gt", "ge": "aten::ge", "and_": "aten::__and__",
    "or_": "aten::__or__", "min": "prim::min", "max": "prim::max", "abs": "prim::abs", "ceil": "aten::ceil",
    "floor": "aten::floor", "sqrt": "aten::sqrt", "int": "aten::Int", "float": "aten::Float",
    "lshift": "aten::__lshift__", "rshift": "aten::__rshift__", "sym_not": "aten::__not__",
    "not_": "aten::__not__", "round": "aten::round",
}  # fmt: skip
# Ops that make numbers of tensors: what becomes of them is no part of the graph.
_NUMBERS = {
    "_local_scalar_dense": "a number was taken out of a tensor",
    "is_nonzero": "the program went on by the value of a tensor",
    "equal": "tensors were compared",
    "allclose": "tensors were compared",
}


class TracerWarning(Warning):
    """A warning about what a trace does not record."""


class Fixed(NamedTuple):
    """What a trace took from its example for good: a value, a branch or a size."""

    what: str
    place: SourceRange | None

    def __str__(self) -> str:
        where = "" if self.place is None else f" at {self.place.place()}: {self.place.text.strip()}"
        return f"{self.what}{where}"


class Recorder(SizeRecorder):
    """Records the calls of its thread within ``with recorder:``.

    Args:
        owner: names what belongs to the traced module, as the path of an attribute; None if it is no such.
        strict: whether lists and dicts are refused as results.
    """

    def __init__(self, owner: Callable[[Any], Sequence[str] | None], strict: bool = True) -> None:
        super().__init__()
        self.graph = Graph()
        self.owner, self.strict = owner, strict
        self.outplace = False  # ops that write into tensors are recorded as those that give new ones
        self.attributes: Attributes | None = None  # of the traced module
        self.calls: list[ModuleCall] = []
        self.fixed: list[Fixed] = []
        self.listens = False
        self.scopes: list[str] = []
        self._tensors: dict[int, tuple[Tensor, Value]] = {}
        self._objects: dict[Any, Value] = {}  # that ops gave
        self._numbers: dict[int, tuple[SymNode, Value]] = {}
        self._given: tuple[Any, dict[str, dict[int | None, Any]]] | None = None
        self._former: Any = None

    def __enter__(self) -> Recorder:
        super().__enter__()
        self._former = _C._set_capture(self.call)
        state.recorders.append(self)
        self._marks = marks.begin, marks.end
        profiler: Any = ops.profiler
        marks.begin, marks.end = profiler._record_function_enter_new, profiler._record_function_exit
        self.listens = True
        return self

    def __exit__(self, *error: Any) -> None:
        self.listens = False
        marks.begin, marks.end = self._marks
        state.recorders.pop()
        _C._set_capture(self._former)
        super().__exit__(*error)

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """What is called within is not recorded."""
        listener, recorder, listened = _C._set_capture(None), _C._set_size_recorder(None), self.listens
        self.listens = False
        try:
            yield
        finally:
            self.listens = listened
            _C._set_size_recorder(recorder)
            _C._set_capture(listener)

    # --- Values
    def track(self, tensor: Tensor, value: Value) -> None:
        """From now on the tensor is this value."""
        self._tensors[id(tensor)] = tensor, value
        with self.quiet():
            value.inferTypeFrom(tensor)

    def value_of(self, value: Any, wanted: Type | None = None) -> Value:
        """A tensor, number or collection of the program as a value of the graph."""
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, _Symbol):
            return self._number(value.node)
        if isinstance(value, (list, tuple)) and not (isinstance(value, tuple) and _is_tuple(wanted)):
            return self._list(value, wanted)
        if isinstance(value, tuple):
            items = [self.value_of(item) for item in value]
            type = _C._make_type("TupleType", tuple(item.static_type for item in items))
            return self.emit("prim::TupleConstruct", items, [type]).output()
        if isinstance(value, dict):
            return self._dict(value)
        if isinstance(value, ScriptObject) and (made := self._objects.get(value._c)) is not None:
            return made
        if isinstance(value, ScriptObject) and self.attributes is not None and (path := self.owner(value)) is not None:
            return self.attributes.at(tuple(path))
        return self.graph.insertConstant(value)

    def _tensor(self, tensor: Tensor) -> Value:
        found = self._tensors.get(id(tensor))
        if found is not None and found[0] is tensor:
            if not found[1]._name and (name := user_name(tensor)) is not None:
                found[1].setDebugName(name)
            return found[1]
        path = self.owner(tensor)
        if path is not None and self.attributes is not None:
            value = self.attributes.at(tuple(path))
        else:
            if tensor.requires_grad:
                raise RuntimeError(
                    "taeda.jit.trace: a tensor that requires grad is used that is neither an input nor a parameter of "
                    f"the traced module, shape {tuple(tensor.shape)}; pass it as an input, make it a parameter, or "
                    f"detach() it\n{user_place()}"
                )
            with self.quiet():
                held = tensor.detach()
            value = self.graph.insertConstant(held)
            value.inferTypeFrom(held)
        self._tensors[id(tensor)] = tensor, value
        return value

    def _number(self, node: SymNode) -> Value:
        found = self._numbers.get(id(node))
        return found[1] if found is not None else self.graph.insertConstant(node.hint)

    def _list(self, items: Sequence[Any], wanted: Type | None) -> Value:
        values = [self.value_of(item) for item in items]
        element = wanted.containedTypes()[0] if wanted is not None and _is_list(wanted) else None
        if element is None or element.kind() in ("VarType", "AnyType"):
            element = values[0].static_type if values else TensorType.get()
        if element.kind() == "SymIntType":
            element = IntType.get()
        return self.emit("prim::ListConstruct", values, [ListType(element)]).output()

    def _dict(self, entries: dict[Any, Any], held_as: Callable[[Any], Value] | None = None) -> Value:
        held_as = held_as or self.value_of
        parts = [part for k, v in entries.items() for part in (self.value_of(k), held_as(v))]
        key = parts[0].static_type if parts else StringType.get()
        held = parts[1].static_type if parts else TensorType.get()
        return self.emit("prim::DictConstruct", parts, [DictType(key, held)]).output()

    def emit(self, kind: str, inputs: Sequence[Value], types: Sequence[Type], place: SourceRange | None = None) -> Node:
        """A node at the end of the graph."""
        node = Node(self.graph, kind, inputs)
        for type in types:
            node.addOutput(type)
        node.range = place if place is not None else user_place()
        node.scope = "/".join(self.scopes)
        return self.graph.appendNode(node)

    # --- Ops
    def call(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answers an op of the program: runs it, and adds its node."""
        with self.quiet():
            result = op(*args, **kwargs)
            self._record(op, args, kwargs, result)
        return result

    def _record(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        given = self._symbols_for(op)
        if op._opname in _NUMBERS:
            if any(self._knows(leaf) for leaf in args):
                self._fix(_NUMBERS[op._opname])
            return
        inputs = []
        for i, argument in enumerate(op._schema.arguments):
            value = args[i] if i < len(args) else kwargs.get(argument.name, argument.default_value)
            inputs.append(self._argument(value, argument, given.get(argument.name)))
        types = [_shown(result.type) for result in op._schema.returns]
        node = self.emit(f"{op.namespace}::{self._name(op)}", inputs, types)
        node.overload = "" if op._overloadname == "default" else op._overloadname
        results = result if len(types) > 1 else (result,)
        for value, output in zip(results, node.outputs(), strict=False):
            self._result(value, output)

    def _name(self, op: Any) -> str:
        """The op's name; where nothing is to be written in place, that of the op that gives a new tensor."""
        from taeda.jit.check.operators import exists

        name: str = op._opname
        plain = name[:-1]
        written = self.outplace and name.endswith("_") and not name.endswith("__")
        return plain if written and exists(f"{op.namespace}::{plain}") else name

    def _knows(self, value: Any) -> bool:
        return isinstance(value, Tensor) and (id(value) in self._tensors or self.owner(value) is not None)

    def _argument(self, value: Any, argument: Any, symbols: dict[int | None, Any] | None) -> Value:
        type = argument.type
        while type.kind() == "OptionalType" and value is not None:
            type = type.containedTypes()[0]
        if symbols:
            if None in symbols and not _is_list(type):
                return self.value_of(symbols[None])
            items = list(value) if isinstance(value, (list, tuple)) else [value] * (argument.N or len(symbols))
            chosen = [symbols.get(i, symbols.get(None, item)) for i, item in enumerate(items)]
            return self._list(chosen, ListType(IntType.get()))
        if value is None:
            return self.graph.insertConstant(None)
        if _is_list(type) and not isinstance(value, (list, tuple)):
            value = [value] * (argument.N or 1)
        if type is FloatType.get() and isinstance(value, int):
            value = float(value)
        return self.value_of(value, type)

    def _result(self, value: Any, output: Value) -> None:
        """A result of the program is this value from now on, and so are the tensors in it."""
        if isinstance(value, Tensor):
            self.track(value, output)
        elif isinstance(value, ScriptObject):
            self._objects[value._c] = output
        elif isinstance(value, (list, tuple)) and any(isinstance(item, (Tensor, list, tuple, dict)) for item in value):
            is_tuple = output.static_type.kind() == "TupleType"
            types = output.static_type.containedTypes()
            parts = self.emit(
                "prim::TupleUnpack" if is_tuple else "prim::ListUnpack", [output],
                types if is_tuple else list(types) * len(value),
            )  # fmt: skip
            for item, part in zip(value, parts.outputs(), strict=True):
                self._result(item, part)
        elif isinstance(value, dict):
            for key, item in value.items():
                part = self.graph.insert("aten::__getitem__", [output, self.value_of(key)])
                self._result(item, part)

    def detached(self, tensor: Tensor) -> None:
        """``detach_`` is no op: what is traced makes another value of the tensor."""
        if self.listens and self._knows(tensor):
            with self.quiet():
                self.track(tensor, self.emit("aten::detach", [self._tensor(tensor)], [TensorType.get()]).output())

    def drop_unused_sizes(self) -> None:
        """Takes out what the program asked of sizes and the graph has no use for."""
        kinds = {*READS, *_ON_SIZES.values()}
        for node in self.graph.reversed_nodes():
            if node.kind() in kinds and not node.hasUses() and node.output().static_type.kind() != "TensorType":
                node.destroy()

    # --- Calls of modules
    def module_call(self, path: tuple[str, ...], names: Sequence[str], args: tuple[Any, ...], kwargs: dict[str, Any],
                    run: Callable[[], Any]) -> Any:  # fmt: skip
        """Runs a call of a module of the traced one, and notes where it begins and ends."""
        whole = {id(value): name for name, value in (*zip(names, args), *kwargs.items())}
        given = [(known[1], whole.get(id(held), "")) for held, known in self._known((*args, *kwargs.values()))]
        first, scope = self.graph.appendNode(Node(self.graph, MARK)), "/".join(self.scopes)
        results: list[Value] = []
        try:
            result = run()
            results = [known[1] for _, known in self._known((result,))]
        finally:
            last = self.graph.appendNode(Node(self.graph, MARK))
            self.calls.append(ModuleCall(path, scope, given, results, first, last))
        return result

    def _known(self, values: Sequence[Any]) -> Iterator[tuple[Any, tuple[Any, Value]]]:
        """The tensors and numbers that are values of the graph, with what is known of them, also in what holds them."""
        for value in values:
            if isinstance(value, (list, tuple)):
                yield from self._known(value)
            elif isinstance(value, dict):
                yield from self._known(list(value.values()))
            elif isinstance(value, Tensor) and (found := self._tensors.get(id(value))) and found[0] is value:
                yield value, found
            elif isinstance(value, _Symbol) and (number := self._numbers.get(id(value.node))):
                yield value, number

    # --- Scripted parts
    def scripted(self, function: Any, run: Callable[[], Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a compiled function stays a call: its branches and loops are in the graph."""
        from taeda.jit.check.function import MISSING

        with self.quiet():
            result = run()
            inputs = []
            for i, parameter in enumerate(function.parameters()):
                value = args[i] if i < len(args) else kwargs.get(parameter.name, parameter.default)
                value = None if value is MISSING else value
                inputs.append(self._argument(value, _Parameter(parameter.type), None))
            callee = self.graph.insertConstant(function, FunctionType(function))  # type: ignore[arg-type]
            node = self.emit("prim::CallFunction", [callee, *inputs], [function.return_type()])
            self._result(result, node.output())
        return result

    def scripted_method(self, module: Any, function: Any, run: Callable[[], Any], args: tuple[Any, ...],
                        kwargs: dict[str, Any]) -> Any:  # fmt: skip
        """Likewise a method of a compiled module that is part of the traced one."""
        path = self.owner(module)
        if path is None or self.attributes is None:
            return run()  # its ops are recorded, and its tensors are constants
        from taeda.jit.check.function import MISSING

        with self.quiet():
            result = run()
            inputs = [self.attributes.at(tuple(path))]
            for i, parameter in enumerate(function.parameters()[1:]):
                value = args[i] if i < len(args) else kwargs.get(parameter.name, parameter.default)
                value = None if value is MISSING else value
                inputs.append(self._argument(value, _Parameter(parameter.type), None))
            node = self.emit("prim::CallMethod", inputs, [function.return_type()])
            node.s_("name", function.name)
            self._result(result, node.output())
        return result

    # --- Sizes
    def read(self, tensor: Tensor, what: str, dim: int | None, value: int) -> Any:
        """A size that the program reads is a value of the graph."""
        if not self._knows(tensor):
            return value
        symbol = super().read(tensor, what, dim, value)
        if id(symbol.node) not in self._numbers:
            with self.quiet():
                inputs = [self._tensor(tensor)] + ([] if dim is None else [self.graph.insertConstant(dim)])
                node = self.emit(f"aten::{what}", inputs, [IntType.get()])
                node.overload = "" if dim is None else "int"
                self._numbers[id(symbol.node)] = symbol.node, node.output()
        return symbol

    def int_of(self, tensor: Tensor) -> Any:
        """The number in a tensor of the graph that an op takes as an int is a value of the graph."""
        with self.quiet():
            dtype = tensor.dtype
            if not self._knows(tensor) or dtype.is_floating_point or dtype.is_complex or tensor.numel() != 1:
                return None
            symbol = super().read(tensor, "item", None, int(tensor))
            if id(symbol.node) not in self._numbers:
                node = self.emit("aten::Int", [self._tensor(tensor)], [IntType.get()])
                node.overload = "Tensor"
                self._numbers[id(symbol.node)] = symbol.node, node.output()
        return symbol

    def operation(self, node: SymNode) -> None:
        """Arithmetic on sizes is part of the graph."""
        super().operation(node)
        kind = _ON_SIZES.get(node.operation)
        if kind is None:
            return self._fix(f"the graph has no {node.operation} of sizes: {node.expr} stays {node.hint}")
        with self.quiet():
            operands = [
                self._number(o) if isinstance(o, SymNode) else self.graph.insertConstant(o) for o in node.operands
            ]
            self._numbers[id(node)] = node, self.graph.insert(kind, operands)
            made = self._numbers[id(node)][1].node()
            made.range, made.scope = user_place(), "/".join(self.scopes)
        return None

    def guard(self, condition: SymNode, value: bool, place: tuple[str, int]) -> None:
        """The program went on by a size: the trace does the same for all sizes."""
        super().guard(condition, value, place)
        where = user_place() or place_in(*place)
        if isinstance(condition.hint, bool):
            self.fixed.append(Fixed(f"the branch for {condition.expr} being {value} was taken", where))
        else:
            self.fixed.append(Fixed(f"a size was fixed as {condition.hint}", where))

    def given(self, op: Any, arguments: list[tuple[str, int | None, Any]]) -> None:
        """Remembers which numbers of the next op are symbols."""
        table: dict[str, dict[int | None, Any]] = {}
        for name, index, symbol in arguments:
            table.setdefault(name, {})[index] = symbol
        self._given = op, table

    def _symbols_for(self, op: Any) -> dict[str, dict[int | None, Any]]:
        told, self._given = self._given, None
        if told is None:
            return {}
        names = {a.name for a in op._schema.arguments}
        if told[0] is not op and not told[1].keys() <= names:
            for items in told[1].values():
                for symbol in items.values():
                    self._fix(f"a size was fixed as {symbol.node.hint}")
            return {}
        return told[1]

    def _fix(self, what: str) -> None:
        place = user_place()
        fixed = Fixed(what, place)
        if fixed not in self.fixed:
            self.fixed.append(fixed)
            if "tensor" in what:
                warnings.warn(
                    f"taeda.jit.trace: {fixed}; the trace keeps what the example gave", TracerWarning, stacklevel=2
                )


class _Parameter(NamedTuple):
    type: Type
    N: int | None = None


def _is_list(type: Type | None) -> bool:
    return type is not None and type.kind() == "ListType"


def _is_tuple(type: Type | None) -> bool:
    return type is None or type.kind() == "TupleType"


def _shown(type: Type) -> Type:
    kind = type.kind()
    if kind in ("SymIntType", "ScalarTypeType", "LayoutType", "MemoryFormatType"):
        return IntType.get()
    return type
