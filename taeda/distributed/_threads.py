"""Ranks that are threads of this process: for tests, and to try things out."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from taeda.distributed._engine import EngineBackend
from taeda.distributed._group import World, world
from taeda.distributed._store import HashStore
from taeda.distributed._world import make
from taeda.distributed.constants import default_pg_timeout

__all__ = ["run_ranks"]


def run_ranks(
    size: int, function: Callable[..., Any], *arguments: Any, timeout: timedelta = default_pg_timeout
) -> list[Any]:
    """``function(*arguments)`` in ``size`` threads, each of which is a rank of one group; the results in order of rank.

    A rank that raises ends the others' waits.

    Raises:
        Exception: what the first rank that failed has raised.
    """
    key, store = uuid.uuid4().hex, HashStore()
    results: list[Any] = [None] * size
    errors: list[BaseException] = []
    engines: list[EngineBackend] = []

    def engine(place: Any, rank: int, ranks: int, limit: timedelta) -> EngineBackend:
        made = EngineBackend.of_threads(f"{key}/{place.prefix}", rank, ranks, limit)
        engines.append(made)
        if errors:  # asked afterwards, so that either this thread or the one that failed ends it
            made.abort()
        return made

    def play(rank: int) -> None:
        own = World(engine)
        world.enter(own)
        try:
            everyone = list(range(size))
            own.default = make("run_ranks", "gloo", everyone, rank, store, timeout, "default_pg", None, None)
            own.store = store
            results[rank] = function(*arguments)
        except BaseException as error:
            errors.append(error)
            for made in list(engines):
                made.abort()
        finally:
            world.enter(None)

    threads = [threading.Thread(target=play, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results
