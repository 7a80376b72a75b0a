"""What a loader does with datasets that are pipes: shuffling, seeds that all ranks and workers have, and shares.

Nothing of the pipes is imported here for other datasets.
"""

from __future__ import annotations

import sys
from typing import Any

import taeda


def is_pipe(dataset: Any, kind: str = "") -> bool:
    """Whether it is a pipe, or one of that ``kind``."""
    module = sys.modules.get("taeda.utils.data.datapipes.datapipe")
    if module is None:
        return False
    kinds = {"Iter": module.IterDataPipe, "Map": module.MapDataPipe}
    return isinstance(dataset, kinds[kind] if kind else tuple(kinds.values()))


def wrapped(dataset: Any) -> Any:
    """A pipe as it can be sent to workers; another dataset as it is."""
    if not is_pipe(dataset):
        return dataset
    from taeda.utils.data.datapipes import datapipe as pipes

    iterable = is_pipe(dataset, "Iter")
    wrapper: Any = pipes._IterDataPipeSerializationWrapper if iterable else pipes._MapDataPipeSerializationWrapper
    return wrapper(dataset)


def set_shuffle(dataset: Any, shuffle: bool | None) -> bool:
    """Switches the shufflers of a wrapped pipe on or off; whether it is one."""
    if not is_pipe(dataset, "Iter"):
        return False
    from taeda.utils.data.graph_settings import apply_shuffle_settings

    dataset._datapipe = apply_shuffle_settings(dataset._datapipe, shuffle=shuffle)
    return True


def apply_seed(dataset: Any, seed: int) -> None:
    """Gives all pipes seeds drawn with this one."""
    from taeda.utils.data.graph_settings import apply_random_seed

    apply_random_seed(dataset, taeda.Generator().manual_seed(seed))


def _world() -> Any:
    """The module of distributed programs where this is one of several processes, else None."""
    dist = sys.modules.get("taeda.distributed")
    return dist if dist is not None and dist.is_available() and dist.is_initialized() else None


def ranks(dataset: Any) -> tuple[int, int] | None:
    """For pipes how many ranks share them, and which this is."""
    if not is_pipe(dataset):
        return None
    world = _world()
    return (1, 0) if world is None else (world.get_world_size(), world.get_rank())


def shard(dataset: Any, shares: tuple[int, int] | None = None, workers: int = 1, worker: int = 0) -> None:
    """Has pipes read this process's share: of all ranks, then of the rank's workers."""
    shares = ranks(dataset) if shares is None else shares
    if shares is not None:
        from taeda.utils.data.graph_settings import apply_sharding

        number, rank = shares
        apply_sharding(dataset, workers * number, worker * number + rank)


class PipeSeeds:
    """The seeds of passes over a pipe, the same on all ranks; ``seed`` is None for other datasets."""

    seed: int | None = None

    def __init__(self, dataset: Any, generator: Any) -> None:
        self._dataset = dataset if is_pipe(dataset, "Iter") else None
        self._generator = generator
        self._group: Any = None
        if self._dataset is not None:
            if (ranks(dataset) or (1, 0))[0] > 1:
                self._group = _world().new_group(backend="gloo")
            self.draw()

    def _random(self) -> taeda.Tensor:
        return taeda.empty((), dtype=taeda.int64).random_(generator=self._generator)

    def skip(self) -> None:
        """Draws a seed that nothing uses: PyTorch does when it starts workers."""
        if self._dataset is not None:
            self._random()

    def draw(self) -> None:
        """Draws the seed of the next pass, and gives it to the pipes."""
        if self._dataset is None:
            return
        seed = self._random()
        if self._group is not None:
            _world().broadcast(seed, src=0, group=self._group)
        self.seed = int(seed.item())
        apply_seed(self._dataset, self.seed)
