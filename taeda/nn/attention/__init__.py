"""How attention is computed."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterable, Iterator

from taeda.backends.cuda import SDPAParams as SDPAParams
from taeda.backends.cuda import attention_ways
from taeda.backends.cuda import can_use_efficient_attention as can_use_efficient_attention
from taeda.backends.cuda import can_use_flash_attention as can_use_flash_attention
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


_NAMES = {
    SDPBackend.CUDNN_ATTENTION: "cudnn",
    SDPBackend.FLASH_ATTENTION: "flash",
    SDPBackend.EFFICIENT_ATTENTION: "mem_efficient",
    SDPBackend.MATH: "math",
    SDPBackend.OVERRIDEABLE: "overrideable",
}
_order = list(_NAMES)


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    return [backend for backend in (_order if with_priority else _NAMES) if attention_ways[_NAMES[backend]]]


@contextlib.contextmanager
def sdpa_kernel(backends: SDPBackend | Iterable[SDPBackend], set_priority: bool = False) -> Iterator[None]:
    """While it is active, attention may only be computed in these ways, preferring the first with ``set_priority``.

    A choice for devices that know several; the CPU has one algorithm, which stands for all of them.
    """
    global _order
    given = [backends] if isinstance(backends, SDPBackend) else list(dict.fromkeys(backends))
    wrong = [backend for backend in given if not isinstance(backend, SDPBackend)]
    if wrong or not given:
        raise AssertionError(f"taeda.nn.attention.sdpa_kernel: expected SDPBackends; got {wrong or given}")
    before = _order, dict(attention_ways)
    attention_ways.update((name, backend in given) for backend, name in _NAMES.items())
    if set_priority:
        _order = [*given, *(backend for backend in _order if backend not in given)]
    try:
        yield
    finally:
        _order = before[0]
        attention_ways.update(before[1])
