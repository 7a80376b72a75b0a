"""Sharded modules train as whole ones do, take less memory with more processes, and save what whole ones save."""

from __future__ import annotations

import functools
import gc
from typing import Any

import pytest
from ranks import needs_mpi, run

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    CheckpointImpl,
    CheckpointWrapper,
    apply_activation_checkpointing,
    checkpoint_wrapper,
)
from taeda.distributed.algorithms._comm_hooks import LOW_PRECISION_HOOKS
from taeda.distributed.algorithms._comm_hooks.default_hooks import LowPrecisionState
from taeda.distributed.device_mesh import init_device_mesh
from taeda.distributed.fsdp import (
    CPUOffload,
    FSDPModule,
    FullStateDictConfig,
    FullyShardedDataParallel,
    MixedPrecision,
    MixedPrecisionPolicy,
    OptimStateKeyType,
    ShardingStrategy,
    StateDictType,
    fully_shard,
    register_fsdp_forward_method,
)
from taeda.distributed.fsdp.wrap import CustomPolicy, ModuleWrapPolicy, size_based_auto_wrap_policy
from taeda.distributed.tensor import DTensor, Shard
from taeda.utils.checkpoint import checkpoint

pytestmark = needs_mpi
FSDP = FullyShardedDataParallel


def network() -> nn.Sequential:
    taeda.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Sequential(nn.Linear(7, 9), nn.LayerNorm(9)), nn.Linear(9, 3))


def batch(seed: int, everyone: bool = False) -> taeda.Tensor:
    taeda.manual_seed(seed)
    whole = taeda.randn(6, 5)
    return whole if everyone else whole.chunk(dist.get_world_size())[dist.get_rank()]


def steps(net: Any, optimizer: Any, seeds: range, everyone: bool = False) -> list[float]:
    losses = []
    for seed in seeds:
        loss = net(batch(seed, everyone)).square().mean()
        loss.backward()
        clip = getattr(net, "clip_grad_norm_", functools.partial(nn.utils.clip_grad_norm_, net.parameters()))
        losses.append(float(clip(0.5)))
        optimizer.step()
        optimizer.zero_grad()
    return losses


def adam(net: nn.Module, lr: float = 0.1) -> Any:
    return taeda.optim.AdamW(net.parameters(), lr=lr)


def apart(ours: dict[str, Any], whole: nn.Module) -> float:
    """The largest difference between two states."""
    wanted = whole.state_dict()
    assert list(ours) == list(wanted)
    given = {name: one.full_tensor() if isinstance(one, DTensor) else one for name, one in ours.items()}
    return max(float((given[name] - one).abs().max()) for name, one in wanted.items())


# ---- fully_shard


def _cut(net: nn.Sequential, **kwargs: Any) -> Any:
    fully_shard(net[0], **kwargs), fully_shard(net[2], **kwargs)
    return fully_shard(net, **kwargs)


def _composed(rank: int, kwargs: dict[str, Any]) -> tuple[float, float, list[Any]]:
    whole, net = network(), _cut(network(), **kwargs)
    assert isinstance(net, FSDPModule) and isinstance(net, nn.Sequential)
    norms = steps(net, adam(net), range(4)), steps(whole, adam(whole), range(4), True)
    shapes = [tuple(one.to_local().shape) for one in net.parameters()]
    return apart(net.state_dict(), whole), max(abs(a - b) for a, b in zip(*norms, strict=True)), shapes


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("kwargs", [{}, {"reshard_after_forward": False}])
def test_fully_shard_trains_as_one_process(ranks: int, kwargs: dict[str, Any]) -> None:
    results = run(ranks, _composed, kwargs)
    assert all(state < 1e-5 and norm < 1e-5 for state, norm, _ in results)
    assert sum(shapes[0][0] for *_, shapes in results) == 7


def _composed_in_parts(rank: int) -> bool:
    whole, net = network(), _cut(network())
    net.set_requires_gradient_sync(False)
    net(batch(0)).square().mean().backward()
    net.set_requires_gradient_sync(True)
    net(batch(1)).square().mean().backward()
    for seed in (0, 1):
        whole(batch(seed, True)).square().mean().backward()
    return all(taeda.allclose(p.grad.full_tensor(), q.grad, atol=1e-6)
               for p, q in zip(net.parameters(), whole.parameters(), strict=True))  # fmt: skip


def _composed_checkpointed(rank: int, reentrant: bool) -> bool:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = network()

        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            for part in self.parts:
                x = checkpoint(part, x, use_reentrant=reentrant)
            return x

    net, whole = Net(), network()
    fully_shard(net.parts[0]), fully_shard(net.parts[2]), fully_shard(net)
    x = batch(0).requires_grad_()
    net(x).square().mean().backward()
    whole(batch(0, True)).square().mean().backward()
    return all(taeda.allclose(p.grad.full_tensor(), q.grad, atol=1e-6)
               for p, q in zip(net.parameters(), whole.parameters(), strict=True))  # fmt: skip


