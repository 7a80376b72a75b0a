"""What all workers do together before they can call each other, and when they no longer do: over the store."""

from __future__ import annotations

import math
import pickle
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from taeda.distributed._errors import DistStoreError

_SLICE = 1.0  # seconds until it is asked whether the others still run


class Meeting:
    """A place in a store at which workers leave word for each other; nothing of it stays."""

    def __init__(self, store: Any, name: str) -> None:
        self._store, self._name = store, name
        self.has_ended: Callable[[str], bool] = lambda name: False
        self._rounds: Counter[tuple[str, ...]] = Counter()

    def gather(self, value: Any, names: Sequence[str], timeout: float = 0) -> dict[str, Any]:
        """Every worker's value, by name; all of ``names`` call this, and each time in the same order.

        Raises:
            RuntimeError: somebody did not come within ``timeout`` seconds (0: no end).
        """
        names = sorted(names)
        self._rounds[tuple(names)] += 1
        place = f"gather/{'/'.join(names)}/{self._rounds[tuple(names)]}"
        self._store.set(f"{place}/{self._name}", pickle.dumps(value))
        keys = [f"{place}/{name}" for name in names]
        self._wait(dict(zip(names, keys)), timeout)
        values = self._store.multi_get(keys)
        if self._store.add(f"{place}.read", 1) == len(names):
            for key in (*keys, f"{place}.read"):
                self._store.delete_key(key)
        return {name: pickle.loads(data) for name, data in zip(names, values)}

    def _wait(self, keys: dict[str, str], timeout: float) -> None:
        end = time.monotonic() + timeout if timeout else math.inf
        while True:
            part = max(0.001, min(_SLICE, end - time.monotonic()))
            try:
                self._store.wait(list(keys.values()), timedelta(seconds=part))
                return
            except DistStoreError:
                missing = [name for name, key in keys.items() if not self._store.check([key])]
            gone = [name for name in missing if self.has_ended(name)]
            if gone := [name for name in gone if not self._store.check([keys[name]])]:
                raise RuntimeError(f"taeda.distributed.rpc: {', '.join(gone)} has ended; {self._name} waits for it")
            if time.monotonic() > end:
                raise RuntimeError(
                    f"taeda.distributed.rpc: timed out in _all_gather after {timeout} s: {self._name} waits for "
                    f"{', '.join(missing)}"
                )

    def leave(self, names: Sequence[str], serves: bool) -> None:
        """The last thing: whoever ``serves`` the store may end it once the others have read all that they need."""
        self._store.set(f"left/{self._name}", "1")
        if serves:
            keys = [f"left/{name}" for name in names]
            self._store.wait(keys, timedelta(seconds=30))
            for key in keys:
                self._store.delete_key(key)
