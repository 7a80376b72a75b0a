"""Programs to trace, each given the library (taeda or torch) that it is to use, and an input for it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any


def affine(T: Any) -> Any:
    class Affine(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = T.nn.Parameter(T.linspace(-1, 1, 12).reshape(3, 4))
            self.register_buffer("shift", T.ones(3))
            self.scale = T.tensor(0.5)  # no buffer

        def forward(self, x):
            doubled = self.shift * 2
            return x @ self.weight.T + self.shift - doubled * self.scale

    return Affine()


def convolutions(T: Any) -> Any:
    nn = T.nn
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4, 2)
    ).eval()


def residual(T: Any) -> Any:
    class Block(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = T.nn.Sequential(T.nn.Linear(4, 4), T.nn.GELU())
            self.norm = T.nn.LayerNorm(4)

        def forward(self, x):
            return self.norm(x + self.inner(x))

    class Net(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = T.nn.ModuleList([Block(), Block()])

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return x.mean(dim=-1, keepdim=True)

    return Net()


def functional(T: Any) -> Any:
    F = T.nn.functional

    def calls(x):
        y = F.relu(x)
        y = F.dropout(y, 0.5, training=False)
        y = F.softmax(y, dim=-1) + F.silu(x, inplace=False) + F.leaky_relu(x, 0.2) + F.elu(x)
        return F.mse_loss(y, x), F.smooth_l1_loss(y, x, beta=0.5), F.normalize(y, dim=0), F.hardtanh(x, -1.0, 0.5)

    return calls


def pooled(T: Any) -> Any:
    F = T.nn.functional

    def calls(x):
        x = x[None, None]
        small = F.max_pool2d(x, 2, stride=1)
        return F.avg_pool2d(small, 2), F.adaptive_avg_pool2d(x, 1).flatten(1), F.interpolate(x, scale_factor=2)

    return calls


def operators(T: Any) -> Any:
    def calls(x):
        y = 2 - x + 3 * x / 2 - x // 1 + x % 2 + 2**x - (-x) + +x
        y += 1
        y *= 0.5
        mask = (x > 0) & (x <= 1) | ~(x == 0) ^ (x != 2)
        return y @ x.T, mask, 1 / (x + 5), abs(x), 7 % (x + 5), x < 1, x >= 0

    return calls


def indexing(T: Any) -> Any:
    def calls(x):
        first, second = x.chunk(2, dim=1)
        a, b, c = x.shape[0], x.size(1), x.size()[-1]
        return (
            first[:, None, 0:1],
            second[..., -1],
            x[[0, 1]],
            T.zeros((a, b)),
            x.new_ones((a, c)),
            x.reshape(-1, b // 2),
        )

    return calls


def structures(T: Any) -> Any:
    def calls(x, *, scale=2.0, bias=None):
        parts = T.split(x, 2, dim=1)
        return {"cat": T.cat([parts[1], parts[0]], dim=1), "all": (parts[0], [x * scale, slice(None)], None, "text")}

    return calls


def python_functions(T: Any) -> Any:
    def calls(x):
        n = math.sqrt(x.size(0))
        T._assert(x.size(1) == 4, "four columns")
        return T.einsum("ij,ij->i", x, x) * n, T.norm(x), T.broadcast_tensors(x, x)[0].to(T.float64), x.dtype

    return calls


def repeated(T: Any) -> Any:
    class Repeated(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = T.nn.Linear(4, 4)
            self.camelCase = T.nn.Tanh()
            self.weights = T.nn.ParameterList([T.nn.Parameter(T.ones(4)), T.nn.Parameter(T.zeros(4))])

        def forward(self, x):
            tied = T.nn.functional.linear(x, self.layer.weight)
            return self.camelCase(self.layer(self.layer(x))) + tied * self.weights[0] + self.weights[1]

    return Repeated()


def methods_of_tensors(T: Any) -> Any:
    constant = T.arange(4.0)

    def calls(x):
        return constant + x, constant.mul(x), x.add(constant), T.stack([constant, x[0]]), x.clamp(min=0.0, max=1.0)

    return calls


def attention(T: Any) -> Any:
    class Attention(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = T.nn.Linear(4, 12)
            self.proj = T.nn.Linear(4, 4)

        def forward(self, x):
            n, c = x.shape
            q, k, v = self.qkv(x).reshape(n, 3, 2, c // 2).permute(1, 2, 0, 3).unbind(0)
            y = T.nn.functional.scaled_dot_product_attention(q, k, v)
            return self.proj(y.transpose(0, 1).reshape(n, c))

    return Attention()


def calls_of_operators(T: Any) -> Any:
    return lambda x: operator.add(x, operator.getitem(x, 0))


def ops_by_name(T: Any) -> Any:
    return lambda x: T.ops.aten.add.Tensor(T.ops.aten.relu.default(x), 1) + T.special.expit(x) + T.linalg.norm(x)


PROGRAMS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "affine": (affine, (2, 4)),
    "convolutions": (convolutions, (2, 1, 4, 4)),
    "residual": (residual, (3, 4)),
    "functional": (functional, (3, 4)),
    "pooled": (pooled, (4, 4)),
    "operators": (operators, (3, 3)),
    "indexing": (indexing, (2, 4)),
    "structures": (structures, (3, 4)),
    "python_functions": (python_functions, (3, 4)),
    "repeated": (repeated, (2, 4)),
    "methods_of_tensors": (methods_of_tensors, (3, 4)),
    "attention": (attention, (5, 4)),
    "ops_by_name": (ops_by_name, (2, 2)),
    "calls_of_operators": (calls_of_operators, (2, 2)),
}


def made(name: str, library: Any) -> tuple[Any, Any]:
    """The program of that name, and an input, of ``library``."""
    make, shape = PROGRAMS[name]
    library.manual_seed(0)
    size = math.prod(shape)
    return make(library), (library.arange(size) - size // 3).reshape(shape) / (size / 2)
