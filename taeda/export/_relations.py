"""Sizes without names of their own that the program wants in relation to others: ``x + y`` wants two to be equal.

A place where the program goes on with the example's sizes alone tells which numbers it wants to be equal: each by what
it is in the example and in the shadow. By these two a size is known, and what follows from one: ``x.size(0) - 1``.
"""

from __future__ import annotations

import itertools
from typing import Any

from taeda import Tensor
from taeda.export.dynamic_shapes import UNLIMITED, Dim, Wish, Wishes

Number = tuple[int, int]  # in the example, and in the shadow
_PRODUCTS = ("mm", "bmm", "matmul", "addmm", "baddbmm", "dot", "mv")


def wanted_by_op(name: str, tensors: list[Tensor], shadows: list[Any], dim: int | None) -> list[tuple[Number, Number]]:
    """Which sizes an op wants to be equal that are so in the example and not in the shadow.

    Args:
        name: the op.
        tensors, shadows: its arguments.
        dim: a dimension in which they may differ.
    """
    found: list[tuple[Number, Number]] = []
    later: list[tuple[Number, Number]] = []  # ops that do not broadcast, such as losses, count from the front
    for a, b in itertools.combinations(range(len(tensors)), 2):
        sides = [list(zip(tensors[i].shape, shadows[i].shape)) for i in (a, b)]
        if any(dim is not None and -len(side) <= dim < len(side) for side in sides):
            sides = [[n for i, n in enumerate(side) if dim is None or i != dim % len(side)] for side in sides]
        left, right = sides[0][::-1], sides[1][::-1]
        if name in _PRODUCTS and len(left) and len(right):
            pairs = [(left[0], right[min(1, len(right) - 1)]), *zip(left[2:], right[2:])]
        else:
            pairs = list(zip(left, right))
        found += pairs
        later += zip(*sides)
    return [(x, y) for x, y in (*found, *later) if x[0] == y[0] and x[1] != y[1]]


def related(wishes: Wishes, shadows: dict[str, Number], pairs: list[tuple[Number, Number]]) -> Wishes | None:
    """``wishes`` with a relation between sizes that the pairs want, or an automatic one fixed; None if there is none.

    Args:
        wishes: what is asked of the sizes.
        shadows: the numbers of each name, and of each size without one: ``"leaf,dim"``.
        pairs: which are to be equal.
    """
    for pair in pairs:
        forms = [_form(number, wishes, shadows) for number in pair]
        for mine, other in (forms, forms[::-1]):
            made = None if mine is None else _put(wishes, mine, other, pair[0 if other is forms[0] else 1])
            if made is not None:
                return made
    return None


_Form = tuple[Any, int, int]  # a key of the wishes or a root Dim, a factor, an offset


def _form(number: Number, wishes: Wishes, shadows: dict[str, Number]) -> _Form | None:
    """The size that a number follows from, and how."""
    keys: dict[str, Any] = {f"{index},{dim}": (index, dim) for index, dim in wishes}
    keys |= {w.dim.root.__name__: w.dim.root for w in wishes.values() if isinstance(w.dim, Dim)}
    hint, other = number
    known = [(keys[name], size) for name, size in shadows.items() if name in keys and size[0] != size[1]]
    for key, (a, b) in known:
        if hint - other == a - b:
            return key, 1, hint - a
    for key, (a, b) in known:
        if a and hint % a == 0 and hint // a * b == other:
            return key, hint // a, 0
    return None


def _put(wishes: Wishes, mine: _Form, other: _Form | None, number: Number) -> Wishes | None:
    """Makes a size without a name follow from another; it is ``mine``, which is ``other`` or a fixed number."""
    key, factor, offset = mine
    if isinstance(key, Dim) or factor != 1 or (other is not None and other[0] == key):
        return None
    if other is None:
        fixed = number[0] == number[1] and wishes[key].is_auto
        return {k: w for k, w in wishes.items() if k != key} if fixed else None
    root, changed = other[0], dict(wishes)
    if not isinstance(root, Dim):
        wish = wishes[root]
        taken = {w.dim.root.__name__ for w in wishes.values() if isinstance(w.dim, Dim)}
        name = next(n for i in itertools.count() if (n := f"s{i}") not in taken)
        low, high = _limits(wish)
        if other[1:] == (1, offset):  # the limits of both hold for both
            low, high = max(low, _limits(wishes[key])[0]), min(high, _limits(wishes[key])[1])
        dim = Dim(name, min=low, max=high)
        changed[root] = Wish(dim, wish.hint)
        root = dim
    following = root if other[1] == 1 else root * other[1]
    shift = other[2] - offset
    changed[key] = Wish(following + shift if shift else following, wishes[key].hint)
    return changed


def _limits(wish: Wish) -> tuple[int, int]:
    low, high = wish.dim.min, wish.dim.max
    return 0 if low is None else low, UNLIMITED if high is None else high
