"""How a tensor lies over one dimension of a mesh: in parts, whole on each process, or as terms of a reduction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from taeda import Size, Tensor

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


def part_of(length: int, count: int, rank: int) -> tuple[int, int]:
    """Start and length of a process's part: all but the last ones have as many as fit evenly, rounded up."""
    step = -(-length // count)
    start = min(rank * step, length)
    return start, min(step, length - start)


def narrowed(tensor: Tensor, offsets: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """The part of these sizes that begins there, a view."""
    for dim, (start, size) in enumerate(zip(offsets, sizes, strict=True)):
        tensor = tensor.narrow(dim, start, size)
    return tensor


def pad_tensor(tensor: Tensor, dim: int, count: int) -> Tensor:
    """``tensor`` with ``count`` zeros more at the end of a dimension; itself where none are wanted."""
    if not count:
        return tensor
    sizes = list(tensor.shape)
    sizes[dim] += count
    padded = tensor.new_zeros(sizes)
    padded.narrow(dim, 0, tensor.shape[dim]).copy_(tensor)
    return padded


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

    @staticmethod
    def local_shard_size_and_offset(curr_local_size: int, num_chunks: int, rank: int) -> tuple[int, int]:
        """The length of the part of ``rank``, one of ``num_chunks``, and where it begins in ``curr_local_size``."""
        start, size = part_of(curr_local_size, num_chunks, rank)
        return size, start

    def _local_shard_size_and_offset(self, curr_local_size: int, num_chunks: int, rank: int) -> tuple[int, int]:
        return self.local_shard_size_and_offset(curr_local_size, num_chunks, rank)

    def _split_tensor(
        self, tensor: Tensor, num_chunks: int, *, with_padding: bool = True, contiguous: bool = True
    ) -> tuple[list[Tensor], list[int]]:
        """The parts of ``num_chunks`` processes, and by how much each was padded to the length of the first."""
        if not -tensor.dim() <= self.dim < tensor.dim():
            raise RuntimeError(f"Shard: {self} of a tensor with {tensor.dim()} dimensions")
        length = tensor.shape[self.dim]
        longest = part_of(length, num_chunks, 0)[1]
        parts, pads = [], []
        for rank in range(num_chunks):
            start, size = part_of(length, num_chunks, rank)
            part = tensor.narrow(self.dim, start, size)
            part = pad_tensor(part, self.dim, longest - size) if with_padding else part
            parts.append(part.contiguous() if contiguous else part)
            pads.append(longest - size)
        return parts, pads if with_padding and length else []

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True)
class _StridedShard(Shard):
    """A part of what the other dimensions of the mesh, ``split_factor`` processes, have cut along ``dim`` before."""

    split_factor: int = field(kw_only=True)

    def __repr__(self) -> str:
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"

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


@dataclass(frozen=True)
class _MaskPartial(Partial):
    """Terms of what was looked up in a table of ``offset_shape`` that is cut along ``offset_dim``: a process has 0 for
    what others have found."""

    offset_shape: Size | None = None
    offset_dim: int = 0

    def __repr__(self) -> str:
        return (
            f"_MaskPartial(reduce_op={self.reduce_op}, offset_shape={self.offset_shape}, offset_dim={self.offset_dim})"
        )

    def __str__(self) -> str:
        return f"MaskP({self.reduce_op}, {self.offset_shape}, {self.offset_dim})"
