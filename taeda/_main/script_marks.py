"""Marks that programs put on functions and types for TorchScript's compiler. Run eagerly, they change nothing."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Dict, Final, List, NamedTuple, Optional, Tuple, TypeVar, Union, get_args, get_origin  # noqa: UP035

from taeda.futures import Future as Future

# Programs annotate with these names from here.
__all__ = ["Any", "Dict", "Final", "Future", "List", "Optional", "Tuple", "Union"]

F = TypeVar("F", bound=Callable[..., Any])


def is_scripting() -> bool:
    """False: no code runs as TorchScript."""
    return False


def export(fn: F) -> F:
    """Marks a method as one to compile although ``forward`` does not call it."""
    return fn


def unused(fn: F) -> F:
    """Marks a function as one that compiled code must not call."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Marks a function as one to leave to Python; with or without arguments.

    Raises:
        RuntimeError: ``drop`` is neither a function nor a bool.
    """
    if callable(drop):
        return drop
    if not isinstance(drop, bool):
        raise RuntimeError(f"taeda.jit.ignore: drop must be a bool; got {type(drop).__name__}")
    if drop:
        warnings.warn("taeda.jit.ignore(drop=True) is deprecated; use taeda.jit.unused", FutureWarning, stacklevel=2)
    return lambda fn: fn


def _drop(fn: F) -> F:
    return fn


def _overload(func: F) -> F:
    return func


def _overload_method(func: F) -> F:
    return func


def _copy_to_script_wrapper(fn: F) -> F:
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
    return chosen


def annotate(the_type: Any, the_value: Any) -> Any:
    """``the_value``, of which ``the_type`` is the type."""
    return the_value


def container_isinstance(obj: Any, target_type: Any) -> bool:
    """``isinstance`` that looks into containers: ``target_type`` may be ``List[int]``, ``Dict[str, Tensor]``,
    ``Tuple[int, str]``, ``Optional[...]``, a union, or a tuple of types, one of which must fit.

    Raises:
        RuntimeError: a container type that does not say of what.
    """
    if isinstance(target_type, tuple):
        return any(container_isinstance(obj, one) for one in target_type)
    if target_type in (list, dict, tuple, List, Dict, Tuple, Optional):  # noqa: UP006
        raise RuntimeError(f"taeda.jit.isinstance: {target_type} does not say of what; write e.g. List[int]")
    origin, inner = get_origin(target_type), get_args(target_type)
    if origin is None:
        return target_type is Any or isinstance(obj, type(None) if target_type is None else target_type)
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
