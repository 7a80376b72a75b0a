"""``torch.nested._internal.nested_tensor``."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda.nested import nested_tensor_from_jagged as nested_view_from_values_offsets
from taeda.nested._tensor import NestedTensor as NestedTensor

__all__ = ["NestedTensor", "nested_from_padded", "nested_view_from_values_offsets"]


def nested_from_padded(
    padded: Tensor,
    offsets: Tensor,
    ragged_idx: int = 1,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
    sum_S: int | None = None,
) -> Tensor:
    """The jagged tensor without the padding, the inverse of ``to_padded_tensor``.

    Args:
        padded: (B, ...).
        offsets: (B + 1), which say how long each row is along ``ragged_idx``.
        min_seqlen, max_seqlen: the least and the greatest length, where they are known.
        sum_S: all lengths together; follows from the offsets.

    Raises:
        RuntimeError: rows that are not there, or of another number.
    """
    lengths = offsets.diff().tolist()
    if len(lengths) != padded.shape[0]:
        raise RuntimeError(f"taeda.nested: offsets of {len(lengths)} rows for a padded tensor of {padded.shape[0]}")
    rows = [row.narrow(ragged_idx - 1, 0, n) for row, n in zip(padded.unbind(0), lengths, strict=True)]
    values = taeda.cat(rows, ragged_idx - 1)
    return NestedTensor.of(values, offsets - offsets[0], None, ragged_idx, (min_seqlen, max_seqlen))
