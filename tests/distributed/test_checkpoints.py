"""Checkpoints: written by some processes, read by others, however tensors are cut; PyTorch reads them, too."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ranks import needs_mpi, run

import taeda
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
from taeda import nn
from taeda._serialization.pickler import rename_globals
from taeda.distributed.checkpoint import CheckpointException, _storage_pickle
from taeda.distributed.checkpoint.format_utils import (
    BroadcastingTorchSaveReader,
    DynamicMetaLoadPlanner,
    dcp_to_torch_save,
    torch_save_to_dcp,
)
from taeda.distributed.checkpoint.planner import WriteItemType
from taeda.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)
from taeda.distributed.checkpoint.state_dict_loader import _load_state_dict_from_keys
from taeda.distributed.device_mesh import init_device_mesh
from taeda.distributed.fsdp import FullyShardedDataParallel, fully_shard
from taeda.distributed.fsdp.wrap import ModuleWrapPolicy
from taeda.distributed.tensor import Replicate, Shard, distribute_tensor, zeros
from taeda.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from taeda.nn.parallel import DistributedDataParallel

pytestmark = pytest.mark.filterwarnings("ignore:taeda.distributed.checkpoint. there is no process group")
WHOLE = taeda.arange(35.0).view(7, 5)


# ---- in one process


def state() -> dict[str, Any]:
    return {
        "model": {"w": WHOLE.clone(), "b": taeda.arange(3), "half": taeda.ones(2, dtype=taeda.bfloat16)},
        "list": [{"x": taeda.ones(2)}, 3], "step": 5, "name": "n", 7: {"empty": taeda.empty(0)},
        "scalar": taeda.tensor(4),
    }  # fmt: skip


def blank() -> dict[str, Any]:
    return {
        "model": {"w": taeda.zeros(7, 5), "b": taeda.zeros(3, dtype=taeda.int64),
                  "half": taeda.zeros(2, dtype=taeda.bfloat16)},
        "list": [{"x": taeda.zeros(2)}, 0], "step": 0, "name": "", 7: {"empty": taeda.empty(0)},
        "scalar": taeda.tensor(0),
    }  # fmt: skip


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return set(one) == set(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(taeda.equal(one, other)) if isinstance(one, taeda.Tensor) else one == other


@pytest.mark.parametrize("options", [{}, {"single_file_per_rank": False}, {"thread_count": 3, "sync_files": False}])
def test_written_and_read(tmp_path: Path, options: dict[str, Any]) -> None:
    dcp.save(state(), storage_writer=dcp.FileSystemWriter(tmp_path, **options))
    found = blank()
    tensor = found["model"]["w"]
    dcp.load(found, checkpoint_id=tmp_path)
    assert same(found, state()) and found["model"]["w"] is tensor
    assert same(_load_state_dict_from_keys("model", checkpoint_id=tmp_path), {"model": state()["model"]})


def test_objects_with_states(tmp_path: Path) -> None:
    net, other = nn.Linear(3, 2), nn.Linear(3, 2)
    dcp.save({"net": net, "step": 3}, checkpoint_id=tmp_path)
    given: dict[str, Any] = {"net": other, "step": 0}
    dcp.load(given, checkpoint_id=tmp_path)
    assert taeda.equal(other.weight, net.weight) and given == {"net": other, "step": 3}


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    dcp.save(state(), checkpoint_id=tmp_path)
    for given, words in (({"other": WHOLE}, "no other"), ({"model": {"w": taeda.ones(2)}}, r"\(7, 5\); got \(2,\)"),
                         ({"model": {"w": 3}}, "stored as a tensor")):  # fmt: skip
        with pytest.raises(CheckpointException, match=words) as caught:
            dcp.load(given, checkpoint_id=tmp_path)
        assert list(caught.value.failures) == [0]
    partial: dict[str, Any] = {"model": {"w": taeda.zeros(7, 5)}, "other": 1}
    dcp.load(partial, checkpoint_id=tmp_path, planner=dcp.DefaultLoadPlanner(allow_partial_load=True))
    assert taeda.equal(partial["model"]["w"], WHOLE) and partial["other"] == 1
    with pytest.raises(CheckpointException, match="overwrite"):
        dcp.save(state(), storage_writer=dcp.FileSystemWriter(tmp_path, overwrite=False))
    with pytest.raises(CheckpointException):
        dcp.load(blank(), checkpoint_id=tmp_path / "elsewhere")
    with pytest.raises(RuntimeError, match="checkpoint_id"):
        dcp.load(blank())
    with pytest.raises(CheckpointException, match="two values"):
        dcp.save({"a": {"b": 1}, "a.b": 2}, checkpoint_id=tmp_path)


def test_the_description_calls_nothing(tmp_path: Path) -> None:
    dcp.save(state(), checkpoint_id=tmp_path)
    (tmp_path / ".metadata").write_bytes(pickle.dumps(os.system, protocol=2))
    with pytest.raises(CheckpointException, match="no part of one"):
        dcp.load(blank(), checkpoint_id=tmp_path)


def test_formats(tmp_path: Path) -> None:
    dcp.save(state(), checkpoint_id=tmp_path / "folder")
    dcp_to_torch_save(tmp_path / "folder", tmp_path / "file")
    found = taeda.load(tmp_path / "file", weights_only=False)
    assert same(found["model"], state()["model"]) and found["step"] == 5
    torch_save_to_dcp(tmp_path / "file", tmp_path / "again")
    given = {"model": blank()["model"]}
    dcp.load(given, checkpoint_id=tmp_path / "again")
    assert same(given["model"], state()["model"])
    taeda.save({"model": state()["model"]}, tmp_path / "tensors")
    given = {"model": blank()["model"]}
    dcp.load(given, storage_reader=BroadcastingTorchSaveReader(tmp_path / "tensors"), planner=DynamicMetaLoadPlanner())
    assert same(given["model"], state()["model"])


@pytest.mark.parametrize("options", [{}, {"save_distributed": True}, {"fqn_to_index_mapping": {"w": 1, "b": 2}},
                                     {"save_distributed": True, "enable_consolidation": True}])  # fmt: skip
def test_safetensors(tmp_path: Path, options: dict[str, Any]) -> None:
    given = {
        "w": WHOLE.clone(),
        "b": taeda.arange(3),
        "half": taeda.ones(2, dtype=taeda.bfloat16),
        "n": taeda.tensor(2),
    }
    dcp.save(given, storage_writer=dcp.HuggingFaceStorageWriter(str(tmp_path), **options))
    found = {name: taeda.zeros_like(one) for name, one in given.items()}
    dcp.load(found, storage_reader=dcp.HuggingFaceStorageReader(str(tmp_path)))
    assert same(found, given)
    names = sorted(path.name for path in tmp_path.glob("*.safetensors"))
    assert len(names) == (2 if "fqn_to_index_mapping" in options else 1)


def test_async_copies_first(tmp_path: Path) -> None:
    given = state()
    future: Any = dcp.async_save(given, checkpoint_id=tmp_path)
    given["model"]["w"].zero_()
    future.result()
    found = blank()
    dcp.load(found, checkpoint_id=tmp_path)
    assert same(found, state())


THERE = """
import sys, warnings
warnings.simplefilter("ignore")
import torch, torch.distributed.checkpoint as dcp
ours, theirs = sys.argv[1:]
given = {"model": {"w": torch.zeros(7, 5), "b": torch.zeros(3, dtype=torch.int64)}, "step": 0}
dcp.load(given, checkpoint_id=ours)
assert torch.equal(given["model"]["w"], torch.arange(35.).view(7, 5)) and given["step"] == 5, given
dcp.save({"model": {"w": given["model"]["w"] + 1, "k": [1, torch.ones(2)]}, "step": 6}, checkpoint_id=theirs)
"""


@pytest.mark.torch
def test_pytorch_reads_and_writes_the_same(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    dcp.save(state(), checkpoint_id=tmp_path / "ours")
    subprocess.run([sys.executable, "-c", THERE, tmp_path / "ours", tmp_path / "theirs"], check=True)
    given = {"model": {"w": taeda.zeros(7, 5), "k": [0, taeda.zeros(2)]}, "step": 0}
    dcp.load(given, checkpoint_id=tmp_path / "theirs")
    assert same(given, {"model": {"w": WHOLE + 1, "k": [1, taeda.ones(2)]}, "step": 6})


# ---- in several


def _saved(rank: int, folder: str) -> list[str]:
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    given = {name: distribute_tensor(WHOLE, mesh, [way]) for name, way in
             (("rows", Shard(0)), ("columns", Shard(1)), ("all", Replicate()))}  # fmt: skip
    dcp.save({**given, "plain": taeda.full((2,), 3.0), "rank": rank}, checkpoint_id=folder)
    writer = dcp.HuggingFaceStorageWriter(f"{folder}/joined", save_distributed=True, enable_consolidation=True)
    dcp.save(given, storage_writer=writer)
    return sorted(os.listdir(folder))


def _loaded(rank: int, folder: str) -> list[str]:
    mesh, wrong = init_device_mesh("cpu", (dist.get_world_size(),)), []
    for way in (Shard(0), Shard(1), Replicate()):
        given: dict[str, Any] = {
            name: zeros(7, 5, device_mesh=mesh, placements=[way]) for name in ("rows", "columns", "all")
        }
        given |= {"plain": taeda.zeros(2), "rank": -1}
        dcp.load(given, checkpoint_id=folder)
        wrong += [
            f"{name} {way}" for name in ("rows", "columns", "all") if not taeda.equal(given[name].full_tensor(), WHOLE)
        ]
        again = {name: zeros(7, 5, device_mesh=mesh, placements=[way]) for name in ("rows", "columns", "all")}
        for place in ("joined", "joined/sharded"):
            dcp.load(again, storage_reader=dcp.HuggingFaceStorageReader(f"{folder}/{place}"))
            wrong += [f"{place} {name}" for name, one in again.items() if not taeda.equal(one.full_tensor(), WHOLE)]
        wrong += [] if given["plain"].tolist() == [3.0, 3.0] and given["rank"] == 0 else ["plain"]
    return wrong


@needs_mpi
@pytest.mark.parametrize("writers, readers", [(3, 2), (1, 3), (2, 4)])
def test_another_number_of_processes(tmp_path: Path, writers: int, readers: int) -> None:
    run(writers, _saved, str(tmp_path))
    assert run(readers, _loaded, str(tmp_path)) == [[]] * readers
    plain = {"rows": taeda.zeros(7, 5), "plain": taeda.zeros(2)}
    dcp.load(plain, checkpoint_id=tmp_path)
    assert taeda.equal(plain["rows"], WHOLE)


def _errors(rank: int, folder: str) -> list[Any]:
    seen: list[Any] = []
    try:
        dcp.save({"x": taeda.ones(2), "y": (lambda: 0) if rank == 0 else 0}, checkpoint_id=folder)
    except CheckpointException as error:
        seen.append(list(error.failures))
    try:
        dcp.load({"x": taeda.zeros(2 + rank)}, checkpoint_id=folder)
    except CheckpointException as error:
        seen.append(list(error.failures))
    mesh = init_device_mesh("cpu", (2,))
    future: Any = dcp.async_save({"x": distribute_tensor(WHOLE, mesh, [Shard(0)])}, checkpoint_id=f"{folder}/async")
    for _ in range(20):  # the program's own collectives go on meanwhile
        dist.all_reduce(taeda.ones(3))
    future.result()
    given = {"x": taeda.zeros(7, 5)}
    dcp.load(given, checkpoint_id=f"{folder}/async")
    seen.append(taeda.equal(given["x"], WHOLE))
    return seen


@needs_mpi
def test_errors_reach_all_and_the_background_is_apart(tmp_path: Path) -> None:
    assert run(2, _errors, str(tmp_path)) == [[[0], [0, 1], True]] * 2


# ---- models and optimisers, however they are spread


def network() -> nn.Sequential:
    taeda.manual_seed(0)
    return nn.Sequential(nn.BatchNorm1d(5), nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 4))


def _spread(kind: str) -> nn.Module:
    net: Any = network()
    if kind == "ddp":
        return DistributedDataParallel(net)
    if kind == "fully_shard":
        fully_shard(net[1])
        return fully_shard(net)
    if kind in ("fsdp", "fsdp names"):
        return FullyShardedDataParallel(
            net, auto_wrap_policy=ModuleWrapPolicy([nn.Linear]), use_orig_params=kind != "fsdp"
        )
    if kind == "tensor parallel":
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        return parallelize_module(net, mesh, {"1": ColwiseParallel(), "3": RowwiseParallel()})
    return net


KINDS = ["plain", "ddp", "fully_shard", "fsdp", "fsdp names", "tensor parallel"]


def _step(net: nn.Module, optimizer: Any) -> None:
    taeda.manual_seed(4)
    net(taeda.randn(6, 5)).square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()


def _full(net: nn.Module, optimizer: Any) -> Any:
    return get_state_dict(net, optimizer, options=StateDictOptions(full_state_dict=True))


def _models(rank: int, folder: str) -> list[str]:
    wrong = []
    plain = network()
    first = taeda.optim.AdamW(plain.parameters(), lr=0.1)
    _step(plain, first)
    wanted = _full(plain, first)
    for kind in KINDS:
        net = _spread(kind)
        optimizer = taeda.optim.AdamW(net.parameters(), lr=0.1)
        _step(net, optimizer)
        model, optim = _full(net, optimizer)
        if list(model) != list(wanted[0]) or not _close(model, wanted[0]):
            wrong.append(f"{kind}: model")
        if set(optim["state"]) != set(wanted[1]["state"]) or not all(
            _close(optim["state"][name], wanted[1]["state"][name]) for name in optim["state"]
        ):
            wrong.append(f"{kind}: optimizer")
        cut = get_state_dict(net, optimizer)
        dcp.save({"model": cut[0], "optim": cut[1]}, checkpoint_id=f"{folder}/{kind}")
        for other in KINDS:
            into = _spread(other)
            theirs = taeda.optim.AdamW(into.parameters(), lr=0.2)
            states = get_state_dict(into, theirs)
            dcp.load({"model": states[0], "optim": states[1]}, checkpoint_id=f"{folder}/{kind}")
            set_state_dict(into, theirs, model_state_dict=states[0], optim_state_dict=states[1])
            after = _full(into, theirs)
            if not _close(after[0], wanted[0]) or not _close(
                after[1]["state"]["3.weight"], wanted[1]["state"]["3.weight"]
            ):
                wrong.append(f"{kind} into {other}")
            if theirs.param_groups[0]["lr"] != 0.1:
                wrong.append(f"{kind} into {other}: lr")
    return wrong


def _close(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return set(one) == set(other) and all(
        taeda.allclose(one[key].double(), other[key].double(), atol=1e-4) for key in one
    )


@needs_mpi
def test_models_go_from_any_way_of_spreading_to_any(tmp_path: Path) -> None:
    assert run(2, _models, str(tmp_path)) == [[]] * 2


def _options(rank: int) -> list[str]:
    wrong = []
    for kind in ("fully_shard", "fsdp", "ddp"):
        net = _spread(kind)
        optimizer = taeda.optim.AdamW(net.parameters(), lr=0.1)
        _step(net, optimizer)
        first_only = StateDictOptions(full_state_dict=True, cpu_offload=True)
        model = get_model_state_dict(net, options=first_only)
        optim = get_optimizer_state_dict(net, optimizer, options=first_only)
        if bool(model) != (rank == 0) or bool(optim) != (rank == 0):
            wrong.append(f"{kind}: of the first only")
        into = _spread(kind)
        theirs = taeda.optim.AdamW(into.parameters(), lr=0.2)
        sent = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
        set_model_state_dict(into, model, options=sent)
        set_optimizer_state_dict(into, theirs, optim, options=sent)
        if not _close(_full(into, theirs)[0], _full(net, optimizer)[0]):
            wrong.append(f"{kind}: sent")
        flat = StateDictOptions(full_state_dict=True, flatten_optimizer_state_dict=True)
        given = get_optimizer_state_dict(net, optimizer, options=flat)
        if "state.3.weight.exp_avg" not in given or given["param_groups.3.weight.lr"] != 0.1:
            wrong.append(f"{kind}: flat")
        set_optimizer_state_dict(into, theirs, given, options=flat)
        if theirs.param_groups[0]["lr"] != 0.1:
            wrong.append(f"{kind}: flat lr")
    with taeda.device("meta"):
        bare = fully_shard(network())
    given = network().state_dict() if rank == 0 else {}
    set_model_state_dict(bare, given, options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True))
    if not _close(get_model_state_dict(bare, options=StateDictOptions(full_state_dict=True)), network().state_dict()):
        wrong.append("into a model without memory")
    net = network()
    net[1].requires_grad_(False)
    frozen = get_model_state_dict(net, options=StateDictOptions(ignore_frozen_params=True))
    part = get_model_state_dict(net, submodules={net[3]}, options=StateDictOptions(keep_submodule_prefixes=False))
    if "1.weight" in frozen or list(part) != ["weight", "bias"]:
        wrong.append("parts")
    return wrong


@needs_mpi
def test_options_of_states() -> None:
    assert run(2, _options) == [[]] * 2


class Asked:
    """Pickled as an attribute of something."""

    def __init__(self, owner: Any, name: str) -> None:
        self.asked = owner, name

    def __reduce__(self) -> Any:
        return getattr, self.asked


def test_descriptions_name_members_of_enumerations_and_no_other_attributes() -> None:
    kinds = [WriteItemType.TENSOR, WriteItemType.SHARD]
    assert b"getattr" not in _storage_pickle.dumps(kinds)
    assert _storage_pickle.loads(_storage_pickle.dumps([kinds, {1, 2}])) == [kinds, {1, 2}]
    by_name = lambda *asked: _storage_pickle.loads(rename_globals(pickle.dumps(Asked(*asked), 2)))
    assert by_name(WriteItemType, "SHARD") is WriteItemType.SHARD
    for owner, name in ((WriteItemType, "__class__"), (dict, "fromkeys"), (WriteItemType, [])):
        with pytest.raises(pickle.UnpicklingError, match="members of enumerations alone"):
            by_name(owner, name)
