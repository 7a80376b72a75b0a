"""Registering classes for what they are, and by the old names of registering."""

from __future__ import annotations

import dataclasses
import enum
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from taeda.utils._pytree_nodes import SUPPORTED_NODES, Context, GetAttrKey, register_pytree_node


def _register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Context]],
    unflatten_fn: Callable[[Iterable[Any], Context], Any],
    to_str_fn: Any = None,
    maybe_from_str_fn: Any = None,
    **texts: Any,
) -> None:
    """`register_pytree_node` by its old name, with two arguments that have no effect."""
    message = "taeda.utils._pytree._register_pytree_node is deprecated; call torch.utils._pytree.register_pytree_node"
    warnings.warn(message, FutureWarning, stacklevel=2)
    if cls in SUPPORTED_NODES:
        warnings.warn(f"{cls} is already registered; it is now told anew", stacklevel=2)
        del SUPPORTED_NODES[cls]
    register_pytree_node(cls, flatten_fn, unflatten_fn, **texts)


def _private_register_pytree_node(cls: type, *args: Any, **texts: Any) -> None:
    """`register_pytree_node`, but without an effect on a class that is registered."""
    if cls not in SUPPORTED_NODES:
        register_pytree_node(cls, *args, **texts)


def _deregister_pytree_node(cls: type) -> None:
    """Instances of ``cls`` are leaves again."""
    del SUPPORTED_NODES[cls]


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Treat instances of a dataclass as containers of their fields; fields that are None are no children.

    Args:
        cls: the class.
        field_names: its fields, for a class that is no dataclass.
        drop_field_names: which of them are left out: they get their defaults when an instance is made.
        serialized_type_name: the class's name in texts; its own with its module if it is not said.

    Raises:
        ValueError: ``field_names`` are not the fields that are arguments of the class, or it is registered already.
    """
    if dataclasses.is_dataclass(cls):
        known = [field.name for field in dataclasses.fields(cls) if field.init]
        wanted = set(known) - set(drop_field_names or ())
        if field_names is not None and set(field_names) != wanted:
            raise ValueError(
                f"taeda.utils._pytree.register_dataclass: {cls} has the fields {sorted(wanted)}; got {field_names}"
            )
        names = [name for name in known if name in wanted]
    elif field_names is None:
        raise ValueError(
            f"taeda.utils._pytree.register_dataclass: {cls} is no dataclass, so field_names must say its fields"
        )
    else:
        names = [name for name in field_names if name not in set(drop_field_names or ())]

    def flatten(value: Any) -> Any:
        given = [name for name in names if getattr(value, name) is not None]
        left_out = [name for name in names if getattr(value, name) is None]
        return [getattr(value, name) for name in given], [given, left_out]

    def flatten_with_keys(value: Any) -> Any:
        values, context = flatten(value)
        return [(GetAttrKey(name), item) for name, item in zip(context[0], values)], context

    def unflatten(values: Any, context: Any) -> Any:
        return cls(**dict(zip(context[0], values)), **dict.fromkeys(context[1]))

    register_pytree_node(
        cls, flatten, unflatten, flatten_with_keys_fn=flatten_with_keys,
        serialized_type_name=serialized_type_name or f"{cls.__module__}.{cls.__qualname__}",
    )  # fmt: skip


def register_constant(cls: type) -> None:
    """Treat instances of ``cls`` as containers of nothing: they belong to the structure and must compare and hash.

    Raises:
        TypeError: its instances are equal only to themselves, or have no hash.
    """
    by_value = issubclass(cls, enum.Enum) or cls.__eq__ is not object.__eq__
    if not by_value or cls.__hash__ is None:
        raise TypeError(
            f"taeda.utils._pytree.register_constant: instances of {cls} must compare by value and have a hash; "
            "define __eq__ and __hash__"
        )
    register_pytree_node(cls, _as_constant, lambda _, value: value, flatten_with_keys_fn=_as_constant)


def _as_constant(value: Any) -> tuple[list[Any], Context]:
    return [], value


def is_constant_class(cls: type) -> bool:
    """Whether `register_constant` got ``cls``."""
    node = SUPPORTED_NODES.get(cls)
    return node is not None and node.flatten_fn is _as_constant
