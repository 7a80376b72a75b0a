"""The random streams that ops draw from when no generator is given."""

from __future__ import annotations

import contextlib
from collections.abc import Generator as Iterator
from collections.abc import Iterable
from typing import Any

from taeda import Tensor
from taeda._C import Generator, default_generator

__all__ = [
    "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state",
    "thread_safe_generator",
]  # fmt: skip


def manual_seed(seed: int) -> Generator:
    """Restarts the default stream of every device from ``seed``; returns the CPU's generator.

    Raises ValueError unless -2**63 <= ``seed`` < 2**64.
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Restarts the default streams from a seed of the system's entropy, and returns it."""
    number = default_generator.seed()
    manual_seed(number)
    return number


def initial_seed() -> int:
    """The seed that the default stream was started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the CPU's default stream: uint8, of shape (5056,)."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Continues the CPU's default stream from a state that ``get_rng_state`` gave."""
    default_generator.set_state(new_state)


def thread_safe_generator() -> Generator | None:
    """A generator that belongs to this thread alone in a data loader's thread; None elsewhere, for the default one.

    Workers of a ``DataLoader`` are processes here, each with a default generator of its own: it is always None.
    """
    return None


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Restores on exit the CPU's default stream, and that of each of the ``devices`` of kind ``device_type``."""
    if not enabled:
        yield
        return
    saved = get_rng_state()
    indices = list(devices or ())
    accelerator = _accelerator(device_type or "cuda") if indices else None
    kept = [accelerator.get_rng_state(index) for index in indices] if accelerator else []
    try:
        yield
    finally:
        set_rng_state(saved)
        for index, state in zip(indices, kept, strict=True):
            accelerator.set_rng_state(state, index)  # type: ignore[union-attr]


def _accelerator(kind: str) -> Any:
    import taeda

    return getattr(taeda, kind)
