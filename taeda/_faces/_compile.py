"""What PyTorch keeps in ``torch._compile``: how code tells Dynamo to leave a function alone."""

from __future__ import annotations


def _disable_dynamo(fn: object = None, recursive: bool = True) -> object:
    """``fn``, or a decorator that gives back what it takes: there is no Dynamo."""
    return (lambda function: function) if fn is None else fn
