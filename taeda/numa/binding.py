"""What binds workers to processors, as launchers are told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["AffinityMode", "NumaOptions"]


class AffinityMode(StrEnum):
    """What a worker is bound to."""

    NODE = "node"
    SOCKET = "socket"
    EXCLUSIVE = "exclusive"
    CORE_COMPLEX = "core-complex"


@dataclass(frozen=True)
class NumaOptions:
    """How workers are bound to the processors near their GPU. Workers without a GPU are not."""

    affinity_mode: AffinityMode
    should_fall_back_if_binding_fails: bool = False
