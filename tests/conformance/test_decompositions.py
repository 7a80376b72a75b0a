"""The bodies of composites, run by Python, against the ops that were made of them; and the tables of them."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from comparison import flat
from declared import find, samples_of

import taeda as torch
from taeda._decompositions import decomposition_of, get_decompositions
from taeda._decompositions.table import register_decomposition, remove_decompositions
from taeda.testing._samples import make, seed_of
from taedagen.emit.composite import has_body
from taedagen.opdef import REGISTRY, Op

OPS = [op for d in REGISTRY.declarations for op in d.ops() if has_body(op) and samples_of(op)]


def outcome(run: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = run(*args, **kwargs)
        except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
            return type(error)
    return [*flat(result), *flat(args)]  # what is written to, too


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.schema.full_name)
def test_the_body_gives_what_the_op_gives(op: Op) -> None:
    schema = op.schema
    called, body = find(torch, schema.name, schema.overload), decomposition_of(schema.full_name)
    for sample in samples_of(op):
        calls = [make(sample, torch, seed_of(schema.full_name)) for _ in range(2)]
        wanted, got = outcome(called, *calls[0]), outcome(body, *calls[1])
        if not isinstance(wanted, list):
            assert got is wanted, f"{sample}: {got}"
            continue
        assert len(got) == len(wanted)
        for a, b in zip(wanted, got, strict=True):
            if isinstance(a, torch.Tensor):
                if not schema.name.startswith(("empty", "new_empty")):  # what was in memory
                    torch.testing.assert_close(b, a, equal_nan=True, msg=lambda text, s=sample: f"{s}: {text}")
                assert (b.shape, b.dtype) == (a.shape, a.dtype), sample
                assert b.stride() == a.stride(), sample
            else:
                assert a == b, sample


def test_a_packet_stands_for_its_overloads() -> None:
    table = get_decompositions([torch.ops.aten.mse_loss])
    assert list(table) == [torch.ops.aten.mse_loss.default]
    x, y = torch.randn(3), torch.randn(3)
    assert table[torch.ops.aten.mse_loss.default](x, y, reduction=2) == ((x - y) ** 2).sum()
    with pytest.raises(TypeError, match="decompositions are of ops"):
        get_decompositions(["mse_loss"])


def test_programs_add_and_remove() -> None:
    table: dict[Any, Any] = {}
    register_decomposition(torch.ops.aten.relu.default, table)(lambda x: x.clamp_min(0))
    assert table[torch.ops.aten.relu.default](torch.tensor([-1.0, 2.0])).tolist() == [0, 2]
    kept = copy.copy(table)
    remove_decompositions(kept, [torch.ops.aten.relu])
    assert not kept and table


def test_graphs_take_bodies() -> None:
    body = decomposition_of("huber_loss")
    graph = torch.fx.symbolic_trace(lambda x, y: body(x, y, 0, 0.5))
    x, y = torch.randn(4), torch.randn(4)
    assert torch.equal(graph(x, y), torch.nn.functional.huber_loss(x, y, reduction="none", delta=0.5))
