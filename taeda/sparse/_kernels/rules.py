"""What the generator found out about formulas and zeros (``taedagen/emit/zeros.py``)."""

from __future__ import annotations

import functools
from typing import NamedTuple

from taeda._main.tables import generated_text


class Rule(NamedTuple):
    keeps: bool  # zeros make a zero whatever the numbers are; else the numbers of a call decide
    alone: frozenset[str]  # operands one zero of which makes the result zero


@functools.cache
def rules() -> dict[str, Rule]:
    """By ``name.overload``."""
    found = {}
    for line in generated_text("zeros.txt").splitlines():
        name, kind, *alone = line.split()
        found[name] = Rule(kind == "keeps", frozenset(alone))
    return found
