"""What the generator found out about formulas and zeros (``taedagen/emit/zeros.py``), and what is said without it."""

from __future__ import annotations

import functools
from typing import NamedTuple

from taeda import Tensor
from taeda._library.ops import OpOverload
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


def refusal(op: OpOverload, tensors: list[Tensor], why: str = "") -> NotImplementedError:
    """What a call without a way raises."""
    name = op.name().removeprefix("aten::").partition(".")[0]
    layouts = ", ".join(dict.fromkeys(str(t.layout).removeprefix("torch.") for t in tensors)) or "sparse"
    reason = why or f"it has no kernel for tensors of layout {layouts}, and its result would not be sparse"
    return NotImplementedError(f"taeda.{name}: {reason}; call to_dense() first")
