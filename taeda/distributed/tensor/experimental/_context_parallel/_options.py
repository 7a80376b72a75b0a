"""How keys and values travel, and in which order sequences are cut."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class _RotateMethod(Enum):
    ALL_TO_ALL = auto()
    ALL_GATHER = auto()


@dataclass
class _ContextParallelOptions:
    """``enable_load_balance``: each process has two pieces of a sequence, so that all have as much to do under a causal
    mask; ``convert_to_f32``: sums of gradients of half types are float32."""

    convert_to_f32: bool = True
    enable_load_balance: bool = True
    rotate_method: _RotateMethod = _RotateMethod.ALL_GATHER


_cp_options = _ContextParallelOptions()
