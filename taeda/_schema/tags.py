"""``Tag``: what a program can know of an op without running it."""

from __future__ import annotations

import enum
import functools
from typing import Any

from taeda import _C
from taeda._schema.core_ops import CORE_OPS


class Tag(enum.Enum):
    """A property of an op, found in ``op.tags``; ops that a program defines have those that it gave."""

    core = 0
    cudagraph_unsafe = 1
    data_dependent_output = 2
    dynamic_output_shape = 3
    flexible_layout = 4
    generated = 5
    inplace = 6
    inplace_view = 7
    maybe_aliasing_or_mutating = 8
    needs_contiguous_strides = 9
    needs_exact_strides = 10
    needs_fixed_stride_order = 11
    nondeterministic_bitwise = 12
    nondeterministic_seeded = 13
    out = 14
    out_variant = 15
    pointwise = 16
    pt2_compliant_tag = 17
    reduction = 18
    view_copy = 19

    __module__ = "taeda"

    def __repr__(self) -> str:
        return f"<Tag.{self.name}: {self.value}>"

    def __int__(self) -> int:
        return self.value


# Composites have no shape rule of their own to tell; and of `index` it is told by what it is given.
_SIZED_BY_VALUES = frozenset(
    ["argwhere", "index.Tensor", "nonzero_numpy", "one_hot", "_unique", "unique_dim_consecutive", "where"]
)
_given: dict[str, list[Tag]] = {}


def remember_tags(name: str, schema: str, tags: Any) -> None:
    """Keeps what a program says of the op that it defines, ``"namespace::name"`` with ``schema``."""
    given = [tags] if isinstance(tags, Tag) else list(tags)
    wrong = [tag for tag in given if not isinstance(tag, Tag)]
    if wrong:
        raise TypeError(f"taeda.library: tags are members of taeda.Tag; got {wrong[0]!r} for {name}")
    _given[_key(name.partition(".")[0], schema.partition("(")[0].partition(".")[2])] = given


def _key(name: str, overload: str) -> str:
    return f"{name}.{overload}"


def tags_of(name: str, overload: str, bits: int) -> list[Tag]:
    """The tags of an op."""
    given = _given.get(_key(name, overload))
    return list(_declared(name, overload, bits) if given is None else given)


@functools.cache
def _declared(name: str, overload: str, bits: int) -> tuple[Tag, ...]:
    found = {Tag[name] for name, bit in _C._op_tag_bits().items() if bits & bit}
    if name.startswith("aten::"):
        found.add(Tag.pt2_compliant_tag)
        plain = name.removeprefix("aten::") + (f".{overload}" if overload else "")
        if plain in CORE_OPS:
            found.add(Tag.core)
        if plain in _SIZED_BY_VALUES:
            found.add(Tag.dynamic_output_shape)
    return tuple(sorted(found, key=int))
