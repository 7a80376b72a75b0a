"""`Tracer` and `symbolic_trace`: from a module or function to its graph, by running it once on proxies."""

from __future__ import annotations

import builtins
import copy
import functools as functools
import inspect
import math
import warnings
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType, ModuleType
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.fx._compatibility import compatibility as compatibility
from taeda.fx._lazy_graph_module import _LazyGraphModule, _make_graph_module
from taeda.fx._patches import Patches, find_proxy, is_recorded, patch_modules, patch_scripted, recorded
from taeda.fx._python_code import _PyTreeCodeGen, _PyTreeInfo
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Argument, has_side_effect
from taeda.fx.proxy import ParameterProxy, Scope, TracerBase
from taeda.fx.proxy import Proxy as Proxy
from taeda.jit._graph import ScriptObject as ScriptObject
from taeda.utils import _pytree as pytree

__all__ = ["PH", "Tracer", "is_fx_tracing", "symbolic_trace", "wrap"]

# Functions named by `wrap`: the globals of the file, and the name there.
_wrapped: dict[tuple[int, str], dict[str, Any]] = {}
_depth = 0  # how many traces are going on

_CODE_FIELDS = ("co_name", "co_filename", "co_firstlineno")

# What tracers of other libraries, which have a `trace` of their own, make it of.
_Patcher = Patches
_orig_module_call, _orig_module_getattr = nn.Module.__call__, nn.Module.__getattr__


def _patch_wrapped_functions(patcher: Patches) -> dict[int, Callable[..., Any]]:
    """Puts what `wrap` named under record; returns it by the ids of the functions."""
    replacements: dict[int, Callable[..., Any]] = {}
    for (_, name), table in _wrapped.items():
        function = table.get(name, getattr(builtins, name, None))
        if callable(function) and not is_recorded(function):
            patcher.set_item(table, name, replacements.setdefault(id(function), recorded(function)))
    return replacements


def _autowrap_check(patcher: Patches, frame_dict: dict[str, Any], function_ids: set[int]) -> None:
    """Puts the functions in ``frame_dict`` that have one of the ids under record."""
    patcher.replace_in(frame_dict, {id(f): recorded(f) for f in frame_dict.values() if id(f) in function_ids})


def is_fx_tracing() -> bool:
    """Whether a trace is going on."""
    return _depth > 0


class PHBase:
    """The type of `PH`."""

    def __repr__(self) -> str:
        return "PH"


# In concrete_args: this leaf of a nested argument stays an argument.
PH = PHBase()


def wrap(fn_or_name: str | Callable[..., Any]) -> Any:
    """Makes calls of a function of this file one step of the graph, instead of tracing through it.

    Called at the top level of the file that calls the function, with its name or as a decorator::

        fx.wrap("len")

        @fx.wrap
        def smooth(x, n): ...

    Returns:
        ``fn_or_name``.

    Raises:
        NotImplementedError: called inside a function or class.
        RuntimeError: ``fn_or_name`` is neither a name nor a function.
    """
    if not isinstance(fn_or_name, str) and not callable(fn_or_name):
        raise RuntimeError(f"taeda.fx.wrap: expected a function or its name; got {type(fn_or_name).__name__}")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe()
    caller = frame and frame.f_back
    if caller is None or caller.f_code.co_name != "<module>":
        raise NotImplementedError(f'taeda.fx.wrap: call wrap("{name}") at the top level of the file')
    _wrapped[id(caller.f_globals), name] = caller.f_globals
    return fn_or_name


@has_side_effect
def _assert_is_none(value: Any, message: str) -> None:
    assert value is None, message


def _annotation(annotations: dict[str, Any], name: str) -> Any:
    """What a function says of a parameter or of its result; None for what says nothing."""
    found = annotations.get(name)
    return None if found in (Any, "Any") else found


