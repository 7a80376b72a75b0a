"""Training with several processes: this release is without it, which is what ``is_available()`` tells programs."""

from __future__ import annotations

import os


def is_available() -> bool:
    """False: there are no process groups in this release."""
    return False


def is_initialized() -> bool:
    """False: there is no process group."""
    return False


def is_torchelastic_launched() -> bool:
    """Whether a launcher that restarts failed workers started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ
