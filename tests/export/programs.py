"""Modules that the tests of export share; ``torch`` is whichever library."""

from __future__ import annotations

from typing import Any


def modules(torch: Any) -> dict[str, Any]:
    """By name: a function that makes the module and its example."""
    nn, functional = torch.nn, torch.nn.functional

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.convolution = nn.Conv2d(3, 8, 3, 2, 1, bias=False)
            self.norm = nn.BatchNorm2d(8)
            self.inner = nn.Conv2d(8, 8, 3, 1, 1)
            self.last = nn.Linear(8, 5)

        def forward(self, x):
            x = functional.max_pool2d(torch.relu(self.norm(self.convolution(x))), 2)
            x = x + torch.relu(self.inner(x))
            return self.last(torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1))

    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(4)
            self.register_buffer("calls", torch.zeros(3))
            self.scale = torch.tensor([2.0])

        def forward(self, x, more, *, flag=None):
            self.calls.add_(1)
            y = self.norm(x)
            y[0] += 1
            y = y.reshape(x.shape[0] // 2, -1)
            return {
                "y": y * self.scale + torch.tensor(3.0),
                "rest": (more["a"] + torch.zeros(x.shape[0], 4), x.shape[0]),
            }

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

        def forward(self, x):
            batch, length, _ = x.shape
            return self.inner(x).reshape(batch * length, -1)

    class Views(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
            self.second.weight = self.first.weight
            self.register_buffer("n", torch.arange(6.0).reshape(3, 2).t())
            self.register_buffer("m", self.n[1:])
            self.register_buffer("kept", torch.ones(3), persistent=False)

        def forward(self, x, y, n=2):
            a, _, c = torch.split(x, [1, 1, x.shape[1] - 2], 1)
            largest, _ = torch.max(y, 1)
            rows = x[:, torch.tensor([0, 1])]
            picked = torch.where(x > 0, x, float("-inf")).to(torch.float64)
            filled = torch.full((x.shape[0], 2), 1.5, dtype=torch.float64, device="cpu")
            pairs = torch.view_as_complex(torch.ones(2, 2)) * 2j
            state = self.second(self.first(self.m.sum(0) + self.n[0] + self.kept[:2].sum()))
            return a, c, largest, rows, picked, filled, pairs, state, None, 3, n, x.shape[0] // 2

    class Branches(nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda a: a.sin() + 1, lambda a: a.cos(), (x,)), x.max(0)[1]

    return {
        "views": lambda: (Views().eval(), (torch.randn(7, 3), torch.randn(2, 5))),
        "branches": lambda: (Branches(), (torch.randn(3, 4),)),
        "residual": lambda: (Residual().eval(), (torch.randn(2, 3, 16, 16),)),
        "counter": lambda: (Counter(), (torch.randn(8, 4), {"a": torch.randn(8, 4)})),
        "attention": lambda: (Attention().eval(), (torch.randn(2, 5, 8),)),
        "recurrent": lambda: (nn.LSTM(4, 5, 2, batch_first=True), (torch.randn(2, 3, 4),)),
    }
