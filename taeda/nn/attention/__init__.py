"""How attention is computed."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterable, Iterator

from taeda.nn.attention import bias

__all__ = ["SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "bias", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """Ways to compute ``scaled_dot_product_attention``."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __repr__(self) -> str:
        return f"<SDPBackend.{self.name}: {self.value}>"

    __str__ = enum.Enum.__str__


_allowed: list[SDPBackend] = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    return list(_allowed)


@contextlib.contextmanager
def sdpa_kernel(backends: SDPBackend | Iterable[SDPBackend], set_priority: bool = False) -> Iterator[None]:
    """While it is active, attention may only be computed in these ways, preferring the first with ``set_priority``.

    A choice for devices that know several; the CPU has one algorithm, which stands for all of them.
    """
    global _allowed
    given = [backends] if isinstance(backends, SDPBackend) else list(backends)
    wrong = [backend for backend in given if not isinstance(backend, SDPBackend)]
    if wrong or not given:
        raise AssertionError(f"taeda.nn.attention.sdpa_kernel: expected SDPBackends; got {wrong or given}")
    before, _allowed = _allowed, list(dict.fromkeys(given))
    try:
        yield
    finally:
        _allowed = before
