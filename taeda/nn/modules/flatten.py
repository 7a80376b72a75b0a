"""Joining and splitting dimensions."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda.nn.modules.module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Joins the dimensions from ``start_dim`` to ``end_dim`` into one.

    Args:
        start_dim, end_dim: the first and the last dimension to join; the batch dimension stays by default.
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits the dimension ``dim`` into several, of sizes ``unflattened_size``.

    A dimension given by name takes (name, size) pairs.
    """

    def __init__(self, dim: int | str, unflattened_size: Any) -> None:
        super().__init__()
        if isinstance(dim, int):
            self._check_sizes(unflattened_size)
        elif isinstance(dim, str):
            self._check_named(unflattened_size)
        else:
            raise TypeError(f"taeda.nn.Unflatten: dim must be an int or a str; got {type(dim).__name__}")
        self.dim = dim
        self.unflattened_size = unflattened_size

    @staticmethod
    def _check_sizes(sizes: Any) -> None:
        if not isinstance(sizes, (tuple, list)):
            raise TypeError(f"taeda.nn.Unflatten: unflattened_size must be a tuple of ints; got {type(sizes).__name__}")
        for i, size in enumerate(sizes):
            if not isinstance(size, int):
                raise TypeError(
                    f"taeda.nn.Unflatten: unflattened_size must hold ints; entry {i} is a {type(size).__name__}"
                )

    @staticmethod
    def _check_named(pairs: Any) -> None:
        if not isinstance(pairs, tuple):
            raise TypeError(
                f"taeda.nn.Unflatten: with a named dim, unflattened_size must be a tuple of (name, size) pairs; got "
                f"{type(pairs).__name__}"
            )
        for i, pair in enumerate(pairs):
            if not isinstance(pair, tuple):
                raise TypeError(
                    f"taeda.nn.Unflatten: with a named dim, entry {i} must be a (name, size) pair; got "
                    f"{type(pair).__name__}"
                )

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)  # type: ignore[arg-type]

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