class ProxyableClassMeta(type):
    """The metaclass of classes whose construction from traced values is one step of the graph::

        class Pair(metaclass=fx.ProxyableClassMeta):
            def __init__(self, left, right): ...

    Their objects may also be arguments of what is traced.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs) if is_fx_tracing() else None
        if proxy is not None:
            return proxy.tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


def _without_variadics(function: Any, count: int) -> Any:
    """``function`` with its *args and **kwargs as plain parameters, so that each can be one proxy."""
    code: CodeType = function.__code__
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    code = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags)
    return FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)


class Tracer(TracerBase):
    """Records a module's or function's graph. Subclasses decide what is a step by itself and how arguments are held.

    Args:
        autowrap_modules: Python modules whose functions are steps when called with traced values.
        autowrap_functions: more such functions.
        param_shapes_constant: shapes of parameters are known numbers, on which the program may branch.
    """

    def __init__(
        self, autowrap_modules: Iterable[ModuleType] = (math,), autowrap_functions: Iterable[Callable[..., Any]] = (),
        param_shapes_constant: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self._autowrap_search = list(autowrap_modules)
        self._autowrap = {
            id(value): value
            for module in self._autowrap_search
            for name, value in vars(module).items()
            if not name.startswith("_") and callable(value)
        } | {id(function): function for function in autowrap_functions}
        self._autowrap_function_ids = set(self._autowrap)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[nn.Module, str] | None = None
        self.root_module_name = ""
        self.root: nn.Module = nn.Module()
        self.scope = Scope("", None)
        self.module_stack: dict[str, Any] = {}
        self.tensor_attrs: dict[Any, str] = {}
        self._paths_of_state: dict[int, str] = {}
        self._fresh: dict[str, int] = {}

    # What a subclass may change

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether calls of ``m`` are one step. By default those of the classes of `nn` are, but `nn.Sequential`."""
        return type(m).__module__.startswith(("taeda.nn", "torch.nn")) and not isinstance(m, nn.Sequential)

    def path_of_module(self, mod: nn.Module) -> str:
        """The dotted path of a module below the root; NameError if it is not there."""
        if self.submodule_paths is not None and mod in self.submodule_paths:
            return self.submodule_paths[mod]
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError(
            f"taeda.fx.Tracer: the {type(mod).__name__} that is called is no submodule of the traced module"
        )

    def call_module(
        self, m: nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What the call of a module does: one step for a leaf, else ``forward``, which goes on inside."""
        path = self.path_of_module(m)
        outer = self.scope
        self.scope = Scope(path, type(m))
        key = path
        while key in self.module_stack:
            key += "@"
        self.module_stack[key] = (path, type(m))
        try:
            if self.is_leaf_module(m, path):
                return self.create_proxy("call_module", path, args, kwargs)
            return forward(*args, **kwargs)
        finally:
            del self.module_stack[key]
            self.scope = outer

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What a parameter, buffer or submodule is when the program fetches it: parameters become steps, once each;
        buffers do if ``proxy_buffer_attributes`` is set, and else when they meet a traced value."""
        wanted = isinstance(attr_val, nn.Parameter) or (
            self.proxy_buffer_attributes and isinstance(attr_val, Tensor)
        )  # fmt: skip
        path = self._paths_of_state.get(id(attr_val)) if wanted else None
        if path is None:
            return attr_val
        if path not in parameter_proxy_cache:
            options: dict[str, Any] = {}  # an override of create_proxy need not know of it
            if self.param_shapes_constant and isinstance(attr_val, nn.Parameter):
                options["proxy_factory_fn"] = lambda node: ParameterProxy(self, node, path, attr_val)
            parameter_proxy_cache[path] = self.create_proxy("get_attr", path, (), {}, **options)
        return parameter_proxy_cache[path]

    def create_arg(self, a: Any) -> Argument:
        """What the graph holds for an argument: tensors and modules become attributes of the root and are fetched.

        Raises:
            NameError: a parameter or module does not belong to the root.
            NotImplementedError: a graph cannot hold it.
        """
        if isinstance(a, nn.Parameter):
            path = self._paths_of_state.get(id(a))
            if path is None:
                raise NameError("taeda.fx.Tracer: a parameter in a call is not one of the traced module's")
            return self.create_node("get_attr", path, (), {})
        if isinstance(a, Tensor):
            path = self._paths_of_state.get(id(a)) or self.tensor_attrs.get(a)
            if path is None:
                path = self.get_fresh_qualname("_tensor_constant")
                self.tensor_attrs[a] = path
                setattr(self.root, path, a)
            return self.create_node("get_attr", path, (), {})
        if isinstance(a, nn.Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        if isinstance(type(a), ProxyableClassMeta):
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def get_fresh_qualname(self, prefix: str) -> str:
        """``prefix`` with the first number that makes no attribute of the root."""
        number = self._fresh.get(prefix, 0)
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        self._fresh[prefix] = number + 1
        return f"{prefix}{number}"

    def _proxy_placeholder(self, name: str, parameter: inspect.Parameter | None, annotations: dict[str, Any]) -> Any:
        default = () if parameter is None or parameter.default is parameter.empty else (parameter.default,)
        return self.create_proxy("placeholder", name, default, {}, type_expr=_annotation(annotations, name))

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: dict[str, Any] | None = None
    ) -> tuple[Any, list[Any]]:
        """Makes the placeholders.

        Returns:
            The function to run, and its arguments: the root first if ``is_module``, then proxies.
        """
        function: Any = inspect.unwrap(root_fn)
        code: CodeType = function.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames[:count])
        parameters = inspect.signature(function).parameters
        annotations = getattr(function, "__annotations__", {})
        args: list[Any] = []
        if is_module:
            if not names:
                raise RuntimeError("taeda.fx.Tracer: forward takes no self")
            args.append(self.root)
            del names[0]
        concrete = _Concrete(self, concrete_args)
        for name in names:
            parameter = parameters.get(name)
            if concrete_args is not None and name in concrete_args:
                args.append(concrete.argument(name, parameter))
            else:
                args.append(self._proxy_placeholder(name, parameter, annotations))
        concrete.finish(names)
        if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            rest = iter(code.co_varnames[count:])
            for flag, stars in ((inspect.CO_VARARGS, "*"), (inspect.CO_VARKEYWORDS, "**")):
                if code.co_flags & flag:
                    args.append(self._proxy_placeholder(stars + next(rest), None, {}))
            return _without_variadics(function, len(args)), args
        if code.co_kwonlyargcount:
            first = len(args) - code.co_kwonlyargcount
            by_name = dict(zip(names[len(names) - code.co_kwonlyargcount :], args[first:], strict=True))
            return (lambda *given: root_fn(*given[:first], **by_name)), args
        return root_fn, args

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        for name, value in vars(self).items():
            twin.__dict__[name] = list(value) if name == "_autowrap_search" else copy.deepcopy(value, memo)
        twin._collect_state()  # by the ids of the copies
        return twin

    # The trace

    def trace(self, root: nn.Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """Runs ``root`` on proxies and returns the graph of what it did.

        Args:
            root: a module or function.
            concrete_args: values for some arguments, by name, that hold for this graph; see `symbolic_trace`.

        Raises:
            TraceError: it branches on, or loops over, a traced value.
        """
        global _depth
        if isinstance(root, nn.Module):
            self.root = root
            _LazyGraphModule.force_recompile(root)
            function: Any = getattr(type(root), self.traced_func_name, None)
            if function is None:
                raise AssertionError(
                    f"taeda.fx.Tracer.trace: {type(root).__name__} has no {self.traced_func_name} (traced_func_name)"
                )
            self.root_module_name = type(root).__name__
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        elif callable(root) and isinstance(inspect.unwrap(root), FunctionType):
            self.root = nn.Module()
            function = root
        else:
            raise AssertionError(f"taeda.fx.Tracer.trace: expected a module or function; got {type(root).__name__}")
        self.graph = Graph(tracer_cls=getattr(self, "__class__", None))
        code = getattr(inspect.unwrap(function), "__code__", None)
        if code is not None:
            self.graph._co_fields = {name: getattr(code, name) for name in _CODE_FIELDS}
        self._collect_state()
        _depth += 1
        try:
            function, args = self.create_args_for_root(function, isinstance(root, nn.Module), concrete_args)
            with Patches() as patches:
                self._patch(patches, function)
                result = function(*args)
                kind = _annotation(getattr(inspect.unwrap(function), "__annotations__", {}), "return")
                self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=kind)
        finally:
            _depth -= 1
            self.submodule_paths = None
        return self.graph

    def _collect_state(self) -> None:
        """Notes the paths of the root's parameters and buffers, and of tensors that are plain attributes."""
        named = [*self.root.named_parameters(remove_duplicate=True), *self.root.named_buffers()]
        self._paths_of_state = {}
        for path, value in named:
            self._paths_of_state.setdefault(id(value), path)
        self.tensor_attrs = {}
        for prefix, module in self.root.named_modules():
            for name, value in vars(module).items():
                if isinstance(value, Tensor) and id(value) not in self._paths_of_state:
                    self.tensor_attrs[value] = f"{prefix}.{name}" if prefix else name

    def _patch(self, patches: Patches, function: Any) -> None:
        replacements = {key: recorded(value) for key, value in self._autowrap.items()}
        replacements |= _patch_wrapped_functions(patches)
        fetched: dict[str, Any] = {}

        def call(module: nn.Module, forward: Callable[..., Any], args: Any, kwargs: Any) -> Any:
            patches.replace_in(getattr(module.forward, "__globals__", {}), replacements)
            return self.call_module(module, forward, args, kwargs)

        def fetch(module: nn.Module, name: str, value: Any) -> Any:
            return self.getattr(name, value, fetched)

        for module in (*self._autowrap_search, nn.functional, taeda.functional, taeda):
            patches.replace_in(vars(module), replacements)
        patches.replace_in(getattr(inspect.unwrap(function), "__globals__", {}), replacements)
        patch_modules(patches, call, fetch)
        patch_scripted(patches)


