"""How `fully_shard` treats numbers and memory."""

from __future__ import annotations

from dataclasses import dataclass

import taeda

__all__ = ["CPUOffloadPolicy", "DataParallelMeshDims", "MixedPrecisionPolicy", "OffloadPolicy"]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """Dtypes: of parameters in use, of the reduction of gradients, of results; None leaves them as they are.

    ``cast_forward_inputs``: whether a module's arguments become ``param_dtype``, too.
    """

    param_dtype: taeda.dtype | None = None
    reduce_dtype: taeda.dtype | None = None
    output_dtype: taeda.dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Shards stay on the device of the mesh."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Shards stay on the CPU, where those of a mesh of CPUs are anyway."""

    pin_memory: bool = True


@dataclass(frozen=True)
class DataParallelMeshDims:
    """Which dimensions of a mesh cut parameters, and which have copies of them."""

    shard: str | tuple[str, ...] | None = None
    replicate: str | tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.shard is None and self.replicate is None:
            raise ValueError("DataParallelMeshDims: shard or replicate is wanted")

    @property
    def shard_names(self) -> tuple[str, ...]:
        """The dimensions that cut."""
        return _names(self.shard)

    @property
    def replicate_names(self) -> tuple[str, ...]:
        """The dimensions of copies."""
        return _names(self.replicate)


def _names(given: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)
