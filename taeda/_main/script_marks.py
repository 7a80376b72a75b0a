"""Marks that programs put on functions and types for TorchScript's compiler. Run eagerly, they change nothing."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Dict, Final, List, NamedTuple, Optional, Tuple, TypeVar, Union, get_args, get_origin  # noqa: UP035

from taeda.futures import Future as Future

# Programs annotate with these names from here.
__all__ = ["Any", "Dict", "Final", "Future", "List", "Optional", "Tuple", "Union"]

F = TypeVar("F", bound=Callable[..., Any])


def is_scripting() -> bool:
    """False: no code runs as TorchScript."""
    return False


def _mark(fn: Any, modifier: str) -> Any:
    if isinstance(fn, property):
        for accessor in (fn.fget, fn.fset):
            if accessor is not None:
                accessor._script_modifier = modifier  # type: ignore[union-attr]
    else:
        fn._script_modifier = modifier
    return fn


def export(fn: F) -> F:
    """Marks a method as one to compile although ``forward`` does not call it."""
    return _mark(fn, "export")


def unused(fn: F) -> F:
    """Marks a function as one that compiled code leaves out: reaching it is an error."""
    return _mark(fn, "unused")


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Marks a function as one to leave to Python; with or without arguments.

    Raises:
        RuntimeError: ``drop`` is neither a function nor a bool.
    """
    if callable(drop):
        return _mark(drop, "ignore")
    if not isinstance(drop, bool):
        raise RuntimeError(f"taeda.jit.ignore: drop must be a bool; got {type(drop).__name__}")
    if drop:
        warnings.warn("taeda.jit.ignore(drop=True) is deprecated; use taeda.jit.unused", FutureWarning, stacklevel=2)
    return lambda fn: _mark(fn, "unused" if drop else "ignore")


def _drop(fn: F) -> F:
    return _mark(fn, "unused")


_OVERLOADS: dict[str, list[Any]] = {}


def _overload(func: F) -> F:
    """Declares one of several signatures of the function of this name that follows."""
    _OVERLOADS.setdefault(f"{func.__module__}.{func.__qualname__}", []).append(func)
    return func


_overload_method = _overload


def overloads_of(function: Any) -> list[Any]:
    """The signatures that `_overload` declared for a function, without those of functions that had the name before."""
    declared = _OVERLOADS.get(f"{function.__module__}.{function.__qualname__}", [])
    code = getattr(function, "__code__", None)
    file = code.co_filename if code is not None else ""
    return [d for d in declared if d.__code__.co_filename == file and d is not function]


def _copy_to_script_wrapper(fn: F) -> F:
    fn._script_copied = True  # type: ignore[attr-defined]
    return fn


class _Broadcasting:
    """``BroadcastingListN[int]``: a list of ``int``, or one for all N."""

    def __class_getitem__(cls, item: Any) -> Any:
        return List[item]  # noqa: UP006


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingList4 = _Broadcasting
BroadcastingList5 = BroadcastingList6 = _Broadcasting


class Attribute(NamedTuple):
    """A module's attribute with its type, which cannot be told from the value (an empty list, say)."""

    value: Any
    type: Any


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Any, if_false: Any, module_name: str, func_name: str
) -> Callable[..., Any]:
    """A function that is ``if_true`` or ``if_false``, as the argument ``arg_name`` (or number ``arg_index``) says."""

    def chosen(*args: Any, **kwargs: Any) -> Any:
        flag = args[arg_index] if arg_index < len(args) else kwargs.get(arg_name, default)
        return (if_true if flag else if_false)(*args, **kwargs)

    chosen.__doc__ = if_true.__doc__ or if_false.__doc__
    chosen.__name__ = func_name or chosen.__name__
    chosen.__module__ = module_name or chosen.__module__
    chosen._script_dispatch = {  # type: ignore[attr-defined]
        "arg_name": arg_name, "arg_index": arg_index, "default": default, "if_true": if_true, "if_false": if_false,
    }  # fmt: skip
    return chosen


def annotate(the_type: Any, the_value: Any) -> Any:
    """``the_value``, of which ``the_type`` is the type."""
    return the_value


def _unwrap_optional(x: Any) -> Any:
    """``x``, which is not None.

    Raises:
        AssertionError: it is.
    """
    assert x is not None, "taeda.jit: unwrapping None"
    return x


@contextlib.contextmanager
def _disable_emit_hooks() -> Iterator[None]:
    """Within, nobody hears of what is compiled: nobody ever does."""
    yield


def get_callable_argument_names(fn: Callable[..., Any]) -> list[str]:
    """The names of a function's arguments that can be given by place or name; none if it is native."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD]


def container_isinstance(obj: Any, target_type: Any) -> bool:
    """``isinstance`` that looks into containers: ``target_type`` may be ``List[int]``, ``Dict[str, Tensor]``,
    ``Tuple[int, str]``, ``Optional[...]``, a union, or a tuple of types, one of which must fit.

    Raises:
        RuntimeError: a container type that does not say of what, or a list or set of types.
    """
    if isinstance(target_type, (list, set)):
        raise RuntimeError("taeda.jit.isinstance: wants a type or a tuple of types; got "
                           f"a {type(target_type).__name__} of them")  # fmt: skip
    if isinstance(target_type, tuple):
        return any(container_isinstance(obj, one) for one in target_type)
    if target_type in (list, dict, tuple, List, Dict, Tuple, Optional):  # noqa: UP006
        raise RuntimeError(f"taeda.jit.isinstance: {target_type} does not say of what; write e.g. List[int]")
    origin, inner = get_origin(target_type), get_args(target_type)
    if origin is None:
        return target_type is Any or isinstance(obj, type(None) if target_type is None else target_type)
    if origin in (list, dict, tuple):
        from taeda._main.annotation_questions import check_empty_containers

        check_empty_containers(obj)
    return _fits(obj, origin, inner)


def _fits(obj: Any, origin: Any, inner: tuple[Any, ...]) -> bool:
    if origin is list:
        return isinstance(obj, list) and all(container_isinstance(item, inner[0]) for item in obj)
    if origin is dict:
        return isinstance(obj, dict) and all(
            container_isinstance(key, inner[0]) and container_isinstance(value, inner[1]) for key, value in obj.items()
        )
    if origin is tuple:
        return isinstance(obj, tuple) and len(obj) == len(inner) and all(map(container_isinstance, obj, inner))
    return any(container_isinstance(obj, one) for one in inner)
