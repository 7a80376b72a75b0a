"""Training over several processes: the same numbers as one process that has all of the data."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ranks import needs_mpi, run

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed._reducer import BuiltinCommHookType
from taeda.distributed.algorithms._optimizer_overlap import _as_overlapped_optim
from taeda.distributed.algorithms.ddp_comm_hooks import (
    DDPCommHookType,
    default_hooks,
    post_localSGD_hook,
    powerSGD_hook,
    register_ddp_comm_hook,
)
from taeda.distributed.algorithms.ddp_comm_hooks.ddp_zero_hook import hook_with_zero_step
from taeda.distributed.algorithms.join import Join
from taeda.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from taeda.distributed.algorithms.model_averaging.hierarchical_model_averager import HierarchicalModelAverager
from taeda.distributed.optim import (
    PostLocalSGDOptimizer,
    ZeroRedundancyOptimizer,
    _apply_optimizer_in_backward,
    _get_in_backward_optimizers,
)
from taeda.func import functional_call
from taeda.nn.functional import cross_entropy
from taeda.nn.parallel import DistributedDataParallel
from taeda.nn.parallel.distributed import _MixedPrecision
from taeda.utils.data import DistributedSampler

pytestmark = needs_mpi


def net() -> nn.Module:
    taeda.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 300), nn.ReLU(), nn.Linear(300, 3))


def data() -> tuple[Any, Any]:
    taeda.manual_seed(5)
    return taeda.randn(3, 12, 8), taeda.randint(0, 3, (3, 12))


def trained(forward: Any, module: nn.Module, rank: int, size: int) -> list[Any]:
    optimizer = taeda.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    for x, y in zip(*data(), strict=True):
        optimizer.zero_grad()
        cross_entropy(forward(x[rank::size]), y[rank::size]).backward()
        optimizer.step()
    return [parameter.detach().clone() for parameter in module.parameters()]


def same_on_all(values: list[Any]) -> bool:
    told: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(told, values)
    return all(taeda.equal(a, b) for other in told for a, b in zip(other, values, strict=True))


WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "buckets": {"bucket_cap_mb": 0.001},
    "views": {"gradient_as_bucket_view": True, "bucket_cap_mb": 0.001},
    "unused": {"find_unused_parameters": True, "bucket_cap_mb": 0.001},
    "static": {"static_graph": True, "bucket_cap_mb": 0.001},
    "hook": {"hook": default_hooks.allreduce_hook},
    "hook and views": {"hook": default_hooks.allreduce_hook, "gradient_as_bucket_view": True},
}


def _same_as_one_process(rank: int) -> list[str]:
    size, wrong = dist.get_world_size(), []
    whole = net()
    wanted = trained(whole, whole, 0, 1)
    for way, options in WAYS.items():
        module = net()
        with taeda.no_grad():
            for parameter in module.parameters():
                parameter.add_(rank)  # the first process's count
        ddp = DistributedDataParallel(module, **{name: value for name, value in options.items() if name != "hook"})
        if "hook" in options:
            ddp.register_comm_hook(None, options["hook"])
        found = trained(ddp, module, rank, size)
        close = all(taeda.allclose(a, b, atol=1e-6) for a, b in zip(found, wanted, strict=True))
        wrong += [] if close and same_on_all(found) else [way]
    return wrong


@pytest.mark.parametrize("size", [2, 3])
def test_same_as_one_process(size: int) -> None:
    assert run(size, _same_as_one_process) == [[]] * size


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = (nn.Linear(2, 1, bias=False) for _ in range(3))

    def forward(self, x: Any, first: bool) -> Any:
        return (self.a if first else self.b)(x)


def _branches(rank: int) -> list[Any]:
    module = Branches()
    ddp, found = DistributedDataParallel(module, find_unused_parameters=True), []
    for _ in range(2):
        module.zero_grad()
        ddp(taeda.ones(1, 2), rank == 0).sum().backward()
        found.append([None if p.grad is None else p.grad.tolist() for p in module.parameters()])
    with ddp.no_sync():
        ddp(taeda.ones(1, 2), rank == 0).sum().backward()
    return [*found, [None if p.grad is None else p.grad.tolist() for p in module.parameters()]]


def test_parameters_that_some_do_without() -> None:
    half, more = [[0.5, 0.5]], [[1.5, 1.5]]
    assert run(2, _branches) == [
        [[half, half, None], [half, half, None], [more, half, None]],
        [[half, half, None], [half, half, None], [half, more, None]],
    ]


def _refusals(rank: int) -> list[str]:
    told = []
    try:
        DistributedDataParallel(nn.Linear(2 + rank, 1))
    except RuntimeError as error:
        told.append(str(error))
    module = Branches()
    ddp = DistributedDataParallel(module)
    ddp(taeda.ones(1, 2), True).sum().backward()
    try:
        ddp(taeda.ones(1, 2), True)
    except RuntimeError as error:
        told.append(str(error))
    return told


def test_what_cannot_go_together_is_told() -> None:
    for shapes, missing in run(2, _refusals):
        assert "0 and 1 differ: 'weight' is ((1, 2), 'torch.float32') and ((1, 3), 'torch.float32')" in shapes
        assert "find_unused_parameters=True" in missing and "[1, 2]" in missing


def _joined(rank: int) -> list[Any]:
    found: list[Any] = []
    for by_all in (True, False):
        taeda.manual_seed(1)
        module, gradients = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1, affine=False)), []
        ddp = DistributedDataParallel(module)
        with ddp.join(divide_by_initial_world_size=by_all):
            for i in range(1 + 2 * rank):
                module.zero_grad()
                x = taeda.ones(2, 2) * (i + 1)
                (ddp(x).sum() * 0 + module[0](x).sum() / 2).backward()
                gradients.append(module[0].weight.grad[0, 0].item())
        found += [gradients, same_on_all([p.detach() for p in module.parameters()] + list(module.buffers()))]
    return found


def test_uneven_inputs() -> None:
    first, second = run(2, _joined)
    assert first == [[1.0], True, [1.0], True]
    assert second == [[1.0, 1.0, 1.5], True, [1.0, 2.0, 3.0], True]


def _ended_early(rank: int) -> str:
    ddp = DistributedDataParallel(nn.Linear(1, 1))
    try:
        with ddp.join(throw_on_early_termination=True):
            for _ in range(1 + rank):
                ddp(taeda.ones(1, 1)).sum().backward()
    except RuntimeError as error:
        return str(error)
    return ""


def test_the_first_end_may_end_all() -> None:
    first, second = run(2, _ended_early)
    assert "process 0 has no inputs left" in first and "another process has no inputs left" in second


def _hooks(rank: int) -> dict[str, Any]:
    taeda.manual_seed(5)
    x, w = taeda.randn(2, 64, 32), taeda.randn(32, 1)
    found = {}
    power = powerSGD_hook.PowerSGDState(None, 2, 2)
    batched = powerSGD_hook.PowerSGDState(None, 2, 2)
    local = post_localSGD_hook.PostLocalSGDState(None, None, 100)
    chosen: dict[str, Any] = {kind.name: kind for kind in DDPCommHookType} | {
        "power": (power, powerSGD_hook.powerSGD_hook),
        "batched": (batched, powerSGD_hook.batched_powerSGD_hook),
        "local": (local, post_localSGD_hook.post_localSGD_hook),
    }
    for name, hook in chosen.items():
        taeda.manual_seed(0)
        module = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 1))
        ddp = DistributedDataParallel(module, gradient_as_bucket_view=name in ("batched", "FP16_COMPRESS"))
        if isinstance(hook, tuple):
            ddp.register_comm_hook(*hook)
        else:
            register_ddp_comm_hook(hook, ddp)
        optimizer = taeda.optim.SGD(module.parameters(), 0.05)
        for _ in range(30):
            optimizer.zero_grad()
            loss = (ddp(x[rank]) - taeda.tanh(x[rank] @ w)).square().mean()
            loss.backward()
            optimizer.step()
        found[name] = round(loss.item(), 2), same_on_all([p.detach() for p in module.parameters()])
    assert power.compression_stats()[0] > 2
    return found


def test_hooks() -> None:
    found = run(2, _hooks)
    for losses in found:
        assert [name for name, (_, same) in losses.items() if not same] == ["NOOP"]
        assert losses["power"][0] <= losses["ALLREDUCE"][0] + 0.03
        assert abs(losses["QUANTIZE_PER_TENSOR"][0] - losses["ALLREDUCE"][0]) <= 0.01
        assert abs(losses["QUANTIZE_PER_CHANNEL"][0] - losses["ALLREDUCE"][0]) <= 0.01
        assert losses["FP16_COMPRESS"][0] == losses["BF16_COMPRESS"][0] == losses["ALLREDUCE"][0]


# The last losses of PyTorch 2.13 by rank, and whether matrices of one shape are sent at once.
THIN = {
    (1, False): (0.670175, 0.564004, 0.459338),
    (1, True): (0.669936, 0.564012, 0.459315),
    (2, False): (0.670463, 0.563647, 0.458776),
    (2, True): (0.669619, 0.563546, 0.45861),
    (4, False): (0.669421, 0.563499, 0.458531),
    (4, True): (0.669421, 0.563499, 0.458531),
}


@pytest.mark.parametrize(("rank", "at_once"), THIN)
def test_thin_matrices_are_those_of_pytorch(rank: int, at_once: bool) -> None:
    """Parameters of one shape do not stand side by side."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        taeda.manual_seed(0)
        module = nn.Sequential(*(nn.Linear(*sizes) for sizes in ((12, 16), (16, 12), (12, 16), (16, 16))))
        ddp, x = DistributedDataParallel(module), taeda.randn(6, 12)
        state = powerSGD_hook.PowerSGDState(None, rank, 2, 0.5, batch_tensors_with_same_shape=at_once)
        ddp.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
        optimizer, losses = taeda.optim.SGD(module.parameters(), 0.2), []
        for _ in range(6):
            optimizer.zero_grad()
            loss = (ddp(x) - 1).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    finally:
        dist.destroy_process_group()
    assert losses[3:] == pytest.approx(THIN[rank, at_once], rel=1e-5)


