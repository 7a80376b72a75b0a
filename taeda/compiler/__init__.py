"""What programs say to a compiler. Taeda has none yet: ``compile`` returns what computes the same eagerly, and marks
for the compiler leave what they mark as it is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from taeda._inert.guards import keep_portable_guards_unsafe as keep_portable_guards_unsafe
from taeda._inert.guards import keep_tensor_guards_unsafe as keep_tensor_guards_unsafe
from taeda._inert.guards import skip_all_guards_unsafe as skip_all_guards_unsafe
from taeda._inert.guards import skip_guard_on_all_nn_modules_unsafe as skip_guard_on_all_nn_modules_unsafe
from taeda._inert.guards import skip_guard_on_globals_unsafe as skip_guard_on_globals_unsafe
from taeda._inert.guards import skip_guard_on_inbuilt_nn_modules_unsafe as skip_guard_on_inbuilt_nn_modules_unsafe
from taeda.compiler import config as config
from taeda.compiler._eager import BACKENDS, EAGER_BACKENDS
from taeda.compiler._eager import compile as compile
from taeda.compiler._eager import get_default_backend as get_default_backend
from taeda.compiler._eager import set_default_backend as set_default_backend

_STANCES = (
    "default", "force_eager", "eager_on_recompile", "fail_on_recompile", "eager_then_compile", "aot_eager_then_compile",
)  # fmt: skip


def is_compiling() -> bool:
    """Whether the program is being exported: nothing else makes a graph of it here."""
    return is_exporting()


def is_dynamo_compiling() -> bool:
    """False: nothing is being compiled."""
    return False


def is_exporting() -> bool:
    """Whether ``taeda.export`` records this thread's program."""
    from taeda._control_flow import current_capture

    return current_capture() is not None


def _check_function(where: str, function: Any) -> None:
    if not callable(function):
        raise AssertionError(f"taeda.compiler.{where}: wants a function; got {type(function).__name__}")


def allow_in_graph(fn: Any) -> Any:
    """Marks a function, or each of a list, as one for the compiler to call without a look inside.

    Raises:
        AssertionError: one of them is no function.
    """
    for function in fn if isinstance(fn, (list, tuple)) else [fn]:
        _check_function("allow_in_graph", function)
    return list(fn) if isinstance(fn, (list, tuple)) else fn


def assume_constant_result(fn: Any) -> Any:
    """Marks a function as one that always returns the same."""
    return fn


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Marks a function or module as one to leave alone; without ``fn``, a decorator.

    Raises:
        AssertionError: ``fn`` cannot be called.
    """
    if fn is None:
        return disable
    _check_function("disable", fn)
    return fn


def nested_compile_region(
    fn: Any = None, *, options: Any = None, max_reuse_entries: int = 8, reuse_hash_fn: Any = None
) -> Any:
    """Marks a function as one to compile once and use many times; without ``fn``, a decorator."""
    return (lambda function: function) if fn is None else fn


def substitute_in_graph(
    original_fn: Callable[..., Any], *, can_constant_fold_through: bool = False, skip_signature_check: bool = False
) -> Callable[[Any], Any]:
    """A decorator for a function that a compiler is to trace in the place of ``original_fn``."""
    if not callable(original_fn):
        raise TypeError(f"taeda.compiler.substitute_in_graph: wants a function; got {type(original_fn).__name__}")
    return lambda traceable: traceable


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays as a function of tensors."""
    import numpy

    import taeda
    from taeda.utils._pytree import tree_map_only

    @functools.wraps(fn)
    def on_tensors(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tree_map_only(taeda.Tensor, lambda tensor: tensor.numpy(), (args, kwargs))
        return tree_map_only(numpy.ndarray, taeda.as_tensor, fn(*args, **kwargs))

    return on_tensors


def list_backends(exclude_tags: tuple[str, ...] | None = ("debug", "experimental")) -> list[str]:
    """The backends that ``compile`` takes by name; those that run eagerly by intent have the tag ``debug``."""
    return sorted(name for name in BACKENDS if "debug" not in (exclude_tags or ()) or not _is_for_debugging(name))


def _is_for_debugging(name: str) -> bool:
    return name in EAGER_BACKENDS or name.startswith("aot_eager")


def reset() -> None:
    """Forgets what was compiled: nothing."""


def cudagraph_mark_step_begin() -> None:
    """Says that a step begins, for graphs of CUDA calls, of which there are none."""


class set_stance:
    """What to do where something would be compiled. As a function it holds from now on, in ``with`` or as a decorator
    within. As nothing is compiled, every stance means the same.

    Raises:
        RuntimeError: an unknown stance.
    """

    def __init__(self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False,
                 force_backend: str | Callable[..., Any] | None = None) -> None:  # fmt: skip
        if stance not in _STANCES:
            raise RuntimeError(
                f"taeda.compiler.set_stance: there is no stance {stance!r}; known are {', '.join(_STANCES)}"
            )
        self.stance = stance

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...

    def __call__(self, fn: Any) -> Any:
        return fn


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Whether processes should decide together to compile anew; gives what it was: never."""
    return False


def save_cache_artifacts() -> tuple[bytes, Any] | None:
    """What was compiled, to keep: ``None``, which means nothing."""
    return None


def load_cache_artifacts(serialized_artifacts: bytes) -> Any:
    """Takes up what another process compiled: there is nothing that could, so ``None``."""
    return None


def load_compiled_function(file: Any, *, f_globals: Any = None, external_data: Any = None) -> NoReturn:
    """Raises ``RuntimeError``: a compiled function needs a compiler's run time."""
    raise RuntimeError("taeda.compiler.load_compiled_function: Taeda has no compiler yet and runs no compiled code")
