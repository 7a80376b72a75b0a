"""Key-value stores: how processes find and tell each other the first things."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from taeda.distributed._errors import DistStoreError
from taeda.distributed.constants import default_pg_timeout

__all__ = ["HashStore", "Store"]


class Store:
    """What every store is; a class derived from it holds the data."""

    def __init__(self) -> None:
        self._timeout = default_pg_timeout

    @property
    def timeout(self) -> timedelta:
        """How long `get` and `wait` wait for a key."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        self._timeout = timeout


class HashStore(Store):
    """A store in the memory of this process, for its threads. Values are bytes; strings become such."""

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[str, bytes] = {}
        self._changed = threading.Condition()

    def set(self, key: str, value: str | bytes) -> None:
        """Sets a value, over an earlier one."""
        given = _bytes("set", value)
        with self._changed:
            self._values[key] = given
            self._changed.notify_all()

    def get(self, key: str) -> bytes:
        """The value of ``key``, once it is there.

        Raises:
            DistStoreError: it was not set within the timeout.
        """
        self.wait([key])
        return self._values[key]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Waits until all keys are set.

        Raises:
            DistStoreError: that took longer than the timeout.
        """
        limit = self.timeout if timeout is None else timeout
        with self._changed:
            if not self._changed.wait_for(lambda: self._has(keys), limit.total_seconds()):
                missing = [key for key in keys if key not in self._values]
                raise DistStoreError(f"taeda.distributed.HashStore: waited {limit} for {missing}")

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set."""
        with self._changed:
            return self._has(keys)

    def _has(self, keys: Sequence[str]) -> bool:
        return all(key in self._values for key in keys)

    def _update(self, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
        with self._changed:
            self._values[key] = changed = change(self._values.get(key))
            self._changed.notify_all()
            return changed

    def add(self, key: str, amount: int) -> int:
        """Adds to the number that the value is in decimals, 0 if there is none; gives the sum."""
        if not isinstance(amount, int):
            raise TypeError(f"taeda.distributed.HashStore.add: amount is wanted as an int; got {amount!r}")
        return int(self._update(key, lambda old: str(int(old or 0) + amount).encode()))

    def append(self, key: str, value: str | bytes) -> None:
        """Puts ``value`` behind the value that is there."""
        given = _bytes("append", value)
        self._update(key, lambda old: (old or b"") + given)

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Sets ``desired_value`` if the value is ``expected_value``; an empty one means that there is none yet.

        Returns the value afterwards; ``expected_value`` where there is none.
        """
        expected, desired = _bytes("compare_set", expected_value), _bytes("compare_set", desired_value)
        with self._changed:
            old = self._values.get(key)
            if old == expected or (old is None and not expected):
                self._values[key] = desired
                self._changed.notify_all()
            return self._values.get(key, expected)

    def delete_key(self, key: str) -> bool:
        """Whether there was such a key to remove."""
        with self._changed:
            return self._values.pop(key, None) is not None

    def num_keys(self) -> int:
        return len(self._values)

    def list_keys(self) -> list[str]:
        with self._changed:
            return list(self._values)

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Sets each key to the value in its place."""
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """The value of each key, once it is there."""
        return [self.get(key) for key in keys]


def _bytes(function: str, value: Any) -> bytes:
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"taeda.distributed.HashStore.{function}: a str or bytes is wanted; got {value!r}")
    return value.encode() if isinstance(value, str) else value