class _Concrete:
    """The arguments whose values hold for one graph: placeholders all the same, whose values the graph checks."""

    def __init__(self, tracer: Tracer, values: dict[str, Any] | None) -> None:
        self.tracer = tracer
        self.values = values or {}
        self.count = 0

    def argument(self, name: str, parameter: inspect.Parameter | None) -> Any:
        """What the program gets for the argument: its value, with proxies in the places of `PH`."""
        leaves, spec = pytree.tree_flatten(self.values[name])
        self.count = 0
        alone = parameter if len(leaves) == 1 and leaves[0] is self.values[name] else None
        return pytree.tree_unflatten([self._leaf(name, leaf, alone) for leaf in leaves], spec)

    def _leaf(self, name: str, value: Any, parameter: inspect.Parameter | None) -> Any:
        self.count += 1
        proxy = self.tracer._proxy_placeholder(f"{name}_{self.count}", parameter, {})
        if isinstance(value, PHBase):
            return proxy
        message = f"{name} has the value {value!r} in this graph; trace again for another one"
        if value is None:
            self.tracer.create_proxy("call_function", _assert_is_none, (proxy, message), {})
        elif isinstance(value, (bool, int, float, str)):
            self.tracer.create_proxy("call_function", taeda._assert, (proxy == value, message), {})
        else:
            warnings.warn(f"taeda.fx: the graph does not check that {name} is {value!r}", stacklevel=2)
        return value

    def finish(self, names: list[str]) -> None:
        """Lets the generated code take nested arguments, if there are any."""
        given = [self.values.get(name, PH) for name in names]
        leaves, spec = pytree.tree_flatten(given)
        if len(leaves) != len(names) or any(a is not b for a, b in zip(leaves, given, strict=True)):
            self.tracer.graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(names, spec, None)))


def symbolic_trace(root: nn.Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """A module whose code is the calls that ``root`` makes on its arguments.

    Args:
        root: a module or function.
        concrete_args: values for some arguments, by name: the program may branch on them, and the graph holds for them
            only, which it checks. In a nested value `PH` marks the leaves that stay arguments.

    Raises:
        TraceError: ``root`` branches on, or loops over, a traced value.

    ::

        traced = fx.symbolic_trace(model)
        print(traced.code)
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, nn.Module) else root.__name__
    return _make_graph_module(tracer.root, graph, name)
