"""Another's parameters and state in an optimizer for a while."""

import pytest

import taeda


def test_swapped_parameters_and_state():
    own = [taeda.nn.Parameter(taeda.ones(2)) for _ in range(2)]
    optimizer = taeda.optim.Adam(own, lr=0.1)
    other = {"a": taeda.zeros(2, requires_grad=True), "b": taeda.nn.Parameter(taeda.zeros(2))}
    swap = taeda.optim.swap_in_optimizer_params_and_state
    with pytest.raises(RuntimeError, match="no state"), swap(optimizer, other, optimizer.state_dict()):
        pass
    sum((p * p).sum() for p in own).backward()
    optimizer.step()
    state = optimizer.state_dict()
    state["param_groups"][0]["lr"] = 0.5
    for p in other.values():
        p.grad = taeda.ones(2)
    before = [p.tolist() for p in own]
    with swap(optimizer, other, state):
        assert [id(p) for p in optimizer.param_groups[0]["params"]] == [id(p) for p in other.values()]
        optimizer.step()
    assert optimizer.param_groups[0]["lr"] == 0.1 and optimizer.param_groups[0]["params"][0] is own[0]
    assert [p.tolist() for p in own] == before and other["a"].tolist() != [0, 0]
    assert state["state"][0]["step"].item() == 2
    with pytest.raises(RuntimeError, match="wanted 2 parameters"), swap(optimizer, {"a": taeda.zeros(2)}, state):
        pass
