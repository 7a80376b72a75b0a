"""Helpers for tests: closeness with a useful message, and random tensors."""

from __future__ import annotations

from taeda.testing._comparison import assert_allclose, assert_close
from taeda.testing._make_tensor import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
