"""Descriptions of trees as texts, those of PyTorch: see `taeda.utils._pytree.treespec_dumps`."""

from __future__ import annotations

import enum
import json
import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

from taeda.utils._pytree_nodes import _NAMED_TUPLES, SUPPORTED_NODES, Context, LeafSpec, TreeSpec, is_namedtuple_class

_PROTOCOL = 1
_WRITTEN = {cls: f"{cls.__module__}.{cls.__name__}" for cls in (list, tuple, dict, OrderedDict, defaultdict, deque)}
_FACTORIES = {cls.__name__: cls for cls in (list, dict, set, tuple, int, float, str, bool)}


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A description as a text.

    Args:
        treespec: the description.
        protocol: the format, of which there is one: 1.

    Raises:
        ValueError: there is no such format.
        TypeError: it is no description, or something in it is nothing that JSON has.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"taeda.utils._pytree.treespec_dumps: takes the TreeSpec of a tree; got {type(treespec)}")
    if protocol not in (None, _PROTOCOL):
        raise ValueError(f"taeda.utils._pytree.treespec_dumps: the protocol is {_PROTOCOL}; got {protocol}")
    return json.dumps([_PROTOCOL, _dumped(treespec)])


class _Encoder(json.JSONEncoder):
    """Members of enumerations by their classes and names."""

    def default(self, value: Any) -> Any:
        if isinstance(value, enum.Enum):
            cls = type(value)
            return {"__enum__": True, "fqn": f"{cls.__module__}:{cls.__qualname__}", "name": value.name}
        return super().default(value)


def _context_text(context: Context) -> str:
    return json.dumps(context, cls=_Encoder)


def _dumped(spec: TreeSpec) -> dict[str, Any]:
    name, context = None, None
    if not spec.is_leaf():
        name, context = _dumped_type(spec)
    return {"type": name, "context": context, "children_spec": [_dumped(child) for child in spec.children_specs]}


def _dumped_type(spec: TreeSpec) -> tuple[str, Any]:
    if spec.type is namedtuple:
        return "collections.namedtuple", name_of_namedtuple(spec.context)
    if spec.type is defaultdict:
        factory, keys = spec.context
        said = {"default_factory_module": factory.__module__, "default_factory_name": factory.__qualname__}
        return _WRITTEN[defaultdict], said | {"dict_context": keys}
    if spec.type in _WRITTEN:
        return _WRITTEN[spec.type], _context_text(spec.context)
    node = SUPPORTED_NODES[spec.type]
    if node.name is None and is_namedtuple_class(spec.type):
        return "collections.namedtuple", name_of_namedtuple(spec.type)
    name = node.name or f"{spec.type.__module__}.{spec.type.__qualname__}"
    return name, _context_text(spec.context) if node.dump_context is None else node.dump_context(spec.context)


def name_of_namedtuple(cls: type) -> str:
    """The name of a class of named tuples in texts."""
    known = next((name for name, other in _NAMED_TUPLES.items() if other is cls), None)
    return known or f"{cls.__module__}.{cls.__qualname__}"


def treespec_loads(serialized: str, fields: dict[str, Any] | None = None) -> TreeSpec:
    """The description of a text.

    Args:
        serialized: what `treespec_dumps` gave.
        fields: by the names of classes of named tuples that nobody registered, the names of their fields.

    Raises:
        ValueError: it is no such text.
        NotImplementedError: it names a class that this program has not registered.
    """
    protocol, described = json.loads(serialized)
    if protocol != _PROTOCOL:
        raise ValueError(f"taeda.utils._pytree.treespec_loads: the protocol is {_PROTOCOL}; got {protocol}")
    return _loaded(described, fields or {})


def _loaded(described: dict[str, Any], fields: dict[str, Any]) -> TreeSpec:
    name, context = described["type"], described["context"]
    if name is None:
        return LeafSpec()
    children = [_loaded(child, fields) for child in described["children_spec"]]
    if name == "collections.namedtuple":
        cls = _named_tuple(context, fields)
        _check_count(list(cls._fields), children)  # type: ignore[attr-defined]
        return TreeSpec(namedtuple, cls, children)
    if name == _WRITTEN[defaultdict]:
        factory = _FACTORIES.get(context["default_factory_name"])
        if factory is None:
            raise NotImplementedError(
                f"taeda.utils._pytree.treespec_loads: a defaultdict of {context['default_factory_name'][:100]}"
            )
        _check_count(context["dict_context"], children)
        return TreeSpec(defaultdict, [factory, context["dict_context"]], children)
    for builtin, known in _WRITTEN.items():
        if name == known:
            said = json.loads(context)
            if builtin in (dict, OrderedDict):
                _check_count(said, children)
            return TreeSpec(builtin, said, children)
    for cls, node in SUPPORTED_NODES.items():
        if name == (node.name or f"{cls.__module__}.{cls.__qualname__}"):
            load = node.load_context or json.loads
            return TreeSpec(cls, load(context), children)
    raise NotImplementedError(
        f"taeda.utils._pytree.treespec_loads: this program has not registered the class {name[:200]}; see "
        "taeda.export.register_dataclass"
    )


def _check_count(keys: Context, children: list[TreeSpec]) -> None:
    if not isinstance(keys, list) or len(keys) != len(children):
        raise ValueError(f"taeda.utils._pytree.treespec_loads: {len(children)} values have the keys {str(keys)[:100]}")


def _named_tuple(name: str, fields: dict[str, Any]) -> type:
    """The class that the program registered or has, or one of the library's, or a new one with the fields that were
    said."""
    module, _, own = name.rpartition(".")
    found: Any = _NAMED_TUPLES.get(name) or getattr(sys.modules.get(module), own, None)
    if is_namedtuple_class(found):
        return found  # type: ignore[no-any-return]
    said = fields.get(name)
    if said is None:
        raise NotImplementedError(
            f"taeda.utils._pytree.treespec_loads: this program has not registered the named tuple {name[:200]}"
        )
    from taeda import return_types

    names = list(said["field_names"])
    known = getattr(return_types, own, None)
    if known is not None and list(known._fields) == names:
        return known  # type: ignore[no-any-return]
    return namedtuple(own, names)  # type: ignore[misc]
