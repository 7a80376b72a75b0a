"""``__torch_function__``: letting other types, subclasses and modes take over calls.

The native layer dispatches every built-in function by itself. What is here serves functions written in Python, which
ask and delegate in the same way, and programs that want to know what can be overridden.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import taeda
from taeda import Tensor

__all__ = [
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]


# Asking and delegating


def _disabled() -> Any:
    return taeda._C._disabled_torch_function_impl


def _overrides(arg: Any) -> bool:
    cls = type(arg)
    if cls is Tensor:
        return False
    function = getattr(cls, "__torch_function__", None)
    return function is not None and function is not _disabled()


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether a call with these arguments must go through ``handle_torch_function``: one overrides, or a mode is on."""
    concerned = taeda._C._len_torch_function_stack() > 0 or (
        _subclasses_enabled() and any(map(_overrides, relevant_args))
    )
    return concerned and not taeda._C._take_skipped_hop()


def has_torch_function_unary(arg: Any) -> bool:
    """``has_torch_function((arg,))``."""
    return has_torch_function((arg,))


def has_torch_function_variadic(*args: Any) -> bool:
    """``has_torch_function(args)``."""
    return has_torch_function(args)


def _subclasses_enabled() -> bool:
    return bool(taeda._C._is_torch_function_enabled())


def _in_order(args: Iterable[Any]) -> list[Any]:
    """One argument per overriding type, in the order of asking: left to right, but a subclass before its bases."""
    chosen: list[Any] = []
    for arg in args:
        cls = type(arg)
        if not _overrides(arg) or any(type(one) is cls for one in chosen):
            continue
        at = next((i for i, one in enumerate(chosen) if issubclass(cls, type(one))), len(chosen))
        chosen.insert(at, arg)
    return chosen


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Hand a call to the innermost mode, else to the ``__torch_function__`` of the arguments in turn.

    Args:
        public_api: the function that was called, as users know it.
        relevant_args: the arguments that may override it.
        args: all positional arguments of the call.
        kwargs: all keyword arguments of the call.

    Returns:
        The first result that is not ``NotImplemented``.

    Raises:
        TypeError: nobody takes the call.
    """
    overriding = _in_order(relevant_args) if _subclasses_enabled() else []
    types = tuple(type(arg) for arg in overriding)
    if taeda._C._len_torch_function_stack() > 0:
        mode = taeda._C._pop_torch_function_mode()
        try:
            result = mode.__torch_function__(public_api, types, args, kwargs)
        finally:
            taeda._C._push_torch_function_mode(mode)
        if result is not NotImplemented:
            return result
    for arg in overriding:
        method = arg.__torch_function__
        if getattr(method, "__self__", None) is arg:
            name = f"{type(arg).__qualname__}.__torch_function__"
            warnings.warn(f"{name} as a plain method is deprecated; make it a classmethod", DeprecationWarning, 2)
        result = method(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(
        f"{resolve_name(public_api) or public_api}: no argument's __torch_function__ takes this call; asked: "
        f"{', '.join(cls.__qualname__ for cls in types) or 'nobody'}"
    )


def redispatch_function(func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    """Call ``func`` from within a ``__torch_function__`` which shall see the calls that ``func`` makes in turn.

    The next question whether somebody takes a call over is answered with no, those after it as ever. Results are plain
    tensors.
    """
    return taeda._C._skip_one_hop_torch_function(func, types, args, kwargs)


_signature = functools.cache(inspect.signature)


def _take_over(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Hand over a call of a function written in Python, with all its parameters: those with a default by name."""
    try:
        bound = _signature(function).bind(*args, **kwargs)
    except TypeError:
        return function.__wrapped__(*args, **kwargs)  # type: ignore[attr-defined]  # whose error names the function
    bound.apply_defaults()
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for name, parameter in bound.signature.parameters.items():
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            named |= value
        elif parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY:
            positional.append(value)
        else:
            named[name] = value
    relevant: list[Any] = []
    for arg in (*args, *kwargs.values()):
        relevant += arg if isinstance(arg, (list, tuple)) else (arg,)
    return handle_torch_function(function, relevant, *positional, **named)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """Make a Python function overridable; ``dispatcher``, called with its arguments, returns those that may override.

    ::

        @wrap_torch_function(lambda a, b: (a, b))
        def distance(a, b):
            return (a - b).norm()
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether ``inp`` is a tensor, or of a type that overrides functions of tensors."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


# Modes


class TorchFunctionMode:
    """Inside ``with mode:`` every call of a public function goes to ``mode.__torch_function__``.

    Modes nest; the innermost is asked first, and is off while it answers, so that it may call what it intercepts.
    """

    inner: TorchFunctionMode

    def __init__(self) -> None:
        pass

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __torch_function__(func, types, args, kwargs)")

    def __enter__(self) -> TorchFunctionMode:
        taeda._C._push_torch_function_mode(self)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        taeda._C._pop_torch_function_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """``cls(*args, **kwargs)``: the older spelling of making a mode."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that lets every call through."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    """The modes that are on, the innermost last."""
    return [taeda._C._get_function_stack_at(i) for i in range(taeda._C._len_torch_function_stack())]


