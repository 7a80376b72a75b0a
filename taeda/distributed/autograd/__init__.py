"""Gradients through calls between workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taeda import Tensor
from taeda.distributed.autograd import _crossing as _crossing
from taeda.distributed.autograd._backward import backward as backward
from taeda.distributed.autograd._context import DistAutogradContext as DistAutogradContext
from taeda.distributed.autograd._context import contexts as _contexts

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["DistAutogradContext", "backward", "context", "get_gradients", "is_available"]


def is_available() -> bool:
    """True: this package is there."""
    return True


class context:
    """A scope whose calls to other workers are recorded, for `backward`; its value is the context's number.

    When it ends, what was recorded and all gradients are forgotten, on all workers.

    Raises:
        RuntimeError: this process is no worker, or is in such a scope already.
    """

    def __enter__(self) -> int:
        self._made = _contexts.begin()
        return self._made.id

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _contexts.end(self._made)


def get_gradients(context_id: int) -> dict[Tensor, Tensor]:
    """The gradients that backward passes of a context have left on this worker, by tensor.

    Raises:
        RuntimeError: there is no such context.
    """
    return dict(_contexts.find(context_id).gradients)


def _current_context() -> DistAutogradContext:
    return _contexts.needed()


def _retrieve_context(context_id: int) -> DistAutogradContext:
    return _contexts.find(context_id)


def _get_debug_info() -> dict[str, str]:
    """How many contexts there are on this worker, as text."""
    return {"num_autograd_contexts": str(len(_contexts.all)), "num_current_backward_passes": str(_contexts.passes())}
