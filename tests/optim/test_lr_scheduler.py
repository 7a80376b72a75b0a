"""Every schedule sets the numbers that PyTorch's sets: alone, resumed, by jumps, saved, with tensor rates."""

from __future__ import annotations

import warnings

import pytest

import taeda
from taeda import optim
from taeda.optim import lr_scheduler

torch = pytest.importorskip("torch")

EPOCHS = 12
JUMPS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]


class Decay:
    """A callable with state, which is saved."""

    def __init__(self, k):
        self.k = k

    def __call__(self, epoch):
        return self.k / (epoch + 1)


SCHEDULES = {
    "lambda": lambda s, o, **k: s.LambdaLR(o, lambda e: 1 / (e + 1), **k),
    "lambda_object": lambda s, o, **k: s.LambdaLR(o, [Decay(2), lambda e: 0.9**e], **k),
    "multiplicative": lambda s, o, **k: s.MultiplicativeLR(o, lambda e: 0.9 + e / 100, **k),
    "step": lambda s, o, **k: s.StepLR(o, 3, 0.5, **k),
    "multi_step": lambda s, o, **k: s.MultiStepLR(o, [2, 5, 5], **k),
    "constant": lambda s, o, **k: s.ConstantLR(o, **k),
    "linear": lambda s, o, **k: s.LinearLR(o, 0.2, 0.7, 6, **k),
    "exponential": lambda s, o, **k: s.ExponentialLR(o, 0.8, **k),
    "polynomial": lambda s, o, **k: s.PolynomialLR(o, 7, 2.0, **k),
    "cosine": lambda s, o, **k: s.CosineAnnealingLR(o, 4, 0.01, **k),
    "restarts": lambda s, o, **k: s.CosineAnnealingWarmRestarts(o, 3, 2, 0.01, **k),
    "restarts_equal": lambda s, o, **k: s.CosineAnnealingWarmRestarts(o, 3, 1, 0.01, **k),
    "triangular": lambda s, o, **k: s.CyclicLR(o, 0.1, [0.3, 0.4], 3, 2, **k),
    "triangular2": lambda s, o, **k: s.CyclicLR(o, 0.1, 0.3, 3, mode="triangular2", cycle_momentum=False, **k),
    "exp_range": lambda s, o, **k: s.CyclicLR(o, 0.1, 0.3, 3, mode="exp_range", gamma=0.9, **k),
    "cyclic_custom": lambda s, o, **k: s.CyclicLR(o, 0.1, 0.3, 3, scale_fn=Decay(1), scale_mode="iterations", **k),
    "one_cycle": lambda s, o, **k: s.OneCycleLR(o, [0.3, 0.5], 20, **k),
    "three_phase": lambda s, o, **k: s.OneCycleLR(
        o, 0.3, epochs=2, steps_per_epoch=10, three_phase=True, anneal_strategy="linear", **k
    ),
    "sequential": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, 1.0, 3), s.CosineAnnealingLR(o, 5), s.StepLR(o, 2)], [3, 8]
    ),
    "sequential_chained": lambda s, o: s.SequentialLR(
        o, [s.ChainedScheduler([s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)]), s.CosineAnnealingLR(o, 5)], [3]
    ),
    "chained": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)]),
}
SINGLE = [name for name in SCHEDULES if not name.startswith(("sequential", "chained"))]


def optimizer(lib, optimizers, name, tensor=False, resumed=False):
    def parameter():
        return lib.nn.Parameter(lib.ones(2))

    lr = lib.tensor(0.1, dtype=lib.float64) if tensor else 0.1
    groups = [{"params": [parameter()], "lr": lr}, {"params": [parameter()], "lr": 0.3}]
    made = getattr(optimizers, name)(groups, **({"momentum": 0.9} if name == "SGD" else {}))
    if resumed:
        for group in made.param_groups:
            group.update(initial_lr=0.5, max_lr=1.0, min_lr=0.01, max_momentum=0.9, base_momentum=0.8)
    return made


def plain(value):
    """Tensors as numbers and tuples as lists, to compare what two libraries hold."""
    if hasattr(value, "item"):
        return value.item()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def trace(lib, optimizers, schedules, make, name, jumps=None, **options):
    """All rates and momenta along a run, the saved state, and the rates after loading it and one more step."""
    settings = {"tensor": options.get("tensor", False), "resumed": options.get("resumed", False)}
    extra = {"last_epoch": 4} if settings["resumed"] else {}

    def fresh():
        made = optimizer(lib, optimizers, name, **settings)
        return made, make(schedules, made, **extra)

    o, s = fresh()
    rows = []
    for i in range(EPOCHS):
        rows.append([[g["lr"], g.get("momentum"), g.get("betas")] for g in o.param_groups])
        o.step()
        s.step(*([jumps[i]] if jumps else []))
        rows.append(s.get_last_lr())
        rows = plain(rows)
    other, twin = fresh()
    other.load_state_dict(o.state_dict())
    twin.load_state_dict(s.state_dict())
    other.step()
    twin.step()
    return rows, plain(s.state_dict()), plain(twin.get_last_lr())