def _get_current_function_mode() -> TorchFunctionMode | None:
    """The innermost mode that is on."""
    stack = _get_current_function_mode_stack()
    return stack[-1] if stack else None


@contextmanager
def _pop_mode_temporarily() -> Iterator[TorchFunctionMode]:
    """A context without the innermost mode, which it gives."""
    mode = taeda._C._pop_torch_function_mode()
    try:
        yield mode
    finally:
        taeda._C._push_torch_function_mode(mode)


@contextmanager
def _enable_torch_function() -> Iterator[None]:
    """A context in which ``__torch_function__`` is asked, whatever ``DisableTorchFunction`` says around it."""
    enabled = taeda._C._EnableTorchFunction()
    try:
        yield
    finally:
        del enabled


def enable_reentrant_dispatch() -> Any:
    """A context in which a ``__torch_dispatch__`` may go through the dispatcher again from the top."""
    return taeda._C._RestorePythonTLSSnapshot()


# What can be overridden

_OWN = frozenset(__all__)
# Not functions of tensors: switches, constructors from nothing, inspection. A tensor argument never decides them.
_NOT_OVERRIDABLE = {
    "": """arange are_deterministic_algorithms_enabled as_strided as_tensor asarray autocast_decrement_nesting
        autocast_increment_nesting bartlett_window blackman_window broadcast_shapes can_cast clear_autocast_cache
        compile compiled_with_cxx11_abi cond eig embedding_backward embedding_dense_backward empty empty_permuted
        empty_quantized empty_strided explain explain_calls eye fill finfo fork fork_rng from_dlpack from_file
        from_numpy frombuffer full get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype get_default_device
        get_default_dtype get_deterministic_debug_mode get_device_module get_file_path get_float32_matmul_precision
        get_num_interop_threads get_num_threads get_printoptions get_rng_state hamming_window hann_window iinfo
        import_ir_module import_ir_module_from_buffer init_num_threads initial_seed install_as_torch
        is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_cache_enabled is_autocast_cpu_enabled
        is_autocast_enabled is_deterministic_algorithms_warn_only_enabled is_grad_enabled is_inference_mode_enabled
        is_storage is_tensor is_vulkan_available is_warn_always_enabled kaiser_window linspace load logspace lstsq
        manual_seed matrix_rank merge_type_from_type_comment native_dropout_backward normal ones parse_ir parse_schema
        parse_type_comment prepare_multiprocessing_environment promote_types rand rand_like randint randint_like randn
        randn_like randperm range result_type save scalar_tensor seed set_anomaly_enabled set_autocast_cache_enabled
        set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype
        set_default_device set_default_dtype set_default_tensor_type set_deterministic_debug_mode
        set_float32_matmul_precision set_flush_denormal set_grad_enabled set_num_interop_threads set_num_threads
        set_printoptions set_rng_state set_warn_always solve sparse_bsc_tensor sparse_bsr_tensor
        sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor sym_constrain_range
        sym_constrain_range_for_size sym_fresh_size symeig tensor thread_safe_generator to_dlpack tril_indices
        triu_indices typename unify_type_list use_deterministic_algorithms vander vitals_enabled vmap wait while_loop
        zeros""",
    "functional": "broadcast_shapes",
    "nn.functional": """assert_int_or_pair boolean_dispatch grouped_mm hardsigmoid hardswish scaled_grouped_mm scaled_mm
        sigmoid tanh upsample upsample_bilinear upsample_nearest""",
    "nn.init": "*",
    "fft": "fftfreq rfftfreq",
}
_NOT_OVERRIDABLE_METHODS = """__bytes__ __delitem__ __getstate__ __hash__ __iter__ __str__ _addmm_activation
    _fix_weakref _has_symbolic_sizes_strides _is_all_true _is_any_true _lazy_clone _make_subclass _make_wrapper_subclass
    _neg_view _python_dispatch _replace_elements _typed_storage _use_count eig is_hpu lstsq new new_empty
    new_empty_strided new_full new_ones new_tensor new_zeros solve stride symeig to_padded_tensor to_sparse_bsc
    to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr unflatten"""
