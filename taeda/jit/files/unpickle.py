"""The pickles of compiled programs: values, and objects of the classes whose source the archive holds.

A pickle here names only what the tables below admit and classes of the program (``__torch__.…``), of which it makes
plain records: nothing of Python's is imported or called.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import taeda
from taeda._main.schemes import SCHEMES
from taeda._serialization import names
from taeda._serialization.rebuild import REBUILDERS
from taeda._serialization.safe_pickle import Refused, SafeUnpickler

PROGRAM = "__torch__."


class SavedObject:
    """An object of one of the program's classes, as the pickle has it: the class's name and its state, which is a dict
    by attribute or what ``__getstate__`` gave."""

    __slots__ = ("class_name", "state")

    def __init__(self, class_name: str) -> None:
        self.class_name = class_name
        self.state: Any = {}

    def __repr__(self) -> str:
        return f"SavedObject({self.class_name})"


class SavedMember:
    """A member of one of the program's enumerations, by its value."""

    __slots__ = ("class_name", "value")

    def __init__(self, class_name: str, value: Any) -> None:
        self.class_name, self.value = class_name, value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SavedMember) and (self.class_name, self.value) == (other.class_name, other.value)

    def __hash__(self) -> int:
        return hash((self.class_name, self.value))

    def __repr__(self) -> str:
        return f"SavedMember({self.class_name}, {self.value!r})"


class _ClassName(str):
    """A class of the program, on the pickle machine's stack."""


def _same_list(items: Any) -> list[Any]:
    if not isinstance(items, list):
        raise Refused(f"a list is made from a {type(items).__name__}")
    return items


def _typed(value: Any, annotation: Any) -> Any:
    """A list or dict. What it holds is known from the attribute that it becomes."""
    if not isinstance(value, (list, dict)) or not isinstance(annotation, str):
        raise Refused(f"the type of a {type(value).__name__} is given as a {type(annotation).__name__}")
    return value


def _device(*parts: Any) -> taeda.device:
    if not parts or not isinstance(parts[0], str):
        raise Refused("a device is made from something that is not its name")
    return taeda.device(*parts)


def _admitted() -> dict[str, Any]:
    lists = ("build_intlist", "build_tensorlist", "build_doublelist", "build_boollist")
    table: dict[str, Any] = {f"torch.jit._pickle.{name}": _same_list for name in lists}
    table["torch.jit._pickle.restore_type_tag"] = _typed
    table["torch.device"] = _device
    table["builtins.complex"] = complex
    table["collections.OrderedDict"] = OrderedDict
    table |= {f"{module}.{name}": rebuild for (module, name), rebuild in REBUILDERS.items() if module == "torch._utils"}
    table |= {name: value for name, value in names.known().items() if name.endswith("Storage")}
    table |= {str(scheme): scheme for scheme in SCHEMES}
    return table


_TABLE: dict[str, Any] = {}


def find_global(name: str) -> Any:
    """What a pickle of a program calls ``module.name``.

    Raises:
        pickle.UnpicklingError: no such name is admitted.
    """
    if name.startswith(PROGRAM):
        return _ClassName(name)
    if not _TABLE:
        _TABLE.update(_admitted())
    try:
        return _TABLE[name]
    except KeyError:
        names.check_dtype(name)
        raise Refused(f"it names {name[:200]!r}, which programs in archives do not use") from None


_MOST_PARTS = 1 << 24


def _check_parts(found: Any) -> None:
    """Refuses containers that share so many parts that whoever copies or shows them would never end."""
    counts: dict[int, int] = {}  # of containers in each, those that are shared as often as they are
    waiting, begun = [found], set()
    while waiting:
        part = waiting[-1]
        items = _items(part)
        inner = [item for item in items if id(item) not in counts and _items(item)]
        if inner and id(part) not in begun:
            begun.add(id(part))
            waiting += inner
            continue
        waiting.pop()
        if items and id(part) not in counts:
            one_by_one = 1 if isinstance(part, SavedObject) else 1 + sum(counts.get(id(item), 0) for item in items)
            counts[id(part)] = one_by_one
            if one_by_one > _MOST_PARTS:
                raise Refused("its containers share so many parts that they would not fit into memory")


def _items(part: Any) -> Any:
    if isinstance(part, SavedObject):
        return (part.state,)
    return [*part, *part.values()] if isinstance(part, dict) else part if isinstance(part, (list, tuple)) else ()


class ProgramUnpickler(SafeUnpickler):
    """Runs one pickle of an archive with a program.

    Args:
        data: the whole pickle.
        load_storage: gives the storage for a persistent id.
    """

    def __init__(self, data: bytes, load_storage: Callable[[Any], Any]) -> None:
        super().__init__(data, find_global, load_storage, "utf-8")

    def load(self) -> Any:
        """The pickled object.

        Raises:
            pickle.UnpicklingError: the pickle is damaged, or asks for something that programs do not hold.
        """
        found = super().load()
        _check_parts(found)
        return found

    def new_object(self) -> None:
        args, cls = self._pop(), self._pop()
        if not isinstance(cls, _ClassName) or args != ():
            raise Refused("the pickle makes an object of something that is not a class of the program")
        self.push(SavedObject(str(cls)))

    def reduce(self) -> None:
        if not isinstance(self._stack[-2], _ClassName):
            super().reduce()
            return
        value, cls = self._pop(), self._pop()
        if isinstance(value, tuple) and len(value) == 1:
            value = value[0]
        if not isinstance(value, (bool, int, float, str)):
            raise Refused(f"a member of {cls} has a {type(value).__name__} for its value")
        self.push(SavedMember(str(cls), value))

    def build(self) -> None:
        state, target = self._pop(), self._stack[-1]
        if not isinstance(target, SavedObject):
            raise Refused(f"the pickle sets attributes of a {type(target).__name__}")
        target.state = state
