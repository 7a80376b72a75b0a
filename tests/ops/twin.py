"""Runs one expression under Taeda and under PyTorch: the same values, dtypes, shapes and strides, or the same error."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import taeda

Case = Callable[[Any], Any]


def outcome(case: Case, library: ModuleType) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return case(library)
        except Exception as error:
            return type(error)


def facts(result: Any, strides: bool) -> Any:
    """What must agree, as plain Python and NumPy objects."""
    if isinstance(result, (list, tuple)) and type(result).__name__ != "Size":
        return [facts(part, strides) for part in result]
    if hasattr(result, "untyped_storage"):
        plain = result.detach().resolve_conj()
        values = (plain.float() if str(plain.dtype) == "torch.bfloat16" else plain).numpy().copy()
        return [str(result.dtype), tuple(result.shape), tuple(result.stride()) if strides else None, values]
    return str(result) if type(result).__name__ in ("dtype", "Size", "device") else result


def agree(got: Any, wanted: Any, rtol: float) -> bool:
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(agree(g, w, rtol) for g, w in zip(got, wanted))
    if isinstance(wanted, np.ndarray):
        exact = wanted.dtype.kind in "biu"
        return got.shape == wanted.shape and (
            np.array_equal(got, wanted) if exact else np.allclose(got, wanted, rtol=rtol, atol=rtol, equal_nan=True)
        )
    if isinstance(wanted, type) and issubclass(wanted, Exception):
        return isinstance(got, type) and issubclass(got, wanted)
    return bool(got == wanted)


def check(case: Case, strides: bool = True, rtol: float = 1e-6) -> None:
    """Fails unless both libraries agree on ``case``, a function of the library."""
    torch = pytest.importorskip("torch")
    got, wanted = facts(outcome(case, taeda), strides), facts(outcome(case, torch), strides)
    assert agree(got, wanted, rtol), f"taeda gives {got}, torch {wanted}"
