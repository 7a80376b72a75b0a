"""Schemas of ops as objects: ``op._schema``. The core reads them (``csrc/dispatch/schema_parser.cpp``)."""

from __future__ import annotations

import functools
from typing import Any

from taeda import _C
from taeda._schema.types import OptionalType, Type


class AliasInfo:
    """Which memory an argument or result shares (``before_set``), and whether it is written to.

    Of ``Tensor(a!)[]`` the sets are the elements' and those of the list are empty.
    """

    def __init__(self, is_write: bool, before_set: set[str], after_set: set[str], of_elements: bool = False) -> None:
        self.is_write = is_write
        self.before_set, self.after_set = (set(), set()) if of_elements else (before_set, after_set)
        self._names = before_set, after_set

    def __repr__(self) -> str:
        before, after = ("|".join(sorted(names)) for names in self._names)
        return f"({before}{'!' if self.is_write else ''}{'' if before == after else f' -> {after}'})"


class Argument:
    """A parameter or a result of a schema."""

    def __init__(self, name: str, real_type: Type, type: Type, N: int | None, alias: tuple[Any, ...] | None,
                 kwarg_only: bool, has_default: bool, default: Any) -> None:  # fmt: skip
        self.name = name
        self.type, self.real_type = type, real_type
        self.N = N
        self.alias_info = AliasInfo(*alias) if alias is not None else None
        self.kwarg_only = kwarg_only
        self._has_default = has_default
        self.default_value = default

    def has_default_value(self) -> bool:
        """Whether it may be left out."""
        return self._has_default

    @property
    def is_write(self) -> bool:
        """Whether a call writes to it."""
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def is_out(self) -> bool:
        """Whether it is there to be written to only."""
        return self.kwarg_only and self.is_write

    def _facts(self) -> tuple[Any, ...]:
        return (self.name, self.real_type, self.N, self.kwarg_only, self._has_default, self.default_value,
                repr(self.alias_info))  # fmt: skip

    def __repr__(self) -> str:
        return f"Argument(name='{self.name}', type={self.type})"

    def _accepts(self, older: Argument, *, is_result: bool = False) -> str:
        """Why it cannot stand where ``older`` stood; empty if it can."""
        narrow, wide = (self, older) if is_result else (older, self)
        if self.name != older.name and not is_result:
            return f"'{older.name}' has become '{self.name}'"
        if not narrow.real_type.isSubtypeOf(wide.real_type):
            return f"'{older.name}' was {older.real_type} and is {self.real_type}"
        if (self.N, repr(self.alias_info)) != (older.N, repr(older.alias_info)):
            return f"'{older.name}' has another size or alias"
        if older._has_default and (not self._has_default or self.default_value != older.default_value):
            return f"'{older.name}' has another default"
        if self.kwarg_only and not older.kwarg_only:
            return f"'{older.name}' has become keyword-only"
        return ""


class FunctionSchema:
    """The schema of an op; ``str`` gives its text."""

    def __init__(self, text: str) -> None:
        parsed = _C._parse_schema(text)
        self.name, self.overload_name, arguments, returns, self.is_vararg, self.is_varret, self.text = parsed
        self.arguments = [Argument(*facts) for facts in arguments]
        self.returns = [Argument(*facts) for facts in returns]

    @functools.cached_property
    def is_mutable(self) -> bool:
        """Whether a call writes to an argument."""
        return any(argument.is_write for argument in self.arguments)

    def _is_view_op(self) -> bool:
        """Whether a result shares memory with an argument that is not written to."""
        return any(a.alias_info is not None and not a.is_write for a in self.arguments)

    def is_backward_compatible_with(self, old: FunctionSchema) -> bool:
        """Whether every call that fits the ``old`` schema fits this one, and gives what it gave.

        New arguments need a default; positional ones stand behind the old ones, and all before ``out``.
        """
        return not self._difference(old)

    def check_forward_compatible_with(self, old: FunctionSchema) -> tuple[bool, str]:
        """Whether a program written against this schema runs where there is only the ``old`` one, and why not.

        It does when what is new are arguments with defaults that need not be written out: of a plain type, not lists.
        """
        why = self._difference(old)
        known = {a.name for a in old.arguments}
        for argument in self.arguments:
            plain = argument.real_type
            while isinstance(plain, OptionalType):
                plain = plain.getElementType()
            if not why and argument.name not in known and plain.containedTypes() and argument.default_value is not None:
                why = f"the new argument '{argument.name}' has a default that is a collection"
        return not why, why

    def _difference(self, old: FunctionSchema) -> str:
        if (self.name, self.overload_name, self.is_vararg, self.is_varret) != (
            old.name, old.overload_name, old.is_vararg, old.is_varret,
        ):  # fmt: skip
            return f"{old.name}.{old.overload_name} is another function"
        if len(self.returns) != len(old.returns):
            return f"there were {len(old.returns)} results and are {len(self.returns)}"
        for mine, older in zip(self.returns, old.returns, strict=True):
            if why := mine._accepts(older, is_result=True):
                return why
        for wanted, given in ((_positional(old), _positional(self)), (_outs(old), _outs(self))):
            if len(given) < len(wanted):
                return f"'{wanted[len(given)].name}' is gone"
            for mine, older in zip(given, wanted, strict=False):
                if why := mine._accepts(older):
                    return why
            if new := [a.name for a in given[len(wanted) :] if not a.has_default_value()]:
                return f"the new argument '{new[0]}' has no default"
        return self._keyword_difference(old)

    def _keyword_difference(self, old: FunctionSchema) -> str:
        there = {a.name: a for a in self.arguments if not a.is_out}
        before = {a.name: a for a in old.arguments if a.kwarg_only and not a.is_out}
        for name, older in before.items():
            if name not in there:
                return f"'{name}' is gone"
            if why := there[name]._accepts(older):
                return why
        known = {a.name for a in old.arguments}
        new = [a.name for a in there.values() if a.kwarg_only and a.name not in known and not a.has_default_value()]
        return f"the new argument '{new[0]}' has no default" if new else ""

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _facts(self) -> tuple[Any, ...]:
        return (self.name, self.overload_name, [a._facts() for a in self.arguments],
                [a._facts() for a in self.returns], self.is_vararg, self.is_varret)  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionSchema) and other._facts() == self._facts()

    def __hash__(self) -> int:
        return hash((self.name, self.overload_name, len(self.arguments)))

    def __reduce__(self) -> Any:
        return FunctionSchema, (self.text,)


def _positional(schema: FunctionSchema) -> list[Argument]:
    return [a for a in schema.arguments if not a.kwarg_only]


def _outs(schema: FunctionSchema) -> list[Argument]:
    return [a for a in schema.arguments if a.is_out]


def parse_schema(text: str) -> FunctionSchema:
    """Reads ``"ns::name.overload(Tensor self, int dim=0) -> Tensor"``.

    Raises:
        RuntimeError: it is malformed; the message shows where.
    """
    return FunctionSchema(text)
