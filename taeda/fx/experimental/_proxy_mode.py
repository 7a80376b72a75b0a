"""The mode that records what reaches kernels, and the tracers of its graphs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from taeda import _C, Tensor, nn
from taeda._library.fake_tensor import FakeTensor
from taeda._library.ops import OpOverload
from taeda._schema.symbols import _Symbol
from taeda.fx._symbolic_trace import Tracer
from taeda.fx.experimental._implicit import parts_of
from taeda.fx.experimental._recording import Recording, recording_of
from taeda.fx.graph import Graph
from taeda.fx.node import Argument, Node
from taeda.fx.proxy import GraphAppendingTracer, Proxy, TracerBase
from taeda.utils import _pytree as pytree
from taeda.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

Table = Mapping[OpOverload, Callable[..., Any]]
CURRENT_DECOMPOSITION_TABLE: Table = {}


class _OfOps(TracerBase):
    """Makes the nodes of a graph of ops; parameters and constants become attributes of ``root``."""

    root: nn.Module
    varying = False
    enable_thunkify = False

    @property
    def recording(self) -> Recording:
        """What knows the nodes of tensors and symbols."""
        return recording_of(self, self.varying)

    def create_arg(self, a: Any) -> Argument:
        if isinstance(a, _Symbol):
            return self.recording.node_of(a)
        if isinstance(a, Tensor):
            known = self.recording.tracked(a)
            return self._constant(a) if known is None else known
        return super().create_arg(a)

    def _constant(self, tensor: Tensor) -> Node:
        """A node that fetches a tensor that the graph did not make."""
        is_parameter = isinstance(tensor, nn.Parameter)
        named = self.root.named_parameters() if is_parameter else vars(self.root).get("_buffers", {}).items()
        name = next((name for name, known in named if known is tensor), None)
        if name is None:
            prefix, number = "_param_constant" if is_parameter else "_tensor_constant", 0
            while getattr(self.root, f"{prefix}{number}", tensor) is not tensor:
                number += 1
            name = f"{prefix}{number}"
            setattr(self.root, name, tensor)
        return self.create_node("get_attr", name, (), {})

    def unwrap_proxy(self, e: Any) -> Any:
        """The proxy of a tensor or symbol that the graph has; anything else as it is."""
        return get_proxy_slot(e, self, e, lambda slot: getattr(slot, "proxy", slot))


class PythonKeyTracer(_OfOps, Tracer):
    """Records a function's ops: modules are run through."""

    def __init__(self) -> None:
        super().__init__(autowrap_modules=())

    def call_module(
        self, m: nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return forward(*args, **kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        return attr_val


class _GraphAppendingTracerEx(_OfOps, GraphAppendingTracer):
    """Adds ops to the end of a graph."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.root = nn.Module()


class _ModuleStackTracer(PythonKeyTracer):
    """Notes for each node the calls of modules of ``scope_root`` that it stands in."""

    def __init__(self, scope_root: nn.Module) -> None:
        super().__init__()
        self.scope_root = scope_root
        self._paths = {id(module): path for path, module in scope_root.named_modules() if path}

    def call_module(
        self, m: nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        path = self._paths.get(id(m))
        if path is None:
            return forward(*args, **kwargs)
        key = path
        while key in self.module_stack:
            key += "@"
        self.module_stack[key] = (path, type(m))
        try:
            return forward(*args, **kwargs)
        finally:
            del self.module_stack[key]


# Which proxy stands for a tensor


class _ProxyTensor:
    """The proxy of a tensor, and its value where the program made it of a constant."""

    def __init__(self, proxy: Proxy, constant: Tensor | None = None) -> None:
        self.proxy, self.constant = proxy, constant


_ABSENT: Any = object()


def get_proxy_slot(
    obj: Any, tracer: Any, default: Any = _ABSENT, transform: Callable[[Any], Any] = lambda slot: slot
) -> Any:
    """What stands in a tracer's graph for a tensor (a `_ProxyTensor`) or symbol (its `Proxy`).

    Raises:
        RuntimeError: nothing does, and there is no ``default``.
    """
    node: Any = None
    recording = tracer.recording
    if isinstance(obj, Tensor):
        node = recording.tracked(obj)
    elif isinstance(obj, _Symbol):
        node = recording.node_of(obj)
    if not isinstance(node, Node):
        if default is _ABSENT:
            raise RuntimeError(
                f"taeda.fx.experimental.get_proxy_slot: the graph has no {type(obj).__name__} like {obj}"
            )
        return default
    proxy = recording.proxies.setdefault(node, Proxy(node, tracer))
    return transform(_ProxyTensor(proxy, recording._known.get(id(obj))) if isinstance(obj, Tensor) else proxy)


def has_proxy_slot(obj: Any, tracer: Any) -> bool:
    """Whether anything stands for a tensor or symbol."""
    return get_proxy_slot(obj, tracer, None) is not None


def set_proxy_slot(obj: Any, tracer: Any, proxy: Any) -> None:
    """From now on a proxy stands for a tensor or symbol."""
    proxy = getattr(proxy, "proxy", proxy)
    recording = tracer.recording
    recording.proxies[proxy.node] = proxy
    if isinstance(obj, Tensor):
        recording.track(obj, proxy.node)
    elif isinstance(obj, _Symbol):
        recording.track_symbol(obj.node, proxy.node, obj.node.hint)


def track_tensor(tensor: Tensor, proxy: Proxy, *, constant: Tensor | None, tracer: Any) -> None:
    """From now on ``proxy`` stands for ``tensor``, which has the value ``constant`` if that is given."""
    set_proxy_slot(tensor, tracer, proxy)
    if constant is not None:
        tracer.recording._known[id(tensor)] = constant


def track_tensor_tree(inner_res: Any, proxy_res: Any, *, constant: Any, tracer: Any) -> Any:
    """`track_tensor` for each tensor of a result; what a tuple's proxy has is taken from it by index.

    Returns:
        ``inner_res``.
    """

    def track(value: Any, proxy: Any, known: Any) -> None:
        if isinstance(value, Tensor):
            track_tensor(value, proxy, constant=known, tracer=tracer)
            tracer.recording.describe(proxy.node, value)
        elif isinstance(value, _Symbol):
            set_proxy_slot(value, tracer, proxy)
            proxy.node.meta["val"] = value
        elif isinstance(value, (tuple, list)):
            if isinstance(proxy, Proxy):
                proxy.node.meta["val"] = pytree.tree_map(tracer.recording._snapshot, value)
            for i, item in enumerate(value):
                track(item, proxy[i], None if known is None else known[i])
        elif isinstance(value, dict):
            for key, item in value.items():
                track(item, proxy[key], None if known is None else known[key])

    track(inner_res, proxy_res, constant)
    return inner_res


# The mode


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Records the ops that reach kernels in the graph of ``tracer``. One records at a time: the innermost.

    Args:
        tracer: a `PythonKeyTracer`, or one like it.
        tracing_mode: ``"real"``, ``"fake"`` or ``"symbolic"``.
        pre_dispatch: ops are recorded as the program calls them, composites whole.
        decomposition_table: what to run in place of some ops.
    """

    def __init__(
        self, tracer: Any, tracing_mode: str = "real", pre_dispatch: bool = False, _allow_fake_constant: bool = False,
        _error_on_data_dependent_ops: bool = True, decomposition_table: Table | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.tracer, self.tracing_mode, self.pre_dispatch = tracer, tracing_mode, pre_dispatch
        self.decomposition_table = decomposition_table
        self.enable_tracing = True
        self._asks_values = _error_on_data_dependent_ops
        self._former: list[Any] = []

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    def __enter__(self) -> ProxyTorchDispatchMode:
        outer = disable_proxy_modes_tracing()
        outer.__enter__()
        self.tracer.recording.pre_dispatch = self.pre_dispatch
        listener = _C._set_capture(self._called if self.pre_dispatch else None)
        self._former.append((outer, listener))
        super().__enter__()
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        super().__exit__(exc_type, exc_value, traceback)
        outer, listener = self._former.pop()
        _C._set_capture(listener)
        outer.__exit__(None, None, None)

    def _called(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An op as the program calls it."""
        recording = self.tracer.recording
        given = recording._taken(op)
        before, self.enable_tracing = self.enable_tracing, False  # what the op does below is not the program's
        try:
            with self._paused(recording):
                return self._run(op, args, kwargs, given)
        finally:
            self.enable_tracing = before

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if not self.enable_tracing:
            return func(*args, **kwargs)
        if any(_is_foreign(x) for x in pytree.tree_leaves((args, kwargs))):
            return NotImplemented
        recording = self.tracer.recording
        given = recording.inherited(func, args) if recording.varying else {}
        with self._paused(recording):
            return self._run(func, args, kwargs, given)

    @contextlib.contextmanager
    def _paused(self, recording: Recording) -> Iterator[None]:
        """What the recorder itself asks for is not the program's."""
        recorder = _C._set_size_recorder(None)
        try:
            yield
        finally:
            _C._set_size_recorder(recorder)

    def _run(self, op: OpOverload, args: Any, kwargs: Any, given: Any) -> Any:
        recording = self.tracer.recording
        recording.asks_values = self._asks_values
        body = self._table().get(op)
        if body is None and not self.pre_dispatch:
            body = parts_of(op)
        if body is not None:
            result = self._taken_apart(body, args, kwargs, given, op)
            if result is not NotImplemented:
                return result
        return recording.answer(op, args, kwargs, given)

    def _table(self) -> Table:
        return CURRENT_DECOMPOSITION_TABLE if self.decomposition_table is None else self.decomposition_table

    def _taken_apart(self, body: Callable[..., Any], args: Any, kwargs: Any, given: Any, op: OpOverload) -> Any:
        """What an op is made of, recorded."""
        recording = self.tracer.recording
        names = [parameter.name for parameter in op._schema.arguments]
        args = [_with_symbols(a, given.get(n)) for a, n in zip(args, names)]
        recorder = _C._set_size_recorder(recording if recording.varying else None)
        try:
            if self.pre_dispatch:
                return recording.recorded(lambda: body(*args, **kwargs))
            with self:
                return body(*args, **kwargs)
        finally:
            _C._set_size_recorder(recorder)


def _with_symbols(value: Any, symbols: dict[int | None, Any] | None) -> Any:
    if not symbols:
        return value
    return symbols[None] if None in symbols else [symbols.get(i, v) for i, v in enumerate(value)]


def _is_foreign(value: Any) -> bool:
    """Whether a tensor's class wants the op first: it will call others on what it holds."""
    if not isinstance(value, Tensor) or type(value) in (Tensor, nn.Parameter) or isinstance(value, FakeTensor):
        return False
    own = getattr(type(value), "__torch_dispatch__", None)
    return own is not None and own is not _C._disabled_torch_dispatch_impl


@contextlib.contextmanager
def disable_proxy_modes_tracing() -> Iterator[ProxyTorchDispatchMode | None]:
    """Within, nothing is recorded; yields the mode that was on."""
    stack = _get_current_dispatch_mode_stack()
    recording = [mode for mode in stack if isinstance(mode, ProxyTorchDispatchMode)]
    others = [mode for mode in stack if not isinstance(mode, ProxyTorchDispatchMode)]
    listener, recorder = _C._set_capture(None), _C._set_size_recorder(None)
    _exchange(stack, others if recording else stack)
    try:
        yield recording[-1] if recording else None
    finally:
        _exchange(others if recording else stack, stack)
        _C._set_size_recorder(recorder)
        _C._set_capture(listener)


Recording.without_mode = staticmethod(disable_proxy_modes_tracing)


def _exchange(old: list[Any], new: list[Any]) -> None:
    if old == new:
        return
    for _ in old:
        _C._pop_torch_dispatch_mode()
    for mode in new:
        _C._push_torch_dispatch_mode(mode)


def get_innermost_proxy_mode() -> ProxyTorchDispatchMode | None:
    """The innermost mode that records ops into a graph; None outside of all."""
    stack = _get_current_dispatch_mode_stack()
    return next((mode for mode in reversed(stack) if isinstance(mode, ProxyTorchDispatchMode)), None)
