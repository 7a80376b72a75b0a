"""Every test starts from the same state and leaves none behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def same_state() -> Iterator[None]:
    """The same seed, and the process-wide settings as they were."""
    import taeda

    taeda.manual_seed(0)
    dtype, threads = taeda.get_default_dtype(), taeda.get_num_threads()
    yield
    taeda.set_default_dtype(dtype)
    if taeda.get_num_threads() != threads:
        taeda.set_num_threads(threads)


def _pending() -> dict[str, str]:
    """Test id to reason, from ``tests/pending.txt``: what is known not to work yet. A reason "crash" is not run."""
    lines = (Path(__file__).parent / "pending.txt").read_text().splitlines()
    return {
        test.strip(): reason.strip() for test, _, reason in (line.partition("  # ") for line in lines) if test.strip()
    }


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked ``torch`` are skipped where PyTorch is absent; pending ones are expected to fail."""
    import importlib.util

    pending = _pending()
    for item in items:
        if item.nodeid in pending:
            reason = pending[item.nodeid]
            item.add_marker(pytest.mark.xfail(reason=reason or "pending", run=reason != "crash", strict=False))
    if importlib.util.find_spec("torch") is None:
        for item in items:
            if item.get_closest_marker("torch"):
                item.add_marker(pytest.mark.skip(reason="PyTorch is not installed"))
