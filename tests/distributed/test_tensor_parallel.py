"""A transformer cut over processes computes what a whole one does: losses, gradients, steps."""

from __future__ import annotations

from typing import Any

import pytest
from ranks import needs_mpi, run

import taeda
import taeda.nn.functional as F
from taeda import nn
from taeda.distributed.device_mesh import init_device_mesh
from taeda.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy, StateDictType, fully_shard
from taeda.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from taeda.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from taeda.nn.parallel import DistributedDataParallel

pytestmark = needs_mpi
WIDTH, HEADS, WORDS = 8, 4, 12


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attend(self, x: Any) -> Any:
        rows, length = x.shape[:2]
        q, k, v = (one(x).view(rows, length, -1, WIDTH // HEADS).transpose(1, 2) for one in (self.q, self.k, self.v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(mixed.transpose(1, 2).reshape(rows, length, -1))

    def forward(self, x: Any) -> Any:
        x = x + self.attend(self.before(x))
        return x + self.down(F.silu(self.up(self.after(x))))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        taeda.manual_seed(0)
        self.words, self.blocks = nn.Embedding(WORDS, WIDTH), nn.Sequential(Block(), Block())
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, x: Any) -> Any:
        return self.out(self.norm(self.blocks(self.words(x))))


WHOLE, ALONG = Replicate(), Shard(1)
PLAIN = {
    "words": RowwiseParallel(input_layouts=WHOLE),
    **{f"blocks.*.{one}": ColwiseParallel() for one in ("q", "k", "v", "up")},
    **{f"blocks.*.{one}": RowwiseParallel() for one in ("o", "down")},
    "out": ColwiseParallel(output_layouts=WHOLE),
}
SEQUENCE = {
    "words": RowwiseParallel(input_layouts=WHOLE, output_layouts=ALONG, use_local_output=False),
    "blocks.*.before": SequenceParallel(use_local_output=False),
    "blocks.*.after": SequenceParallel(use_local_output=False),
    **{f"blocks.*.{one}": ColwiseParallel(use_local_output=False) for one in ("q", "k", "v", "up")},
    **{f"blocks.*.{one}": RowwiseParallel(output_layouts=ALONG, use_local_output=False) for one in ("o", "down")},
    "norm": SequenceParallel(),
    "out": ColwiseParallel(input_layouts=ALONG, output_layouts=Shard(-1), use_local_output=False),
}


def words() -> Any:
    taeda.manual_seed(3)
    return taeda.randint(WORDS, (2, 6)), taeda.randint(WORDS, (2, 6)).flatten()


def worst(net: nn.Module, whole: nn.Module, grads: bool = True) -> float:
    found = 0.0
    for one, other in zip(net.parameters(), whole.parameters(), strict=True):
        for a, b in ((one, other), (one.grad, other.grad))[: 1 + grads]:
            full = a.full_tensor() if isinstance(a, DTensor) else a
            found = max(found, float((full.detach() - b.detach()).abs().max()))
    return found


def _trained(rank: int, plan: Any, cut_loss: bool) -> tuple[float, Any]:
    mesh = init_device_mesh("cpu", (taeda.distributed.get_world_size(),), mesh_dim_names=("tp",))
    net, whole = Net(), Net()
    parallelize_module(net, mesh["tp"], plan)
    x, target = words()
    ours, theirs = (taeda.optim.SGD(one.parameters(), lr=0.1) for one in (net, whole))
    for step in range(2):
        ours.zero_grad(), theirs.zero_grad()
        wanted = F.cross_entropy(whole(x).flatten(0, 1), target, label_smoothing=0.1 * step)
        wanted.backward()
        if cut_loss:
            with loss_parallel():
                loss = F.cross_entropy(net(x).flatten(0, 1), target, label_smoothing=0.1 * step)
                loss.backward()
        else:
            loss = F.cross_entropy(net(x).flatten(0, 1), target, label_smoothing=0.1 * step)
            loss.backward()
        assert abs(float(loss) - float(wanted)) < 1e-5
        if step == 0:
            ours.step(), theirs.step()
    return worst(net, whole), tuple(net.words.weight.to_local().shape)


@pytest.mark.parametrize("plan, cut_loss", [(PLAIN, False), (SEQUENCE, True)], ids=["heads", "sequence"])
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_transformer(plan: Any, cut_loss: bool, ranks: int) -> None:
    for difference, shape in run(ranks, _trained, plan, cut_loss):
        assert difference < 1e-5 and shape == (WORDS // ranks, WIDTH)


def _in_two_ways(rank: int) -> list[Any]:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    net, whole = Net(), Net()
    parallelize_module(net, mesh["tp"], PLAIN)
    for block in net.blocks:
        fully_shard(block, mesh=mesh["dp"])
    fully_shard(net, mesh=mesh["dp"])
    x, target = words()
    mine = mesh["dp"].get_local_rank()
    ours, theirs = (taeda.optim.SGD(one.parameters(), lr=0.1) for one in (net, whole))
    for _ in range(2):
        ours.zero_grad(), theirs.zero_grad()
        F.cross_entropy(net(x[mine : mine + 1]).flatten(0, 1), target.view(2, 6)[mine]).backward()
        F.cross_entropy(whole(x).flatten(0, 1), target).backward()
        norms = [float(nn.utils.clip_grad_norm_(one.parameters(), 0.3)) for one in (net, whole)]
        ours.step(), theirs.step()
    weight: Any = net.blocks[0].q.weight
    return [worst(net, whole) < 1e-4, abs(norms[0] - norms[1]) < 1e-5, tuple(weight.to_local().shape), weight.ndim]


def test_with_parameters_sharded_too() -> None:
    assert run(4, _in_two_ways) == [[True, True, (WIDTH // 4, WIDTH), 2]] * 4


def _flat(mesh: Any, named: bool) -> Any:
    net = Net()
    parallelize_module(net, mesh["tp"], PLAIN)
    for at, block in enumerate(net.blocks):
        net.blocks[at] = FullyShardedDataParallel(block, device_mesh=mesh["dp"], use_orig_params=named)
    wrapped = FullyShardedDataParallel(net, device_mesh=mesh["dp"], use_orig_params=named)
    return wrapped, taeda.optim.Adam(wrapped.parameters(), lr=0.01, eps=1e-3)  # some gradients are noise


def _far(state: dict[str, Any], wanted: dict[str, Any], mesh: Any = None) -> list[str]:
    """The names of what differs, or is cut where it is not to be, or the other way round."""
    found = [] if set(state) == set(wanted) else ["names"]
    for name, value in state.items():
        cut = isinstance(value, DTensor)
        full = value.full_tensor() if isinstance(value, DTensor) else value
        if cut != (mesh is not None and value.dim() > 0) or not taeda.allclose(full, wanted[name], atol=1e-5):
            found.append(name)
        elif isinstance(value, DTensor) and (value.device_mesh != mesh or value.placements[0] != Shard(0)):
            found.append(f"{name} lies as {value.placements}")
    return found


def _flat_in_two_ways(rank: int, named: bool) -> list[Any]:
    """Trains as the whole does, gives its state in both ways, and goes on from that state as the whole does."""
    mesh, found = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp")), list[Any]()
    x, target = words()
    mine, whole = mesh["dp"].get_local_rank(), Net()
    theirs = taeda.optim.Adam(whole.parameters(), lr=0.01, eps=1e-3)

    def step(wrapped: Any, ours: Any) -> None:
        ours.zero_grad(), theirs.zero_grad()
        F.cross_entropy(wrapped(x[mine : mine + 1]).flatten(0, 1), target.view(2, 6)[mine]).backward()
        F.cross_entropy(whole(x).flatten(0, 1), target).backward()
        norms = float(wrapped.clip_grad_norm_(0.3)), float(nn.utils.clip_grad_norm_(whole.parameters(), 0.3))
        ours.step(), theirs.step()
        found.append(abs(norms[0] - norms[1]) < 1e-5)

    wrapped, ours = _flat(mesh, named)
    step(wrapped, ours), step(wrapped, ours)
    names = [name for name, _ in whole.named_parameters()]
    for kind, where in ((StateDictType.FULL_STATE_DICT, None), (StateDictType.SHARDED_STATE_DICT, mesh)):
        with FullyShardedDataParallel.state_dict_type(wrapped, kind):
            state, moments = wrapped.state_dict(), FullyShardedDataParallel.optim_state_dict(wrapped, ours)
        found += _far(state, whole.state_dict(), where)
        for at, name in enumerate(names):
            found += _far(moments["state"][name], theirs.state_dict()["state"][at], where)
        again, optimizer = _flat(mesh, named)
        with taeda.no_grad():
            for parameter in again.parameters():
                parameter.zero_()
        with FullyShardedDataParallel.state_dict_type(again, kind):
            again.load_state_dict(state)
            optimizer.load_state_dict(FullyShardedDataParallel.optim_state_dict_to_load(again, optimizer, moments))
        wrapped, ours = again, optimizer
        step(wrapped, ours)
    with FullyShardedDataParallel.summon_full_params(wrapped):
        found.append(worst(wrapped.module, whole, grads=False) < 1e-5)
    return found


@pytest.mark.parametrize("named", [True, False])
def test_states_of_parameters_cut_twice(named: bool) -> None:
    assert run(4, _flat_in_two_ways, named) == [[True] * 5] * 4


def _flat_without_a_mesh(rank: int) -> None:
    net = Net()
    parallelize_module(net, init_device_mesh("cpu", (2,)), PLAIN)
    wrapped = FullyShardedDataParallel(net, sharding_strategy=ShardingStrategy.NO_SHARD)
    assert type(wrapped.state_dict()["words.weight"]) is taeda.Tensor
    with (
        FullyShardedDataParallel.state_dict_type(wrapped, StateDictType.SHARDED_STATE_DICT),
        pytest.raises(RuntimeError, match="wants one mesh of both cuts"),
    ):
        wrapped.state_dict()


def test_parts_of_two_cuts_want_one_mesh() -> None:
    run(2, _flat_without_a_mesh)


def _copied(rank: int) -> list[Any]:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    net, whole = Net(), Net()
    parallelize_module(net, mesh["tp"], PLAIN)
    x, target = words()
    mine = mesh["dp"].get_local_rank()
    wrapped = DistributedDataParallel(net, device_mesh=mesh["dp"])
    ours, theirs = (taeda.optim.SGD(one.parameters(), lr=0.1) for one in (wrapped, whole))
    for _ in range(2):
        ours.zero_grad(), theirs.zero_grad()
        F.cross_entropy(wrapped(x[mine : mine + 1]).flatten(0, 1), target.view(2, 6)[mine]).backward()
        F.cross_entropy(whole(x).flatten(0, 1), target).backward()
        ours.step(), theirs.step()
    part, full = net.blocks[0].q.weight, whole.blocks[0].q.weight
    own = distribute_tensor(full.detach(), mesh["tp"], [Shard(0)]).to_local()
    with pytest.raises(RuntimeError, match="a device_mesh of one dimension"):
        DistributedDataParallel(Net(), device_mesh=mesh)
    return [bool(taeda.allclose(part, own, atol=1e-5)), type(part) is nn.Parameter]


def test_copies_over_the_other_dimension() -> None:
    assert run(4, _copied) == [[True, True]] * 4


def _arguments(rank: int) -> list[str]:
    mesh, wrong = init_device_mesh("cpu", (2,)), []

    class Odd(nn.Module):
        def forward(self, x: Any, factor: Any = None, *, other: Any = None) -> Any:
            return x * 2, (type(x), x.placements, type(factor), other.placements)

    odd = parallelize_module(Odd(), mesh, PrepareModuleInput(
        input_layouts=(Shard(0), None), desired_input_layouts=(WHOLE, None),
        input_kwarg_layouts={"other": WHOLE}, desired_input_kwarg_layouts={"other": Shard(0)},
    ))  # fmt: skip
    x, seen = odd(taeda.ones(2, 3), taeda.ones(1), other=taeda.ones(4))
    if seen != (DTensor, (WHOLE,), taeda.Tensor, (Shard(0),)) or x.shape != (4, 3):
        wrong.append("input")
    out = parallelize_module(
        nn.Identity(), mesh, PrepareModuleOutput(output_layouts=Shard(0), desired_output_layouts=WHOLE)
    )
    if out(taeda.full((1, 2), float(rank))).tolist() != [[0.0, 0.0], [1.0, 1.0]]:
        wrong.append("output")
    taeda.manual_seed(7)
    plain = F.dropout(taeda.ones(6, 4), 0.5), taeda.rand(6, 4)
    taeda.manual_seed(7)
    cut = distribute_tensor(taeda.ones(6, 4), mesh, [Shard(0)])
    found = F.dropout(cut, 0.5), taeda.rand_like(cut)
    if not all(taeda.equal(a.full_tensor(), b) for a, b in zip(found, plain, strict=True)):
        wrong.append("random numbers")
    return wrong


def test_arguments_results_and_random_numbers() -> None:
    assert run(2, _arguments) == [[]] * 2
