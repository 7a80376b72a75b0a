"""`make_fx`: the graph of the ops that a function runs on example arguments, below autograd and function transforms."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._control_flow import capturing
from taeda._library.fake_tensor import FakeTensor, FakeTensorMode
from taeda._schema.symbols import SymBool, SymFloat, SymInt, _Symbol
from taeda.export._values import watched_values
from taeda.fx._lazy_graph_module import _make_graph_module
from taeda.fx._symbolic_trace import PH, _annotation
from taeda.fx.experimental import _proxy_mode
from taeda.fx.experimental._proxy_mode import (
    ProxyTorchDispatchMode,
    PythonKeyTracer,
    Table,
    _GraphAppendingTracerEx,
    _ModuleStackTracer,
    disable_proxy_modes_tracing,
    get_innermost_proxy_mode,
    get_proxy_slot,
    has_proxy_slot,
    set_proxy_slot,
    track_tensor,
    track_tensor_tree,
)
from taeda.fx.experimental._recording import sizes_as_values
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.interpreter import Interpreter
from taeda.fx.proxy import Proxy
from taeda.utils import _pytree as pytree
from taeda.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

__all__ = [
    "DecompositionInterpreter",
    "ProxyTorchDispatchMode",
    "PythonKeyTracer",
    "decompose",
    "disable_autocast_cache",
    "disable_proxy_modes_tracing",
    "dispatch_trace",
    "fake_signature",
    "get_innermost_proxy_mode",
    "get_isolated_graphmodule",
    "get_proxy_mode",
    "get_proxy_slot",
    "get_torch_dispatch_modes",
    "has_proxy_slot",
    "is_sym_node",
    "make_fx",
    "maybe_disable_thunkify",
    "maybe_enable_thunkify",
    "py_sym_types",
    "set_proxy_slot",
    "track_tensor",
    "track_tensor_tree",
    "wrapper_and_args_for_make_fx",
]

py_sym_types = (SymInt, SymFloat, SymBool)
_MODES = ("real", "fake", "symbolic")


def get_proxy_mode() -> ProxyTorchDispatchMode | None:
    """The mode that records ops into a graph; None while none does."""
    return get_innermost_proxy_mode()


def get_torch_dispatch_modes() -> list[TorchDispatchMode]:
    """All dispatch modes that are on, outermost first."""
    return _get_current_dispatch_mode_stack()


def is_sym_node(node: Any) -> bool:
    """Whether a node's value is a number that the graph calculates."""
    return isinstance(node.meta.get("val"), py_sym_types)


@contextlib.contextmanager
def decompose(decomposition_table: Table | None) -> Iterator[Table]:
    """Within, the graphs that are recorded have in place of an op what its function in the table runs."""
    before = _proxy_mode.CURRENT_DECOMPOSITION_TABLE
    _proxy_mode.CURRENT_DECOMPOSITION_TABLE = decomposition_table or {}
    try:
        yield _proxy_mode.CURRENT_DECOMPOSITION_TABLE
    finally:
        _proxy_mode.CURRENT_DECOMPOSITION_TABLE = before


@contextlib.contextmanager
def disable_autocast_cache() -> Iterator[None]:
    """Within, autocast converts a parameter each time, so that each conversion is recorded."""
    before = taeda.is_autocast_cache_enabled()
    taeda.set_autocast_cache_enabled(False)
    try:
        yield
    finally:
        taeda.set_autocast_cache_enabled(before)


@contextlib.contextmanager
def maybe_disable_thunkify() -> Iterator[None]:
    """Within, calculations on sizes are recorded when they are made: they always are."""
    yield


maybe_enable_thunkify = maybe_disable_thunkify


def fake_signature(fn: Callable[..., Any], nargs: int) -> Callable[..., Any]:
    """``fn``, with ``nargs`` arguments that have names."""
    return _with_names(fn, [f"arg{i}" for i in range(nargs)])


