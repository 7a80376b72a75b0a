"""Helpers for tests: closeness with a useful message, random tensors, what a text holds."""

from __future__ import annotations

from taeda.testing._comparison import assert_allclose, assert_close
from taeda.testing._file_check import FileCheck
from taeda.testing._make_tensor import make_tensor

__all__ = ["FileCheck", "assert_allclose", "assert_close", "make_tensor"]
