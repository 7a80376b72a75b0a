"""Scripted modules under record: their graph is walked on the example.

Branches and loops on values become ``cond`` and ``while_loop``; all else is what the program calls.
"""

from __future__ import annotations

import builtins
import inspect
import math
import operator
import types
from collections.abc import Iterator
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._control_flow import current_capture, while_loop
from taeda._schema.symbols import SymBool, SymFloat, SymInt

_NUMBERS = ("int", "float", "bool")
_SYMBOLS = (SymInt, SymFloat, SymBool)


def is_scripted(module: Any) -> bool:
    """Whether a module or function was compiled from its source."""
    return hasattr(module, "inlined_graph") and not isinstance(module, Walked)


class Walked(nn.Module):
    """A scripted module whose ``forward`` is its graph, node by node."""

    def __init__(self, scripted: Any) -> None:
        super().__init__()
        self.__dict__["scripted"] = scripted
        self.__dict__["_graph"] = scripted.inlined_graph
        self.__dict__["_is_module"] = isinstance(scripted, nn.Module)
        self.training = scripted.training if self._is_module else False
        inputs = list(self._graph.inputs())[1 if self._is_module else 0 :]
        names = [v.debugName().split(".")[0] for v in inputs]
        names = [name if name.isidentifier() else f"argument_{i}" for i, name in enumerate(names)]
        defaults = _defaults(scripted, len(names))
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(n, kind, default=d) for n, d in zip(names, defaults)]
        self.__dict__["_signature"] = inspect.Signature(parameters)

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, nn.Parameter]]:
        """Those of the scripted module."""
        return self.scripted.named_parameters(*args, **kwargs) if self._is_module else iter(())

    def named_buffers(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Tensor]]:
        """Those of the scripted module."""
        return self.scripted.named_buffers(*args, **kwargs) if self._is_module else iter(())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["scripted"], name)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Walks the graph."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = [*([self.scripted] if self._is_module else []), *bound.arguments.values()]
        values = dict(zip(self._graph.inputs(), given))
        with taeda.set_grad_enabled(taeda.is_grad_enabled()):  # the program may leave a mode only where it ends
            results = _Walk(values).block(self._graph)
        return results[0] if len(results) == 1 else tuple(results)


def _defaults(scripted: Any, count: int) -> list[Any]:
    empty = inspect.Parameter.empty
    schema = getattr(getattr(scripted, "forward", scripted), "schema", None)
    arguments = list(schema.arguments)[-count:] if schema is not None and count else []
    if len(arguments) != count:
        return [empty] * count
    return [a.default_value if a.has_default_value() else empty for a in arguments]