def _zero(rank: int) -> list[Any]:
    taeda.manual_seed(0)
    ours = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    theirs = copy.deepcopy(ours)
    wrapped = DistributedDataParallel(ours), DistributedDataParallel(theirs)
    one, other = ([{"params": [*m[0].parameters()]}, {"params": [*m[2].parameters()], "lr": 0.03}]
                  for m in (ours, theirs))  # fmt: skip
    zero, adam = ZeroRedundancyOptimizer(one, taeda.optim.Adam, lr=0.01), taeda.optim.Adam(other, lr=0.01)
    schedules = [taeda.optim.lr_scheduler.StepLR(optimizer, 2, 0.5) for optimizer in (zero, adam)]
    taeda.manual_seed(3 + rank)
    x = taeda.randn(5, 6, 4)

    def steps(batches: Any, *optimizers: Any) -> bool:
        for batch in batches:
            for ddp, optimizer in zip(wrapped, optimizers, strict=True):
                optimizer.zero_grad()
                ddp(batch).square().mean().backward()
                optimizer.step()
        return all(taeda.equal(p, q) for p, q in zip(ours.parameters(), theirs.parameters(), strict=True))

    found: list[Any] = [steps(x[:2], zero, adam)]
    for schedule in schedules:
        schedule.step()
    found += [steps(x[2:3], zero, adam), len(zero.optim.state)]  # type: ignore[union-attr]
    zero.consolidate_state_dict(1)
    if rank == 1:
        whole, wanted = zero.state_dict(), adam.state_dict()
        found.append(all(
            taeda.equal(taeda.as_tensor(whole["state"][number][name]), taeda.as_tensor(value))
            for number, state in wanted["state"].items() for name, value in state.items()
        ))  # fmt: skip
        found.append([group["params"] for group in whole["param_groups"]] == [[0, 1], [2, 3]])
    with pytest.raises(TypeError, match="got a Tensor"):
        ZeroRedundancyOptimizer(taeda.ones(2), taeda.optim.Adam, lr=0.01)
    for wrong in (taeda.ones(1, dtype=taeda.double), taeda.ones(1).to_sparse()):
        with pytest.raises(ValueError, match=f"got .*{wrong.type()}"):
            ZeroRedundancyOptimizer([taeda.ones(1), wrong], taeda.optim.Adam, lr=0.01)
    again = ZeroRedundancyOptimizer(ours.parameters(), taeda.optim.Adam, lr=0.01)
    plain = taeda.optim.Adam(theirs.parameters(), lr=0.01)
    again.load_state_dict(copy.deepcopy(plain.state_dict()))
    found.append(steps(x[3:], again, plain))
    with Join([wrapped[0], again]):
        for batch in x[: 1 + rank]:
            again.zero_grad()
            wrapped[0](batch).square().mean().backward()
            again.step()
    return [*found, same_on_all([p.detach() for p in ours.parameters()])]


