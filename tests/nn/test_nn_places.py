"""An exception out of a model says where in it it arose, also from a worker that loads data."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda import nn
from taeda.utils.data import DataLoader


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Sequential(nn.Linear(4, 2)))

    def forward(self, x: Any) -> Any:
        return self.encoder(x)


class Catches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.wrong, self.also = nn.Linear(9, 1), nn.Linear(8, 1)

    def forward(self, x: Any) -> Any:
        try:
            return self.wrong(x)
        except RuntimeError:
            return self.also(x)


@pytest.mark.parametrize(
    ("make", "notes"),
    [
        (lambda: nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Linear(3, 4)), ["in Sequential[2] (Linear)"]),
        (Net, ["in Net.encoder[2][0] (Linear)"]),
        (lambda: nn.Sequential(Net()), ["in Sequential[0].encoder[2][0] (Linear)"]),
        (lambda: nn.Linear(3, 3), []),  # the message says as much
        (Catches, ["in Catches.also (Linear)"]),
    ],
)
@pytest.mark.parametrize("hooked", [False, True])
def test_notes(make: Any, notes: list[str], hooked: bool) -> None:
    model = make()
    if hooked:
        for module in model.modules():
            module.register_forward_hook(lambda *a: None)
    for _ in range(2):
        with pytest.raises(RuntimeError) as caught:
            model(taeda.ones(2))
        assert getattr(caught.value, "__notes__", []) == notes


@pytest.mark.parametrize("workers", [0, 1])
def test_samples_that_do_not_fit_together(workers: int) -> None:
    samples = [taeda.ones(2), taeda.ones(2), taeda.ones(3)]
    with pytest.raises(RuntimeError) as caught:
        list(DataLoader(samples, batch_size=2, sampler=[0, 1, 2, 1], num_workers=workers))  # type: ignore[arg-type]
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert "samples [2, 1] of the dataset became a batch" in text


def test_a_sample_that_cannot_be_read() -> None:
    with pytest.raises(IndexError) as caught:
        list(DataLoader([1, 2], sampler=[5], batch_size=1))  # type: ignore[arg-type]
    assert caught.value.__notes__ == ["while the dataset gave samples [5]"]
