"""What ``taeda.ops`` is made of: op objects, packets of overloads, namespaces."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import taeda
from taeda import _C

if TYPE_CHECKING:
    from taeda._schema.function_schema import FunctionSchema
    from taeda._schema.tags import Tag


class OpOverload(_C._OpBase):
    """One op with one schema, e.g. ``taeda.ops.aten.add.Tensor``. Calls go through the dispatcher.

    There is one object for each op, so ops can be compared with ``is`` and be keys of dictionaries.
    """

    _cached_schema: FunctionSchema | None = None

    @property
    def _schema(self) -> FunctionSchema:
        if self._cached_schema is None:
            from taeda._schema.function_schema import FunctionSchema

            self._cached_schema = FunctionSchema(self._schema_text)
        return self._cached_schema

    @property
    def namespace(self) -> str:
        return self._qualified_name.partition("::")[0]

    @property
    def _opname(self) -> str:
        return self._qualified_name.partition("::")[2]

    @property
    def __name__(self) -> str:
        return f"{self._opname}.{self._overloadname or 'default'}"

    def __getattr__(self, name: str) -> Any:
        if name == "__qualname__":  # in the class body it would be the class's own
            return self.__name__
        raise AttributeError(f"the op {self.name()} has no attribute '{name}'")

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        return getattr(OpNamespace.named(self.namespace), self._opname)

    _overloadpacket = overloadpacket

    @property
    def tags(self) -> list[Tag]:
        from taeda._schema.tags import tags_of

        return tags_of(self._qualified_name, self._overloadname, self._tag_bits)

    @property
    def is_view(self) -> bool:
        """Whether a result shares memory with an argument that is not written to."""
        aliased = [a.alias_info for a in self._schema.arguments if a.alias_info is not None]
        return any(not alias.is_write for alias in aliased)

    @property
    def op(self) -> OpOverload:
        return self

    def name(self) -> str:
        """``namespace::name.overload``."""
        return f"{self._qualified_name}.{self._overloadname}" if self._overloadname else self._qualified_name

    _name = property(name)

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.namespace}.{self._opname}', overload='{self._overloadname or 'default'}')>"

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __deepcopy__(self, memo: Any) -> OpOverload:
        return self

    def __reduce__(self) -> Any:
        return find_overload, (self._qualified_name, self._overloadname)


_C._set_op_class(OpOverload)


def find_overload(qualified_name: str, overload: str) -> OpOverload:
    """The op object of ``"namespace::name"`` and an overload, ``""`` for the plain one.

    Raises:
        AttributeError: there is none.
    """
    found = _C._find_op(qualified_name, overload)
    if found is None:
        raise AttributeError(_unknown(qualified_name, overload))
    return found


def packet_of(name: str) -> OpOverloadPacket:
    """``taeda.ops.aten.add`` of a declared name, ``add``, and of one with its namespace, ``demo::bell``.

    Raises:
        AttributeError: there is none.
    """
    import taeda

    namespace, _, bare = name.rpartition("::")
    return getattr(getattr(taeda.ops, namespace or "aten"), bare)  # type: ignore[no-any-return]


def _unknown(qualified_name: str, overload: str) -> str:
    namespace, _, name = qualified_name.partition("::")
    shown = f"taeda.ops.{namespace}.{name}"
    there_are = [o or "default" for o in _C._overloads_of(qualified_name)]
    if there_are:
        return f"{shown} has no overload '{overload or 'default'}'; it has {', '.join(there_are)}"
    from taeda._main import left_out

    hint = left_out.hint(name) if namespace == "aten" else None
    if hint:
        return f"{shown}: {hint}"
    import difflib

    known = {
        full.partition("::")[2].partition(".")[0] for full in _C._all_op_names() if full.startswith(namespace + "::")
    }
    close = difflib.get_close_matches(name, known, 3)
    return f"there is no op {shown}" + (f"; did you mean {', '.join(close)}?" if close else "")


def _operands(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments of a call, and what is in those that are lists."""
    return [item for a in (*args, *kwargs.values()) for item in (a if isinstance(a, (list, tuple)) else (a,))]


_PLAIN = frozenset([taeda.Tensor, int, float, bool, str, type(None)])  # most arguments are one of these: none overrides


