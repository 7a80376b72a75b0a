"""Whole training steps of five small models: forward, loss, backward, optimiser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.timing import Budget, Case, Row, compare

GROUP = "training steps"
BUDGETS = {GROUP: Budget(0.8, 0.8)}


def _step(T: Any, model: Any, loss: Callable[[], Any], optimizer: str = "SGD") -> Callable[[], Any]:
    optimize = getattr(T.optim, optimizer)(model.parameters(), lr=1e-3)

    def step() -> None:
        optimize.zero_grad()
        loss().backward()
        optimize.step()

    return step


def _as_it_is(model: Any) -> Any:
    return model


def mlp(T: Any, wrap: Callable[[Any], Any] = _as_it_is) -> Callable[[], Any]:
    nn = T.nn
    T.manual_seed(0)
    model = wrap(nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10)))
    x, y = T.randn(64, 784), T.randint(10, (64,))
    return _step(T, model, lambda: nn.functional.cross_entropy(model(x), y), "Adam")


def lenet(T: Any) -> Callable[[], Any]:
    nn = T.nn
    T.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 10),
    )
    x, y = T.randn(32, 1, 28, 28), T.randint(10, (32,))
    return _step(T, model, lambda: nn.functional.cross_entropy(model(x), y))


def residual_block(nn: Any) -> Any:
    """The class of blocks that small ResNets are made of, by their channels."""

    class Block(nn.Module):
        def __init__(self, channels: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
            self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
            self.norm1, self.norm2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)

        def forward(self, x: Any) -> Any:
            y = self.norm1(self.conv1(x)).relu()
            return (self.norm2(self.conv2(y)) + x).relu()

    return Block


def resnet(T: Any, wrap: Callable[[Any], Any] = _as_it_is) -> Callable[[], Any]:
    nn, Block = T.nn, residual_block(T.nn)
    T.manual_seed(0)
    layers = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        Block(16),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        Block(32),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    )
    model = wrap(layers)
    x, y = T.randn(16, 3, 32, 32), T.randint(10, (16,))
    return _step(T, model, lambda: nn.functional.cross_entropy(model(x), y))


def gpt(T: Any) -> Callable[[], Any]:
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)
    width, heads, length, words = 64, 4, 64, 100

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x: Any) -> Any:
            batch = x.shape[0]
            q, k, v = (t.view(batch, length, heads, -1).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
            return x + self.mlp(self.norm2(x))

    model = nn.Sequential(nn.Embedding(words, width), Block(), Block(), nn.LayerNorm(width), nn.Linear(width, words))
    x, y = T.randint(words, (8, length)), T.randint(words, (8, length))
    return _step(T, model, lambda: F.cross_entropy(model(x).view(-1, words), y.view(-1)), "AdamW")


def lstm(T: Any) -> Callable[[], Any]:
    nn = T.nn
    T.manual_seed(0)
    layers = nn.ModuleDict({"lstm": nn.LSTM(32, 64, batch_first=True), "head": nn.Linear(64, 10)})
    x, y = T.randn(16, 30, 32), T.randint(10, (16,))
    return _step(T, layers, lambda: nn.functional.cross_entropy(layers["head"](layers["lstm"](x)[0][:, -1]), y))


def rows(quick: bool) -> list[Row]:
    """One step of each model, in milliseconds, with one thread and with two."""
    cases: list[tuple[str, Case]] = [
        ("MLP", mlp),
        ("LeNet", lenet),
        ("small ResNet", resnet),
        ("small GPT", gpt),
        ("LSTM", lstm),
    ]
    rounds = 5 if quick else 15
    twice = [(f"{name}, two threads", case) for name, case in cases]
    return [
        *compare(GROUP, cases, 0.8, rounds=rounds, unit="ms"),
        *compare(GROUP, twice, 0.8, rounds=rounds, unit="ms", threads=2),
    ]
