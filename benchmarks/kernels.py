"""Kernels: ops bound by memory, products and convolutions, and the layers between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.timing import Budget, Case, Row, compare

MEMORY, GRADIENTS, PRODUCTS, LAYERS = "memory-bound", "pointwise gradients", "products", "layers"
TRANSFORMS = "Fourier transforms"
BUDGETS = {
    MEMORY: Budget(0.7, 1.1),
    GRADIENTS: Budget(0.7, 1.1),
    PRODUCTS: Budget(1.0, 1.25),
    LAYERS: Budget(0.7, 1.1),
    TRANSFORMS: Budget(1.0, 2.5),
}
Make = Callable[[Any, Any], Callable[[], Any]]

_ELEMENTWISE: dict[str, Make] = {
    "add": lambda T, x: lambda: x + x,
    "mul by a number": lambda T, x: lambda: x * 2.5,
    "exp": lambda T, x: lambda: T.exp(x),
    "sqrt": lambda T, x: lambda: T.sqrt(x),
    "tanh": lambda T, x: lambda: T.tanh(x),
    "gelu": lambda T, x: lambda: T.nn.functional.gelu(x),
    "where": lambda T, x: (lambda mask: lambda: T.where(mask, x, 0.0))(x > 0.5),
    "compare": lambda T, x: lambda: x > 0.5,
    "sum": lambda T, x: lambda: x.sum(),
    "argmax": lambda T, x: lambda: x.argmax(),
    "to bfloat16": lambda T, x: lambda: x.bfloat16(),
    "bfloat16 add": lambda T, x: (lambda y: lambda: y + y)(x.bfloat16()),
    "add in place": lambda T, x: (lambda y: lambda: y.add_(1.0))(x.clone()),
    "row sum": lambda T, x: (lambda y: lambda: y.sum(1))(x.view(-1, 256)),
    "row mean, 64": lambda T, x: (lambda y: lambda: y.mean(1))(x.view(-1, 64)),
    "row max, 1024": lambda T, x: (lambda y: lambda: y.amax(1))(x.view(-1, 1024)),
    "column sum": lambda T, x: (lambda y: lambda: y.sum(0))(x.view(256, -1)),
    "transposed copy": lambda T, x: (lambda y: lambda: y.t().contiguous())(x.view(256, -1)),
}


def memory(quick: bool) -> list[Row]:
    """From a size that fits in a core's cache to one that fits in none."""
    found = []
    for label, size in (("64K", 1 << 16), ("1M", 1 << 20), ("16M", 1 << 24))[: 2 if quick else 3]:
        cases: list[tuple[str, Case]] = [
            (f"{name}, {label}", lambda T, make=make, size=size: make(T, T.linspace(0.01, 1.0, size)))
            for name, make in _ELEMENTWISE.items()
        ]
        found += compare(MEMORY, cases, 1.1, rounds=5 if quick else 20, places=1 if quick else 3)
    return found


_POINTWISE = {
    1: ("sigmoid", "tanh", "silu", "gelu", "sin", "hardswish"),
    2: ("mul", "div", "pow", "atan2", "logaddexp", "hypot", "maximum"),
    3: ("addcmul", "lerp"),
}


def _gradient(name: str, inputs: int, size: int, dtype: str) -> Case:
    def make(T: Any) -> Callable[[], Any]:
        function = getattr(T, name, None) or getattr(T.nn.functional, name)
        xs = [
            T.linspace(0.5 + i / 10, 1.5 + i / 10, size).to(getattr(T, dtype)).requires_grad_() for i in range(inputs)
        ]
        y = function(*xs)
        given = T.ones_like(y)
        return lambda: T.autograd.grad(y, xs, given, retain_graph=True)

    return make


def gradients(quick: bool) -> list[Row]:
    """The backward pass of pointwise ops alone, for all their inputs."""
    cases = [
        (f"{name}, {label}{' bfloat16' * (dtype != 'float32')}", _gradient(name, inputs, size, dtype))
        for label, size in (("64K", 1 << 16), ("4M", 1 << 22))[: 1 if quick else 2]
        for dtype in ("float32", "bfloat16")
        for inputs, names in _POINTWISE.items()
        for name in names
    ]
    return compare(GRADIENTS, cases, 1.1, rounds=5 if quick else 10)


def _matmul(size: int, dtype: str) -> Case:
    def make(T: Any) -> Callable[[], Any]:
        a = T.linspace(-1, 1, size * size).view(size, size).to(getattr(T, dtype))
        return lambda: a @ a

    return make


