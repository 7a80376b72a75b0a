"""Putting a pipe forward to where it had been."""

from __future__ import annotations

from typing import Any

from taeda.utils.data.datapipes._hook_iterator import _SnapshotState
from taeda.utils.data.datapipes.datapipe import IterDataPipe
from taeda.utils.data.graph_settings import apply_random_seed


def _simple_graph_snapshot_restoration(datapipe: IterDataPipe[Any], n_iterations: int, rng: Any = None) -> None:
    """Reads ``n_iterations`` samples; the pipe's next iterator goes on from there.

    Raises:
        RuntimeError: it was put forward already and not read since, or has not so many samples.
    """
    if datapipe._snapshot_state is _SnapshotState.Restored:
        raise RuntimeError("the pipe was put forward already: read from it before doing so again")
    if rng is not None:
        apply_random_seed(datapipe, rng)
    samples = iter(datapipe)
    for number in range(n_iterations):
        try:
            next(samples)
        except StopIteration:
            raise RuntimeError(f"the pipe cannot be put forward by {n_iterations}: it has {number} samples") from None
    datapipe._fast_forward_iterator = samples
    datapipe._snapshot_state = _SnapshotState.Restored