def _composed_oddities(rank: int) -> list[str]:
    wrong = []
    lower = MixedPrecisionPolicy(taeda.bfloat16, taeda.float32)
    net: Any = network()
    fully_shard(net[0], mp_policy=lower)
    fully_shard(net, mp_policy=MixedPrecisionPolicy(taeda.bfloat16, taeda.float32, taeda.float64))
    out = net(batch(0))
    out.sum().backward()
    if out.dtype != taeda.float64 or {p.grad.dtype for p in net.parameters()} != {taeda.float32}:
        wrong.append("mixed precision")
    tied = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    tied[1].weight = tied[0].weight
    fully_shard(tied)
    tied(taeda.ones(2, 4)).sum().backward()
    if tied[1].weight is not tied[0].weight or len(list(tied.parameters())) != 1:
        wrong.append("tied")
    with taeda.device("meta"):
        empty = nn.Linear(6, 4)
    fully_shard(empty)
    empty.to_empty(device="cpu")
    with taeda.no_grad():
        for one in empty.parameters():
            one.fill_(2.0)
    if empty(taeda.ones(1, 6)).tolist() != [[14.0] * 4]:
        wrong.append("from meta")
    other = fully_shard(nn.Linear(6, 4), shard_placement_fn=lambda p: Shard(1) if p.dim() == 2 else None)
    weight, bias = other.weight.full_tensor().detach(), other.bias.full_tensor().detach()
    x = taeda.ones(2, 6)
    if other.weight.placements != (Shard(1),) or not taeda.equal(other(x), nn.functional.linear(x, weight, bias)):
        wrong.append("placement")
    frozen = nn.Sequential(nn.Linear(5, 5), nn.Linear(5, 5))
    frozen[0].requires_grad_(False)
    fully_shard(frozen)
    frozen(batch(0).requires_grad_()).sum().backward()
    if frozen[0].weight.grad is not None or frozen[1].weight.grad is None:
        wrong.append("frozen")
    named = fully_shard(nn.Linear(5, 5))
    named.other = lambda x: named.weight.sum() + x
    register_fsdp_forward_method(named, "other")
    named.other(taeda.zeros(())).backward()
    if not isinstance(named.weight.grad, DTensor):
        wrong.append("method")
    state = named.state_dict()
    if not isinstance(state["weight"], DTensor) or named.load_state_dict(state).missing_keys:
        wrong.append("state")
    handle = named.unshard(async_op=True)
    handle.wait()
    if isinstance(named.weight, DTensor) or named.reshard() or not isinstance(named.weight, DTensor):
        wrong.append("unshard")
    return wrong


def test_fully_shard_adds_up_before_it_reduces() -> None:
    assert run(2, _composed_in_parts) == [True] * 2


@pytest.mark.parametrize("reentrant", [False, True])
def test_fully_shard_with_checkpoints(reentrant: bool) -> None:
    assert run(2, _composed_checkpointed, reentrant) == [True] * 2


def test_fully_shard_oddities() -> None:
    assert run(2, _composed_oddities) == [[]] * 2


def _on_two_dimensions(rank: int) -> tuple[float, list[str]]:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("copies", "parts"))
    whole, net = network(), _cut(network(), mesh=mesh)
    taeda.manual_seed(5)
    x = taeda.randn(8, 5)
    ours, theirs = adam(net), adam(whole)
    for _ in range(2):
        net(x.chunk(4)[rank]).square().mean().backward()
        whole(x).square().mean().backward()
        for one in (ours, theirs):
            one.step()
            one.zero_grad()
    return apart(net.state_dict(), whole), [str(one) for one in net[0].weight.placements]


def test_fully_shard_over_copies() -> None:
    for state, placements in run(4, _on_two_dimensions):
        assert state < 1e-5 and placements == ["R", "S(0)"]


# ---- FullyShardedDataParallel


