"""The base class: groups, state, hooks, saving, errors."""

from __future__ import annotations

import copy
import io
import pickle

import pytest

import taeda
from taeda import optim
from taeda.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook, required


def parameter(*shape):
    return taeda.nn.Parameter(taeda.ones(*(shape or (2,))))


def stepped(cls=optim.Adam, **options):
    params = [parameter(2), parameter(3)]
    optimizer = cls(params, lr=0.1, **options)
    for p in params:
        p.grad = taeda.ones_like(p)
    optimizer.step()
    return params, optimizer


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: optim.SGD(parameter()), TypeError),
        (lambda: optim.SGD([]), ValueError),
        (lambda: optim.SGD([1]), TypeError),
        (lambda: optim.SGD([parameter() * 2]), ValueError),
        (lambda: optim.SGD([{"params": {parameter()}}]), TypeError),
        (lambda: optim.SGD([("a", parameter()), parameter()]), ValueError),
        (lambda: optim.SGD([{"weights": [parameter()]}]), KeyError),
        (lambda: optim.SGD([parameter()], lr=-1), ValueError),
        (lambda: optim.SGD([parameter()], lr=float("nan")), ValueError),
        (lambda: optim.SGD([parameter()], lr=taeda.ones(2)), ValueError),
        (lambda: optim.SGD([parameter()], momentum=-1), ValueError),
        (lambda: optim.SGD([parameter()], nesterov=True), ValueError),
        (lambda: optim.SGD([parameter()], fused=True, foreach=True), RuntimeError),
        (lambda: optim.SGD([parameter()], fused=True, differentiable=True), RuntimeError),
        (lambda: optim.Adam([parameter()], betas=(1.0, 0.9)), ValueError),
        (lambda: optim.Adam([parameter()], betas=(taeda.tensor(0.9), 0.9)), ValueError),
        (lambda: optim.Adam([parameter()], lr=taeda.tensor(0.1), foreach=True), ValueError),
        (lambda: optim.Adam([parameter()], eps=-1), ValueError),
        (lambda: optim.Adagrad([parameter()], lr_decay=-1), ValueError),
        (lambda: optim.Adadelta([parameter()], rho=1.5), ValueError),
        (lambda: optim.Rprop([parameter()], etas=(0.5, 0.9)), ValueError),
        (lambda: optim.Adafactor([parameter()], d=0.5), ValueError),
        (lambda: optim.Muon([parameter(3)]), ValueError),
        (lambda: optim.Muon([parameter(3, 3)], adjust_lr_fn="big"), ValueError),
        (lambda: optim.LBFGS([{"params": [parameter()]}, {"params": [parameter()]}]), ValueError),
        (lambda: stepped(capturable=True), AssertionError),
    ],
)
def test_refuses(make, error):
    with pytest.raises(error):
        make()


def test_a_parameter_may_be_in_one_group_only():
    p = parameter()
    with pytest.raises(ValueError):
        optim.SGD([{"params": [p]}, {"params": [p]}])
    with pytest.warns(UserWarning):
        optim.SGD([p, p])


