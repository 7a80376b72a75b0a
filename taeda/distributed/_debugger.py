"""A debugger for one of several processes."""

from __future__ import annotations

import pdb
import sys
from typing import Any


class Debugger(pdb.Pdb):
    """Reads from the terminal, which workers that were forked have not as their input."""

    def interaction(self, *args: Any, **kwargs: Any) -> None:
        before = sys.stdin
        try:
            with open("/dev/stdin") as sys.stdin:
                super().interaction(*args, **kwargs)
        finally:
            sys.stdin = before
