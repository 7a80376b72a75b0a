"""The base class of observers, which watch what passes and say how to quantise it."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from taeda import Tensor, dtype, nn


class _Maker:
    """Makes objects of a class, with arguments that are known and arguments that are computed at each call."""

    def __init__(self, make: Callable[..., Any], computed: dict[str, Callable[[], Any]] | None = None) -> None:
        self.p, self.callable_args = make, computed or {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        computed = {name: compute() for name, compute in self.callable_args.items() if name not in kwargs}
        return self.p(*args, **computed, **kwargs)

    def with_args(self, **kwargs: Any) -> _Maker:
        """The same with arguments of the class."""
        return _Maker(functools.partial(self.p, **kwargs), self.callable_args)

    def with_callable_args(self, **kwargs: Callable[[], Any]) -> _Maker:
        """The same with arguments that are computed at each call."""
        return _Maker(self.p, {**self.callable_args, **kwargs})

    def __repr__(self) -> str:
        return f"{self.p!r}{self.callable_args}"


def with_args(cls: Callable[..., Any], **kwargs: Any) -> _Maker:
    """Makes objects of ``cls`` with these arguments."""
    return _Maker(cls).with_args(**kwargs)


def with_callable_args(cls: Callable[..., Any], **kwargs: Callable[[], Any]) -> _Maker:
    """Makes objects of ``cls`` with arguments that are computed at each call."""
    return _Maker(cls).with_callable_args(**kwargs)


class ObserverBase(ABC, nn.Module):
    """Watches the tensors that pass through it.

    A subclass defines ``forward``, which returns its argument, and ``calculate_qparams``.

    Args:
        dtype: what the tensors are to be quantised to.
        is_dynamic: whether scales are computed anew for each tensor.
    """

    with_args = classmethod(with_args)
    with_callable_args = classmethod(with_callable_args)

    def __init__(self, dtype: dtype, is_dynamic: bool = False) -> None:
        super().__init__()
        self.dtype, self.is_dynamic = dtype, is_dynamic

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Takes note of ``x`` and returns it."""

    @abstractmethod
    def calculate_qparams(self, **kwargs: Any) -> Any:
        """Scale and zero point by what was seen."""
