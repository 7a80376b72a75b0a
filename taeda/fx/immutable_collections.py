"""The lists and dictionaries inside a node's arguments. A change in place would go past the node's record of its users,
so there is none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from taeda.utils import _pytree

__all__ = ["immutable_dict", "immutable_list"]


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(
        f"{type(self).__name__}: arguments of a taeda.fx.Node do not change in place; assign new ones to "
        "node.args or node.kwargs, or call node.update_arg or node.update_kwarg"
    )


class immutable_list(list[Any]):
    """A list that cannot change."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse  # type: ignore[assignment]
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse  # type: ignore[assignment]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_list, (tuple(self),)


class immutable_dict(dict[str, Any]):
    """A dictionary that cannot change."""

    __setitem__ = __delitem__ = __ior__ = _refuse  # type: ignore[assignment,misc]
    clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_dict, (dict(self),)


def _keys_and_values(mapping: Any) -> tuple[list[Any], list[Any]]:
    return list(mapping.values()), list(mapping)


def _mapping(values: Iterable[Any], keys: Any) -> immutable_dict:
    return immutable_dict(zip(keys, values, strict=True))


_pytree.register_pytree_node(immutable_list, lambda items: (list(items), None), lambda items, _: immutable_list(items))
_pytree.register_pytree_node(immutable_dict, _keys_and_values, _mapping)
