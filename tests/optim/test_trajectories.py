"""Every optimiser takes the steps that PyTorch's takes, and keeps the same state."""

from __future__ import annotations

import pytest

import taeda
from taeda import optim

torch = pytest.importorskip("torch")

CASES = [
    ("SGD", {}),
    ("SGD", {"momentum": 0.9}),
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9, "dampening": 0.2, "maximize": True}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True, "weight_decay": 0.1}),
    ("Adam", {"decoupled_weight_decay": True, "weight_decay": 0.1}),
    ("AdamW", {"amsgrad": True, "maximize": True}),
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.5, "centered": True, "weight_decay": 0.1}),
    ("Adagrad", {"lr_decay": 0.1, "weight_decay": 0.01, "initial_accumulator_value": 0.3}),
    ("Adadelta", {"weight_decay": 0.1}),
    ("Adamax", {}),
    ("NAdam", {"weight_decay": 0.1}),
    ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    ("RAdam", {"weight_decay": 0.1}),
    ("ASGD", {"t0": 2, "weight_decay": 0.1}),
    ("Rprop", {}),
    ("Adafactor", {"weight_decay": 0.1}),
    ("Muon", {}),
    ("Muon", {"nesterov": False, "adjust_lr_fn": "match_rms_adamw"}),
    ("LBFGS", {"lr": 0.1}),
    ("LBFGS", {"line_search_fn": "strong_wolfe", "history_size": 3}),
]
TABLE = [case for case in CASES if case[0] not in ("Muon", "LBFGS")]
SHAPES = [(3, 4), (5,), (2, 3, 2)]


def train(lib, cls, options, dtype="float32", steps=6):
    """Descends a quartic bowl; the second parameter has no gradient in the first two steps."""
    generator = torch.Generator().manual_seed(0)
    shapes = [(3, 4), (5, 2)] if cls.__name__ == "Muon" else SHAPES
    starts = [torch.randn(shape, generator=generator, dtype=getattr(torch, dtype)).tolist() for shape in shapes]
    params = [lib.nn.Parameter(lib.tensor(start, dtype=getattr(lib, dtype))) for start in starts]
    optimizer = cls(params, **options)

    def closure():
        optimizer.zero_grad()
        loss = sum(((p - 1).abs() ** 2).sum() * (i + 1) + (p.abs() ** 4).sum() for i, p in enumerate(params))
        loss.backward()
        return loss

    for i in range(steps):
        if cls.__name__ == "LBFGS":
            optimizer.step(closure)
            continue
        closure()
        if i < 2:
            params[1].grad = None
        optimizer.step()
    return params, optimizer


def check(name, options, dtype="float32", tolerance=1e-5):
    params, ours = train(taeda, getattr(optim, name), options, dtype)
    expected, theirs = train(torch, getattr(torch.optim, name), options, dtype)
    for p, q in zip(params, expected, strict=True):
        scale = q.abs().max().item()
        difference = torch.tensor(p.detach().tolist()) - torch.tensor(q.detach().tolist())
        assert difference.abs().max().item() <= tolerance * scale
    ours, theirs = ours.state_dict(), theirs.state_dict()
    assert ours["param_groups"] == theirs["param_groups"]
    assert {k: set(v) for k, v in ours["state"].items()} == {k: set(v) for k, v in theirs["state"].items()}
    for index, entry in theirs["state"].items():
        for key, value in entry.items():
            if isinstance(value, torch.Tensor):
                mine = ours["state"][index][key]
                assert (tuple(mine.shape), str(mine.dtype)) == (tuple(value.shape), str(value.dtype)), key


@pytest.mark.parametrize(("name", "options"), CASES)
def test_default(name, options):
    check(name, options, dtype="float64" if name == "LBFGS" else "float32")  # whose steps make small differences large


@pytest.mark.parametrize("foreach", [True, False])
@pytest.mark.parametrize(("name", "options"), TABLE)
def test_each_way_of_computing(name, options, foreach):
    check(name, {**options, "foreach": foreach})


@pytest.mark.parametrize(("name", "options"), CASES)
def test_double(name, options):
    check(name, options, "float64", tolerance=1e-7)


@pytest.mark.parametrize(("name", "options"), [case for case in TABLE if case[0] != "Adafactor"])
def test_complex(name, options):
    check(name, options, "complex64")


@pytest.mark.parametrize(("name", "options"), [case for case in TABLE if case[0] != "Adafactor"])
def test_bfloat16_to_its_rounding(name, options):
    check(name, {**options, "foreach": False}, "bfloat16", tolerance=0.03)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_fused(name):
    check(name, {"fused": True, "weight_decay": 0.1})


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adadelta", "NAdam", "RAdam", "Adamax", "ASGD", "Rprop"])
def test_tensor_lr(name):
    params, optimizer = train(taeda, getattr(optim, name), {"lr": taeda.tensor(0.05)})
    expected, _ = train(taeda, getattr(optim, name), {"lr": 0.05})
    assert isinstance(optimizer.param_groups[0]["lr"], taeda.Tensor)
    for p, q in zip(params, expected, strict=True):
        assert taeda.allclose(p, q, rtol=1e-5)


@pytest.mark.parametrize("options", [{}, {"foreach": False}], ids=["list", "each"])
def test_mixed_dtypes_and_strides_in_one_group(options):
    def run(cls, lib):
        params = [
            lib.nn.Parameter(lib.ones(3, dtype=lib.float64)),
            lib.nn.Parameter(lib.ones(4, 3).t()),
            lib.nn.Parameter(lib.ones(2)),
        ]
        optimizer = cls(params, lr=0.1, **options)
        for _ in range(3):
            for p in params:
                p.grad = (lib.arange(p.numel(), dtype=p.dtype) - 1).reshape(p.shape)
            optimizer.step()
        return [p.tolist() for p in params]

    for name in ("SGD", "Adam"):
        for a, b in zip(run(getattr(optim, name), taeda), run(getattr(torch.optim, name), torch), strict=True):
            assert torch.allclose(torch.tensor(a), torch.tensor(b))


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "ASGD"])
def test_gradients_flow_through_differentiable_steps(name):
    """The derivative of the parameter after three steps with respect to its start and to the rate, by differences."""

    def after(start, lr):
        p = start.clone()
        optimizer = getattr(optim, name)([p], lr=lr, differentiable=True)
        for i in range(3):
            p.grad = (start * (i + 1.5)) ** 2
            optimizer.step()
        return p.sum()

    start = taeda.tensor([0.7, 1.3], dtype=taeda.float64, requires_grad=True)
    after(start, 0.1).backward()
    h = 1e-6
    with taeda.no_grad():
        shift = taeda.tensor([h, 0.0], dtype=taeda.float64)
        numeric = (after(start.detach() + shift, 0.1) - after(start.detach() - shift, 0.1)).item() / (2 * h)
    assert start.grad[0].item() == pytest.approx(numeric, rel=1e-4)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "NAdam"])
def test_gradients_flow_to_the_rate(name):
    lr = taeda.tensor(0.1, dtype=taeda.float64, requires_grad=True)
    p = taeda.ones(2, dtype=taeda.float64)
    p.requires_grad_()
    moved = p.clone()
    optimizer = getattr(optim, name)([moved], lr=lr, differentiable=True)
    moved.grad = taeda.tensor([1.0, 2.0], dtype=taeda.float64)
    optimizer.step()
    moved.sum().backward()
    assert lr.grad.item() == pytest.approx((moved.sum().item() - 2) / 0.1, rel=1e-6)
