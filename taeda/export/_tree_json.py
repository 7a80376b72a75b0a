"""How arguments are nested, as JSON: classes by the names under which a program registered them."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

from taeda.utils import _pytree as pytree

_BUILTIN = {cls.__name__: cls for cls in (list, tuple, dict, OrderedDict, defaultdict, deque)}


def write(spec: pytree.TreeSpec) -> Any:
    """The nesting as lists, dicts and texts."""
    if spec.is_leaf():
        return None
    children = [write(child) for child in spec.children()]
    if spec.type is namedtuple:
        return {"namedtuple": spec.context.__name__, "fields": list(spec.context._fields), "children": children}
    if spec.type.__name__ in _BUILTIN:
        return {"type": spec.type.__name__, "context": spec.context, "children": children}
    name = f"{spec.type.__module__}.{spec.type.__qualname__}"
    return {"registered": name, "context": spec.context, "children": children}


def read(described: Any) -> pytree.TreeSpec:
    """The nesting from what `write` gave.

    Raises:
        RuntimeError: a class in it is not registered in this program.
    """
    if described is None:
        return pytree.LeafSpec()
    children = [read(child) for child in described["children"]]
    if "namedtuple" in described:
        return pytree.TreeSpec(namedtuple, _named_tuple(described["namedtuple"], described["fields"]), children)
    if "type" in described:
        return pytree.TreeSpec(_BUILTIN[described["type"]], described["context"], children)
    name = described["registered"]
    for cls in pytree.SUPPORTED_NODES:
        if isinstance(cls, type) and f"{cls.__module__}.{cls.__qualname__}" == name:
            return pytree.TreeSpec(cls, described["context"], children)
    raise RuntimeError(
        f"taeda.export.load: arguments or results are of the class {name}, which this program has not registered; "
        "see taeda.export.register_dataclass"
    )


def _named_tuple(name: str, fields: list[str]) -> Any:
    """The class of named tuples that a loaded program has for it: of the library if there is one, else a new one."""
    from taeda import return_types

    known = getattr(return_types, name, None)
    return known if known is not None and tuple(known._fields) == tuple(fields) else namedtuple(name, fields)  # type: ignore[misc]
