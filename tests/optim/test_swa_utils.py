"""Weight averages and their schedule, beside PyTorch's."""

from __future__ import annotations

import pytest

import taeda
from taeda import optim
from taeda.optim import swa_utils

torch = pytest.importorskip("torch")
theirs = torch.optim.swa_utils

KINDS = {
    "mean": lambda s: {},
    "ema": lambda s: {"avg_fn": s.get_ema_avg_fn(0.9)},
    "ema_lists": lambda s: {"multi_avg_fn": s.get_ema_multi_avg_fn(0.9), "use_buffers": True},
    "swa": lambda s: {"avg_fn": s.get_swa_avg_fn()},
    "swa_lists": lambda s: {"multi_avg_fn": s.get_swa_multi_avg_fn()},
}


def fill(lib, model, value):
    with lib.no_grad():
        for i, t in enumerate(model.state_dict().values()):
            t.fill_(value * (i + 1))


@pytest.mark.parametrize("kind", KINDS)
def test_averages(kind):
    def run(lib, swa):
        model = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.BatchNorm1d(3))
        averaged = swa.AveragedModel(model, **KINDS[kind](swa))
        for value in (1.0, 4.0, 2.0):
            fill(lib, model, value)
            averaged.update_parameters(model)
        averaged.eval()
        return {k: v.tolist() for k, v in averaged.state_dict().items()}, averaged(lib.ones(1, 2)).tolist()

    (ours, out), (expected, expected_out) = run(taeda, swa_utils), run(torch, theirs)
    assert ours.keys() == expected.keys()
    for key, value in expected.items():
        assert taeda.allclose(taeda.tensor(ours[key]).double(), taeda.tensor(value).double()), key
    assert taeda.allclose(taeda.tensor(out), taeda.tensor(expected_out))


def test_update_bn_takes_the_mean_over_all_batches():
    model = taeda.nn.BatchNorm1d(2)
    model.eval()
    swa_utils.update_bn([taeda.ones(4, 2), [taeda.full((4, 2), 3.0), "label"]], model)
    assert model.running_mean.tolist() == [2.0, 2.0]
    assert (model.momentum, model.training) == (0.1, False)


@pytest.mark.parametrize("options", [{}, {"anneal_strategy": "linear", "anneal_epochs": 4}, {"anneal_epochs": 0}])
def test_swalr(options):
    def run(lib, optimizers, swa):
        groups = [{"params": lib.nn.Parameter(lib.ones(1)), "lr": lr} for lr in (0.1, 0.3)]
        o = optimizers.SGD(groups)
        s = swa.SWALR(o, [0.05, 0.5], **options)
        rows = []
        for _ in range(12):
            o.step()
            s.step()
            rows.extend(s.get_last_lr())
        return rows

    assert run(taeda, optim, swa_utils) == pytest.approx(run(torch, torch.optim, theirs), rel=1e-12)


def test_refuses():
    with pytest.raises(AssertionError):
        swa_utils.AveragedModel(taeda.nn.Linear(1, 1), avg_fn=min, multi_avg_fn=min)
    with pytest.raises(ValueError):
        swa_utils.get_ema_avg_fn(1.5)
    o = optim.SGD([taeda.nn.Parameter(taeda.ones(1))])
    for options in ({"anneal_strategy": "x"}, {"anneal_epochs": -1}, {"swa_lr": [1.0, 2.0]}):
        with pytest.raises(ValueError):
            swa_utils.SWALR(o, **{"swa_lr": 0.1, **options})