class OpOverloadPacket:
    """All overloads of one op name, e.g. ``taeda.ops.aten.add``; calling it picks the first that takes the
    arguments."""

    def __init__(self, qualified_name: str) -> None:
        self._qualified_op_name = qualified_name
        self.__name__ = self.__qualname__ = qualified_name.partition("::")[2]
        self.__module__ = f"torch._ops.{qualified_name.partition('::')[0]}"
        self._names: list[str] = []
        self._overloads: list[OpOverload] = []

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("__"):
            raise AttributeError(f"an op packet has no attribute '{name}'")
        found = find_overload(self._qualified_op_name, "" if name == "default" else name)
        self.__dict__[name] = found
        return found

    def overloads(self) -> list[str]:
        """The names of the overloads; the plain one is ``default``."""
        return [name or "default" for name in _C._overloads_of(self._qualified_op_name)]

    def _every(self) -> list[OpOverload]:
        names = _C._overloads_of(self._qualified_op_name)
        if names != self._names:  # libraries may add some
            self._names, self._overloads = names, [getattr(self, name or "default") for name in names]
        return self._overloads

    def __iter__(self) -> Iterator[str]:
        return iter(self.overloads())

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.overloads()})

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        overloads = self._every()
        if len(overloads) == 1:
            if not kwargs and _PLAIN.issuperset(map(type, args)) and not _C._len_torch_function_stack():
                return overloads[0](*args)
            relevant = _operands(args, kwargs)
            if taeda.overrides.has_torch_function(relevant):
                return taeda.overrides.handle_torch_function(self, relevant, *args, **kwargs)
            return overloads[0](*args, **kwargs)
        reasons = []
        for overload in overloads:
            if not overload._takes(*args, **kwargs):
                reasons.append(overload._schema_text)
                continue
            return overload(*args, **kwargs)
        relevant = _operands(args, kwargs)
        if taeda.overrides.has_torch_function(relevant):  # by a type that is no tensor
            return taeda.overrides.handle_torch_function(self, relevant, *args, **kwargs)
        given = ", ".join([*(type(a).__name__ for a in args), *(f"{k}={type(v).__name__}" for k, v in kwargs.items())])
        raise RuntimeError(f"taeda.ops.{self}: no overload takes ({given})\n  " + "\n  ".join(reasons))

    @property
    def op(self) -> OpOverloadPacket:
        return self

    @property
    def _schemas(self) -> dict[str, FunctionSchema]:
        return {name: getattr(self, name)._schema for name in self.overloads()}

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self._qualified_op_name.replace('::', '.')}')>"

    def __str__(self) -> str:
        return self._qualified_op_name.replace("::", ".")

    def __deepcopy__(self, memo: Any) -> OpOverloadPacket:
        return self

    def __reduce__(self) -> Any:
        namespace, _, name = self._qualified_op_name.partition("::")
        return getattr, (OpNamespace.named(namespace), name)


# Namespaces whose ops are defined by a module that the first question for one of them imports.
_WRITTEN_IN = {
    "c10d": "taeda.distributed._c10d_ops",
    **dict.fromkeys(
        ("_c10d_functional", "_c10d_functional_autograd", "c10d_functional"), "taeda.distributed._functional_ops"
    ),
}


class OpNamespace:
    """The ops of one namespace, e.g. ``taeda.ops.aten``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = f"torch.ops.{name}"

    @staticmethod
    def named(name: str) -> OpNamespace:
        from taeda import ops

        return getattr(ops, name)

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name.startswith("__"):
            raise AttributeError(f"taeda.ops.{self.name} has no attribute '{name}'")
        qualified = f"{self.name}::{name}"
        if self.name in _WRITTEN_IN:
            importlib.import_module(_WRITTEN_IN[self.name])
        if not _C._overloads_of(qualified):
            raise AttributeError(_unknown(qualified, ""))
        packet = OpOverloadPacket(qualified)
        self.__dict__[name] = packet
        return packet

    def __iter__(self) -> Iterator[str]:
        return iter(dir(self))

    def __dir__(self) -> list[str]:
        prefix = self.name + "::"
        return sorted({n.removeprefix(prefix).partition(".")[0] for n in _C._all_op_names() if n.startswith(prefix)})

    def __repr__(self) -> str:
        return f"<OpNamespace '{self.name}'>"

    def __reduce__(self) -> Any:
        return OpNamespace.named, (self.name,)


for _class in (OpOverload, OpOverloadPacket, OpNamespace):  # as PyTorch's users know them
    _class.__module__ = "taeda._ops"
