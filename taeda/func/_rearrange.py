"""``rearrange``: reshaping and permuting by names, in the notation of einops."""

from __future__ import annotations

import math
import re
from typing import Any

import taeda
from taeda import Tensor

_ELLIPSIS = "..."
Side = list[list[str]]  # the axes of each dimension, [] for one of size 1
_BARE = [_ELLIPSIS]  # this very list stands for dimensions of their own; within parentheses they are merged


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Tensor:
    """``tensor`` (or tensors of one shape, which are stacked first) with its dimensions in another order, merged and
    split as ``pattern`` says.

    ``"b (h p) w -> b h (p w)"``: names on the left stand for the dimensions, those in parentheses for parts of one, the
    last of them the fastest; the right says what becomes of them. ``...`` stands for any number of dimensions and
    ``1`` or ``()`` for one of size 1. Of the parts of a dimension one may be left out of ``axes_lengths``.

    ::

        rearrange(images, "b c (h p) (w q) -> (b h w) c p q", p=16, q=16)

    Raises:
        ValueError: the pattern is malformed, or does not fit the shape.
        TypeError: a length is no integer.
    """
    if not isinstance(tensor, Tensor):
        tensor = taeda.stack(list(tensor))
    left, right = _parse(pattern)
    left, right = _without_ellipsis(pattern, left, right, tensor.dim())
    lengths = _lengths(pattern, left, right, tensor.shape, axes_lengths)
    axes = [axis for part in left for axis in part]
    order = [axes.index(axis) for part in right for axis in part]
    split = tensor.reshape([lengths[axis] for axis in axes])
    return split.permute(order).reshape([math.prod(lengths[axis] for axis in part) for part in right])


def _fail(pattern: str, why: str) -> ValueError:
    return ValueError(f"taeda.func.rearrange: in the pattern '{pattern}' {why}")


def _parse(pattern: str) -> tuple[Side, Side]:
    sides = pattern.split("->")
    if len(sides) != 2:
        raise _fail(pattern, "'->' must occur once")
    left, right = (_side(pattern, text) for text in sides)
    if any(_ELLIPSIS in part and part is not _BARE for part in left):
        raise _fail(pattern, "the left has '...' within parentheses")
    names = [{axis for part in side for axis in part} for side in (left, right)]
    if names[0] != names[1]:
        raise _fail(pattern, f"{sorted(names[0] ^ names[1])} are on one side only")
    return left, right


def _side(pattern: str, text: str) -> Side:
    side: Side = []
    group: list[str] | None = None
    for token in re.findall(r"\.\.\.|[()]|[^\s()]+?(?=\.\.\.|[\s()]|$)", text):
        if token == "(" and group is None:
            group = []
            side.append(group)
        elif token == ")" and group is not None:
            group = None
        elif token in "()":
            raise _fail(pattern, "parentheses do not match or stand in each other")
        elif token == "1":
            if group is None:
                side.append([])
        elif token == _ELLIPSIS or (token.isidentifier() and token.strip("_") == token):
            if group is None:
                side.append(_BARE if token == _ELLIPSIS else [token])
            else:
                group.append(token)
        else:
            raise _fail(pattern, f"'{token}' is neither a name nor 1")
    if group is not None:
        raise _fail(pattern, "a parenthesis is not closed")
    axes = [axis for part in side for axis in part]
    repeated = {axis for axis in axes if axes.count(axis) > 1}
    if repeated:
        raise _fail(pattern, f"{sorted(repeated)} stand twice on one side")
    return side


def _without_ellipsis(pattern: str, left: Side, right: Side, dims: int) -> tuple[Side, Side]:
    """Names for the dimensions that ``...`` stands for."""
    hidden = dims - len(left) + 1 if _BARE in left else 0
    if hidden < 0 or (_BARE not in left and len(left) != dims):
        raise _fail(pattern, f"the left has {len(left)} dimensions; the tensor has {dims}")
    names = [f"{_ELLIPSIS}{i}" for i in range(hidden)]
    return _expanded(left, names), _expanded(right, names)


def _expanded(side: Side, names: list[str]) -> Side:
    result: Side = []
    for part in side:
        if part is _BARE:
            result += [[name] for name in names]
        else:
            result.append([n for axis in part for n in (names if axis == _ELLIPSIS else [axis])])
    return result


def _lengths(pattern: str, left: Side, right: Side, sizes: Any, given: dict[str, int]) -> dict[str, int]:
    """The length of every axis."""
    for name, length in given.items():
        if not isinstance(length, int):
            raise TypeError(f"taeda.func.rearrange: lengths are integers; got {name}={length!r}")
        if not any(name in part for part in left):
            raise _fail(pattern, f"there is no '{name}', whose length is given")
    lengths = dict(given)
    for part, size in zip(left, sizes):
        open_axes = [axis for axis in part if axis not in given]
        known = math.prod(given[axis] for axis in part if axis in given)
        if len(open_axes) > 1:
            raise _fail(pattern, f"the lengths of all of {open_axes} but one must be given")
        if (size != known) if not open_axes else (known == 0 or size % known != 0):
            raise _fail(pattern, f"a dimension of {size} is not divided by '{' '.join(part) or 1}' of {known}")
        if open_axes:
            lengths[open_axes[0]] = size // known
    return lengths
