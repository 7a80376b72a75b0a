"""Kernels that are found and kept."""

from __future__ import annotations

from typing import Any

from taeda import _C
from taeda._library.names import existing
from taeda._library.ops import OpOverload


class SafeKernelFunction:
    """A kernel as ``get_kernel`` found it; another that takes its place later changes nothing."""

    def __init__(self, op: OpOverload, key: str) -> None:
        self._op, self._key = op, key
        self._kernel = op._kernel_for(_C.DispatchKeySet(key))

    def call_boxed(self, dispatch_keys: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Runs it; ``dispatch_keys`` is what a kernel registered ``with_keyset`` was given."""
        return _C._call_kernel(self._kernel, dispatch_keys, *args, **kwargs)

    @property
    def op_handle(self) -> OpOverload:
        """The op."""
        return self._op

    def __repr__(self) -> str:
        return f"SafeKernelFunction({self._op.name()} for {self._key})"


def get_kernel(op: Any, dispatch_key: str) -> SafeKernelFunction:
    """The kernel that serves an op (an object, or its name with the overload) for a dispatch key now.

    A kernel that takes its place can so fall back on it, through ``call_boxed(keyset, ...)``.

    Raises:
        RuntimeError: there is no such op, or no kernel for the key.
        ValueError: ``op`` names nothing, or there is no such key.
    """
    overload = existing(op)
    if dispatch_key not in set(_C.DispatchKey):
        raise ValueError(f"taeda.library.get_kernel: there is no dispatch key {dispatch_key!r}")
    return SafeKernelFunction(overload, str(getattr(dispatch_key, "value", dispatch_key)))
