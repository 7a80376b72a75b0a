"""Finding the forward call whose backward fails or gives NaN."""

from __future__ import annotations

import warnings

from taeda._C import _autograd

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class set_detect_anomaly:
    """Switches anomaly mode at once; as a context manager, until the scope ends.

    While it is on, calls remember where they were made, which a failing backward pass then shows as a warning; with
    ``check_nan``, a gradient that holds NaN is a RuntimeError. Recording becomes much slower.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = (_autograd.is_anomaly_enabled(), _autograd.is_anomaly_check_nan_enabled())
        _autograd.set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: object) -> None:
        _autograd.set_anomaly_enabled(*self._before)


class detect_anomaly:
    """Anomaly mode for a scope; see ``set_detect_anomaly``."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(
            "taeda.autograd.detect_anomaly: every call now remembers where it was made, which is slow; for finding "
            "mistakes only",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._scope = set_detect_anomaly(True, self.check_nan)

    def __exit__(self, *args: object) -> None:
        self._scope.__exit__()
