"""What all workers do together before they can call each other, and when they no longer do: over the store."""

from __future__ import annotations

import math
import pickle
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from datetime import timedelta
from typing import Any

from taeda.distributed._errors import DistStoreError

_SLICE = 1.0  # seconds until it is asked whether the others still run
_PARTING = 30.0  # seconds until everybody has left


class Meeting:
    """A place in a store at which workers leave word for each other; nothing of it stays."""

    def __init__(self, store: Any, name: str) -> None:
        self._store, self._name = store, name
        self.has_ended: Callable[[str], bool] = lambda name: False
        self.server = "the store's process"  # whoever does not answer if the store does not
        self._rounds: Counter[tuple[str, ...]] = Counter()

    def gather(self, value: Any, names: Sequence[str], timeout: float = 0) -> dict[str, Any]:
        """Every worker's value, by name; all of ``names`` call this, and each time in the same order.

        Raises:
            RuntimeError: somebody did not come within ``timeout`` seconds (0: no end).
        """
        names = sorted(names)
        self._rounds[tuple(names)] += 1
        place = f"gather/{'/'.join(names)}/{self._rounds[tuple(names)]}"
        keys = {name: f"{place}/{name}" for name in names}
        end = time.monotonic() + timeout if timeout else math.inf
        values = self._within(end, lambda: self._exchanged(keys, f"{place}.read", pickle.dumps(value), timeout, end))
        return {name: pickle.loads(data) for name, data in zip(names, values)}

    def _exchanged(self, keys: dict[str, str], read: str, own: bytes, timeout: float, end: float) -> list[bytes]:
        self._store.set(keys[self._name], own)
        self._wait(keys, timeout, end)
        values: list[bytes] = self._store.multi_get(list(keys.values()))
        if self._store.add(read, 1) == len(keys):
            for key in (*keys.values(), read):
                self._store.delete_key(key)
        return values

    def _within(self, end: float, talk: Callable[[], Any]) -> Any:
        """What ``talk`` with the store gives. A store whose process was stopped says nothing for longer than this."""
        if end == math.inf:
            return talk()
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(talk())
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, name="taeda rpc meeting", daemon=True).start()
        try:
            return future.result(max(0.0, end - time.monotonic()) + _SLICE)
        except FutureTimeout:
            if future.done():
                raise
            raise RuntimeError(
                f"taeda.distributed.rpc: timed out: {self._name} waits for {self.server}, whose store does not answer"
            ) from None

    def _wait(self, keys: dict[str, str], timeout: float, end: float, watches: bool = True) -> None:
        while True:
            part = max(0.001, min(_SLICE, end - time.monotonic()))
            try:
                self._store.wait(list(keys.values()), timedelta(seconds=part))
                return
            except DistStoreError:
                missing = [name for name, key in keys.items() if not self._store.check([key])]
            gone = [name for name in missing if watches and self.has_ended(name)]
            if gone := [name for name in gone if not self._store.check([keys[name]])]:
                raise RuntimeError(f"taeda.distributed.rpc: {', '.join(gone)} has ended; {self._name} waits for it")
            if time.monotonic() > end:
                raise RuntimeError(
                    f"taeda.distributed.rpc: timed out in _all_gather after {timeout:g} s: {self._name} waits for "
                    f"{', '.join(missing)}"
                )

    def leave(self, names: Sequence[str], serves: bool) -> None:
        """The last thing: whoever ``serves`` the store may end it once the others have read all that they need."""
        keys, end = {name: f"left/{name}" for name in names}, time.monotonic() + _PARTING

        def part() -> None:
            self._store.set(keys[self._name], "1")
            if serves:
                self._wait(keys, _PARTING, end, watches=False)
                for key in keys.values():
                    self._store.delete_key(key)

        self._within(end, part)
