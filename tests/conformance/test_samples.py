"""The suite itself: which ops it calls, and that its tables are not stale."""

from __future__ import annotations

import pytest
from declared import PUBLIC, base_ops, samples_of
from known import KNOWN

from taeda.testing import _sample_table, _sample_table_nn
from taedagen.opdef import REGISTRY


def test_every_public_op_has_samples() -> None:
    missing = [op.schema.full_name for op in base_ops() if not samples_of(op)]
    assert missing == [], "samples for an op belong in taeda/testing/_sample_table.py"


def test_sample_tables_name_ops_that_exist() -> None:
    torch = pytest.importorskip("torch")
    names = {text for d in REGISTRY.declarations for op in d.ops() for text in (d.name, op.schema.full_name)}
    tables = [*_sample_table.TABLE, *_sample_table_nn.TABLE]
    unknown = [
        t
        for t in tables
        if t not in names and not hasattr(torch.ops.aten, t.split(".")[0]) and not hasattr(torch.nn.functional, t)
    ]
    assert unknown == []


def test_known_failures_name_ops_that_exist() -> None:
    names = {op.schema.full_name for d in PUBLIC for op in d.ops()}
    assert [row for row in KNOWN if row.rsplit(" ", 1)[1] not in names] == []
