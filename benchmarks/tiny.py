"""Small models, where the overhead of many calls adds up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.timing import Budget, Case, Row, compare

GROUP = "tiny models"
BUDGETS = {GROUP: Budget(0.3, 0.3)}


def forward(T: Any) -> Callable[[], Any]:
    linear, x = T.nn.Linear(10, 10), T.ones(4, 10)
    return lambda: linear(x)


def forward_and_backward(T: Any) -> Callable[[], Any]:
    linear, x = T.nn.Linear(10, 10), T.ones(4, 10)

    def step() -> None:
        linear.zero_grad()
        linear(x).sum().backward()

    return step


def sgd_step(T: Any) -> Callable[[], Any]:
    nn = T.nn
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = T.optim.SGD(model.parameters(), lr=0.01)
    x, y = T.ones(4, 10), T.ones(4, 1)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    return step


def rows(quick: bool) -> list[Row]:
    """A linear layer forward, forward and backward, and a training step of a two-layer network."""
    cases: list[tuple[str, Case]] = [("Linear forward", forward), ("Linear forward + backward", forward_and_backward),
                                     ("MLP training step", sgd_step)]  # fmt: skip
    return compare(GROUP, cases, 0.3, rounds=20 if quick else 100)
