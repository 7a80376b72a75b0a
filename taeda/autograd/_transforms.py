"""What the library itself does in functions that transforms of `taeda.func` run, where programs are refused it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from taeda import Tensor
from taeda._C import _autograd


@contextmanager
def transforms_aside() -> Iterator[None]:
    """In the block nothing is refused for the transforms' sake."""
    before = _autograd._set_transforms(0)
    try:
        yield
    finally:
        _autograd._set_transforms(before)


def leaf_of(x: Tensor) -> Tensor:
    """``x`` cut from its graph, to be differentiated by."""
    leaf = _autograd._without_history(x)
    leaf.requires_grad = True  # requires_grad_() is refused
    return leaf
