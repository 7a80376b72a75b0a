"""Parametrizations, pruning, stateless calls, several devices; each program tells the same story on both sides."""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import pytest

import taeda
import taeda.nn as nn

torch = pytest.importorskip("torch")

from nn_twin import assert_same, outcome, to_taeda, to_torch  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


def both(program: Any, tolerance: float = 1e-5) -> None:
    """Runs ``program(nn, root)`` on both sides with the same seed; what it returns must agree."""
    taeda.manual_seed(0)
    ours = program(nn, taeda)
    torch.manual_seed(0)
    assert_same(ours, program(torch.nn, torch), rtol=tolerance, atol=tolerance)


def submodule(p: Any, name: str) -> Any:
    return importlib.import_module(f"{p.__name__}.{name}")


def training(module: Any, root: Any, *shape: int) -> list[Any]:
    """Two steps of descent: outputs, gradients, state."""
    log: list[Any] = []
    for _ in range(2):
        x = root.linspace(-1, 1, root.empty(shape).numel()).reshape(shape)
        y = module(x)
        module.zero_grad()
        y.pow(2).sum().backward()
        with root.no_grad():
            for param in module.parameters():
                param -= 0.1 * param.grad
        log += [y, [param.grad for param in module.parameters()]]
    return [*log, dict(module.state_dict()), module.eval()(x)]