def test_groups_inherit_defaults_and_required_has_none():
    class Plain(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": required, "k": 3})

    with pytest.raises(ValueError):
        Plain([parameter()])
    optimizer = Plain([{"params": parameter(), "lr": 1}])
    optimizer.add_param_group({"params": [parameter()], "lr": 2, "k": 4})
    assert [(g["lr"], g["k"], len(g["params"])) for g in optimizer.param_groups] == [(1, 3, 1), (2, 4, 1)]
    with pytest.raises(TypeError):
        optimizer.add_param_group(3)
    with pytest.raises(NotImplementedError):
        optimizer.step()


def test_repr():
    optimizer = optim.Muon([parameter(2, 2)], lr=0.5)
    lines = repr(optimizer).splitlines()
    assert lines[:4] == ["Muon (", "Parameter Group 0", "    adjust_lr_fn: None", "    eps: 1e-07"]
    assert lines[-1] == ")"
    optimizer.add_param_group({"params": [parameter(2, 2)], "lr": 0.25})
    lines = repr(optimizer).splitlines()
    assert lines[lines.index("Parameter Group 1") - 1] == "" and "    lr: 0.25" in lines


@pytest.mark.parametrize("to_none", [True, False])
def test_zero_grad(to_none):
    params, optimizer = stepped()
    optimizer.zero_grad(set_to_none=to_none)
    assert all((p.grad is None) if to_none else (p.grad.sum().item() == 0) for p in params)


def test_closure_runs_with_gradients_and_its_loss_is_returned():
    p = parameter()
    optimizer = optim.SGD([p], lr=0.1)

    def closure():
        loss = (p * 2).sum()
        loss.backward()
        return loss

    with taeda.no_grad():
        assert optimizer.step(closure).item() == 4
    assert p.tolist() == pytest.approx([0.8, 0.8])


@pytest.mark.parametrize("names", [False, True])
def test_state_dict_round_trip(names):
    params, optimizer = stepped()
    saved = pickle.loads(pickle.dumps(optimizer.state_dict()))
    others = [parameter(2), parameter(3)]
    fresh = optim.Adam([("a", others[0]), ("b", others[1])] if names else others, lr=7.0)
    fresh.load_state_dict(saved)
    assert fresh.param_groups[0]["lr"] == 0.1
    assert fresh.param_groups[0].get("param_names") == (["a", "b"] if names else None)
    for p, q in zip(params, others, strict=True):
        p.grad = q.grad = taeda.full_like(p, 0.3)
        with taeda.no_grad():
            q.copy_(p)
    optimizer.step()
    fresh.step()
    assert all(p.tolist() == q.tolist() for p, q in zip(params, others, strict=True))


def test_loading_casts_to_the_parameter_but_keeps_the_step():
    _, optimizer = stepped()
    p = [taeda.nn.Parameter(taeda.ones(n, dtype=taeda.float64)) for n in (2, 3)]
    fresh = optim.Adam(p)
    fresh.load_state_dict(optimizer.state_dict())
    assert fresh.state[p[0]]["exp_avg"].dtype == taeda.float64
    assert fresh.state[p[0]]["step"].dtype == taeda.float32


def test_loading_an_old_state_completes_it():
    params, optimizer = stepped()
    saved = copy.deepcopy(optimizer.state_dict())
    for entry in saved["state"].values():
        entry["step"] = 5
    for name in ("amsgrad", "maximize", "foreach", "fused", "decoupled_weight_decay"):
        del saved["param_groups"][0][name]
    optimizer.load_state_dict(saved)
    assert optimizer.param_groups[0]["maximize"] is False
    optimizer.step()
    assert optimizer.state[params[0]]["step"].item() == 6


def test_loading_checks_the_groups():
    _, optimizer = stepped()
    saved = optimizer.state_dict()
    with pytest.raises(ValueError):
        optim.Adam([{"params": [parameter()]}, {"params": [parameter()]}]).load_state_dict(saved)
    with pytest.raises(ValueError):
        optim.Adam([parameter()]).load_state_dict(saved)


def test_nadam_is_differentiated_by_its_product_of_momenta():
    p, product = taeda.ones(2, dtype=taeda.double), taeda.tensor(0.5, dtype=taeda.double, requires_grad=True)
    start = {"step": taeda.tensor(1.0), "exp_avg": p * 0.1, "exp_avg_sq": p * 0.2}

    def stepped(product):
        x = p.clone()
        x.grad = taeda.ones_like(x)
        optimizer = taeda.optim.NAdam([x], differentiable=True)
        optimizer.state[x].update({name: t.clone() for name, t in start.items()}, mu_product=product.clone())
        optimizer.step()
        return x

    assert taeda.autograd.gradcheck(stepped, (product,))


@pytest.mark.parametrize("through", [copy.deepcopy, lambda o: pickle.load(io.BytesIO(pickle.dumps(o)))])
def test_copies_keep_training(through):
    _, optimizer = stepped(optim.SGD, momentum=0.9)
    twin = through(optimizer)
    for p in twin.param_groups[0]["params"]:
        p.grad = taeda.ones_like(p)
    twin.step()
    assert twin.param_groups[0]["params"][0].tolist() == pytest.approx([0.71, 0.71])
    assert twin.register_step_pre_hook(lambda *a: None).id is not None


def test_step_hooks_run_in_order_once_and_can_change_arguments():
    calls = []

    class Twice(optim.SGD):
        def step(self, closure=None, note=None):
            calls.append(("step", note))
            return super().step(closure)

    p = parameter()
    optimizer = Twice([p], lr=0.1)
    handles = [
        register_optimizer_step_pre_hook(lambda o, args, kwargs: calls.append("global pre")),
        optimizer.register_step_pre_hook(lambda o, args, kwargs: (args, {"note": 7})),
        optimizer.register_step_post_hook(lambda o, args, kwargs: calls.append("post")),
        register_optimizer_step_post_hook(lambda o, args, kwargs: calls.append("global post")),
    ]
    optimizer.step()
    assert calls == ["global pre", ("step", 7), "post", "global post"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert calls[4:] == [("step", None)]
    with optimizer.register_step_pre_hook(lambda *a: 3), pytest.raises(RuntimeError):
        optimizer.step()


def test_state_dict_hooks():
    _, optimizer = stepped()
    seen = []
    optimizer.register_state_dict_pre_hook(lambda o: seen.append(1))
    optimizer.register_state_dict_pre_hook(lambda o: seen.append(0), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, d: {**d, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, d: seen.append(d.pop("more")))
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
    saved = optimizer.state_dict()
    optimizer.load_state_dict(saved)
    assert seen == [0, 1, 1, "loaded"]
    assert saved["more"] == 1


@pytest.mark.parametrize("momentum", [0, 0.9])
def test_parameters_that_join_late(momentum):
    """A first gradient in a later step starts its own buffer while the others go on."""
    a, b = parameter(), parameter()
    optimizer = optim.SGD([a, b], lr=1.0, momentum=momentum, dampening=0.5)
    a.grad = taeda.ones(2)
    optimizer.step()
    b.grad = taeda.ones(2)
    optimizer.step()
    assert a.tolist() == pytest.approx([1 - 1 - (momentum + 0.5 if momentum else 1)] * 2)
    assert b.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adagrad"])
def test_gradient_scaling_of_fused_steps(name):
    results = []
    for scale, found in ((1.0, 0.0), (4.0, 0.0), (4.0, 1.0)):
        p = parameter()
        optimizer = getattr(optim, name)([p], lr=0.1, fused=True)
        optimizer.grad_scale, optimizer.found_inf = taeda.tensor(scale), taeda.tensor(found)
        p.grad = taeda.full_like(p, 0.5 * scale)
        optimizer.step()
        results.append(p.tolist())
    assert results[0] == pytest.approx(results[1])
    assert results[2] == [1.0, 1.0]


def test_torch_state_loads_and_back():
    torch = pytest.importorskip("torch")
    q = torch.nn.Parameter(torch.ones(2))
    theirs = torch.optim.Adam([q], lr=0.1)
    q.grad = torch.ones(2)
    theirs.step()
    saved = theirs.state_dict()
    as_ours = {k: taeda.tensor(v.tolist()) for k, v in saved["state"][0].items()}
    p = taeda.nn.Parameter(taeda.tensor(q.tolist()))
    ours = optim.Adam([p])
    ours.load_state_dict({"state": {0: as_ours}, "param_groups": saved["param_groups"]})
    p.grad = taeda.ones(2)
    ours.step()
    theirs.step()
    assert p.tolist() == pytest.approx(q.tolist(), rel=1e-6)
    assert ours.state_dict()["param_groups"] == theirs.state_dict()["param_groups"]


def test_a_decorated_step_runs_its_hooks_once():
    class Plain(optim.Optimizer):
        @optim.Optimizer.profile_hook_step
        def step(self, closure=None):
            return "stepped"

    optimizer = Plain([taeda.ones(1)], {})
    seen = []
    optimizer.register_step_post_hook(lambda *_: seen.append(1))
    optimizer._patch_step_function()
    assert optimizer.step() == "stepped" and seen == [1]