def test_an_optimiser_in_shares() -> None:
    assert run(2, _zero) == [[True, True, 2, True, True], [True, True, 2, True, True, True, True]]


def _synced_late(rank: int) -> list[float]:
    """Forward passes within `no_sync`, and a backward pass that reduces all the same."""
    ddp = DistributedDataParallel(nn.Linear(1, 1, bias=False))
    with ddp.no_sync():
        first, second = ddp(taeda.full((1, 1), rank + 1.0)), ddp(taeda.full((1, 1), rank + 3.0))
        first.sum().backward()
    found = [ddp.module.weight.grad.item()]
    ddp.reducer.prepare_for_backward([])
    second.sum().backward()
    return [*found, ddp.module.weight.grad.item()]


def test_a_backward_pass_may_reduce_what_forward_did_not_prepare() -> None:
    assert run(2, _synced_late) == [[1.0, 5.0], [2.0, 5.0]]


class _Heads(nn.Module):
    """Some batches use one head, some the other."""

    def __init__(self) -> None:
        super().__init__()
        taeda.manual_seed(0)
        self.body, self.heads = nn.Linear(4, 6), nn.ModuleList(nn.Linear(6, 3) for _ in range(2))

    def forward(self, x: Any, at: int) -> Any:
        return self.heads[at](taeda.tanh(self.body(x)))