class _Walk:
    """Values by those of the graph, and what each kind of node does with them."""

    def __init__(self, values: dict[Any, Any]) -> None:
        self.values = values

    def block(self, block: Any) -> list[Any]:
        """The results of a block."""
        for node in block.nodes():
            results = self.node(node)
            outputs = list(node.outputs())
            if len(outputs) == 1:
                self.values[outputs[0]] = results
            else:
                self.values.update(zip(outputs, results or ()))
        return [self.values[v] for v in block.outputs()]

    def node(self, node: Any) -> Any:
        """The results of a node."""
        kind = node.kind()
        if kind == "prim::Constant":
            return node.output().toIValue()
        args = [self.values[v] for v in node.inputs()]
        namespace, _, name = kind.partition("::")
        special = getattr(self, f"{namespace}_{name}", None)
        if special is not None:
            return special(node, *args)
        if namespace == "aten" and not any(isinstance(leaf, Tensor) for leaf in _flat(args)):
            function = _SCALARS.get(name)
            if function is not None:
                return function(*args)
        return _call(namespace, name, node.overload or "", args)

    # --- values
    def prim_GetAttr(self, node: Any, owner: Any) -> Any:
        return getattr(owner, node.s("name"))

    def prim_SetAttr(self, node: Any, owner: Any, value: Any) -> Any:
        setattr(owner, node.s("name"), value)

    def prim_ListConstruct(self, node: Any, *items: Any) -> Any:
        return list(items)

    def prim_TupleConstruct(self, node: Any, *items: Any) -> Any:
        return tuple(items)

    def prim_DictConstruct(self, node: Any, *items: Any) -> Any:
        return dict(zip(items[0::2], items[1::2]))

    def prim_ListUnpack(self, node: Any, items: Any) -> Any:
        return list(items) if len(list(node.outputs())) != 1 else items[0]

    prim_TupleUnpack = prim_ListUnpack

    def prim_TupleIndex(self, node: Any, items: Any, index: int) -> Any:
        return items[index]

    def prim_unchecked_cast(self, node: Any, value: Any) -> Any:
        return value

    def prim_Uninitialized(self, node: Any) -> Any:
        return None

    def prim_NumToTensor(self, node: Any, value: Any) -> Any:
        return value

    # --- objects of classes, and what `with` enters
    def prim_CreateObject(self, node: Any) -> Any:
        return types.SimpleNamespace()

    def prim_Enter(self, node: Any, owner: Any) -> Any:
        return self._method(node, "__enter__", owner)

    def prim_Exit(self, node: Any, owner: Any) -> Any:
        return self._method(node, "__exit__", owner, None, None, None)

    def _method(self, node: Any, name: str, *args: Any) -> Any:
        from taeda.jit._script import inlined
        from taeda.jit.check.classes import method_named

        graph = inlined(method_named(node.inputsAt(0), name).graph)
        (result,) = _Walk(dict(zip(graph.inputs(), args, strict=True))).block(graph)
        return result

    def aten_is_grad_enabled(self, node: Any) -> bool:
        return taeda.is_grad_enabled()

    def aten_set_grad_enabled(self, node: Any, mode: bool) -> None:
        taeda.set_grad_enabled(mode)

    def profiler__record_function_enter(self, node: Any, *_: Any) -> None:
        """Exported programs hold no marks of profiles."""

    def prim_RaiseException(self, node: Any, message: Any, *_: Any) -> Any:
        raise RuntimeError(str(message))

    def prim_Print(self, node: Any, *values: Any) -> Any:
        return None

    def aten_Bool(self, node: Any, value: Any) -> Any:
        return value if isinstance(value, (Tensor, *_SYMBOLS)) else builtins.bool(value)

    def aten_Int(self, node: Any, value: Any) -> Any:
        return value.item() if isinstance(value, Tensor) else value if isinstance(value, SymInt) else int(value)

    aten_IntImplicit = aten_Int

    def aten_Float(self, node: Any, value: Any) -> Any:
        return value.item() if isinstance(value, Tensor) else value if isinstance(value, SymFloat) else float(value)

    aten_FloatImplicit = aten_item = aten_ScalarImplicit = aten_Float

    def aten_size(self, node: Any, x: Tensor, dim: int | None = None) -> Any:
        return list(x.shape) if dim is None else x.size(dim)

    def aten_dim(self, node: Any, x: Tensor) -> int:
        return x.dim()

    def aten_len(self, node: Any, x: Any) -> Any:
        return x.size(0) if isinstance(x, Tensor) else len(x)

    def aten_append(self, node: Any, items: list[Any], item: Any) -> Any:
        items.append(item)
        return items

    def aten___getitem__(self, node: Any, items: Any, index: Any) -> Any:
        return items[index]

    def aten___is__(self, node: Any, a: Any, b: Any) -> bool:
        return a is b

    def aten___isnot__(self, node: Any, a: Any, b: Any) -> bool:
        return a is not b

    def aten___not__(self, node: Any, a: Any) -> Any:
        return taeda.logical_not(a) if isinstance(a, Tensor) else not a

    def prim_dtype(self, node: Any, x: Tensor) -> Any:
        return x.dtype

    def prim_is_nested(self, node: Any, x: Tensor) -> bool:
        return x.is_nested

    def prim_device(self, node: Any, x: Tensor) -> Any:
        return x.device

    # --- control flow
    def prim_If(self, node: Any, condition: Any) -> Any:
        then, other = node.blocks()
        single = len(list(node.outputs())) == 1
        if not isinstance(condition, (Tensor, SymBool)) or not _depends(condition):
            results = self.block(then if builtins.bool(condition) else other)
            return results[0] if single else results

        kinds = [str(v.type()) for v in node.outputs()]

        def branch(block: Any) -> Any:
            def run() -> Any:
                made = _Walk(dict(self.values)).block(block)
                return tuple(_as_tensor(v) if k in _NUMBERS and v is not None else v for v, k in zip(made, kinds))

            return run

        condition = condition.reshape(()) if isinstance(condition, Tensor) else condition
        made = taeda.cond(condition, branch(then), branch(other), ())
        # Truth values stay tensors: they are conditions.
        results = [v.item() if k in ("int", "float") and isinstance(v, Tensor) else v for v, k in zip(made, kinds)]
        return results[0] if single else results

    def prim_Loop(self, node: Any, most: Any, condition: Any, *carried: Any) -> Any:
        (body,) = node.blocks()
        numbers = (Tensor, int, float, bool, *_SYMBOLS)
        fixed = type(most) is int and type(condition) is bool
        if (fixed and most == 0) or not all(isinstance(v, numbers) for v in carried) or _changes_objects(body):
            results = self._unrolled(body, most, condition, list(carried))
        else:
            results = self._looped(body, most, condition, list(carried))
        return results[0] if len(results) == 1 else results

    def _unrolled(self, body: Any, most: Any, condition: Any, state: list[Any]) -> list[Any]:
        step, most = 0, int(most)
        inputs = list(body.inputs())
        while step < most and builtins.bool(condition):
            self.values.update(zip(inputs, [step, *state]))
            condition, *state = self.block(body)
            step += 1
        return state

    def _looped(self, body: Any, most: Any, condition: Any, state: list[Any]) -> list[Any]:
        inputs = list(body.inputs())
        values = self.values

        def holds(step: Any, go_on: Any, *_: Any) -> Any:
            return taeda.logical_and(go_on, step < most) if most is not None else go_on

        def again(step: Any, go_on: Any, *now: Any) -> Any:
            inner = _Walk(dict(values))
            inner.values.update(zip(inputs, [step.item(), *now]))
            flag, *new = inner.block(body)
            flag = flag.reshape(()) if isinstance(flag, Tensor) else taeda.tensor(builtins.bool(flag))
            return (step + 1, flag, *map(_as_tensor, new))

        first = condition.reshape(()) if isinstance(condition, Tensor) else taeda.tensor(builtins.bool(condition))
        start = taeda.tensor(0), first, *map(_as_tensor, state)
        results = while_loop(holds, again, tuple(start))[2:]
        return [r if isinstance(v, (Tensor, bool)) else r.item() for r, v in zip(results, state)]


