"""Which function computes the divergence of which two types."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from taeda import Tensor
from taeda.distributions.distribution import Distribution

Divergence = Callable[[Any, Any], Tensor]
_KL_REGISTRY: dict[tuple[type, type], Divergence] = {}
_found: dict[tuple[type, type], Divergence | None] = {}
"""What ``_find`` returned, until something else is registered."""


def register_kl(type_p: type, type_q: type) -> Callable[[Divergence], Divergence]:
    """A decorator that registers a function of ``p`` and ``q`` for these types and their subclasses.

    The function registered for the most derived types is called. Where the best for ``p`` and that for ``q`` differ,
    the former is called with a ``RuntimeWarning``; register the pair itself to resolve it. Raises ``TypeError`` for
    what is no class; the classes may also be those of a library with a root of its own.
    """
    for kind in (type_p, type_q):
        if not isinstance(kind, type):
            raise TypeError(f"register_kl takes classes of distributions, got {kind!r}")

    def register(function: Divergence) -> Divergence:
        _KL_REGISTRY[type_p, type_q] = function
        _found.clear()
        return function

    return register


def _distances(kinds: tuple[type, type], registered: tuple[type, type]) -> tuple[int, int]:
    """How far up the registered types are in the orders in which the two types look for methods."""
    first, second = (kind.__mro__.index(base) for kind, base in zip(kinds, registered))
    return first, second


def _find(type_p: type, type_q: type) -> Divergence | None:
    kinds = type_p, type_q
    fitting = {
        _distances(kinds, pair): pair
        for pair in _KL_REGISTRY
        if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])
    }
    if not fitting:
        return None
    by_p = _KL_REGISTRY[fitting[min(fitting)]]
    by_q = _KL_REGISTRY[fitting[min(fitting, key=lambda distances: distances[::-1])]]
    if by_p is not by_q:
        warnings.warn(
            f"kl_divergence({type_p.__name__}, {type_q.__name__}) is ambiguous: {by_p.__name__} fits the first better, "
            f"{by_q.__name__} the second; register_kl({type_p.__name__}, {type_q.__name__}) would decide",
            RuntimeWarning,
            stacklevel=3,
        )
    return by_p


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The Kullback-Leibler divergence of ``q`` from ``p``, the mean of ``log p(x) - log q(x)`` over draws of ``p``, of
    the shape ``batch_shape``.

    Raises ``NotImplementedError`` if nothing is registered for their types.
    """
    kinds = type(p), type(q)
    if kinds not in _found:
        _found[kinds] = _find(*kinds)
    function = _found[kinds]
    if function is None:
        raise NotImplementedError(f"kl_divergence is not implemented from {kinds[0].__name__} to {kinds[1].__name__}")
    return function(p, q)
