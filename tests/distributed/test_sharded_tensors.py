"""Tensors of which a program says where each shard lies: made, gathered, computed with, saved."""

from __future__ import annotations

import copy
import io
from pathlib import Path
from typing import Any

import pytest
from ranks import needs_mpi, run

import taeda
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
from taeda import nn
from taeda.distributed._shard import load_with_process_group, shard_parameter, sharded_tensor
from taeda.distributed._shard.sharded_tensor import Shard, ShardedTensor, ShardMetadata, init_from_local_shards
from taeda.distributed._shard.sharding_spec import ChunkShardingSpec, EnumerableShardingSpec
from taeda.distributed.fsdp import FullyShardedDataParallel as FSDP
from taeda.distributed.fsdp import StateDictType
from taeda.distributed.remote_device import _remote_device

pytestmark = needs_mpi
CHUNKS = ChunkShardingSpec(0, ["rank:0/cpu", "rank:1/cpu"])


def _whole(tensor: ShardedTensor, rank: int) -> Any:
    out = taeda.empty(tensor.shape, dtype=tensor.dtype) if rank == 0 else None
    tensor.gather(0, out)
    return None if out is None else out.tolist()


def _made(rank: int) -> dict[str, Any]:
    ones = sharded_tensor.ones(CHUNKS, 3, 2)
    grid = EnumerableShardingSpec([ShardMetadata([0, 2 * at], [2, 2], f"rank:{at}/cpu") for at in (1, 0)])
    quarters = sharded_tensor.full(grid, (2, 4), 2.0)
    own = Shard.from_tensor_and_offsets(taeda.full((2, 2), float(rank)), [2 * rank, 0], rank)
    joined = init_from_local_shards([own], 4, 2)
    computed = (ones * 3 + ones).exp().detach()
    computed.fill_(5)
    copied = copy.deepcopy(ones)
    copied.zero_()
    file = io.BytesIO()
    taeda.save(ones, file)
    file.seek(0)
    with load_with_process_group(dist.group.WORLD):
        loaded = taeda.load(file, weights_only=False)
    layer = nn.Linear(2, 3)
    values = layer.weight.detach().clone()
    dist.broadcast(values, 0)
    shard_parameter(layer, "weight", CHUNKS)
    part = layer.weight.local_tensor()  # type: ignore[operator]
    assert part.equal(values[:2] if rank == 0 else values[2:]) and isinstance(layer.weight, ShardedTensor)
    with pytest.raises(RuntimeError, match="gather it first"):
        ones @ taeda.ones(2, 2)
    return {
        "ones": _whole(ones, rank), "quarters": _whole(quarters, rank), "joined": _whole(joined, rank),
        "computed": _whole(computed, rank), "copied": _whole(copied, rank), "loaded": _whole(loaded, rank),
        "shapes": [tuple(one.tensor.shape) for one in ones.local_shards()],
        "specs": [type(one.sharding_spec()) for one in (ones, quarters, joined)], "kept": _whole(ones, rank),
    }  # fmt: skip


def test_made_computed_with_and_gathered() -> None:
    first, second = run(2, _made)
    ones = [[1.0, 1.0]] * 3
    assert first["ones"] == first["loaded"] == first["kept"] == ones and second["ones"] is None
    assert first["quarters"] == [[2.0] * 4] * 2
    assert first["joined"] == [[0.0, 0.0]] * 2 + [[1.0, 1.0]] * 2
    assert first["computed"] == [[5.0, 5.0]] * 3 and first["copied"] == [[0.0, 0.0]] * 3
    assert first["shapes"] == [(2, 2)] and second["shapes"] == [(1, 2)]
    assert first["specs"] == [ChunkShardingSpec, EnumerableShardingSpec, ChunkShardingSpec]


def _saved(rank: int, folder: str) -> list[Any]:
    def model(seed: int) -> Any:
        taeda.manual_seed(seed)
        return FSDP(nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1)), use_orig_params=True)

    first, second, x = model(0), model(1), taeda.ones(2, 4)
    first(x).sum().backward()
    adam, other = (taeda.optim.Adam(one.parameters(), 0.1) for one in (first, second))
    adam.step()
    with FSDP.state_dict_type(first, StateDictType.SHARDED_STATE_DICT):
        state = {"model": first.state_dict(), "optim": FSDP.optim_state_dict(first, adam)}
    kinds = {type(one) for one in state["model"].values()}
    kinds |= {type(state["optim"]["state"]["0.weight"]["exp_avg"])}
    dcp.save(state, checkpoint_id=folder)
    second(x).sum().backward()
    other.step()
    with FSDP.state_dict_type(second, StateDictType.SHARDED_STATE_DICT):
        read = {"model": second.state_dict(), "optim": FSDP.optim_state_dict(second, other)}
        dcp.load(read, checkpoint_id=folder)
        second.load_state_dict(read["model"])
        other.load_state_dict(FSDP.optim_state_dict_to_load(second, other, read["optim"]))
    same = first(x).equal(second(x))
    for one, optimizer in ((first, adam), (second, other)):
        one(x).sum().backward()
        optimizer.step()
    counts = [len(one.local_shards()) for one in state["model"].values()]
    return [kinds == {ShardedTensor}, same, bool(taeda.allclose(first(x), second(x))), counts]


def test_sharded_state_dicts_are_saved_and_loaded(tmp_path: Path) -> None:
    assert run(2, _saved, str(tmp_path)) == [[True, True, True, [1, 1, 1, 1]], [True, True, True, [1, 1, 0, 0]]]


def _mistakes(rank: int) -> None:
    def wrong(kind: Any, words: str, call: Any) -> None:
        with pytest.raises(kind, match=words):
            call()

    place = "rank:0/cpu"
    wrong(ValueError, "an offset and a size", lambda: ShardMetadata([0], [1, 2]))
    wrong(ValueError, "an offset and a size", lambda: ShardMetadata([0], [-1]))
    wrong(ValueError, "overlap", lambda: EnumerableShardingSpec([ShardMetadata([0], [2]), ShardMetadata([1], [2])]))
    wrong(ValueError, "is not ShardMetadata", lambda: Shard(taeda.ones(3), ShardMetadata([0], [2])))
    wrong(ValueError, "no dimension 2", lambda: sharded_tensor.ones(ChunkShardingSpec(2, [place]), 3, 2))
    gap = EnumerableShardingSpec([ShardMetadata([0], [2], place)])
    wrong(ValueError, "of 3 elements", lambda: sharded_tensor.ones(gap, 3))
    wrong(ValueError, "does not lie within", lambda: sharded_tensor.ones(gap, 1))
    wrong(ValueError, "out is wanted", lambda: sharded_tensor.ones(gap, 2).gather(0))
    wrong(
        NotImplementedError,
        "0 shards",
        lambda: sharded_tensor.ones(ChunkShardingSpec(0, ["rank:1/cpu"]), 2).local_tensor(),
    )
    wrong(ValueError, "a shard is wanted", lambda: init_from_local_shards([], 2))
    wrong(ValueError, "rank:0/cpu", lambda: _remote_device("a/b/cpu"))


def test_mistakes_are_told() -> None:
    run(1, _mistakes)


def test_devices_of_others() -> None:
    for text, worker, rank in (("cpu", None, None), ("rank:3/cpu", None, 3), ("w/cpu", "w", None), ("w", "w", None)):
        made = _remote_device(text)
        assert (made.worker_name(), made.rank(), made.device()) == (worker, rank, taeda.device("cpu"))
        assert made == _remote_device(repr(made)) and hash(made) == hash(_remote_device(repr(made)))