def _with_names(fn: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    given = ", ".join(names)
    made: Callable[..., Any] = eval(f"lambda {given}: _of_these({given})", {"_of_these": fn})
    made.__name__ = getattr(fn, "__name__", type(fn).__name__)
    return made


def dispatch_trace(
    root: nn.Module | Callable[..., Any], tracer: Any, concrete_args: tuple[Any, ...] | None = None
) -> GraphModule:
    """The module of what ``tracer`` records of ``root``, without what nobody uses of constants."""
    named: Any = concrete_args
    if isinstance(concrete_args, tuple):
        names = list(inspect.signature(inspect.unwrap(root)).parameters)
        if len(names) != len(concrete_args):
            raise RuntimeError(
                f"taeda.fx.experimental.dispatch_trace: the function takes {len(names)} arguments; got "
                f"{len(concrete_args)}"
            )
        named = dict(zip(names, concrete_args, strict=True))
    graph = tracer.trace(root, named)
    for node in reversed(graph.nodes):  # a size that was only looked at leaves no trace
        if not node.users and (node.op == "get_attr" or (node.op == "call_function" and is_sym_node(node))):
            graph.erase_node(node)
    name = type(root).__name__ if isinstance(root, nn.Module) else getattr(root, "__name__", "function")
    return _make_graph_module(tracer.root, graph, name)


class _Trace:
    """One call of what `make_fx` returns."""

    def __init__(self, f: Callable[..., Any], options: dict[str, Any]) -> None:
        self.f, self.options = f, options
        self.mode: str = options["tracing_mode"]
        wants_stack = options["record_module_stack"] and isinstance(f, nn.Module)
        self.tracer = _ModuleStackTracer(f) if wants_stack and isinstance(f, nn.Module) else PythonKeyTracer()
        self.tracer.varying = self.mode == "symbolic"
        self.tracer.record_stack_traces = options["record_stack_traces"]

    def run(self, args: tuple[Any, ...]) -> GraphModule:
        f: Any = self.f
        places = pytree.tree_map(lambda _: PH, args)
        code = getattr(inspect.unwrap(f), "__code__", None)
        if code is None or code.co_flags & inspect.CO_VARARGS:
            names = [f"arg{i}" for i in range(len(places))]
        else:
            names = list(inspect.signature(inspect.unwrap(f)).parameters)
        mode = ProxyTorchDispatchMode(
            self.tracer, self.mode, self.options["pre_dispatch"],
            _error_on_data_dependent_ops=self.options["_error_on_data_dependent_ops"],
        )  # fmt: skip
        with contextlib.ExitStack() as stack:
            fake = self._fake_mode(args)
            stack.enter_context(disable_proxy_modes_tracing())
            if self.mode == "symbolic":  # on values, so that item() has one, but not on the caller's
                stack.enter_context(taeda.random.fork_rng())
                args = pytree.tree_map(_copied, args)
            if fake is not None:
                args = pytree.tree_map(lambda x: fake.from_tensor(x) if isinstance(x, Tensor) else x, args)
            stack.enter_context(decompose(self.options["decomposition_table"]))
            stack.enter_context(disable_autocast_cache())
            recorded = _with_names(self._recorded(f, args, mode, fake), names)
            made = dispatch_trace(recorded, self.tracer, tuple(places))
            if kind := _annotation(getattr(inspect.unwrap(f), "__annotations__", {}), "return"):
                made.graph.output_node().type = kind
                made.recompile()
            for part in (made, *self.tracer.recording.subgraphs.values()):
                self.tracer.recording.describe_examples(part.graph)
        recording = self.tracer.recording
        if self.mode == "symbolic":
            made.shape_env = recording  # type: ignore[assignment]
            recording.show_sizes(made)
        return made

    def _fake_mode(self, args: Any) -> Any:
        """The mode of the fake tensors that are given, or a new one where the trace wants it."""
        given = next((x.fake_mode for x in pytree.tree_leaves(args) if isinstance(x, FakeTensor)), None)
        if self.mode != "fake":
            return given if self.mode == "symbolic" else None
        return given or FakeTensorMode(allow_non_fake_inputs=self.options["_allow_non_fake_inputs"])

    def _recorded(self, f: Any, args: Any, mode: ProxyTorchDispatchMode, fake: Any) -> Callable[..., Any]:
        """``f`` of proxies: it runs on the example's values, and gives what stands for its results."""

        def run(*proxies: Any) -> Any:
            recording = self.tracer.recording
            leaves, spec = pytree.tree_flatten(args)
            inputs = pytree.tree_leaves(proxies)
            values = [recording.add_input(v, p.node) for v, p in zip(leaves, inputs, strict=True)]
            with contextlib.ExitStack() as stack:
                stack.enter_context(watched_values())
                stack.enter_context(capturing(recording))
                if fake is not None:
                    stack.enter_context(fake)
                stack.enter_context(mode)
                stack.enter_context(sizes_as_values(recording))
                result = f(*pytree.tree_unflatten(values, spec))
                if recording.pre_dispatch:
                    recording.note_gradient_mode(taeda.is_grad_enabled())
            for name, part in recording.subgraphs.items():  # of branches and loops
                setattr(self.tracer.root, name, part)
            return pytree.tree_map(self._of_graph, result)

        run.__name__ = getattr(f, "__name__", type(f).__name__)
        return run

    def _of_graph(self, value: Any) -> Any:
        if isinstance(value, (Tensor, _Symbol)):
            node = self.tracer.recording.node_of(value)
            return Proxy(node, self.tracer) if isinstance(node, taeda.fx.Node) else node
        return value


def _copied(value: Any) -> Any:
    if not isinstance(value, Tensor) or isinstance(value, FakeTensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def make_fx(
    f: Callable[..., Any], decomposition_table: Table | None = None, tracing_mode: str = "real",
    _allow_non_fake_inputs: bool = False, *, pre_dispatch: bool = False, record_module_stack: bool = False,
    _allow_fake_constant: bool = False, _error_on_data_dependent_ops: bool = True, record_stack_traces: bool = False,
    proxy_module_inputs: bool = False, _disable_torch_fn_metadata_mode: bool = False,
) -> Callable[..., GraphModule]:  # fmt: skip
    """A function that runs ``f`` on example arguments and returns the graph of the ops that reached kernels.

    What autograd, ``torch.func`` and modules add is part of it: ``make_fx(torch.func.grad(loss))(x)`` has the ops of
    the derivative. Arguments and results may be nested.

    Args:
        f: a function or module.
        decomposition_table: functions to run in place of some ops; see ``torch._decomp.get_decompositions``.
        tracing_mode: ``"real"`` runs on the arguments themselves, ``"fake"`` on tensors without elements,
            ``"symbolic"`` likewise, and sizes that the function reads are values of the graph.
        pre_dispatch: the ops are those that the program calls, before autograd, and composites whole.
        record_module_stack: notes for each node in which modules it was called.
        record_stack_traces: notes for each node where the program called it.

    Raises:
        ValueError: there is no such ``tracing_mode``.
        RuntimeError: the function asks for a value of a tensor that is traced.

    ::

        make_fx(lambda x: torch.nn.functional.linear(x, x))(torch.ones(2, 2)).code
    """
    if tracing_mode not in _MODES:
        raise ValueError(f"taeda.fx.experimental.make_fx: tracing_mode must be one of {_MODES}; got {tracing_mode!r}")
    options = {
        "decomposition_table": decomposition_table, "tracing_mode": tracing_mode, "pre_dispatch": pre_dispatch,
        "_allow_non_fake_inputs": _allow_non_fake_inputs, "record_module_stack": record_module_stack,
        "_error_on_data_dependent_ops": _error_on_data_dependent_ops, "record_stack_traces": record_stack_traces,
    }  # fmt: skip

    @functools.wraps(f)
    def wrapped(*args: Any) -> GraphModule:
        return _Trace(f, options).run(args)

    return wrapped


def wrapper_and_args_for_make_fx(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[[list[Any]], Any], list[Any]]:
    """A function of one list that calls ``func``, and the list for these arguments: `make_fx` takes no keywords."""
    leaves, spec = pytree.tree_flatten((args, kwargs))

    def wrapped(given: list[Any]) -> Any:
        inner_args, inner_kwargs = pytree.tree_unflatten(given, spec)
        return func(*inner_args, **inner_kwargs)

    return wrapped, leaves


def get_isolated_graphmodule(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], tracing_mode: str = "real",
    decomposition_table: Table | None = None,
) -> GraphModule:  # fmt: skip
    """`make_fx` of a call with keywords, of which a trace that is going on sees nothing."""
    wrapped, leaves = wrapper_and_args_for_make_fx(func, args, kwargs)
    with disable_proxy_modes_tracing():
        return make_fx(wrapped, decomposition_table, tracing_mode)(leaves)


class DecompositionInterpreter(Interpreter):
    """Runs a graph of ops and records it in another, with the functions of a table in place of some ops.

    Args:
        module: has the graph.
        new_graph: gets the nodes.
        decomposition_table: by op, what to run in its place.
    """

    def __init__(
        self, module: GraphModule, new_graph: Graph, decomposition_table: Table | None = None, **kwargs: Any
    ) -> None:
        super().__init__(module, **kwargs)
        self.new_graph = new_graph
        self.tracer = _GraphAppendingTracerEx(new_graph)
        self.tracer.root = module
        self.decomposition_table = decomposition_table or {}
        self.mode = ProxyTorchDispatchMode(self.tracer, tracing_mode="real")

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        value = super().placeholder(target, args, kwargs)
        node = self.tracer.create_node("placeholder", target, args, kwargs)
        return self.tracer.recording.add_input(value, node)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        value = super().get_attr(target, args, kwargs)
        node = self.tracer.create_node("get_attr", target, args, kwargs)
        return self.tracer.recording.add_input(value, node)

    def output(self, target: Any, args: Any, kwargs: Any) -> Any:
        value = super().output(target, args, kwargs)
        nodes = pytree.tree_map(lambda x: self.tracer.create_arg(x), value)
        self.tracer.create_node("output", target, (nodes,), kwargs)
        return value

    def run(self, *args: Any, **kwargs: Any) -> Any:
        with decompose(self.decomposition_table), self.mode:
            return super().run(*args, **kwargs)
