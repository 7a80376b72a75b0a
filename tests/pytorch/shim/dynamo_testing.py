"""`torch._dynamo.testing`, as far as the tests of graphs use it."""

from __future__ import annotations

import re


def normalize_gm(text: str) -> str:
    """A graph's printed form without comments, blank lines and addresses."""
    without = re.sub(r"#.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n\s*\n", "\n", re.sub(r" +\n", "\n", without)).strip() + "\n"