_CHANGES = ("append", "insert", "extend", "pop", "_set_item", "clear", "Delete", "sort", "reverse", "remove")


def _changes_objects(block: Any) -> bool:
    """Whether lists, dicts or attributes are written to within: then every step is a part of the graph of its own."""
    for node in block.nodes():
        namespace, _, name = node.kind().partition("::")
        lists = namespace == "aten" and name in _CHANGES and not str(next(node.inputs()).type()).startswith("Tensor")
        if lists or node.kind() == "prim::SetAttr" or any(_changes_objects(inner) for inner in node.blocks()):
            return True
    return False


def _as_tensor(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, _SYMBOLS):
        number: Any = value
        return taeda.full((), number, dtype=taeda.int64 if isinstance(value, SymInt) else taeda.float64)
    return taeda.tensor(value)


def _depends(value: Any) -> bool:
    capture = current_capture()
    if not isinstance(value, Tensor):
        return True
    return capture is not None and capture.depends(value)


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def _call(namespace: str, name: str, overload: str, args: list[Any]) -> Any:
    packet = getattr(getattr(taeda.ops, namespace), name)
    found: Any = (
        getattr(packet, overload or "default", None) if (overload or "default") in packet.overloads() else packet
    )
    if hasattr(found, "_schema"):
        from taeda.fx.ir import by_type

        parameters = found._schema.arguments
        given = [by_type(value, str(p.real_type)) for value, p in zip(args, parameters)]
        plain = [v for v, p in zip(given, parameters) if not p.kwarg_only]
        named = {p.name: v for v, p in zip(given, parameters) if p.kwarg_only}
        try:
            return found(*plain, **named)
        except TypeError:
            return packet(*plain, **named)
    return found(*args)


_SCALARS: dict[str, Any] = {
    "add": lambda a, b, *_: a + b, "sub": lambda a, b, *_: a - b, "mul": operator.mul, "div": operator.truediv,
    "floordiv": operator.floordiv, "remainder": operator.mod, "pow": operator.pow, "neg": operator.neg,
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
    "abs": abs, "ceil": math.ceil, "floor": math.floor, "sqrt": math.sqrt, "__and__": lambda a, b: a and b,
    "__or__": lambda a, b: a or b, "max": max, "min": min, "slice": lambda x, a, b, c: x[a:b:c],
    "list": list, "format": lambda text, *values: text.format(*values), "str": str,
}  # fmt: skip
