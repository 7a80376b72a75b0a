"""`Proxy`: stands for a value while a program is traced, and records what the program does with it."""

from __future__ import annotations

import dataclasses
import dis
import enum
import inspect
import operator
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import taeda
from taeda._library.ops import OpOverload, OpOverloadPacket
from taeda.fx import traceback as fx_traceback
from taeda.fx._naming import name_of_target
from taeda.fx.graph import Graph
from taeda.fx.node import Argument, Node, Target, map_aggregate

__all__ = [
    "Attribute", "GraphAppendingTracer", "MetaProxy", "ParameterProxy", "Proxy", "Scope", "ScopeContextManager",
    "TraceError", "TracerBase",
]  # fmt: skip

_CONSTANTS = (
    str, int, float, bool, complex, bytes, type(None), type(...), taeda.dtype, taeda.device, taeda.memory_format,
    taeda.layout, taeda.Tensor,
)  # fmt: skip
_TYPES = (bool, int, float, complex)  # as in x.to(float)


class TraceError(ValueError):
    """The program did something with a traced value that a graph cannot hold."""


class Scope:
    """A module that is being traced: its dotted path and its class."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path = module_path
        self.module_type = module_type


class ScopeContextManager:
    """Within, a tracer's scope says that it is in a module; afterwards it is as before.

    Args:
        scope: what changes.
        current_scope: what it is within.
    """

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._scope = scope
        self._before = Scope(scope.module_path, scope.module_type)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *error: Any) -> None:
        self._scope.module_path, self._scope.module_type = self._before.module_path, self._before.module_type


class TracerBase:
    """Turns calls into nodes of ``graph``; what every tracer does, wherever its graph comes from."""

    graph: Graph
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"
    module_stack: dict[str, Any]

    def create_node(
        self, kind: str, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Argument],
        name: str | None = None, type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Adds a node to the graph; the arguments hold nodes, not proxies."""
        if self.check_mutable_operations and kind == "call_function" and callable(target):
            from taeda.fx.operator_schemas import check_for_mutable_operation

            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        node.meta.update(fx_traceback.inherited())
        stack = getattr(self, "module_stack", None)
        if stack:
            node.meta["nn_module_stack"] = dict(stack)
        return node

    def proxy(self, node: Node) -> Proxy:
        """The proxy for a node."""
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None,
        type_expr: Any = None, proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Any:  # fmt: skip
        """Records a call whose arguments hold proxies and constants; returns the proxy for its result.

        Raises:
            NotImplementedError: an argument is nothing that a graph can hold.
        """
        nodes = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, *nodes, name, type_expr)
        if self.record_stack_traces:
            frames = [f for f in traceback.extract_stack() if not f.filename.startswith(_OWN_FOLDER)]
            node.stack_trace = "".join(traceback.format_list(frames))
        return proxy_factory_fn(node) if proxy_factory_fn is not None else self.proxy(node)

    def create_arg(self, a: Any) -> Argument:
        """What a graph holds for an argument of the program: nodes for proxies, constants as they are.

        Raises:
            NotImplementedError: for anything else.
            RuntimeError: a key of a dict is a proxy.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            if hasattr(a, "_fields"):
                return self.create_node("call_function", type(a), tuple(map(self.create_arg, a)), {})
            return tuple(map(self.create_arg, a))
        if isinstance(a, list):
            return list(map(self.create_arg, a))
        if isinstance(a, dict):
            for key in a:
                if isinstance(key, Proxy):
                    raise RuntimeError(f"taeda.fx: a dict with the traced value {key} as a key cannot be an argument")
            return {key: self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice):
            return slice(*map(self.create_arg, (a.start, a.stop, a.step)))
        if isinstance(a, (range, Node, OpOverload, OpOverloadPacket, enum.Enum, *_CONSTANTS)):
            return a
        if any(a is kind for kind in _TYPES):
            return a
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            fields = {f.name: self.create_arg(getattr(a, f.name)) for f in dataclasses.fields(a) if f.init}
            return self.create_node("call_function", type(a), (), fields)
        raise NotImplementedError(f"taeda.fx: a graph cannot hold an argument of type {type(a).__name__}: {a!r}")

    def to_bool(self, obj: Proxy) -> bool:
        """What a condition on a traced value gives; TraceError unless a subclass knows better."""
        raise TraceError(
            f"taeda.fx: the program branches on {obj!r}, whose value exists only when the graph runs. Decide on "
            "something that is known now (concrete_args of symbolic_trace fixes an argument), select with torch.where, "
            "or make the branch one step with taeda.fx.wrap or by a leaf module"
        )

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """What a loop over a traced value gives: its items if they are unpacked into a known number of names.

        Raises:
            TraceError: anywhere else.
        """
        frame = inspect.currentframe()
        frame = frame and frame.f_back and frame.f_back.f_back
        if frame is not None:
            here = next((i for i in dis.get_instructions(frame.f_code) if i.offset == frame.f_lasti), None)
            if here is not None and here.opname == "UNPACK_SEQUENCE" and here.argval is not None:
                return (operator.getitem(obj, i) for i in range(here.argval))
        raise TraceError(
            f"taeda.fx: the program loops over {obj!r}, whose length exists only when the graph runs. Unpack it "
            "into names (a, b = x), index it, or make the loop one step with taeda.fx.wrap or by a leaf module; *x and "
            "**x in a call are loops, too"
        )

    def keys(self, obj: Proxy) -> Any:
        """What ``obj.keys()`` gives, as ``**obj`` needs it."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds to a graph what is done with the proxies of its nodes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Proxy:
    """Stands for the value of a node. Calls, operators, attributes and functions of it become nodes, too.

    Args:
        node: the node.
        tracer: records what happens; by default, at the end of the node's graph.
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.node = node
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.node.name})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):  # a protocol asks whether this takes part
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return Attribute(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __len__(self) -> int:
        raise RuntimeError(
            f"taeda.fx: len({self.node}) exists only when the graph runs, and Python wants it now. Use .size(0) or "
            '.shape, or say taeda.fx.wrap("len") at the top of the file, which makes len a step of the graph'
        )

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise TypeError(
            f"taeda.fx: {self.node}[...] = ... would change a value that other steps may use. Build the result with "
            "torch.where, torch.cat or index_put, or call operator.setitem through taeda.fx.wrap"
        )

    def keys(self) -> Any:
        """The keys, as a step of the graph."""
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tracer = _common_tracer(args, kwargs)
        if isinstance(orig_method, (type(taeda._C.TensorBase.add), type(object.__getattribute__))):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=name_of_target(orig_method))


def _common_tracer(*arguments: Any) -> TracerBase:
    """The tracer of the proxies among the arguments; RuntimeError if there are several."""
    tracers: dict[int, TracerBase] = {}

    def visit(leaf: Any) -> Any:
        if isinstance(leaf, Proxy):
            tracers[id(leaf.tracer)] = leaf.tracer
        return leaf

    map_aggregate(arguments, visit)
    if len(tracers) != 1:
        raise RuntimeError(f"taeda.fx: expected the traced values of one tracer in a call; got those of {len(tracers)}")
    return next(iter(tracers.values()))


class Attribute(Proxy):
    """An attribute of a traced value. Called, it is a method; else its node is made on first use."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that fetches the attribute."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class MetaProxy(Proxy):
    """Stands for a value whose node has a fake tensor in ``meta["val"]``; so have the nodes of what is done with it.

    Args:
        node: the node.
        tracer: records what happens.
        fake_mode: the mode of the fake tensors.
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None, fake_mode: Any = None) -> None:
        super().__init__(node, tracer)
        self.fake_mode = fake_mode

    def __repr__(self) -> str:
        return f"MetaProxy({self.node.name})"

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        found: list[MetaProxy] = []

        def value_of(leaf: Any) -> Any:
            if isinstance(leaf, MetaProxy):
                found.append(leaf)
                return leaf.node.meta["val"]
            return leaf

        values, named = map_aggregate((args, kwargs), value_of)
        proxy = super().__torch_function__(orig_method, types, args, kwargs)
        proxy.node.meta["val"] = orig_method(*values, **named)
        return MetaProxy(proxy.node, proxy.tracer, found[0].fake_mode)


class ParameterProxy(Proxy):
    """Stands for a parameter whose shape counts as known: it answers ``shape``, ``size``, ``dim`` and their like."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.name = name
        self.param = param

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """The parameter's shape."""
        return self.param.shape

    @property
    def ndim(self) -> int:
        """The parameter's number of dimensions."""
        return int(self.param.ndim)

    def size(self, *args: Any) -> Any:
        """The parameter's ``size``."""
        return self.param.size(*args)

    def dim(self) -> int:
        """The parameter's number of dimensions."""
        return int(self.param.dim())

    def numel(self) -> int:
        """The parameter's number of elements."""
        return int(self.param.numel())

    def nelement(self) -> int:
        """The parameter's number of elements."""
        return int(self.param.numel())


_OWN_FOLDER = __file__.rpartition("/")[0]
_UNARY_AND_COMPARISONS = ("eq", "ne", "lt", "gt", "le", "ge", "pos", "neg", "invert", "abs", "getitem")
_BINARY = ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift", "matmul", "and", "or", "xor")


def _step(function: Callable[..., Any], reflected: bool = False) -> Callable[..., Any]:
    def record(self: Proxy, *others: Any) -> Any:
        args = (*others, self) if reflected else (self, *others)
        return self.tracer.create_proxy("call_function", function, args, {})

    return record


for _name in (*_UNARY_AND_COMPARISONS, *_BINARY):
    _method = f"__{_name}__"
    setattr(Proxy, _method, _step(getattr(operator, _method)))
    if _name in _BINARY:
        setattr(Proxy, f"__r{_name}__", _step(getattr(operator, _method), reflected=True))
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]
