"""What programs ask about the compiler."""

from __future__ import annotations

import contextlib
import functools
import warnings
from typing import Any


def is_compile_supported(device_type: Any) -> bool:
    """False: nothing is compiled, for no device."""
    return False


def same(ref: Any, res: Any, *args: Any, tol: float = 1e-4, equal_nan: bool = False, exact_dtype: bool = True,
         **kwargs: Any) -> bool:  # fmt: skip
    """Whether two results are nested alike and their tensors are close."""
    from taeda.testing import assert_close
    from taeda.utils import _pytree as pytree

    leaves, spec = pytree.tree_flatten(ref)
    others, other_spec = pytree.tree_flatten(res)
    if spec != other_spec:
        return False
    try:
        for one, other in zip(leaves, others):
            assert_close(one, other, rtol=tol, atol=tol, equal_nan=equal_nan, check_dtype=exact_dtype)
    except (AssertionError, TypeError):
        return False
    return True


@functools.cache
def warn_once(msg: str, stacklevel: int = 1) -> None:
    """A warning, of each text once in a process."""
    warnings.warn(msg, stacklevel=stacklevel + 1)


@contextlib.contextmanager
def disable_cache_limit() -> Any:
    """Within, functions may be compiled anew as often as it takes; here they are not compiled at all."""
    yield
