"""Methods of an object that lives on another worker."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from taeda.distributed.rpc.functions import Later

if TYPE_CHECKING:
    from taeda.distributed.rpc.rref import RRef


class RRefProxy:
    """Any attribute is a method of the object that ``rref`` refers to, called there by ``rpc_api``."""

    def __init__(self, rref: RRef[Any], rpc_api: Callable[..., Any], timeout: float) -> None:
        self.rref, self.rpc_api, self.rpc_timeout = rref, rpc_api, timeout

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self._invoke, name)

    def _invoke(self, name: str, *args: Any, **kwargs: Any) -> Any:
        self.rref._raise_if_not_made()
        call = (self.rref, name, args, kwargs)
        return self.rpc_api(self.rref.owner(), _method, args=call, timeout=self.rpc_timeout)


def _method(rref: RRef[Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    method = getattr(rref.local_value(), name)
    result = method(*args, **kwargs)
    return Later(result) if hasattr(method, "_wrapped_async_rpc_function") else result
