"""Sequences of different lengths: padded, and packed without padding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda._C import _nn
from taeda._main.script_marks import is_scripting

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class PackedSequence_(NamedTuple):
    """The fields of a ``PackedSequence``."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


def _bound(tensor: Tensor | None, change: Any) -> Tensor | None:
    return None if tensor is None else change(tensor)


class PackedSequence(PackedSequence_):
    """Sequences laid out step by step, longest first, without padding. Made by `pack_padded_sequence`, not by hand.

    Attributes:
        data: (total steps, ...).
        batch_sizes: how many sequences have a first, second, ... step; int64 on the CPU.
        sorted_indices: the order by length, of the sequences as they were given; None if that was it.
        unsorted_indices: the inverse of that.
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if batch_sizes is None and isinstance(data, (tuple, list)):
            data, batch_sizes = data
        if batch_sizes is None:
            raise ValueError("taeda.nn.utils.rnn.PackedSequence: batch_sizes is missing")
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                f"taeda.nn.utils.rnn.PackedSequence: batch_sizes must be on the CPU; got {batch_sizes.device}"
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _with_data(self, data: Tensor, move: Any = None) -> PackedSequence:
        if data is self.data:
            return self
        if move is None:
            return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)
        return type(self)(
            data, self.batch_sizes, _bound(self.sorted_indices, move), _bound(self.unsorted_indices, move)
        )

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """`Tensor.to` of the data; the indices follow it to its device."""
        data = self.data.to(*args, **kwargs)
        return self._with_data(data, lambda indices: indices.to(data.device))

    def pin_memory(self) -> PackedSequence:
        """A copy in pinned memory."""
        return type(self)(
            self.data.pin_memory(),
            self.batch_sizes,
            _bound(self.sorted_indices, lambda indices: indices.pin_memory()),
            _bound(self.unsorted_indices, lambda indices: indices.pin_memory()),
        )

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Moves the data to a GPU."""
        return self.to(*args, device="cuda", **kwargs) if not args else self.to(*args, **kwargs)

    def cpu(self) -> PackedSequence:
        """Moves the data to the CPU."""
        return self.to(device="cpu")

    def short(self) -> PackedSequence:
        """Casts the data to int16."""
        return self.to(dtype=taeda.int16)

    def char(self) -> PackedSequence:
        """Casts the data to int8."""
        return self.to(dtype=taeda.int8)

    def byte(self) -> PackedSequence:
        """Casts the data to uint8."""
        return self.to(dtype=taeda.uint8)

    def bfloat16(self) -> PackedSequence:
        """Casts the data to bfloat16."""
        return self.to(dtype=taeda.bfloat16)

    def double(self) -> PackedSequence:
        """Casts the data to float64."""
        return self.to(dtype=taeda.double)

    def float(self) -> PackedSequence:
        """Casts the data to float32."""
        return self.to(dtype=taeda.float)

    def half(self) -> PackedSequence:
        """Casts the data to float16."""
        return self.to(dtype=taeda.half)

    def long(self) -> PackedSequence:
        """Casts the data to int64."""
        return self.to(dtype=taeda.long)

    def int(self) -> PackedSequence:
        """Casts the data to int32."""
        return self.to(dtype=taeda.int)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory."""
        return self.data.is_pinned()


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes this one."""
    if permutation is None:
        return None
    steps = taeda.arange(permutation.numel(), device=permutation.device, dtype=permutation.dtype)
    return taeda.empty_like(permutation).scatter_(0, permutation, steps)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs (T, N, ...), or (N, T, ...) with ``batch_first``, of which the n-th sequence has ``lengths[n]`` steps.

    With ``enforce_sorted`` the lengths must fall; without, the sequences are sorted and the order is remembered.

    Raises:
        RuntimeError: a length is 0, or the lengths are not sorted where they should be.
    """
    lengths = lengths.cpu() if isinstance(lengths, Tensor) else taeda.as_tensor(lengths, dtype=taeda.int64)
    sorted_indices: Tensor | None = None
    if not enforce_sorted:
        lengths, sorted_indices = taeda.sort(lengths, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, batch_sizes = taeda._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, sorted_indices, invert_permutation(sorted_indices))


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The inverse of `pack_padded_sequence`: the padded tensor and the lengths.

    Raises:
        ValueError: ``total_length`` is less than the longest sequence.
    """
    longest = sequence.batch_sizes.size(0)
    if total_length is None:
        total_length = longest
    elif total_length < longest:
        raise ValueError(
            f"taeda.nn.utils.rnn.pad_packed_sequence: total_length {total_length} is less than the longest sequence, "
            f"{longest}"
        )
    padded, lengths = taeda._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, total_length
    )
    order = sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths[order.cpu()]


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Stacks sequences (L, ...) of different lengths, padded to the longest: (T, N, ...), or (N, T, ...)."""
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not is_scripting() and not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"taeda.nn.utils.rnn.pad_sequence: expected an iterable of tensors; got {type(sequences).__name__}"
        )
    return _nn.pad_sequence(tuple(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded tensor, each with its own length."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:length] for row, length in zip(rows, lengths.tolist(), strict=True)]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Packs a list of sequences (L, ...) of different lengths."""
    lengths = taeda.as_tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The inverse of `pack_sequence`."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
