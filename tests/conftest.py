"""Every test starts from the same state and leaves none behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run, and no judgement by the clock of a busy machine.
settings.register_profile("taeda", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("taeda")


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked ``torch`` are skipped where PyTorch is absent."""
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        for item in items:
            if item.get_closest_marker("torch"):
                item.add_marker(pytest.mark.skip(reason="PyTorch is not installed"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says what was skipped and why: the reasons, the most frequent first."""
    reasons = Counter(str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", ()))
    for reason, count in reasons.most_common(8):
        reason = reason.removeprefix("Skipped: ")
        hint = " (they compare with it; `make compat` installs it)" if "torch" in reason.lower() else ""
        terminalreporter.write_line(f"skipped {count}: {reason}{hint}")
