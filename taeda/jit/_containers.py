"""``ScriptList`` and ``ScriptDict``: lists and dicts that Python and programs share, without copies in calls."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex

from taeda import _C


class ScriptList:
    """A list that a program writes to, and Python sees it; what `taeda.jit.script` makes of a list.

    Its items are all of one type. As in PyTorch, two of them are equal only if they are one, and an item that is a list
    itself comes out as a copy.

    Args:
        items: what it holds at first.

    Raises:
        TypeError: the items have no common type.
    """

    __module__ = "taeda"
    _c: _C._jit.Container

    def __init__(self, items: Iterable[Any] = ()) -> None:
        listed = list(items)
        self._c = _C._jit.Container(listed, _type_of(listed, "List[Tensor]"))

    def _place(self, index: SupportsIndex, size: int) -> int:
        at = operator.index(index)
        at += size if at < 0 else 0
        if not 0 <= at < size:
            raise IndexError(f"ScriptList: the index {index} is out of range of {len(self)} items")
        return at

    def __len__(self) -> int:
        return len(self._c)

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        if isinstance(index, slice):
            twin = object.__new__(ScriptList)
            twin._c = _C._jit.Container(self._c.plain()[index], self._c.type())
            return twin
        return self._c.get(self._place(index, len(self)))

    def __setitem__(self, index: SupportsIndex | slice, value: Any) -> None:
        if not isinstance(index, slice):
            self._c.set(self._place(index, len(self)), value)
            return
        places, items = range(len(self))[index], list(value)
        if len(places) != len(items):
            raise RuntimeError(f"ScriptList: {len(items)} items do not fit in a slice of {len(places)}")
        for place, item in zip(places, items, strict=True):
            self._c.set(place, item)

    def __delitem__(self, index: SupportsIndex) -> None:
        self._c.erase(self._place(index, len(self)))

    def __iter__(self) -> ScriptListIterator:
        return ScriptListIterator(self[i] for i in itertools.takewhile(lambda i: i < len(self), itertools.count()))

    def __contains__(self, item: object) -> bool:
        self._c.fits(item)
        return item in self._c.plain()

    def __repr__(self) -> str:
        return repr(self._c.plain())

    def __reduce__(self) -> Any:
        return ScriptList._restored, (self._c.plain(), self._c.type())

    @staticmethod
    def _restored(items: list[Any], type: Any) -> ScriptList:
        made = object.__new__(ScriptList)
        made._c = _C._jit.Container(items, type)
        return made

    def append(self, item: Any) -> None:
        """Adds an item at the end."""
        self._c.insert(len(self), item)

    def extend(self, items: Iterable[Any]) -> None:
        """Adds the items at the end; none of them if one is of another type."""
        listed = list(items)
        for item in listed:
            self._c.fits(item)
        for item in listed:
            self._c.insert(len(self), item)

    def insert(self, index: SupportsIndex, item: Any) -> None:
        """Puts an item before that of an index."""
        at = operator.index(index)
        self._c.insert(min(max(at + len(self) if at < 0 else at, 0), len(self)), item)

    def pop(self, index: SupportsIndex = -1) -> Any:
        """Takes an item out and gives it.

        Raises:
            IndexError: there is none.
        """
        place = self._place(index, len(self))
        item = self._c.get(place)
        self._c.erase(place)
        return item

    def remove(self, item: Any) -> None:
        """Takes the first item out that equals ``item``.

        Raises:
            ValueError: none does.
        """
        self._c.fits(item)
        items = self._c.plain()
        if item not in items:
            raise ValueError(f"ScriptList.remove: {item!r} is not in the list")
        self._c.erase(items.index(item))

    def count(self, item: Any) -> int:
        """How many items equal ``item``."""
        self._c.fits(item)
        return self._c.plain().count(item)

    def clear(self) -> None:
        """Takes all items out."""
        self._c.clear()


class ScriptDict:
    """A dict that a program writes to, and Python sees it; what `taeda.jit.script` makes of a dict.

    Its keys are all of one type, its values of another.

    Args:
        items: what it holds at first.

    Raises:
        TypeError: the keys, or the values, have no common type.
    """

    __module__ = "taeda"
    _c: _C._jit.Container

    def __init__(self, items: dict[Any, Any] | None = None) -> None:
        held = dict(items or {})
        self._c = _C._jit.Container(held, _type_of(held, "Dict[str, Tensor]"))

    def __len__(self) -> int:
        return len(self._c)

    def _found(self, key: Any) -> tuple[Any] | None:
        try:
            return self._c.find(key)
        except TypeError as error:
            raise KeyError(key) from error

    def __getitem__(self, key: Any) -> Any:
        found = self._found(key)
        if found is None:
            raise KeyError(key)
        return found[0]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._c.put(key, value)

    def __delitem__(self, key: Any) -> None:
        if not self._c.drop(key):
            raise KeyError(key)

    def __contains__(self, key: Any) -> bool:
        return self._found(key) is not None

    def __iter__(self) -> ScriptDictKeyIterator:
        return self.keys()

    def __repr__(self) -> str:
        return repr(self._c.plain())

    def __reduce__(self) -> Any:
        return ScriptDict._restored, (self._c.plain(), self._c.type())

    @staticmethod
    def _restored(items: dict[Any, Any], type: Any) -> ScriptDict:
        made = object.__new__(ScriptDict)
        made._c = _C._jit.Container(items, type)
        return made

    def keys(self) -> ScriptDictKeyIterator:
        """The keys, one after the other."""
        return ScriptDictKeyIterator(iter(self._c.plain()))

    def items(self) -> ScriptDictIterator:
        """The pairs of key and value, one after the other."""
        return ScriptDictIterator(iter(self._c.plain().items()))


class ScriptListIterator:
    """The items of a `ScriptList`, one after the other."""

    __module__ = "taeda"

    def __init__(self, items: Iterator[Any]) -> None:
        self._items = items

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return next(self._items)


class ScriptDictKeyIterator(ScriptListIterator):
    """The keys of a `ScriptDict`."""


class ScriptDictIterator(ScriptListIterator):
    """The pairs of key and value of a `ScriptDict`."""


def _type_of(held: Any, empty: str) -> Any:
    """The type of a list or dict, which an empty one has by convention."""
    from taeda.jit._ir_types import contained_in

    found = _C._type_of(held) if held else _C._parse_type(empty)
    if contained_in(found, lambda t: t.kind() in ("AnyType", "PyObjectType", "CapsuleType")):
        raise TypeError(f"taeda.jit.script: the items of {held!r} are of no common type that programs have")
    return found


def shared(held: Any) -> ScriptList | ScriptDict:
    """A list or dict as one that programs share."""
    return ScriptDict(held) if isinstance(held, dict) else ScriptList(held)