def symmetric(p: Any, root: Any) -> Any:
    class Symmetric(p.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, a: Any) -> Any:
            return a.triu()

    class Scaled(p.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return 2 * x

    class Rank1(p.Module):  # type: ignore[misc]
        def forward(self, u: Any, v: Any) -> Any:
            return u[:, None] * v

        def right_inverse(self, a: Any) -> Any:
            return a.sum(1), a.sum(0)

    u = submodule(p, "utils.parametrize")
    module = p.Linear(3, 3)
    plain = type(module)
    weight = module.weight
    u.register_parametrization(module, "weight", Symmetric())
    log: list[Any] = [
        list(module.state_dict()), type(module).__name__, isinstance(module, plain), repr(module),
        u.is_parametrized(module), u.is_parametrized(module, "bias"), u.type_before_parametrizations(module) is plain,
        module.weight, module.parametrizations.weight.original is weight, [n for n, _ in module.named_parameters()],
    ]  # fmt: skip
    module.weight = root.arange(9.0).view(3, 3)
    log += [module.weight, module.parametrizations.weight.original]
    twin = copy.deepcopy(module)
    log += [twin.weight, twin.parametrizations.weight.original is not weight, outcome(lambda: pickle.dumps(module))]
    u.register_parametrization(module, "weight", Scaled())
    log += [module.weight, len(module.parametrizations.weight), outcome(lambda: setattr(module, "weight", weight))]
    with u.cached():
        log.append(module.weight is module.weight)
    log.append(module.weight is module.weight)
    log += training(module, root, 2, 3)
    other = p.Linear(3, 3)
    u.transfer_parametrizations_and_params(module, other)
    log += [other.weight, list(other.state_dict())]
    u.remove_parametrizations(module, "weight", leave_parametrized=False)
    log += [type(module) is plain, list(module.state_dict()), module.weight]
    u.remove_parametrizations(other, "weight")
    log += [other.weight, other.weight.requires_grad]
    several = p.Linear(3, 2)
    u.register_parametrization(several, "weight", Rank1(), unsafe=False)
    log += [list(several.state_dict()), several.weight]
    several.weight = root.ones(2, 3)
    log += [several.weight, outcome(lambda: u.remove_parametrizations(several, "weight", leave_parametrized=False))]
    u.remove_parametrizations(several, "weight")
    log += [several.weight, type(several).__name__]
    buffered = p.BatchNorm1d(3)
    u.register_parametrization(buffered, "running_mean", Scaled())
    log += [list(buffered.state_dict()), buffered.running_mean]
    log.append(outcome(lambda: u.register_parametrization(other, "nothing", Scaled())))
    log.append(outcome(lambda: u.remove_parametrizations(other, "weight")))
    log.append(outcome(lambda: u.register_parametrization(other, "weight", p.Linear(3, 4))))
    log.append(outcome(lambda: u.ParametrizationList([], root.ones(1))))
    return log


def orthogonal(p: Any, root: Any) -> Any:
    u = submodule(p, "utils.parametrizations")
    log: list[Any] = []
    for kind in (None, "matrix_exp", "cayley", "householder"):
        for trivial in (True, False):
            for sizes in ((3, 3), (5, 3), (2, 4)):
                module = u.orthogonal(p.Linear(*sizes), orthogonal_map=kind, use_trivialization=trivial)
                log += [repr(module), list(module.state_dict()), module.weight]
                parametrized = module.parametrizations.weight
                if trivial:
                    # The vectors that complete a basis depend on the rounding of a decomposition.
                    eye = root.eye(min(sizes))
                    log.append(outcome(lambda m=module, e=eye: setattr(m, "weight", e)))
                    w = module.weight
                    gram = w @ w.mT if w.shape[0] < w.shape[1] else w.mT @ w
                    log += [gram, parametrized.original]
                else:
                    q = root.linalg.qr(root.arange(1.0, 1 + sizes[0] * sizes[1]).view(*sizes[::-1]).cos())[0]
                    q = q if q.shape == module.weight.shape else module.weight.detach()
                    log += [outcome(lambda m=module, q=q: setattr(m, "weight", q)), module.weight]
                    log += training(module, root, 2, sizes[0])
    log.append(outcome(lambda: u.orthogonal(p.Linear(2, 2), orthogonal_map="x")))
    log.append(outcome(lambda: u.orthogonal(p.Linear(2, 2), "bias")))
    log.append(outcome(lambda: u.orthogonal(p.Linear(2, 2), "nothing")))
    return log


def spectral(p: Any, root: Any) -> Any:
    new, old = submodule(p, "utils.parametrizations").spectral_norm, p.utils.spectral_norm
    log: list[Any] = []
    for make in (new, old):
        for module, shape in (
            (p.Linear(3, 4), (2, 3)),
            (p.Conv2d(2, 3, 2), (1, 2, 4, 4)),
            (p.ConvTranspose1d(2, 3, 2), (1, 2, 4)),
        ):
            make(module, n_power_iterations=2)
            log += [repr(module), list(module.state_dict())]
            fresh = make(copy.deepcopy(module) if make is new else type(module)(*_sizes(module)))
            log += training(module, root, *shape) if make is old else [module.weight, module.weight]
            log.append(sorted(fresh.state_dict()))
    module = old(p.Linear(3, 4))
    log += [outcome(lambda: old(module)), dict(module.state_dict()._metadata)]
    twin = old(p.Linear(3, 4))
    twin.load_state_dict(module.state_dict())
    log += [
        twin.eval()(root.ones(1, 3)),
        p.utils.remove_spectral_norm(twin).weight,
        repr(twin),
        list(twin.state_dict()),
    ]
    log += [outcome(lambda: p.utils.remove_spectral_norm(twin)), dict(twin.state_dict()._metadata)]
    log += [outcome(lambda: old(p.Linear(2, 2), "nothing")), outcome(lambda: old(p.Linear(2, 2), n_power_iterations=0))]
    log += [new(p.LayerNorm(3)).weight, outcome(lambda: new(p.Linear(2, 2), n_power_iterations=0))]
    log += [outcome(lambda: new(p.Linear(2, 2), dim=3)), outcome(lambda: new(p.Linear(2, 2), "nothing"))]
    return log


def _sizes(module: Any) -> Any:
    return (3, 4) if hasattr(module, "in_features") else (2, 3, 2)


def weights(p: Any, root: Any) -> Any:
    u = submodule(p, "utils.parametrizations")
    log: list[Any] = []
    for dim in (0, 1, -1, None):
        module = u.weight_norm(p.Linear(3, 2), dim=dim)
        log += [list(module.state_dict()), module.weight, *training(module, root, 2, 3)]
    hooked, module = p.utils.weight_norm(p.Linear(3, 2)), u.weight_norm(p.Linear(3, 2))
    log.append(str(module.load_state_dict(hooked.state_dict())))
    module.weight = root.ones(2, 3)
    return [*log, module.weight, module.parametrizations.weight.original0]


def pruning(p: Any, root: Any) -> Any:
    u = submodule(p, "utils.prune")
    log: list[Any] = []
    calls: list[Any] = [
        lambda m: u.identity(m, "weight"),
        lambda m: u.random_unstructured(m, "weight", 3),
        lambda m: u.random_unstructured(m, "weight", 0.4),
        lambda m: u.l1_unstructured(m, "weight", 0.5),
        lambda m: u.l1_unstructured(m, "weight", 2, importance_scores=root.arange(12.0).view(4, 3)),
        lambda m: u.random_structured(m, "weight", 1, 0),
        lambda m: u.ln_structured(m, "weight", 0.5, 2, 0),
        lambda m: u.ln_structured(m, "weight", 1, 1, -1),
        lambda m: u.ln_structured(m, "weight", 1, float("inf"), 1),
        lambda m: u.custom_from_mask(m, "weight", root.eye(4, 3)),
    ]
    for first in calls:
        module = p.Linear(3, 4)
        first(module)
        log += [dict(module.state_dict()), module.weight, u.is_pruned(module), [n for n, _ in module.named_buffers()]]
        second = calls[(calls.index(first) + 3) % len(calls)]
        second(module)
        log += [module.weight_mask, list(module._forward_pre_hooks.values())[0].__class__.__name__]
        log += training(module, root, 2, 3)
        u.remove(module, "weight")
        log += [module.weight, list(module.state_dict()), u.is_pruned(module)]
    net = p.Sequential(p.Linear(3, 4), p.Linear(4, 2))
    u.l1_unstructured(net[0], "weight", 2)
    pairs = [(net[0], "weight"), (net[1], "bias"), (net[1], "weight")]
    u.global_unstructured(pairs, u.L1Unstructured, amount=0.5)
    log += [dict(net.state_dict()), len(next(iter(net[0]._forward_pre_hooks.values())))]
    bad: list[Any] = [
        lambda: u.remove(p.Linear(2, 2), "weight"),
        lambda: u.l1_unstructured(p.Linear(2, 2), "weight", 5),
        lambda: u.l1_unstructured(p.Linear(2, 2), "weight", -1),
        lambda: u.l1_unstructured(p.Linear(2, 2), "weight", 1.5),
        lambda: u.l1_unstructured(p.Linear(2, 2), "weight", "a"),
        lambda: u.ln_structured(p.Linear(2, 2), "weight", 1, 2, 5),
        lambda: u.ln_structured(p.Linear(2, 2), "bias", 1, 2, 0),
        lambda: u.random_structured(p.Linear(2, 2), "weight", 3, 0),
        lambda: u.global_unstructured(3, u.L1Unstructured, amount=1),
        lambda: u.global_unstructured([(p.Linear(2, 2), "weight")], u.LnStructured, amount=1, n=2),
        lambda: u.PruningContainer().add_pruning_method(3),
        lambda: u.L1Unstructured(0.5).apply_mask(p.Linear(2, 2)),
    ]
    log += [outcome(call) for call in bad]
    for method in (u.L1Unstructured(2), u.LnStructured(1, 2, 0), u.RandomUnstructured(1)):
        log.append(method.prune(root.arange(6.0).view(2, 3) - 2))
    return log


def stateless(p: Any, root: Any) -> Any:
    call = submodule(p, "utils.stateless").functional_call
    net = p.Sequential(p.Linear(2, 2), p.BatchNorm1d(2), p.Linear(2, 2))
    net[2].weight = net[0].weight
    x = root.arange(4.0).view(2, 2)
    before = {key: value.clone() for key, value in net.state_dict().items()}
    w = root.ones(2, 2, requires_grad=True)
    given = {"0.weight": w, "1.running_mean": root.ones(2), "1.num_batches_tracked": root.tensor(5)}
    y = call(net, given, (x,))
    y.sum().backward()
    log: list[Any] = [y, w.grad, net[0].weight.grad is None, net[0].bias.grad, given, net[2].weight is net[0].weight]
    log += [call(net, given, x, tie_weights=False), dict(net.state_dict()), before]
    log += [call(net, {}, None, {"input": x})]
    bad: list[Any] = [
        lambda: call(net, {"0.weight": w, "2.weight": w * 2}, x),
        lambda: call(net, {"0.weight": w}, x, strict=True),
        lambda: call(net, {"x": w, **dict(net.named_parameters()), **dict(net.named_buffers())}, x, strict=True),
        lambda: call(net, {"0.in_features": w}, x),
        lambda: call(net, {"7.weight": w}, x),
    ]
    return log + [outcome(one) for one in bad] + [dict(net.state_dict())]


def devices(p: Any, root: Any) -> Any:
    net = p.Sequential(p.Linear(3, 2), p.ReLU())
    whole = p.DataParallel(net)
    x = root.arange(6.0).view(2, 3)
    return [whole(x), list(whole.state_dict()), repr(whole), whole.device_ids]


def synchronised(p: Any, root: Any) -> Any:
    log: list[Any] = []
    for shape in ((3, 2), (3, 2, 4), (3, 2, 4, 2)):
        module = p.SyncBatchNorm(2, momentum=0.3)
        log += [repr(module), *training(module, root, *shape)]
    net = p.Sequential(p.BatchNorm2d(3, affine=False), p.Sequential(p.BatchNorm1d(2, eps=0.1).eval()), p.ReLU())
    weight = net[1][0].weight
    net = p.SyncBatchNorm.convert_sync_batchnorm(net)
    log += [repr(net), net[1][0].weight is weight, net[1][0].training, list(net.state_dict())]
    return [
        *log,
        outcome(lambda: p.SyncBatchNorm(2)(root.ones(2))),
        outcome(lambda: p.SyncBatchNorm(0)(root.ones(2, 0))),
    ]


def linear_cross_entropy(p: Any, root: Any) -> Any:
    F, log = p.functional, []
    x, classes = root.linspace(-1, 2, 24).view(6, 4), root.tensor([0, 4, 2, 2, 1, 3])
    share = root.linspace(0, 1, 30).view(6, 5)
    for options in (None, {}, {"batch_chunk_size": 2}, {"chunking_method": "aspect_ratio:1", "acc_policy": "compact"}):
        made = None if options is None else p.LinearCrossEntropyOptions(**options)
        log.append(repr(made))
        for reduction in ("mean", "sum", "none"):
            for extra, target in (
                ({}, classes),
                ({"ignore_index": 2}, classes),
                ({"weight": root.arange(1.0, 6)}, classes),
                ({"label_smoothing": 0.2}, classes),
                ({}, share),
            ):
                root.manual_seed(1)
                loss = p.LinearCrossEntropyLoss(4, 5, bias=True, options=made, reduction=reduction, **extra)
                y = loss(x, target)
                (y * root.arange(1.0, 1 + y.numel()).view(y.shape)).sum().backward()
                log += [y, loss.linear.weight.grad, loss.linear.bias.grad]
    several = p.LinearCrossEntropyLoss(4, 5, out_features=(2, 3), bias=True)
    log += [repr(several), list(several.state_dict()), several(x, classes[:, None, None].expand(6, 2, 3))]
    w = several.linear.weight
    bad: list[Any] = [
        lambda: F.linear_cross_entropy(x[None], w, classes),
        lambda: F.linear_cross_entropy(x, w[0], classes),
        lambda: F.linear_cross_entropy(x[0], w.view(5, 6, 4), classes[0]),
        lambda: F.linear_cross_entropy(x, w, classes, linear_bias=root.ones(3)),
        lambda: F.linear_cross_entropy(x, w[:5], share, ignore_index=1),
        lambda: p.LinearCrossEntropyOptions(acc_policy="x"),
        lambda: p.LinearCrossEntropyOptions(batch_chunk_size=0),
        lambda: p.LinearCrossEntropyOptions(chunking_method="x"),
    ]
    return log + [outcome(call) for call in bad]


def layouts(p: Any, root: Any) -> Any:
    net = p.Sequential(p.Conv2d(2, 3, 2), p.ConvTranspose2d(3, 2, 2), p.Linear(2, 2), p.Conv3d(2, 3, 2))
    p.utils.convert_conv2d_weight_memory_format(net, root.channels_last)
    p.utils.convert_conv3d_weight_memory_format(net, root.channels_last_3d)
    return [[list(part.weight.stride()), part.weight] for part in net]


def attention(p: Any, root: Any) -> Any:
    a, b = submodule(p, "attention"), submodule(p, "attention.bias")
    f = p.functional.scaled_dot_product_attention
    q, k = root.linspace(-1, 1, 24).view(1, 1, 3, 8), root.linspace(2, -1, 40).view(1, 1, 5, 8)
    log: list[Any] = [f(q, k, k, attn_mask=b.causal_upper_left(3, 5)), f(q, k, k, attn_mask=b.causal_lower_right(3, 5))]
    log += [f(q, q, q, attn_mask=b.causal_lower_right(3, 3)), repr(b.causal_lower_right(2, 3)), str(a.SDPBackend.MATH)]
    with a.sdpa_kernel([a.SDPBackend.MATH]):
        log.append(f(q, k, k))
        log.append([backend.name for backend in a._cur_sdpa_kernel_backends()])
    log.append(outcome(lambda: f(q, k, k, attn_mask=b.causal_upper_left(3, 5), is_causal=True)))
    return [*log, outcome(lambda: b.causal_upper_left(3)), outcome(lambda: a.sdpa_kernel("x").__enter__())]


def conv_gradients(p: Any, root: Any) -> Any:
    grads, log = submodule(p, "grad"), []
    for n, extra in ((1, {}), (2, {"stride": 2, "padding": 1}), (3, {"groups": 2, "dilation": (1, 2, 1)})):
        shape, channels = (2, 4, *(5, 6, 4)[:n]), 4 // extra.get("groups", 1)
        x = root.linspace(-1, 1, root.empty(shape).numel()).view(shape)
        w = root.linspace(1, -2, 6 * channels * 2**n).view(6, channels, *[2] * n)
        y = getattr(p.functional, f"conv{n}d")(x, w, **extra)
        log.append(getattr(grads, f"conv{n}d_input")(shape, w, y, **extra))
        log.append(getattr(grads, f"conv{n}d_weight")(x, w.shape, y, **extra))
    return log


PROGRAMS = [
    symmetric, orthogonal, spectral, weights, pruning, stateless, devices, synchronised, linear_cross_entropy, layouts,
    attention, conv_gradients,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_story(program: Any) -> None:
    both(program, 1e-4 if program in (orthogonal, synchronised) else 1e-5)


def test_scatter_and_gather() -> None:
    """On devices as such, which PyTorch's take no CPU for."""
    parallel = submodule(nn, "parallel")
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2).eval())
    x = taeda.arange(12.0).view(4, 3)
    two = nn.DataParallel(net, ["cpu", "cpu"])
    expected = net(x)
    assert parallel.data_parallel(net, x).equal(expected)
    assert parallel.parallel_apply([net, net], [x, (x + 1,)])[1].equal(net(x + 1))
    with pytest.raises(RuntimeError, match="linear"):
        parallel.parallel_apply([net, net], [x, x[:, :1]])
    assert two(x).equal(expected)
    two(x).sum().backward()
    assert net[0].weight.grad is not None
    pieces = parallel.scatter({"a": x, "b": [x, 1]}, ["cpu", "cpu"])
    assert [piece["b"][1] for piece in pieces] == [1, 1]
    assert parallel.gather([piece["a"] for piece in pieces], "cpu").equal(x)
    assert parallel.gather([taeda.tensor(1.0), taeda.tensor(2.0)], "cpu").tolist() == [1.0, 2.0]
    comm = parallel.comm
    assert [t.tolist() for t in comm.scatter(x[:, 0], ["cpu"] * 2, [1, 3])] == [[0.0], [3.0, 6.0, 9.0]]
    assert comm.gather(comm.scatter(x, ["cpu"] * 3, dim=1), 1).equal(x)
    assert comm.reduce_add(comm.broadcast(x, ["cpu"] * 2)).equal(x * 2) and x[0, 1] == 1
    (first, second), _ = comm.broadcast_coalesced([x, x + 1], ["cpu"] * 2)
    assert comm.reduce_add_coalesced([[x, x], [first, second]])[1].equal(2 * x + 1)
    with pytest.raises(RuntimeError, match="devices and out"):
        comm.broadcast(x)
    copies = parallel.replicate(net, ["cpu", "cpu"])
    assert all(copied(x).equal(expected) for copied in copies)
    assert not list(copies[0].parameters())


def test_states_load_both_ways() -> None:
    for name, args in (("orthogonal", (5, 3)), ("spectral_norm", (3, 4)), ("weight_norm", (3, 4))):
        makers = [getattr(submodule(p, "utils.parametrizations"), name) for p in (nn, torch.nn)]
        ours, theirs = makers[0](nn.Linear(*args)), makers[1](torch.nn.Linear(*args))
        ours.load_state_dict(to_taeda(dict(theirs.state_dict())))
        assert_same(ours.weight, theirs.weight)
        theirs.load_state_dict(to_torch(dict(makers[0](nn.Linear(*args)).state_dict())))