def _conv(channels: int, pixels: int, backward: bool, batch: int = 8) -> Case:
    def make(T: Any) -> Callable[[], Any]:
        conv = T.nn.Conv2d(channels, channels, 3, padding=1)
        x = T.randn(batch, channels, pixels, pixels, requires_grad=backward)
        if not backward:
            return lambda: conv(x.detach())
        return lambda: conv(x).sum().backward()

    return make


def products(quick: bool) -> list[Row]:
    """Matrix products in single and half precision, convolutions forward and backward."""
    cases = [(f"{size} x {size} {dtype}", _matmul(size, dtype))
             for size in (64, 256, 1024)[: 2 if quick else 3] for dtype in ("float32", "bfloat16")]  # fmt: skip
    cases += [
        (f"conv {c} channels, {p} x {p}{', backward' * b}", _conv(c, p, b))
        for c, p in ((16, 32), (64, 28))
        for b in (False, True)
    ]
    return compare(PRODUCTS, cases, 1.25, rounds=4 if quick else 8)


def _layer(build: Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]], backward: bool = False) -> Case:
    def make(T: Any) -> Callable[[], Any]:
        T.manual_seed(0)
        function, args = build(T)
        if not backward:
            with T.no_grad():
                function(*args)
            return lambda: _quietly(T, function, args)
        x = args[0].requires_grad_()
        return lambda: function(x, *args[1:]).sum().backward()

    return make


def _quietly(T: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    with T.no_grad():
        return function(*args)


_LAYERS: dict[str, Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]]] = {
    "layer_norm": lambda T: (T.nn.LayerNorm(512), (T.randn(1024, 512),)),
    "batch_norm": lambda T: (T.nn.BatchNorm2d(32), (T.randn(16, 32, 32, 32),)),
    "softmax": lambda T: (lambda x: T.softmax(x, -1), (T.randn(1024, 512),)),
    "cross_entropy": lambda T: (T.nn.CrossEntropyLoss(), (T.randn(1024, 512), T.randint(512, (1024,)))),
    "attention": lambda T: (
        T.nn.functional.scaled_dot_product_attention,
        tuple(T.randn(4, 8, 128, 64) for _ in range(3)),
    ),
    "max_pool2d": lambda T: (T.nn.MaxPool2d(2), (T.randn(16, 32, 32, 32),)),
    "avg_pool2d": lambda T: (T.nn.AvgPool2d(2), (T.randn(16, 32, 32, 32),)),
}
_FORWARD_ONLY: dict[str, Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]]] = {
    "embedding": lambda T: (T.nn.Embedding(5000, 128), (T.randint(5000, (64, 128)),)),
    "LSTM": lambda T: (T.nn.LSTM(64, 64), (T.randn(32, 16, 64),)),
    "sort": lambda T: (lambda x: x.sort(), (T.randn(64, 4096),)),
    "gather": lambda T: (lambda x, i: x.gather(1, i), (T.randn(1024, 512), T.randint(512, (1024, 512)))),
    "topk": lambda T: (lambda x: x.topk(10), (T.randn(64, 4096),)),
    "cumsum": lambda T: (lambda x: x.cumsum(1), (T.randn(1024, 512),)),
}


def layers(quick: bool) -> list[Row]:
    """Normalisation, attention, losses, pooling, recurrent layers, sorting, gathering."""
    cases = [(name, _layer(build)) for name, build in (_LAYERS | _FORWARD_ONLY).items()]
    cases += [(f"{name}, backward", _layer(build, backward=True)) for name, build in _LAYERS.items()]
    return compare(LAYERS, cases, 1.1, rounds=5 if quick else 12)


_TRANSFORMED = ((1024,), (1000,), (1009,), (1 << 20,), (1000, 64), (1000, 360), (256, 1024))
_IMAGES = ((512, 512), (360, 360), (8, 3, 224, 224))


def transforms(quick: bool) -> list[Row]:
    """Lines of powers of two, composite and prime lengths, one and many; images."""
    cases: list[tuple[str, Case]] = []
    for shapes, names in ((_TRANSFORMED, ("fft", "rfft")), (_IMAGES, ("fft2", "rfft2"))):
        for shape in shapes:
            for name in names:

                def make(T: Any, shape: Any = shape, name: str = name) -> Callable[[], Any]:
                    T.manual_seed(0)
                    x = T.randn(shape) if name.startswith("r") else T.randn(shape, dtype=T.complex64)
                    return lambda: getattr(T.fft, name)(x)

                cases.append((f"{name} {tuple(shape)}", make))
    return compare(TRANSFORMS, cases, 2.5, rounds=5 if quick else 12)
