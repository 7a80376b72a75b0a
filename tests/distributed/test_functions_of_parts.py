"""Functions and modules of plain tensors among DTensors, and what a functional collective gives."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import taeda
import taeda.distributed as dist
import taeda.distributed.distributed_c10d as tags
from taeda import Tensor, nn
from taeda.distributed import _functional_collectives as functional
from taeda.distributed._threads import run_ranks
from taeda.distributed.device_mesh import init_device_mesh
from taeda.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from taeda.distributed.tensor._registered import strategies
from taeda.distributed.tensor.debug import CommDebugMode
from taeda.distributed.tensor.experimental import local_map, register_sharding
from taeda.distributed.tensor.parallel.input_reshard import input_reshard

ROWS, COLUMNS, WHOLE = [Shard(0)], [Shard(1)], [Replicate()]


def test_local_map() -> None:
    def body() -> None:
        mesh = init_device_mesh("cpu", (2,))
        a, b = taeda.arange(24.0).view(4, 6), taeda.arange(12.0).view(6, 2)
        rows, columns = distribute_tensor(a, mesh, ROWS), distribute_tensor(a, mesh, COLUMNS)
        right = distribute_tensor(b, mesh, ROWS)

        @local_map(out_placements=WHOLE, in_placements=(COLUMNS, ROWS), redistribute_inputs=True)
        def product(x: Tensor, y: Tensor) -> Tensor:
            return functional.all_reduce(x @ y, "sum", mesh).wait()

        for left in (rows, columns):
            assert taeda.equal(product(left, right).to_local(), a @ b)

        split: Any = local_map(lambda x, times: (x * times, times), (ROWS, None), (ROWS, None))
        twice, times = split(rows, 2)
        assert taeda.equal(twice.full_tensor(), a * 2) and times == 2
        plain: Any = split(rows.to_local(), 2)[0]
        assert type(plain) is Tensor and taeda.equal(plain, rows.to_local() * 2)

        watched = rows.detach().requires_grad_()
        local_map(lambda x: x * 3, ROWS, in_grad_placements=(ROWS,))(watched).sum().backward()
        assert taeda.equal(watched.grad.full_tensor(), taeda.full((4, 6), 3.0))

        for error, call, said in (
            (ValueError, lambda: local_map(taeda.mm, ROWS, (ROWS, WHOLE))(columns, right), "argument 0 must lie"),
            (AssertionError, lambda: split(rows, rows), "argument 1 is a DTensor"),
            (AssertionError, lambda: split(rows), "2 in_placements were given for 1"),
            (AssertionError, lambda: local_map(lambda x: x, (ROWS, ROWS))(rows), "2 out_placements were given for 1"),
            (AssertionError, lambda: local_map(lambda x: 1, ROWS)(rows), "int is no tensor"),
        ):
            with pytest.raises(error, match=said):
                call()

    run_ranks(2, body)


def test_what_a_module_keeps_is_cut() -> None:
    class Cube(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return (x * 1).pow(3)

    def body() -> None:
        mesh = init_device_mesh("cpu", (2,))
        assert input_reshard(module := Cube(), mesh) is module and not module._forward_hooks
        for sizes in ((4, 3), (3, 3), ()):  # which can be cut, or not
            x = taeda.ones(sizes).mul_(2).requires_grad_()
            input_reshard(Cube(), mesh, 0)(x).sum().backward()
            assert x.grad is not None and taeda.equal(x.grad, taeda.full(sizes, 12.0))
        whole = DTensor.from_local(taeda.ones(4, 3), mesh, WHOLE).requires_grad_()
        result = input_reshard(Cube(), mesh, 0)(whole)
        assert taeda.autograd.grad(result.sum(), whole)[0].to_local().tolist() == [[3.0] * 3] * 4

    run_ranks(2, body)


def test_results_can_be_waited_for() -> None:
    def body() -> None:
        mesh = init_device_mesh("cpu", (2,))
        total = functional.all_reduce(taeda.ones(2), "sum", mesh)
        assert isinstance(total, functional.AsyncCollectiveTensor) and repr(total).startswith("AsyncCollectiveTensor(")
        for one in (total.wait(), total.trigger_wait(), functional.wait_tensor(total), total * 1):
            assert type(one) is Tensor and one.tolist() == [2.0, 2.0]
        for two in functional.all_reduce_coalesced([taeda.ones(1)], "sum", mesh), [functional.wait_tensor(total)]:
            assert functional.wait_tensor(two[0])[0] == 2

    run_ranks(2, body)


def test_groups_go_by_many_names() -> None:
    def body() -> None:
        mesh = init_device_mesh("cpu", (2,))
        world = mesh.get_group()
        for group in (world, world.group_name, [0, 1], [[0, 1], [2, 3]], mesh, (mesh, 0)):
            assert functional.all_reduce(taeda.ones(2), "sum", group).tolist() == [2.0, 2.0]
        with pytest.raises(ValueError, match="no process group of the ranks .0, 3"):
            functional.all_reduce(taeda.ones(2), "sum", [0, 3])

    run_ranks(2, body)


def test_nothing_is_sent_for_new_tensors_and_gathers() -> None:
    together = threading.Barrier(2, timeout=20)

    def body() -> None:
        mesh = init_device_mesh("cpu", (2,))
        plain = taeda.arange(48.0).view(4, 6, 2)
        columns = distribute_tensor(plain, mesh, COLUMNS)
        index = taeda.arange(24).view(4, 2, 3)[:, :, :2] % 4
        cut = distribute_tensor(index, mesh, COLUMNS)
        columns_of_one = distribute_tensor(index[:1, :1].expand(1, 6, 2), mesh, COLUMNS)
        whole, rows = distribute_tensor(plain, mesh, WHOLE), distribute_tensor(plain, mesh, ROWS)
        together.wait()  # what another thread sends is counted, too
        with CommDebugMode() as sent:
            same, other = columns.new_full((4, 6, 2), 3.0), columns.new_zeros(2, 3)
            strided = columns.new_empty_strided((4, 6, 2), (12, 1, 6))
            uneven = rows.new_empty_strided((4, 6, 2), (12, 2, 1))
            terms = DTensor.from_local(plain, mesh, [Partial()]).new_ones((4, 6, 2))
            along = whole.gather(1, cut)
            beside = columns.gather(0, columns_of_one)
        together.wait()
        assert sent.get_total_counts() == 0
        assert same.placements == (Shard(1),) and taeda.equal(same.full_tensor(), plain.new_full((4, 6, 2), 3.0))
        assert other.placements == terms.placements == (Replicate(),) and other.to_local().shape == (2, 3)
        assert strided.placements == (Shard(1),) and strided.to_local().stride() == (6, 1, 3)
        assert uneven.to_local().stride() == (12, 2, 1) and uneven.to_local().shape == (2, 6, 2)
        assert along.placements == (Shard(1),) and taeda.equal(along.full_tensor(), plain.gather(1, index))
        assert beside.placements == (Shard(1),)
        assert taeda.equal(beside.full_tensor(), plain.gather(0, index[:1, :1].expand(1, 6, 2)))

    run_ranks(2, body)


def test_ways_that_are_registered() -> None:
    op = taeda.ops.aten.cumsum.default
    with pytest.raises(KeyError):
        strategies[op]

    @register_sharding(op)
    def ways(x: Any, dim: int) -> Any:
        return [([how], [how, None]) for how in (Replicate(), *(Shard(at) for at in range(x.ndim) if at != dim))]

    def body() -> None:
        mesh = init_device_mesh("cpu", (2, 2))
        x = taeda.arange(24.0).view(6, 4)
        for placed, wanted in (
            ([Shard(0), Shard(1)], [Shard(0), Replicate()]),
            ([Replicate(), Shard(0)], [Replicate(), Shard(0)]),
            ([Partial(), Replicate()], [Shard(0), Replicate()]),
        ):
            whole = (
                DTensor.from_local(x / 2, mesh, placed) if Partial() in placed else distribute_tensor(x, mesh, placed)
            )
            found = taeda.cumsum(whole, 1)
            assert list(found.placements) == wanted and taeda.equal(found.full_tensor(), taeda.cumsum(x, 1))  # type: ignore[attr-defined]
        narrow = distribute_tensor(x[:1], mesh, [Replicate()] * 2)
        assert list(taeda.cumsum(narrow, 1).placements) == [Replicate()] * 2  # type: ignore[attr-defined]

    try:
        run_ranks(4, body)
        strategies[op] = lambda x, dim: [([Shard(0)], [Shard(0), None])]
        with pytest.raises(RuntimeError, match="none of the ways that are registered"):
            run_ranks(
                2, lambda: taeda.cumsum(distribute_tensor(taeda.ones(1), init_device_mesh("cpu", (2,)), WHOLE), 0)
            )
    finally:
        del strategies[op]


def test_groups_by_tag() -> None:
    def body() -> None:
        rank = dist.get_rank()
        pairs = [[0, 1], [2, 3]]

        def of_pairs(tag: str | None = None) -> Any:
            return [tags._new_group_with_tag(pair, pg_tag=tag) for pair in pairs][rank // 2]

        blue, again, red, plain = of_pairs("blue"), of_pairs("blue"), of_pairs("red"), of_pairs()
        assert blue is again and len({id(one) for one in (blue, red, plain, of_pairs())}) == 4
        assert tags._find_pg_by_ranks_and_tag("", [0, 1, 2, 3]) is dist.group.WORLD
        for group in (blue, red, plain):
            tag, ranks, size = functional._expand_group(group)
            assert (ranks, size) == (pairs[rank // 2], 2) and tags._find_pg_by_ranks_and_tag(tag, ranks) is group
        assert functional._expand_group(plain, "blue")[0] == "blue" == tags._get_group_tag(blue)
        assert functional._expand_group(pairs, "x") == ("x", [0, 1, 2, 3], 2)
        assert tags._find_or_create_pg_by_ranks_and_tag("red", [0, 1, 2, 3], 2) is red
        green = tags._find_or_create_pg_by_ranks_and_tag("green", [0, 1, 2, 3], 2)
        assert green is of_pairs("green")
        assert [one.item() for one in functional.all_gather_into_tensor_coalesced([taeda.ones(1)] * 2, plain)[0]] == [
            1,
            1,
        ]
        mesh = init_device_mesh("cpu", (2, 2))
        assert functional._expand_group((mesh, 0))[1:] == ([rank % 2, rank % 2 + 2], 2)
        parts = functional.reduce_scatter_tensor_coalesced([taeda.ones(4), taeda.ones(2, 4)], "sum", [0, 1], green)
        assert [list(part.shape) for part in parts] == [[2], [2, 2]] and parts[0].tolist() == [2, 2]
        for error, call in (
            (ValueError, lambda: functional._expand_group([[0], [1, 2]])),
            (AssertionError, lambda: functional._expand_group(mesh)),
            (ValueError, lambda: functional._expand_group(3)),
            (ValueError, lambda: tags._find_or_create_pg_by_ranks_and_tag("x", [0, 1, 2], 2)),
            (RuntimeError, lambda: tags._find_or_create_pg_by_ranks_and_tag("", [rank], 1)),
        ):
            with pytest.raises(error):
                call()

    run_ranks(4, body)
