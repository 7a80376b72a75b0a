"""The classes of classes of pipes, and whether a sample is of a type."""

from __future__ import annotations

import collections.abc
import types
import typing
from abc import ABCMeta
from typing import Any, TypeVar, get_args, get_origin

from taeda.utils.data.datapipes._hook_iterator import hook_iterator, hook_reset


class _DataPipeMeta(ABCMeta):
    """The class of all classes of pipes."""


class _IterDataPipeMeta(_DataPipeMeta):
    """The class of classes of pipes that are read in order: puts hooks around how they are read."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> Any:
        if "reset" in namespace:
            hook_reset(namespace)
        if "__iter__" in namespace:
            hook_iterator(namespace)
        return super().__new__(cls, name, bases, namespace, **kwargs)


def sample_type(datapipe_class: type) -> Any:
    """What a class of pipes says it yields: ``int`` of a ``class P(IterDataPipe[int])``; Any where it does not."""
    for cls in datapipe_class.__mro__:
        for base in cls.__dict__.get("__orig_bases__", ()):
            if isinstance(get_origin(base), _DataPipeMeta) and get_args(base):
                return get_args(base)[0]
    return Any


def issubinstance(data: Any, data_type: Any) -> bool:
    """Whether ``data``, and what it holds, is of the type."""
    if isinstance(data_type, TypeVar):
        options = data_type.__constraints__ or ((data_type.__bound__,) if data_type.__bound__ else ())
        return not options or any(issubinstance(data, option) for option in options)
    if data_type is Any:
        return True
    if data_type is None:
        return data is None
    origin, args = get_origin(data_type), get_args(data_type)
    if origin in (typing.Union, types.UnionType):
        return any(issubinstance(data, option) for option in args)
    if origin is None:
        plain = not isinstance(data_type, type) or isinstance(data, data_type)
        return plain and not (isinstance(data, bool) and data_type in (int, float))
    if not isinstance(origin, type):
        return True
    return isinstance(data, origin) and _parts_fit(data, origin, args)


def _parts_fit(data: Any, origin: type, args: tuple[Any, ...]) -> bool:
    if not args:
        return True
    if origin is tuple:
        if len(args) == 2 and args[1] is ...:
            return all(issubinstance(part, args[0]) for part in data)
        return len(args) == len(data) and all(map(issubinstance, data, args))
    if issubclass(origin, collections.abc.Mapping):
        return all(issubinstance(k, args[0]) and issubinstance(v, args[1]) for k, v in data.items())
    if isinstance(data, (list, set, frozenset)):
        return all(issubinstance(part, args[0]) for part in data)
    return True