def _shares_of_uneven(rank: int, by_all: bool) -> float:
    ours, theirs, batches = _Heads(), _Heads(), (2, 5)
    ddp = DistributedDataParallel(ours, find_unused_parameters=True)
    zero = ZeroRedundancyOptimizer(ours.parameters(), taeda.optim.Adam, lr=0.05)
    adam = taeda.optim.Adam(theirs.parameters(), lr=0.05)
    taeda.manual_seed(1)
    x = taeda.randn(2, 5, 3, 4)
    with Join([ddp, zero], divide_by_initial_world_size=by_all):
        for at in range(batches[rank]):
            zero.zero_grad()
            ddp(x[rank, at], at // 3).square().mean().backward()
            zero.step()
    for at in range(5):
        adam.zero_grad()
        losses = [theirs(x[one, at], at // 3).square().mean() for one in range(2) if at < batches[one]]
        (sum(losses) / (2 if by_all else len(losses))).backward()
        adam.step()
    pairs = zip(ours.parameters(), theirs.parameters(), strict=True)
    return max(float((one - other).abs().max()) for one, other in pairs)


@pytest.mark.parametrize("by_all", [True, False])
def test_shares_of_who_ran_out_go_on(by_all: bool) -> None:
    assert max(run(2, _shares_of_uneven, by_all)) < 1e-5


def _batch_of_many(rank: int) -> bool:
    cut = [0, 5, 9, 12]
    part = slice(cut[rank], cut[rank + 1])
    good = True
    for dtype, limit in ((taeda.float64, 1e-10), (taeda.float32, 1e-4)):
        taeda.manual_seed(0)
        x = (taeda.randn(12, 3, 5, dtype=dtype) * 2 + 1).requires_grad_()
        grad = taeda.randn(12, 3, 5, dtype=dtype)
        whole = nn.BatchNorm1d(3, dtype=dtype)
        nn.init.normal_(whole.weight)
        many = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(whole))
        y = whole(x)
        y.backward(grad)
        own = x.detach()[part].clone().requires_grad_()
        z = many(own)
        z.backward(grad[part])
        by_weight = many.weight.grad.clone()
        dist.all_reduce(by_weight)
        for a, b in ((z, y[part]), (own.grad, x.grad[part]), (many.running_mean, whole.running_mean),
                     (many.running_var, whole.running_var), (by_weight, whole.weight.grad)):  # fmt: skip
            good &= bool(taeda.allclose(a, b, atol=limit * 10))
    return good


def test_batch_norm_over_all_batches() -> None:
    assert run(3, _batch_of_many) == [True] * 3


def _averaged(rank: int) -> Any:
    module = nn.Linear(1, 1, bias=False)
    optimizer = PostLocalSGDOptimizer(taeda.optim.SGD(module.parameters(), lr=1.0), PeriodicModelAverager(2))
    found = []
    for _ in range(4):
        optimizer.zero_grad()
        (module.weight * (rank + 1)).sum().backward()
        optimizer.step()
        found.append(same_on_all([module.weight.detach()]))
    sampler = DistributedSampler(range(5), shuffle=False)
    return found, optimizer.state_dict()["step"], list(sampler)


def test_averages_and_samplers() -> None:
    first, second = run(2, _averaged)
    assert first[:2] == second[:2] == ([True, False, True, False], 4)
    assert (first[2], second[2]) == ([0, 2, 4], [1, 3, 0])


def _train_in_backward(rank: int, views: bool) -> None:
    x, y = data()
    stepped, plain = net(), net()
    for optimizer, lr in ((taeda.optim.SGD, 0.1), (taeda.optim.Adam, 0.01)):
        _apply_optimizer_in_backward(optimizer, stepped.parameters(), {"lr": lr})
    assert len(_get_in_backward_optimizers(stepped)) == 12
    both = [taeda.optim.SGD(plain.parameters(), lr=0.1), taeda.optim.Adam(plain.parameters(), lr=0.01)]
    wrapped = DistributedDataParallel(stepped, gradient_as_bucket_view=views)
    for inputs, wanted in zip(x, y, strict=True):
        cross_entropy(wrapped(inputs[rank::2]), wanted[rank::2]).backward()
        cross_entropy(plain(inputs), wanted).backward()
        for one in both:
            one.step()
        plain.zero_grad()
        assert all(parameter.grad is None for parameter in stepped.parameters())
    for one, other in zip(stepped.parameters(), plain.parameters(), strict=True):
        assert taeda.allclose(one, other, atol=1e-5)


def test_optimisers_step_in_the_backward_pass() -> None:
    for views in (False, True):
        run(2, _train_in_backward, views)


def _average_by_levels(rank: int) -> list[float]:
    averager = HierarchicalModelAverager({2: 2, 4: 4}, warmup_steps=1)
    found = []
    for _ in range(5):
        parameter = nn.Parameter(taeda.tensor(float(rank)))
        parameter.grad = taeda.zeros(())
        averager.average_parameters([parameter])
        found.append(parameter.item())
    for given in ({}, {4: 2, 2: 4}, {2: 4, 4: 2}, {2: 2}, {0: 4}):
        with pytest.raises(ValueError, match="HierarchicalModelAverager"):
            HierarchicalModelAverager(given)
    with pytest.raises(ValueError, match="warmup_steps"):
        HierarchicalModelAverager({2: 4}, warmup_steps=-1)
    return found


def test_averages_by_levels() -> None:
    """Of pairs at every second call, of all at every fourth."""
    assert run(4, _average_by_levels) == [
        [float(rank), float(rank), rank // 2 * 2 + 0.5, float(rank), 1.5] for rank in range(4)
    ]


def _told(rank: int) -> list[Any]:
    ddp = DistributedDataParallel(nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 4)), bucket_cap_mb=0.001)
    found = []
    for _ in range(3):
        ddp(taeda.ones(2, 3)).sum().backward()
        found.append(ddp._get_ddp_logging_data())
    first, last = found[0], found[-1]
    assert last["forward_compute_time"] > 0 < last["avg_backward_compute_time"]
    assert "forward_compute_time" not in first and last["backward_comm_time_end"] > last["backward_comm_time_start"]
    ddp._register_builtin_comm_hook(BuiltinCommHookType.ALLREDUCE)
    with pytest.raises(RuntimeError, match="before the first"):
        ddp._set_static_graph()
    names = [
        "rank", "world_size", "module_name", "dtypes", "broadcast_buffers", "bucket_sizes", "iteration", "has_sync_bn",
        "num_buckets_reduced", "rebuilt_bucket_sizes", "master_addr", "unused_parameter_size",
    ]  # fmt: skip
    later = ddp.logger._get_ddp_logging_data()
    sampled = DistributedDataParallel(nn.Linear(3, 4))
    with pytest.raises(ValueError, match="1 or more"):
        sampled._set_ddp_runtime_logging_sample_rate(0)
    sampled._set_ddp_runtime_logging_sample_rate(4)
    sampled._set_static_graph()
    for _ in range(16):
        sampled(taeda.ones(2, 3)).sum().backward()
    assert sampled.logger._passes == 10 and sampled._get_ddp_logging_data()["iteration"] == 12  # 1 to 9, and 12
    return [*map(last.get, names), later.strs_map["comm_hook"], sampled._get_ddp_logging_data()["static_graph"]]


def test_the_wrapper_tells_about_itself() -> None:
    rest = [2, "Sequential", "float", 1, "144", 2, 0, 1, "144", "127.0.0.1", 0, "BuiltinCommHookType.ALLREDUCE", 1]
    assert run(2, _told) == [[0, *rest], [1, *rest]]


def _steps_in_hooks(rank: int) -> list[Any]:

    x = data()[0][:, rank::2]
    plain, overlapped, shared = net(), net(), net()
    usual = DistributedDataParallel(plain)
    optimizer = taeda.optim.Adam(plain.parameters(), 0.01)
    over = DistributedDataParallel(overlapped)
    _as_overlapped_optim(taeda.optim.Adam, None, 0.01).register_ddp(over)
    sharing = DistributedDataParallel(shared)
    zero = ZeroRedundancyOptimizer(shared.parameters(), taeda.optim.Adam, overlap_with_ddp=True, lr=0.01)
    sharing.register_comm_hook(None, hook_with_zero_step(default_hooks.allreduce_hook, sharing, zero))
    for _ in range(2):
        sharing(x[0]).square().sum().backward()  # before it takes steps
        sharing.zero_grad()
    for batch in x:
        for ddp in (usual, over, sharing):
            ddp.zero_grad()
            ddp(batch).square().sum().backward()
        optimizer.step()
        zero.step()  # has happened
    return [
        all(taeda.equal(p, q) for p, q in zip(plain.parameters(), module.parameters(), strict=True))
        for module in (overlapped, shared)
    ]


def test_steps_within_the_backward_pass_of_the_wrapper() -> None:
    assert run(2, _steps_in_hooks) == [[True, True]] * 2


def _reducer_by_hand(rank: int) -> list[Any]:
    first, second = nn.Linear(2, 3), nn.Linear(3, 1).double()
    parameters = [*first.parameters(), *second.parameters()]
    with pytest.raises(RuntimeError, match="of one dtype"):
        dist.Reducer(parameters, [[0, 1, 2, 3]], [1], dist.group.WORLD)
    reducer = dist.Reducer(parameters, [[3, 2], [1, 0]], [1, 1], dist.group.WORLD, find_unused_parameters=True)
    for _ in range(2):
        reducer.prepare_for_forward()
        out = first(taeda.ones(1, 2) * (rank + 1)).double()
        used = out.sum() if rank else second(out * 0 + 1).sum()
        reducer.prepare_for_backward({"out": used})
        used.backward()
    return [parameters[0].grad.tolist(), parameters[3].grad.tolist(), reducer.iterations]


def test_a_reducer_by_hand() -> None:
    assert run(2, _reducer_by_hand) == [[[[2.0, 2.0]] * 3, [1.0], 2]] * 2


def _in_other_dtypes(rank: int) -> list[str]:
    """Beside a module that is called in the low dtype by hand, and whose gradients are averaged by hand."""
    wrong = []
    for mixed in (_MixedPrecision(taeda.bfloat16), _MixedPrecision(taeda.bfloat16, taeda.float32, taeda.bfloat16)):
        taeda.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
        whole = copy.deepcopy(net)
        seen: list[Any] = []
        net[0].register_forward_hook(lambda m, args, out, seen=seen: seen.append((args[0].dtype, m.weight.dtype)))
        wrapped = DistributedDataParallel(net, mixed_precision=mixed)
        x = taeda.randn(2, 6, 4)
        out = wrapped(x[rank])
        out.float().square().sum().backward()
        for part in x:
            given = {name: p.to(taeda.bfloat16) for name, p in whole.named_parameters()}
            functional_call(whole, given, part.to(taeda.bfloat16)).float().square().sum().div(2).backward()
        if seen != [(taeda.bfloat16,) * 2] or out.dtype != taeda.bfloat16:
            wrong.append(f"computed in {seen}")
        if net[1].running_mean.dtype != (mixed.buffer_dtype or taeda.float32):
            wrong.append("buffers")
        for mine, other in zip(net.parameters(), whole.parameters(), strict=True):
            if mine.dtype != taeda.float32 or not taeda.allclose(mine.grad, other.grad, rtol=0.02, atol=0.02):
                wrong.append(f"gradients {mine.grad} {other.grad}")
    return wrong


@needs_mpi
def test_another_dtype_in_the_forward_pass() -> None:
    assert run(2, _in_other_dtypes) == [[]] * 2


def _reduced_last(rank: int) -> list[Any]:
    taeda.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2))
    plain = copy.deepcopy(net)
    delayed = [("0.weight", net[0].weight), ("2.bias", net[2].bias)]
    if rank:
        net[0].weight.data.zero_()
    wrapped = DistributedDataParallel(net, delay_all_reduce_named_params=delayed, param_to_hook_all_reduce=net[0].bias)
    same = [taeda.equal(net[0].weight, plain[0].weight)]
    x = taeda.randn(2, 3, 4)
    with wrapped.no_sync():
        wrapped(x[rank]).sum().backward()
    plain(x[rank]).sum().backward()
    same.append(taeda.equal(net[0].weight.grad, plain[0].weight.grad))
    net.zero_grad()
    plain.zero_grad()
    wrapped(x[rank]).square().sum().backward()
    plain(x.flatten(0, 1)).square().sum().div(2).backward()
    for mine, other in zip(net.parameters(), plain.parameters(), strict=True):
        same.append(taeda.allclose(mine.grad, other.grad, atol=1e-5))
    everything = DistributedDataParallel(
        plain, delay_all_reduce_named_params=list(plain.named_parameters()), param_to_hook_all_reduce=plain[0].weight
    )
    plain.zero_grad()
    everything(x[rank]).square().sum().backward()
    return [
        *same,
        all(
            taeda.allclose(m.grad, o.grad, atol=1e-5) for m, o in zip(net.parameters(), plain.parameters(), strict=True)
        ),
    ]


@needs_mpi
def test_some_gradients_are_reduced_last() -> None:
    assert run(2, _reduced_last) == [[True] * 9] * 2