_IGNORED_METHODS = """__class__ __delattr__ __dir__ __getattribute__ __init__ __init_subclass__ __new__ __reduce__
    __setattr__ __sizeof__ __subclasshook__ __torch_dispatch__ __torch_function__ as_subclass"""
_NAMESPACES = tuple(
    path
    for path in ("", "functional", "nn.functional", "nn.init", "linalg", "fft", "special")
    if not path or path.split(".")[0] in dir(taeda)
)


def _namespace(path: str) -> Any:
    return functools.reduce(getattr, path.split("."), taeda) if path else taeda


def _public_functions(path: str) -> dict[str, Callable[..., Any]]:
    module = _namespace(path)
    names = [name for name in dir(module) if not name.startswith("_")]
    found = {name: getattr(module, name) for name in names}
    return {
        name: value
        for name, value in found.items()
        if callable(value) and not isinstance(value, type) and name not in _OWN and name[0].islower()
    }


def _methods() -> dict[str, Any]:
    return {name: getattr(Tensor, name) for name in dir(Tensor) if name not in _IGNORED_METHODS.split()}


def _received(member: Any) -> Callable[..., Any]:
    """What an override receives for a method or a property of ``Tensor``."""
    function: Callable[..., Any] = member if callable(member) else member.__get__
    return function


@functools.cache
def get_ignored_functions() -> set[Callable[..., Any]]:
    """Public functions and methods that ``__torch_function__`` never sees."""
    methods = _methods()
    ignored = {_received(methods[name]) for name in _NOT_OVERRIDABLE_METHODS.split()}
    for path, names in _NOT_OVERRIDABLE.items():
        found = _public_functions(path)
        ignored.update(found.values() if names == "*" else (found[name] for name in names.split() if name in found))
    return ignored


@functools.cache
def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Getters whose results the default ``Tensor.__torch_function__`` leaves as they are."""
    names = ("_base", "grad", "_grad")
    return {getattr(Tensor, name).__get__ for name in names if hasattr(getattr(Tensor, name, None), "__get__")}


@functools.cache
def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """The functions that ``__torch_function__`` can take over, by the module or class that holds them.

    A property of ``Tensor`` is listed as its getter, which an override receives (as it does the setter).
    """
    ignored = get_ignored_functions()
    table: dict[Any, list[Callable[..., Any]]] = {}
    for path in _NAMESPACES:
        found = _public_functions(path).items()
        # What works in place is a method first, and the function its other name.
        table[_namespace(path)] = [value for name, value in found if name[-1] != "_" and value not in ignored]
    methods = [_received(value) for value in _methods().values() if callable(value) or hasattr(value, "__get__")]
    table[Tensor] = [value for value in methods if value not in ignored]
    return table


@functools.cache
def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """A stand-in for every overridable function, with its parameters where they are known, that returns -1."""
    functions = [function for group in get_overridable_functions().values() for function in group]
    functions += filter(_asks, _public_functions("nn.init").values())
    if "distributed" in dir(taeda):
        functions += filter(_asks, _public_functions("distributed.distributed_c10d").values())
    return {function: _stand_in(function) for function in functions}


def _asks(function: Callable[..., Any]) -> bool:
    """Whether a function written in Python asks its arguments."""
    return type(function) is type(taeda.stft)


def _stand_in(function: Callable[..., Any]) -> Callable[..., int]:
    import inspect

    def stand_in(*args: Any, **kwargs: Any) -> int:
        return -1

    try:
        stand_in.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    except (TypeError, ValueError):  # a native function that does not tell
        pass
    return stand_in


@functools.cache
def _names() -> tuple[dict[Any, str], dict[Any, str]]:
    """Functions' public names, and those that belong to ``Tensor``."""
    methods: dict[Any, str] = {}
    for name, value in _methods().items():
        if callable(value):
            methods[value] = f"torch.Tensor.{name}"
        elif hasattr(value, "__get__"):
            methods[value.__get__] = f"torch.Tensor.{name}.__get__"
            if hasattr(value, "__set__"):
                methods[value.__set__] = f"torch.Tensor.{name}.__set__"
    functions: dict[Any, str] = {}
    for path in _NAMESPACES:
        for name, value in _public_functions(path).items():
            functions[value] = ".".join(filter(None, ("torch", path, name)))  # of several names the innermost
    return functions, methods


def resolve_name(f: Callable[..., Any]) -> str | None:
    """The public name of an overridable function (``"torch.nn.functional.linear"``), or None if it has none."""
    functions, methods = _names()
    try:
        return functions.get(f) or methods.get(f)
    except TypeError:  # not hashable, so not one of them
        return None


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether ``func`` is a method of ``Tensor``, or the getter or setter of one of its properties."""
    return func in _names()[1] or getattr(func, "__name__", "") == "__get__"
