"""Running the same thing in taeda.nn and in torch.nn, and comparing."""

from __future__ import annotations

from typing import Any

import pytest

import taeda

torch = pytest.importorskip("torch")


def to_torch(value: Any) -> Any:
    """The same structure with torch's tensors."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, taeda.Tensor):
        return torch.from_numpy(value.detach().numpy())
    if isinstance(value, (list, tuple)):
        return [to_torch(item) for item in value]
    if isinstance(value, dict):
        return {key: to_torch(item) for key, item in value.items()}
    return value


def to_taeda(value: Any) -> Any:
    """The same structure with copies as taeda's tensors."""
    if isinstance(value, torch.Tensor):
        copy = taeda.from_numpy(value.detach().clone().numpy())
        return copy.requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(to_taeda(item) for item in value)
    if isinstance(value, dict):
        return {key: to_taeda(item) for key, item in value.items()}
    return value


def assert_same(ours: Any, theirs: Any, rtol: float = 1e-5, atol: float = 1e-6) -> None:
    """Equal structure, shapes, dtypes; values up to rounding."""
    ours = to_torch(ours)
    if isinstance(theirs, torch.Tensor):
        torch.testing.assert_close(ours.detach(), theirs.detach(), rtol=rtol, atol=atol, equal_nan=True)
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for left, right in zip(ours, theirs, strict=True):
            assert_same(left, right, rtol, atol)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        assert_same(list(ours.values()), list(theirs.values()), rtol, atol)
    else:
        assert ours == theirs


def total(value: Any) -> Any:
    """A scalar that depends on every floating output, differently on each element."""
    if isinstance(value, (list, tuple)):
        parts = [total(item) for item in value]
        return sum(part for part in parts if part is not None)
    if value is None or not value.is_floating_point():
        return None
    weights = value.detach() * 0 + 1
    return (value * (value.detach() * 0.3 + weights)).sum()


def outcome(function: Any) -> Any:
    """What a call returns, or the type of its exception."""
    try:
        return function()
    except Exception as error:
        return type(error)
