"""What extensions ask about modes, by PyTorch's private names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from taeda import _C


def all_same_mode(modes: Iterable[Any]) -> bool:
    """Whether all of them are one object."""
    modes = tuple(modes)
    return all(mode is modes[0] for mode in modes)


@contextmanager
def no_dispatch() -> Iterator[None]:
    """A context in which no ``__torch_dispatch__`` is asked."""
    with _C._DisableTorchDispatch():
        yield
