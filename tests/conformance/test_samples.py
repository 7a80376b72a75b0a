"""The suite itself: which ops it calls, and that its table is not stale."""

from __future__ import annotations

from declared import PUBLIC, base_ops, samples_of
from known import KNOWN


def test_every_public_op_has_samples() -> None:
    missing = [op.schema.full_name for op in base_ops() if not samples_of(op)]
    assert missing == [], "types say too little of these: give them samples="


def test_known_failures_name_ops_that_exist() -> None:
    names = {op.schema.full_name for d in PUBLIC for op in d.ops()}
    assert [row for row in KNOWN if row.rsplit(" ", 1)[1] not in names] == []
