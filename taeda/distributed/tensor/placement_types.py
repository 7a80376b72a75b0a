"""How a tensor lies over one dimension of a mesh: in parts, whole on each process, or as terms of a reduction."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """What `Shard`, `Replicate` and `Partial` have in common."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has a part; along ``dim``, if given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether each process has the whole."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether each process has a term; of the reduction ``reduce_op``, if given."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Each process has a part, cut along the tensor's dimension ``dim``."""

    dim: int

    def __post_init__(self) -> None:
        if not isinstance(self.dim, int):
            raise TypeError(f"Shard: dim is wanted as an int; got {self.dim!r}")

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True)
class _StridedShard(Shard):
    """A part of what the other dimensions of the mesh, ``split_factor`` processes, have cut along ``dim`` before."""

    split_factor: int = field(kw_only=True)

    def __str__(self) -> str:
        return f"_S({self.dim}, {self.split_factor})"


@dataclass(frozen=True)
class Replicate(Placement):
    """Each process has the whole tensor."""

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """Each process has a tensor, and the reduction ``reduce_op`` over all of them is what is meant."""

    reduce_op: str = "sum"

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"
