"""Quantised layers: against PyTorch's, and against our own of float32."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks.timing import Budget, Case, Row, compare, in_turn

GROUP, FLOATS = "quantised layers", "quantised layers against our float32"
BUDGETS = {GROUP: Budget(0.9, 1.15), FLOATS: Budget(0.5, 0.5)}

# Activations have 7 bits, as PyTorch's own settings for x86 have them (reduce_range): with 8 its kernels saturate on
# processors that have no instruction for bytes. Rows of 8 bits are named so.
_LINEARS = ((1, 1024, 1024), (16, 512, 512), (64, 1024, 1024), (256, 1024, 1024), (64, 4096, 1024))
# Images, channels, places, filters, kernel, stride, groups.
_CONVS = (
    (1, 64, 56, 64, 3, 1, 1), (8, 64, 56, 64, 3, 1, 1), (8, 256, 14, 256, 3, 1, 1), (8, 256, 28, 512, 1, 2, 1),
    (8, 128, 28, 128, 3, 1, 128), (1, 3, 224, 64, 7, 2, 1),
)  # fmt: skip
# Rows that may be over against floats.
_WHY: dict[tuple[int, ...], str] = {
    (8, 128, 28, 128, 3, 1, 128): "nine products to a sum, of which reading and rounding are the most",
    (1, 3, 224, 64, 7, 2, 1): "seven runs of 21 elements to a sum, each filled up to 24",
}
_OF_8_BITS = ((64, 1024, 1024), (8, 64, 56, 64, 3, 1, 1), (8, 256, 28, 512, 1, 2, 1))


def _weight(T: Any, *shape: int) -> Any:
    return T.quantize_per_tensor(T.randn(*shape), 0.02, 0, T.qint8)


def _activations(T: Any, bits: int, *shape: int) -> Any:
    values = T.randn(*shape).clamp(-3, 3)
    return T.quantize_per_tensor(values, 6 / (2**bits - 1), 2 ** (bits - 1), T.quint8)


def _linear(m: int, k: int, n: int, bits: int = 7) -> Case:
    def make(T: ModuleType | Any) -> Callable[[], Any]:
        packed, x = T.ops.quantized.linear_prepack(_weight(T, n, k), T.randn(n)), _activations(T, bits, m, k)
        return lambda: T.ops.quantized.linear(x, packed, 0.5, 128)

    return make


def _dynamic(m: int, k: int, n: int) -> Case:
    def make(T: ModuleType | Any) -> Callable[[], Any]:
        packed, x = T.ops.quantized.linear_prepack(_weight(T, n, k), T.randn(n)), T.randn(m, k)
        return lambda: T.ops.quantized.linear_dynamic(x, packed, True)

    return make


def _conv(n: int, c: int, places: int, filters: int, kernel: int, stride: int, groups: int, bits: int = 7) -> Case:
    def make(T: ModuleType | Any) -> Callable[[], Any]:
        weight = _weight(T, filters, c // groups, kernel, kernel)
        packed = T.ops.quantized.conv2d_prepack(
            weight, T.randn(filters), [stride] * 2, [kernel // 2] * 2, [1, 1], groups
        )
        x = _activations(T, bits, n, c, places, places).contiguous(memory_format=T.channels_last)
        return lambda: T.ops.quantized.conv2d(x, packed, 0.5, 128)

    return make


def _lstm(batch: int, hidden: int) -> Case:
    def make(T: ModuleType | Any) -> Callable[[], Any]:
        pack = T.ops.quantized.linear_prepack
        weights = [pack(_weight(T, 4 * hidden, hidden), T.randn(4 * hidden)) for _ in range(2)]
        bias = T.randn(4 * hidden)
        cell = T.ops.quantized.make_quantized_cell_params_dynamic(*weights, bias, bias, True)
        x, states = T.randn(32, batch, hidden), [T.zeros(1, batch, hidden), T.zeros(1, batch, hidden)]
        more = {"dtype": T.qint8, "use_dynamic": True}
        return lambda: T.quantized_lstm(x, states, [cell], True, 1, 0.0, False, False, False, **more)

    return make


def _layer(shape: tuple[int, ...], bits: int = 7) -> tuple[str, Case]:
    """A linear layer of three numbers, a convolution of seven."""
    name = "linear" if len(shape) == 3 else "conv2d"
    make: Callable[..., Case] = _linear if len(shape) == 3 else _conv
    return f"{name} {'x'.join(map(str, shape))}{', 8 bits' if bits == 8 else ''}", make(*shape, bits)


def _float(shape: tuple[int, ...]) -> Callable[[], Any]:
    """The same layer of floats."""
    import taeda

    if len(shape) == 3:
        m, k, n = shape
        x, w, b = taeda.randn(m, k), taeda.randn(n, k), taeda.randn(n)
        return lambda: taeda.nn.functional.linear(x, w, b)
    n, c, places, filters, kernel, stride, groups = shape
    x = taeda.randn(n, c, places, places).contiguous(memory_format=taeda.channels_last)
    w, b = taeda.randn(filters, c // groups, kernel, kernel), taeda.randn(filters)
    return lambda: taeda.nn.functional.conv2d(x, w, b, stride, kernel // 2, 1, groups)


class _Floats:
    """In place of a library: our own layers of float32."""


def rows(quick: bool) -> list[Row]:
    """Both groups, with one thread."""
    import taeda

    rounds = 3 if quick else 12
    layers = [_layer(shape) for shape in (*_LINEARS, *_CONVS)] + [_layer(shape, 8) for shape in _OF_8_BITS]
    layers += [(f"linear_dynamic {m}x{k}x{n}", _dynamic(m, k, n)) for m, k, n in _LINEARS]
    layers += [(f"quantized_lstm 32x{b}x{h}", _lstm(b, h)) for b, h in ((1, 256), (16, 256))]
    found = compare(GROUP, layers, 1.15, rounds=rounds)
    taeda.set_num_threads(1)
    large = [shape for shape in _LINEARS if shape[0] >= 64]
    for shape, bits in [*((s, 7) for s in (*large, *_CONVS)), *((s, 8) for s in _OF_8_BITS)]:
        name, case = _layer(shape, bits)
        both = lambda T: _float(shape) if T is _Floats else case(T)  # noqa: B023
        ours, floats = in_turn(both, (taeda, _Floats), rounds)  # type: ignore[arg-type]
        found.append(Row(FLOATS, name, ours * 1e6, floats * 1e6, "us", 0.5, why=_WHY.get(shape, "")))
    return found
