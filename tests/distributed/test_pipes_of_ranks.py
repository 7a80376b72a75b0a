"""Pipes that several ranks read: one order, of which each has its share."""

from __future__ import annotations

import pytest
from ranks import needs_mpi, run

import taeda
from taeda.utils.data import DataLoader
from taeda.utils.data.datapipes.iter import IterableWrapper

pytestmark = needs_mpi


def _passes(rank: int, workers: int) -> list[list[int]]:
    taeda.manual_seed(rank)  # the first rank's counts
    pipe = IterableWrapper(range(24)).shuffle().sharding_filter()
    loader = DataLoader(pipe, batch_size=None, shuffle=True, num_workers=workers)
    return [[int(sample) for sample in loader] for _ in range(2)]


@pytest.mark.parametrize("workers", [0, 2])
def test_ranks_share_what_was_shuffled_once(workers: int) -> None:
    one, other = run(2, _passes, workers)
    for mine, theirs in zip(one, other, strict=True):
        assert len(mine) == len(theirs) == 12
        assert sorted(mine + theirs) == list(range(24))
    assert one[0] != one[1]