def same(ours, theirs):
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key in theirs:
            same(ours[key], theirs[key])
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            same(a, b)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-13, abs=1e-16)
    else:
        assert ours == theirs


def both(name, optimizer_name, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make = SCHEDULES[name]
        ours = trace(taeda, optim, lr_scheduler, make, optimizer_name, **options)
        theirs = trace(torch, torch.optim, torch.optim.lr_scheduler, make, optimizer_name, **options)
    same(ours, theirs)


@pytest.mark.parametrize("optimizer_name", ["SGD", "Adam"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_numbers_and_state(name, optimizer_name):
    both(name, optimizer_name)


@pytest.mark.parametrize("name", SCHEDULES)
def test_tensor_rates(name):
    both(name, "SGD", tensor=True)


@pytest.mark.parametrize("name", SINGLE)
def test_resumed(name):
    both(name, "SGD", resumed=True)


@pytest.mark.parametrize("name", SINGLE)
def test_jumps(name):
    both(name, "SGD", jumps=JUMPS)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "max", "threshold_mode": "abs", "threshold": 0.05},
        {"patience": 0, "cooldown": 2, "factor": 0.5},
        {"patience": 1, "min_lr": [0.05, 0.2], "factor": 0.5, "threshold": 0.1},
    ],
)
def test_plateau(options):
    losses = [1.0, 0.9, 0.95, 0.95, 0.89, 0.9, 0.9, 0.9, 0.7, 0.71, 0.72, 0.73, 0.74] * 2

    def run(lib, optimizers, schedules):
        o = optimizer(lib, optimizers, "SGD")
        s = schedules.ReduceLROnPlateau(o, **{"patience": 2, **options})
        rows = []
        for loss in losses:
            s.step(loss)
            rows.append((s.get_last_lr(), s.num_bad_epochs, s.in_cooldown))
        return rows, plain(s.state_dict())

    same(run(taeda, optim, lr_scheduler), run(torch, torch.optim, torch.optim.lr_scheduler))


def make_optimizer():
    return optimizer(taeda, optim, "SGD")


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda o: lr_scheduler.StepLR(3, 1), TypeError),
        (lambda o: lr_scheduler.StepLR(o, 1, last_epoch=2), KeyError),
        (lambda o: lr_scheduler.LambdaLR(o, [abs]), ValueError),
        (lambda o: lr_scheduler.ConstantLR(o, factor=2), ValueError),
        (lambda o: lr_scheduler.LinearLR(o, start_factor=0), ValueError),
        (lambda o: lr_scheduler.LinearLR(o, end_factor=2), ValueError),
        (lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.2, mode="square"), ValueError),
        (lambda o: lr_scheduler.CyclicLR(optim.Rprop([taeda.nn.Parameter(taeda.ones(1))]), 0.1, 0.2), ValueError),
        (lambda o: lr_scheduler.OneCycleLR(o, 0.1), ValueError),
        (lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=0), ValueError),
        (lambda o: lr_scheduler.OneCycleLR(o, 0.1, 10, pct_start=2.0), ValueError),
        (lambda o: lr_scheduler.OneCycleLR(o, 0.1, 10, anneal_strategy="x"), ValueError),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 0), ValueError),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=1.0), ValueError),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, mode="low"), ValueError),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, min_lr=[0.1]), ValueError),
        (lambda o: lr_scheduler.SequentialLR(o, [], []), ValueError),
        (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(o, 1)], [1]), ValueError),
        (lambda o: lr_scheduler.SequentialLR(make_optimizer(), [lr_scheduler.StepLR(o, 1)], []), ValueError),
        (lambda o: lr_scheduler.ChainedScheduler([]), ValueError),
    ],
)
def test_refuses(make, error):
    with pytest.raises(error):
        make(make_optimizer())


def test_one_cycle_ends():
    o = make_optimizer()
    s = lr_scheduler.OneCycleLR(o, 0.1, total_steps=2)
    o.step()
    s.step()
    s.step()
    with pytest.raises(ValueError):
        s.step()


def test_order_of_the_two_steps_is_watched():
    s = lr_scheduler.StepLR(make_optimizer(), 1)
    with pytest.warns(UserWarning, match="optimizer.step"):
        s.step()
    o = make_optimizer()
    s = lr_scheduler.StepLR(o, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        o.step()
        s.step()
    with pytest.warns(UserWarning, match="get_last_lr"):
        s.get_lr()


def test_order_of_the_two_steps_in_a_wrapper():
    class Wrapper(taeda.optim.Optimizer):
        def __init__(self, inner):
            self.inner, self.param_groups = inner, inner.param_groups

        def step(self):
            self.inner.step()

    o = Wrapper(make_optimizer())
    s = lr_scheduler.StepLR(o, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        o.step()
        s.step()


def test_own_schedules():
    class Halving(lr_scheduler._LRScheduler):
        def get_lr(self):
            return [base * 0.5**self.last_epoch for base in self.base_lrs]

    o = make_optimizer()
    s = Halving(o)
    o.step()
    s.step()
    assert s.get_last_lr() == [0.05, 0.15]
    assert isinstance(s, lr_scheduler.LRScheduler)
