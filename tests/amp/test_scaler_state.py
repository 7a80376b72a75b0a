"""What programs read of a gradient scaler, and optimisers that scale by themselves."""

from __future__ import annotations

import pickle

import taeda
from taeda import nn
from taeda.amp import GradScaler
from taeda.amp.grad_scaler import OptState, _refresh_per_optimizer_state


def scaled(scaler, model):
    loss = model(taeda.ones(2, 4)).sum()
    scaler.scale(loss).backward()


def test_state_is_in_tensors():
    model = nn.Linear(4, 1)
    optimizer = taeda.optim.SGD(model.parameters(), 0.1)
    scaler = GradScaler("cpu", init_scale=4.0, growth_interval=1)
    assert scaler._scale is None
    scaled(scaler, model)
    assert scaler._scale.dtype == taeda.float32 and scaler._growth_tracker.dtype == taeda.int32
    scaler.unscale_(optimizer)
    state = scaler._per_optimizer_states[id(optimizer)]
    assert state["stage"] is OptState.UNSCALED and [float(v) for v in state["found_inf_per_device"].values()] == [0]
    assert model.weight.grad.tolist() == [[2.0] * 4]
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 8 and scaler._per_optimizer_states[0] == _refresh_per_optimizer_state()


def test_pickled_between_steps():
    scaler = GradScaler("cpu", init_scale=3.0)
    scaler.scale(taeda.ones(1))
    again = pickle.loads(pickle.dumps(scaler))
    assert again.get_scale() == 3 and again._scale is None
    assert again.scale(taeda.ones(1)).item() == 3


def test_infinite_gradients_leave_the_step_out():
    model = nn.Linear(4, 1)
    optimizer = taeda.optim.SGD(model.parameters(), 0.1)
    scaler = GradScaler("cpu", init_scale=4.0)
    before = model.weight.clone()
    scaled(scaler, model)
    model.weight.grad[0, 0] = float("inf")
    scaler.step(optimizer)
    scaler.update()
    assert taeda.equal(model.weight, before) and scaler.get_scale() == 2


def test_optimisers_that_scale_by_themselves():
    seen = []

    class Takes(taeda.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure=None):
            seen.append((float(self.grad_scale), float(self.found_inf)))

    model = nn.Linear(4, 1)
    optimizer = Takes(model.parameters(), 0.1)
    scaler = GradScaler("cpu", init_scale=4.0)
    scaled(scaler, model)
    model.weight.grad[0, 0] = float("nan")
    scaler.step(optimizer)
    assert seen == [(4.0, 1.0)] and not hasattr(optimizer, "found_inf")
    assert model.weight.grad[0, 1] == 8  # not divided