def _wrapped(rank: int, kwargs: dict[str, Any]) -> list[str]:
    wrong = []
    whole, net = network(), FSDP(network(), auto_wrap_policy=ModuleWrapPolicy([nn.Linear]), **kwargs)
    ours, theirs = adam(net), adam(whole)
    norms = steps(net, ours, range(3)), steps(whole, theirs, range(3), True)
    if max(abs(a - b) for a, b in zip(*norms, strict=True)) > 1e-5:
        wrong.append("norms")
    if apart(net.state_dict(), whole) > 1e-5:
        wrong.append("state")
    with FSDP.summon_full_params(net):
        named = list(net.named_parameters())
        if [name for name, _ in named] != [name for name, _ in whole.named_parameters()]:
            wrong.append("names")
        net.module[3].bias.data.add_(1)
    whole[3].bias.data.add_(1)
    if apart(net.state_dict(), whole) > 1e-5:
        wrong.append("writing back")
    saved = FSDP.full_optim_state_dict(net, ours, rank0_only=False)
    for at, (name, _) in enumerate(whole.named_parameters()):
        for key, value in theirs.state_dict()["state"][at].items():
            if not taeda.allclose(saved["state"][name][key], value, atol=1e-5):
                wrong.append(f"optimiser: {name} {key}")
    with FSDP.state_dict_type(net, StateDictType.SHARDED_STATE_DICT):
        cut, cut_optim = net.state_dict(), FSDP.optim_state_dict(net, ours)
    second = FSDP(network(), auto_wrap_policy=ModuleWrapPolicy([nn.Sequential]), **kwargs)
    other = adam(second, 0.3)
    with FSDP.state_dict_type(second, StateDictType.SHARDED_STATE_DICT):
        second.load_state_dict(cut)
        other.load_state_dict(FSDP.optim_state_dict_to_load(second, other, cut_optim))
    third = FSDP(network(), **kwargs)
    third.load_state_dict(net.state_dict())
    last = adam(third, 0.3)
    last.load_state_dict(FSDP.scatter_full_optim_state_dict(saved if rank == 0 else None, third, optim=last))
    fourth = network()
    plain = adam(fourth)
    fourth.load_state_dict(net.state_dict())
    plain.load_state_dict(FSDP.rekey_optim_state_dict(saved, OptimStateKeyType.PARAM_ID, fourth, optim=plain))
    for one, optimizer in ((whole, theirs), (fourth, plain)):
        steps(one, optimizer, range(3, 5), True)
    for one, optimizer in ((net, ours), (second, other), (third, last)):
        steps(one, optimizer, range(3, 5))
        if apart(one.state_dict(), whole) > 1e-5:
            wrong.append("after loading")
    if apart(fourth.state_dict(), whole) > 1e-5:
        wrong.append("loaded without wrappers")
    with net.no_sync():
        net(batch(7)).sum().backward()
    net(batch(8)).sum().backward()
    whole(batch(7, True)).sum().backward()
    whole(batch(8, True)).sum().backward()
    ranks = dist.get_world_size()
    if abs(float(net.clip_grad_norm_(1e9)) * ranks - float(nn.utils.clip_grad_norm_(whole.parameters(), 1e9))) > 1e-3:
        wrong.append("no_sync")
    return wrong


KINDS: list[dict[str, Any]] = [
    {}, {"use_orig_params": True}, {"sharding_strategy": ShardingStrategy.NO_SHARD},
    {"sharding_strategy": ShardingStrategy.SHARD_GRAD_OP, "forward_prefetch": True}, {"backward_prefetch": None},
    {"sharding_strategy": ShardingStrategy.HYBRID_SHARD, "sync_module_states": True, "cpu_offload": CPUOffload(True)},
]  # fmt: skip


@pytest.mark.parametrize("kwargs", KINDS, ids=str)
def test_wrapper_trains_saves_and_loads_as_one_process(kwargs: dict[str, Any]) -> None:
    assert run(2, _wrapped, kwargs) == [[]] * 2


@pytest.mark.parametrize("ranks", [1, 3])
def test_wrapper_with_other_numbers_of_processes(ranks: int) -> None:
    assert run(ranks, _wrapped, {"use_orig_params": ranks == 3}) == [[]] * ranks


