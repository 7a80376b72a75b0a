"""Dictionaries and references that do not keep their tensors, and tell them apart by identity, not by value."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from taeda import Tensor

__all__ = [
    "TensorWeakRef",
    "WeakIdKeyDictionary",
    "WeakIdRef",
    "WeakTensorKeyDictionary",
]


class WeakIdRef(weakref.ref[Any]):
    """A weak reference that is equal to another one of the same object, and stays so when the object is gone."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Callable[[Any], Any] | None = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        here, there = self(), other() if isinstance(other, WeakIdRef) else None
        return here is there if here is not None and there is not None else self is other

    def __ne__(self, other: object) -> bool:  # weakref.ref has one of its own
        return not self == other


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary whose entries end with their keys, which are told apart by identity.

    Args:
        dict: what it holds at first.
        ref_type: the references that it makes of keys.
    """

    def __init__(
        self, dict: Mapping[Any, Any] | Iterable[Any] | None = None, ref_type: type[WeakIdRef] = WeakIdRef
    ) -> None:
        self.ref_type = ref_type
        self.data: Any = {}
        data = weakref.ref(self)

        def remove(reference: Any) -> None:
            mine = data()
            if mine is not None:
                mine.data.pop(reference, None)

        self._remove = remove
        self.update(dict or {})

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # of what has no weak references
            return False

    def __iter__(self) -> Iterator[Any]:
        for reference in list(self.data):
            key = reference()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def copy(self) -> WeakIdKeyDictionary:
        """Another one of the same entries."""
        return type(self)(self, self.ref_type)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary:
        from copy import deepcopy

        return type(self)([(key, deepcopy(value, memo)) for key, value in self.items()], self.ref_type)

    def __or__(self, other: Any) -> Any:
        return self._joined(self, other) if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return self._joined(other, self) if isinstance(other, Mapping) else NotImplemented

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def _joined(self, first: Any, second: Any) -> WeakIdKeyDictionary:
        made = type(self)(first, self.ref_type)
        made.update(second)
        return made

    def keyrefs(self) -> list[WeakIdRef]:
        """The references to all keys."""
        return list(self.data)


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor: calling it gives the tensor, or None when that is gone.

    Raises:
        TypeError: what is given is no tensor.
    """

    __slots__ = ("ref",)

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"taeda.utils.weak.TensorWeakRef: a tensor is wanted; got {type(tensor).__name__}")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
