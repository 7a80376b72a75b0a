"""Sizes without names that the program wants in relation to others, and values that it prints or lists."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

import taeda
from taeda import nn
from taeda.export import Dim, export
from taeda.fx.experimental.proxy_tensor import make_fx

A, D = Dim.AUTO, Dim.DYNAMIC


def program(function: Callable[..., Any], args: tuple[Any, ...], *shapes: Any) -> Any:
    class Call(nn.Module):
        def forward(self, *given: Any) -> Any:
            return function(*given)

    return export(Call(), args, dynamic_shapes=(shapes,) if shapes else None)


def ones(*sizes: int) -> taeda.Tensor:
    return taeda.ones(sizes)


def next_to(x: Any, y: Any) -> Any:
    assert x.shape[0] == y.shape[0] - 1 and y.shape[1] == 4
    return x * 2, y * 2


LOSS = taeda.nn.functional.cross_entropy
CASES: list[tuple[Callable[..., Any], list[tuple[int, ...]], tuple[Any, ...], list[tuple[int, ...]], list[Any]]] = [
    (lambda x, y: x + y, [(4, 4), (4, 4)], ((D, D), (D, D)), [(5, 8), (5, 8)], [(5, 8), (6, 8)]),
    (lambda x, y: x + y, [(4, 4), (4, 4)], ((A, Dim("d1", min=3)), (Dim("d0"), D)), [(5, 8), (5, 8)], [(5, 8), (5, 7)]),
    (lambda x, y: x - y, [(4, 4), (4, 4)], ((A, A), (None, A)), [(4, 8), (4, 8)], [(5, 8), (5, 8)]),
    (lambda u, w, x: u[1:] + w + x, [(5,), (4,), (4,)], ((D,), (D,), (D,)), [(6,), (5,), (5,)], [(6,), (6,), (6,)]),
    (next_to, [(4, 4), (5, 4)], ((A, A), (A, A)), [(6, 3), (7, 4)], [(6, 3), (6, 4)]),
    (lambda x, y: x @ y, [(3, 4), (4, 5)], ((D, D), (D, D)), [(6, 3), (3, 2)], [(6, 3), (4, 2)]),
    (taeda.bmm, [(2, 3, 4), (2, 4, 5)], ((D,) * 3,) * 2, [(7, 6, 3), (7, 3, 2)], [(7, 6, 3), (6, 3, 2)]),
    (lambda x, y: taeda.cat([x, y], 1), [(3, 4), (3, 4)], ((D, D), (D, D)), [(6, 3), (6, 5)], [(6, 3), (5, 3)]),
    (lambda x, y: LOSS(x, y[:, 0].long()), [(4, 5), (4, 1)], ({0: D}, {0: D}), [(3, 5), (3, 1)], [(3, 5), (2, 1)]),
    (lambda x: x + x.T, [(3, 3)], ((D, D),), [(5, 5)], [(5, 4)]),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_relations(case: Any) -> None:
    function, example, shapes, good, bad = case
    module = program(function, tuple(ones(*size) for size in example), *shapes).module()
    given = tuple(ones(*size) for size in good)
    for found, wanted in zip(taeda.utils._pytree.tree_leaves(module(*given)), taeda.utils._pytree.tree_leaves(
            function(*given)), strict=True):  # fmt: skip
        assert taeda.allclose(found, wanted)
    with pytest.raises(AssertionError, match="Guard failed"):
        module(*(ones(*size) for size in bad))


def test_limits_of_both() -> None:
    found = program(lambda x, y: x + y, (ones(4), ones(4)), (Dim.DYNAMIC(min=2, max=9),), (Dim.AUTO(max=7),))
    assert list(found.range_constraints.values()) == [(2, 7)]


def test_what_stays_refused() -> None:
    with pytest.raises(RuntimeError, match="do not broadcast"):
        program(lambda x, y: x + y, (ones(4), ones(4)), (D,), None)
    with pytest.raises(RuntimeError, match="b = a"):
        program(lambda x, y: x + y, (ones(4), ones(4)), (Dim("a"),), (Dim("b"),))


def test_lists_of_values() -> None:
    found = program(lambda x, y: y.split(x.tolist()), (taeda.tensor([2, 3]), ones(5)))
    assert [len(part) for part in found.module()(taeda.tensor([1, 4]), ones(5))] == [1, 4]
    assert sum(node.target is taeda.ops.aten.item.default for node in found.graph.nodes) == 2


def test_texts_of_values(capsys: pytest.CaptureFixture[str]) -> None:
    def talks(x: Any) -> Any:
        print(x, f"{x.sum()}")
        return x + 1

    program(talks, (ones(2, 3),), {0: D})
    assert capsys.readouterr().out == "FakeTensor(..., size=(s0, 3)) FakeTensor(..., size=())\n"
    graph = make_fx(talks)(ones(2))
    assert capsys.readouterr().out == "tensor([1., 1.]) 2.0\n" and len(graph.graph.nodes) < 5


def test_constant_branches() -> None:
    with pytest.warns(UserWarning, match="that branch alone"):
        found = program(lambda x: taeda.cond(True, lambda v: v.sin(), lambda v: v.cos(), (x,)), (ones(2),))
    assert [n.name for n in found.graph.nodes if n.op == "call_function"] == ["sin"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.nonzero().shape[0] + x,
        lambda x: x[x > 0].numel() * x,
        lambda x: taeda.where(x > 0)[0].size(0) * x,
        lambda x: taeda.nn.functional.one_hot(x.long().abs()).shape[1] + x,
    ],
    ids=["nonzero", "mask", "where", "one_hot"],
)
def test_sizes_by_values_are_no_constants(function: Callable[..., Any]) -> None:
    found = program(function, (taeda.tensor([1.0, -1, 2, 0]),)).module()
    for other in ([0.0, 0, 3, 0], [1.0, 1, 1, 1]):
        assert taeda.equal(found(taeda.tensor(other)), function(taeda.tensor(other)))


def test_sizes_by_positions_are_constants() -> None:
    found = program(lambda x, i: x[i].shape[0] + x, (ones(4), taeda.tensor([0, 2])))
    assert not any("sym_size" in str(node.target) for node in found.graph.nodes)


def test_what_sizes_are_not_is_written_to_files() -> None:
    def function(x: taeda.Tensor) -> taeda.Tensor:
        y = taeda.nn.functional.max_pool1d(x, 2)
        return y if y.shape[1] == 100 else y + 1

    found = program(function, (ones(1, 9),), {1: A})
    stream = io.BytesIO()
    taeda.export.save(found, stream)
    stream.seek(0)
    module = taeda.export.load(stream).module()
    assert taeda.equal(module(ones(1, 7)), ones(1, 3) + 1)
    with pytest.raises(RuntimeError, match="== 100 is False"):
        module(ones(1, 200))


def test_tensors_of_one_element_where_numbers_are_wanted() -> None:
    def function(x: taeda.Tensor) -> tuple[taeda.Tensor, ...]:
        return taeda.arange(x.max()) + 1, taeda.full((2,), x.sum()), taeda.arange(1, end=x.max() + 3, dtype=taeda.float)

    found = program(function, (taeda.tensor([2, 3]),))
    for other in (taeda.tensor([1, 4]), taeda.tensor([0, 2])):
        for run in (found, found.run_decompositions()):
            assert all(map(taeda.equal, run.module()(other), function(other)))


def test_values_of_constants_are_known() -> None:
    def function(x: taeda.Tensor) -> taeda.Tensor:
        count = taeda.tensor([2])[0]
        parts = taeda.div(taeda.tensor(x.shape[1]), count, rounding_mode="floor")
        return x[:, :count].sum() if parts > 1 else x.reshape(parts, -1)

    found = program(function, (ones(3, 4),)).module()
    x = taeda.randn(3, 4)
    assert taeda.equal(found(x), function(x))


def test_a_constant_may_be_asked_several_times() -> None:
    def function(x: taeda.Tensor) -> taeda.Tensor:
        counts = taeda.IntTensor([2, 1])
        return x[:, : counts[0]] * x[:, counts[0] :] + counts[1]

    found = program(function, (ones(3, 4),)).module()
    x = taeda.randn(3, 4)
    assert taeda.equal(found(x), function(x))


def test_constants_that_are_written_to_are_values() -> None:
    def function(x: taeda.Tensor) -> taeda.Tensor:
        total = taeda.zeros(2)
        first = total[0]
        total.add_(x)
        return x * first.item()

    found = program(function, (ones(2),)).module()
    assert taeda.equal(found(taeda.tensor([3.0, 1.0])), taeda.tensor([9.0, 3.0]))
    with pytest.raises(RuntimeError, match="branch"):
        program(lambda x: x if taeda.zeros(1).add_(x) > 0 else -x, (ones(1),))