def _wrapped_oddities(rank: int) -> list[str]:
    wrong = []
    mixed = MixedPrecision(taeda.bfloat16, taeda.float32, taeda.bfloat16)
    normed = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    net = FSDP(normed, mixed_precision=mixed, auto_wrap_policy=CustomPolicy(lambda m: isinstance(m, nn.Linear)))
    seen: list[Any] = []
    net.module[0].module.register_forward_hook(
        lambda m, args, out: seen.append((args[0].dtype, m.weight.dtype, out.dtype))
    )
    net(batch(0)).sum().backward()
    if seen != [(taeda.bfloat16,) * 3] or net.module[1].module.running_mean.dtype != taeda.float32:
        wrong.append(f"mixed precision {seen}")
    with FSDP.state_dict_type(net, StateDictType.FULL_STATE_DICT, FullStateDictConfig(rank0_only=True)):
        if bool(net.state_dict()) != (rank == 0):
            wrong.append("of the first only")
    with FSDP.state_dict_type(net, StateDictType.LOCAL_STATE_DICT):
        local = net.state_dict()
        if not any(name.endswith("_flat_param") for name in local) or net.load_state_dict(local).missing_keys:
            wrong.append("local")
    kept = nn.Sequential(nn.Linear(5, 5), nn.Linear(5, 5))
    wrapper = FSDP(kept, ignored_modules=[kept[0]])
    if "in_features=5, out_features=5, bias=True" not in str(wrapper) or kept[1].weight.shape != (5, 5):
        wrong.append("described")
    if not isinstance(kept[0].weight, nn.Parameter) or "weight" in kept[1]._parameters:
        wrong.append("ignored")
    with taeda.device("meta"):
        empty = nn.Sequential(nn.Linear(5, 6), nn.Linear(6, 2))
    taeda.manual_seed(rank)
    made = FSDP(
        empty,
        auto_wrap_policy=functools.partial(size_based_auto_wrap_policy, min_num_params=20),
        sync_module_states=True,
    )
    if len(FSDP.fsdp_modules(made)) != 2 or not taeda.isfinite(made(batch(0))).all():
        wrong.append("from meta")
    with FSDP.summon_full_params(made, with_grads=True):
        pass
    for bad, kwargs in ((nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).double()), {}),
                        (nn.Linear(2, 2), {"process_group": (1, 2)})):  # fmt: skip
        try:
            FSDP(bad, **kwargs)
            wrong.append("took it")
        except ValueError:
            pass
    hooked = FSDP(nn.Linear(5, 5))
    hooked.register_comm_hook(3, lambda state, flat, out: out.fill_(state))
    hooked(batch(0)).sum().backward()
    if set(next(hooked.parameters()).grad.tolist()) != {3.0}:
        wrong.append("hook")
    for way in (ShardingStrategy.FULL_SHARD, ShardingStrategy.NO_SHARD):
        for hook in LOW_PRECISION_HOOKS:
            grads = []
            for hooks in ([], [hook]):
                made = FSDP(nn.Linear(5, 5), sharding_strategy=way, sync_module_states=True, use_orig_params=True)
                for one in hooks:
                    made.register_comm_hook(LowPrecisionState(dist.group.WORLD), one)
                made(batch(0)).square().sum().backward()
                grads.append([p.grad for p in made.parameters() if p.grad is not None])
            if not all(p.dtype == q.dtype and taeda.allclose(p, q, 0.02, 0.1) for p, q in zip(*grads, strict=True)):
                wrong.append(f"{hook.__name__} {way}")
    return wrong


def test_wrapper_oddities() -> None:
    assert run(2, _wrapped_oddities) == [[]] * 2


# ---- memory


def _live() -> int:
    gc.collect()
    return int(taeda.cpu.memory_stats()["allocated"])


def _memory(rank: int, wrapper: bool) -> int:
    before = _live()
    net: Any = nn.Sequential(*(nn.Linear(256, 256) for _ in range(8)))
    if wrapper:
        net = FSDP(net, auto_wrap_policy=ModuleWrapPolicy([nn.Linear]))
    else:
        for one in net:
            fully_shard(one)
        fully_shard(net)
    optimizer = adam(net)
    for _ in range(2):
        optimizer.zero_grad()
        net(taeda.ones(2, 256)).sum().backward()
        optimizer.step()
    return _live() - before


@pytest.mark.parametrize("wrapper", [False, True])
def test_memory_falls_with_the_processes(wrapper: bool) -> None:
    one, two, four = (max(run(ranks, _memory, wrapper)) for ranks in (1, 2, 4))
    assert two < 0.6 * one and four < 0.35 * one, (one, two, four)


def _activations(rank: int) -> list[str]:
    wrong = []
    for impl in CheckpointImpl:
        whole, net = network(), network()
        wrapper = functools.partial(checkpoint_wrapper, checkpoint_impl=impl)
        apply_activation_checkpointing(net, wrapper, lambda one: isinstance(one, nn.Linear))
        if list(net.state_dict()) != list(whole.state_dict()) or not isinstance(net[0], CheckpointWrapper):
            wrong.append("names")
        net.load_state_dict(whole.state_dict())
        wrapped = FSDP(net, auto_wrap_policy=ModuleWrapPolicy([CheckpointWrapper]), use_orig_params=True)
        ours, theirs = adam(wrapped), adam(whole)
        for seed in range(2):
            wrapped(batch(seed).requires_grad_()).square().mean().backward()
            whole(batch(seed, True)).square().mean().backward()
            ours.step(), theirs.step()
        if apart(wrapped.state_dict(), whole) > 1e-5:
            wrong.append(str(impl))
    return wrong


def test_wrapper_with_checkpoints() -> None:
    assert run(2, _activations) == [[]] * 2
