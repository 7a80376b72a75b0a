"""Settings of all pipes that a pipe is made of: shuffling, seeds, and which share is read."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import taeda
from taeda.utils.data.datapipes.iter.sharding import SHARDING_PRIORITIES, _ShardingIterDataPipe
from taeda.utils.data.graph import DataPipe, DataPipeGraph, traverse_dps

__all__ = [
    "apply_random_seed",
    "apply_sharding",
    "apply_shuffle_seed",
    "apply_shuffle_settings",
    "get_all_graph_pipes",
]


def get_all_graph_pipes(graph: DataPipeGraph) -> list[DataPipe]:
    """The pipes of what :func:`~torch.utils.data.graph.traverse_dps` gives, each once."""
    found: dict[int, DataPipe] = {}

    def visit(part: DataPipeGraph) -> None:
        for number, (pipe, inner) in part.items():
            if number not in found:
                found[number] = pipe
                visit(inner)

    visit(graph)
    return list(found.values())


def _has_method(datapipe: Any, name: str) -> bool:
    return inspect.ismethod(getattr(datapipe, name, None))


def _is_sharding_datapipe(datapipe: DataPipe) -> bool:
    return isinstance(datapipe, _ShardingIterDataPipe) or _has_method(datapipe, "apply_sharding")


def apply_sharding(
    datapipe: DataPipe, num_of_instances: int, instance_id: int, sharding_group: Any = SHARDING_PRIORITIES.DEFAULT
) -> DataPipe:
    """Has pipes that share samples out read share ``instance_id`` of ``num_of_instances``.

    Raises:
        RuntimeError: there are two of them one behind the other.
    """

    def visit(graph: DataPipeGraph, above: Any) -> None:
        for pipe, inner in graph.values():
            applied = None
            if _is_sharding_datapipe(pipe):
                if above is not None:
                    raise RuntimeError(
                        f"apply_sharding: {pipe} shares out what {above} behind it shares out again: samples would be"
                        " lost; leave one of them out"
                    )
                applied = pipe
                if len(inspect.signature(pipe.apply_sharding).parameters) < 3:
                    pipe.apply_sharding(num_of_instances, instance_id)
                else:
                    pipe.apply_sharding(num_of_instances, instance_id, sharding_group=sharding_group)
            visit(inner, above if applied is None else applied)

    visit(traverse_dps(datapipe), None)
    return datapipe


def _is_shuffle_datapipe(datapipe: DataPipe) -> bool:
    return _has_method(datapipe, "set_shuffle") and _has_method(datapipe, "set_seed")


def apply_shuffle_settings(datapipe: DataPipe, shuffle: bool | None = None) -> DataPipe:
    """Switches all shufflers on or off; None leaves them as they are. One is put behind the pipe if there is none."""
    if shuffle is None:
        return datapipe
    shufflers = [pipe for pipe in get_all_graph_pipes(traverse_dps(datapipe)) if _is_shuffle_datapipe(pipe)]
    if not shufflers and shuffle:
        warnings.warn(
            "shuffle=True, and no pipe shuffles: a shuffler is put at the end; put .shuffle() where it is wanted",
            UserWarning,
            stacklevel=2,
        )
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for shuffler in shufflers:
        shuffler.set_shuffle(shuffle)
    return datapipe


def apply_shuffle_seed(datapipe: DataPipe, rng: Any) -> DataPipe:
    """The former name of :func:`apply_random_seed`."""
    warnings.warn("apply_shuffle_seed is deprecated: use apply_random_seed", FutureWarning, stacklevel=2)
    return apply_random_seed(datapipe, rng)


def _is_random_datapipe(datapipe: DataPipe) -> bool:
    return _has_method(datapipe, "set_seed")


def apply_random_seed(datapipe: DataPipe, rng: taeda.Generator) -> DataPipe:
    """Gives each pipe that draws numbers a seed drawn from ``rng``."""
    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if _is_random_datapipe(pipe):
            pipe.set_seed(int(taeda.empty((), dtype=taeda.int64).random_(generator=rng).item()))
    return datapipe
