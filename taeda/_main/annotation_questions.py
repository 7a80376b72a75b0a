"""What an annotation is, as compilers of programs ask."""

from __future__ import annotations

import types
import typing
import warnings
from typing import Any

from taeda.futures import Future


def _is(annotation: Any, *origins: Any) -> bool:
    return annotation in origins or typing.get_origin(annotation) in origins


def is_list(ann: Any) -> bool:
    """Whether it is a list's."""
    return _is(ann, list, typing.List)  # noqa: UP006


def is_dict(ann: Any) -> bool:
    """Whether it is a dict's."""
    return _is(ann, dict, typing.Dict)  # noqa: UP006


def is_tuple(ann: Any) -> bool:
    """Whether it is a tuple's."""
    return _is(ann, tuple, typing.Tuple)  # noqa: UP006


def is_union(ann: Any) -> bool:
    """Whether it is one of several types."""
    return _is(ann, typing.Union, types.UnionType)


def is_optional(ann: Any) -> bool:
    """Whether None is one of its types."""
    return ann is typing.Optional or (is_union(ann) and type(None) in typing.get_args(ann))


def is_future(ann: Any) -> bool:
    """Whether it is a future's."""
    return _is(ann, Future)


def check_empty_containers(obj: Any) -> None:
    """Warns of a list, dict or tuple that is empty: of what it would hold nobody can ask."""
    if isinstance(obj, (list, dict, tuple)) and not obj:
        warnings.warn(
            f"taeda.jit.isinstance: an empty {type(obj).__name__} is taken for one of whatever is asked for; a program "
            "asks its type instead, and may answer otherwise",
            stacklevel=3,
        )
