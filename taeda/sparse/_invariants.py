"""What must hold of the parts of a sparse tensor, and whether constructors are asked to check it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import taeda
from taeda import Tensor
from taeda.sparse._parts import BLOCKED, BY_ROWS
from taeda.types import _layout


class check_sparse_tensor_invariants:
    """Whether constructors of sparse tensors that are not told ``check_invariants`` count as told True.

    A context manager, a decorator, and three functions of the class. Constructors check what keeps memory safe until a
    program says here, or by ``check_invariants=False``, that they need not.

    Args:
        enable: the state inside of the ``with`` block, or the function.
    """

    _enabled: bool | None = None  # None until somebody says

    def __init__(self, enable: bool = True) -> None:
        self._state = enable
        self._before: tuple[bool | None] | None = None  # what to go back to, within

    @staticmethod
    def is_enabled() -> bool:
        """The state."""
        return bool(check_sparse_tensor_invariants._enabled)

    @staticmethod
    def enable() -> None:
        """Sets the state to True."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable() -> None:
        """Sets the state to False."""
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self) -> None:
        if self._before is not None:
            raise RuntimeError(
                "taeda.sparse.check_sparse_tensor_invariants: this instance is entered already; make another for a "
                "block within its block"
            )
        self._before = (check_sparse_tensor_invariants._enabled,)
        check_sparse_tensor_invariants._enabled = self._state

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
                 ) -> None:  # fmt: skip
        if self._before is not None:
            check_sparse_tensor_invariants._enabled, self._before = self._before[0], None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self._state):
                return function(*args, **kwargs)

        return inside


def _fail(name: str, message: str) -> None:
    raise RuntimeError(f"taeda.{name}: {message}")


def check_coordinates(name: str, indices: Tensor, size: Sequence[int], coalesced: bool | None) -> None:
    """Indices (sparse dims, n) within their sizes, and rising if they are said to be coalesced."""
    if indices.is_meta:
        return
    for d, row in enumerate(indices):
        if not row.numel():
            continue
        low, high = int(row.min()), int(row.max())
        if low < 0:
            _fail(name, f"indices must not be negative; found {low} in dimension {d}")
        if high >= size[d]:
            _fail(name, f"size {tuple(size)} does not fit indices, which go up to {high} in dimension {d}")
    if coalesced:
        from taeda.sparse._parts import flat_keys

        if bool((flat_keys(indices, size).diff() <= 0).any()):
            _fail(name, "is_coalesced=True is for indices that rise, each there once")


def check_compressed(name: str, layout: _layout, pointers: Tensor, plain: Tensor, values: Tensor, size: Sequence[int]
                     ) -> bool:  # fmt: skip
    """Compressed indices that rise from 0 to the number of elements; plain ones inside. Whether they rise in each line,
    each there once."""
    by_rows = layout in BY_ROWS
    pointer, other = ("crow_indices", "col_indices") if by_rows else ("ccol_indices", "row_indices")
    batch, count = pointers.dim() - 1, plain.shape[-1]
    if pointers.numel() == 0 or pointers.is_meta:
        return True
    if bool((pointers[..., 0] != 0).any()) or bool((pointers[..., -1] != count).any()):
        _fail(name, f"{pointer} must begin with 0 and end with the number of elements, {count}")
    steps = pointers.diff(dim=-1)
    side = values.shape[batch + 2 if by_rows else batch + 1] if layout in BLOCKED else 1
    limit = size[batch + (1 if by_rows else 0)] // side
    if bool((steps < 0).any()):
        _fail(name, f"{pointer} must not fall")
    if plain.numel() and (int(plain.min()) < 0 or int(plain.max()) >= limit):
        _fail(name, f"{other} must be from 0 to {limit - 1}; got {int(plain.min())} to {int(plain.max())}")
    falls = plain.diff(dim=-1) <= 0
    if not bool(falls.any()):
        return True
    starts = taeda.zeros((*plain.shape[:-1], count + 1), dtype=taeda.bool)
    starts.scatter_(-1, pointers.long(), True)
    return not bool((falls & ~starts[..., 1:-1]).any())
