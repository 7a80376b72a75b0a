"""The steps of which a schedule is made, and how they are written: ``2F1`` is stage 2 with microbatch 1, forward."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple


class _ComputationType(StrEnum):
    """What a step does."""

    FORWARD = "F"
    BACKWARD_INPUT = "I"
    BACKWARD_WEIGHT = "W"
    UNSHARD = "UNSHARD"
    RESHARD = "RESHARD"
    SEND_F = "SEND_F"
    RECV_F = "RECV_F"
    SEND_B = "SEND_B"
    RECV_B = "RECV_B"
    FULL_BACKWARD = "B"
    OVERLAP_F_B = "OVERLAP_F_B"
    REDUCE_GRAD = "REDUCE_GRAD"

    def __repr__(self) -> str:
        return self.value


FORWARD = F = _ComputationType.FORWARD
BACKWARD_INPUT = I = _ComputationType.BACKWARD_INPUT
BACKWARD_WEIGHT = W = _ComputationType.BACKWARD_WEIGHT
FULL_BACKWARD = B = _ComputationType.FULL_BACKWARD
UNSHARD = _ComputationType.UNSHARD
RESHARD = _ComputationType.RESHARD
SEND_F = _ComputationType.SEND_F
RECV_F = _ComputationType.RECV_F
SEND_B = _ComputationType.SEND_B
RECV_B = _ComputationType.RECV_B
OVERLAP_F_B = _ComputationType.OVERLAP_F_B
REDUCE_GRAD = _ComputationType.REDUCE_GRAD

COMPUTES = (F, I, W, B)
_WORDS = sorted((kind.value for kind in _ComputationType), key=len, reverse=True)
_FORM = re.compile(rf"(\d+)({'|'.join(_WORDS)})(\d*)")
_PAIR = re.compile(r"\((.*)\)" + OVERLAP_F_B.value)


class _Action(NamedTuple):
    """One step of one stage; ``sub_actions`` are those that run as one."""

    stage_index: int
    computation_type: _ComputationType
    microbatch_index: int | None = None
    sub_actions: tuple[_Action, ...] | None = None

    def __repr__(self) -> str:
        if self.sub_actions is not None:
            return f"({';'.join(map(repr, self.sub_actions))}){self.computation_type}"
        which = "" if self.microbatch_index is None else self.microbatch_index
        return f"{self.stage_index}{self.computation_type}{which}"

    def __str__(self) -> str:
        return repr(self)

    @property
    def is_compute_op(self) -> bool:
        """Whether it calculates, rather than moves data."""
        return self.computation_type in (*COMPUTES, OVERLAP_F_B)

    @staticmethod
    def from_str(action_string: str) -> _Action | None:
        """Reads what ``repr`` writes; blank text is a step in which nothing is done.

        Raises:
            RuntimeError: the text is no step.
        """
        text = action_string.strip()
        if not text:
            return None
        if pair := _PAIR.fullmatch(text):
            parts = tuple(one for one in map(_Action.from_str, pair[1].split(";")) if one is not None)
            return _Action(-1, OVERLAP_F_B, None, parts)
        if form := _FORM.fullmatch(text):
            return _Action(int(form[1]), _ComputationType(form[2]), int(form[3]) if form[3] else None)
        raise RuntimeError(
            f"taeda.distributed.pipelining: {action_string!r} is no step of a schedule; one is written as 2F1: the "
            f"stage, one of {', '.join(_WORDS)}, and the microbatch"
        )


Orders = dict[int, list[_Action | None]]


def parts_of(action: _Action | None) -> tuple[_Action, ...]:
    """The steps that run in the time of one."""
    return () if action is None else action.sub_actions or (action,)
