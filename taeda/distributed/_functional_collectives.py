"""Functional collectives, as functions and as ops, under the name that programs take them from."""

from __future__ import annotations

from taeda.distributed import _functional_ops as _functional_ops
from taeda.distributed._functional_calls import *  # noqa: F403
from taeda.distributed._functional_calls import __all__ as __all__
from taeda.distributed._tags import expand_group as _expand_group  # noqa: F401
