"""Parts of meshes: how their ranks step, which names go together, and what is refused. The group is a fake one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import taeda.distributed as dist
from taeda.distributed.device_mesh import DeviceMesh, init_device_mesh


@pytest.fixture
def mesh() -> Iterator[DeviceMesh]:
    dist.init_process_group("fake", rank=1, world_size=8, store=dist.HashStore())
    yield init_device_mesh("cpu", (2, 2, 2), mesh_dim_names=("a", "b", "c"))
    dist.destroy_process_group()


def test_a_part_steps_as_the_whole_does(mesh: DeviceMesh) -> None:
    assert repr(mesh["a"]) == "DeviceMesh((a=2), 'cpu', stride=(4,))"
    assert repr(mesh["a", "c"]) == "DeviceMesh((a=2, c=2), 'cpu', stride=(4, 1))"
    assert repr(mesh["a", "c"]._flatten("ac")) == "DeviceMesh((ac=4), 'cpu', stride=((4, 1),))"
    assert repr(mesh["a", "b"]._flatten()) == "DeviceMesh((a_b=4), 'cpu', stride=(2,))"
    assert repr(DeviceMesh("cpu", [[3], [1]])) == "DeviceMesh((2, 1), 'cpu', stride=(1, ()))"
    assert mesh["a", "c"].mesh.tolist() == [[0, 1], [4, 5]] and mesh["c"].get_local_rank() == 1


def test_debug_shows_the_ranks(mesh: DeviceMesh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "DETAIL")
    assert repr(mesh["a"]) == "DeviceMesh((a=2), 'cpu', stride=(4,), Mesh: [1, 5])"


@pytest.mark.parametrize(
    ("names", "error"),
    [(("c", "a"), KeyError), (("b", "ac"), KeyError), ("x", KeyError), (("a", "a"), RuntimeError),
     (("a_b", "b"), RuntimeError)],
)  # fmt: skip
def test_names_that_do_not_go_together(mesh: DeviceMesh, names: Any, error: type[Exception]) -> None:
    mesh["a", "b"]._flatten()
    mesh["a", "c"]._flatten("ac")
    with pytest.raises(error, match="DeviceMesh: "):
        mesh[names]


def test_joined_dimensions_are_found_from_the_whole(mesh: DeviceMesh) -> None:
    mesh["a", "b"]._flatten()
    assert mesh["a_b", "c"].shape == (4, 2)
    with pytest.raises(KeyError, match="a_b"):
        mesh["a", "c"]["a_b"]


@pytest.mark.parametrize(("ranks", "error"), [([0, 0], ValueError), ([0, 9], ValueError),
                                              ([[0, 1], [1, 2]], RuntimeError)])  # fmt: skip
def test_ranks_that_are_refused(mesh: DeviceMesh, ranks: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"\[\[?0"):
        DeviceMesh("cpu", ranks)


def test_messages_are_wanted_in_a_list(mesh: DeviceMesh) -> None:
    with pytest.raises(IndexError, match="empty list"):
        dist.batch_isend_irecv([])
    for wrong in (None, (), [1]):
        with pytest.raises(ValueError, match="a list of P2POp is wanted"):
            dist.batch_isend_irecv(wrong)


def test_modules_that_come_with_the_package() -> None:
    names = ("algorithms", "autograd", "c10d_logger", "remote_device", "rpc", "utils")
    assert [getattr(dist, name).__name__ for name in names] == [f"taeda.distributed.{name}" for name in names]
    assert dist.algorithms.join.Join
    with pytest.raises(AttributeError, match="rpcs"):
        dist.rpcs  # noqa: B018
