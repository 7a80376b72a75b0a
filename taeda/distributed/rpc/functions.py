"""Functions whose result comes later."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

from taeda.futures import Future

F = TypeVar("F", bound=Callable[..., Any])


class Later(NamedTuple):
    """A result that a future will have."""

    future: Any

    def checked(self) -> Future[Any]:
        """The future.

        Raises:
            RuntimeError: it is none.
        """
        if not isinstance(self.future, Future):
            raise RuntimeError(
                "taeda.distributed.rpc: functions marked with @rpc.functions.async_execution should return a "
                f"taeda.futures.Future; got {type(self.future).__name__}"
            )
        return self.future


def async_execution(fn: F) -> F:
    """Marks a function that another worker calls and that gives a `Future`: the caller gets what the future will hold,
    and no thread of this worker waits for it. Stands below ``@staticmethod`` and ``@classmethod``.
    """

    @wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    wrapper._wrapped_async_rpc_function = fn  # type: ignore[attr-defined]
    return wrapper  # type: ignore[return-value]
