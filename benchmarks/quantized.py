"""Quantised layers: against PyTorch's, and against our own of float32."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks.timing import Budget, Case, Row, compare, in_turn

GROUP, FLOATS = "quantised layers", "quantised layers against our float32"
BUDGETS = {GROUP: Budget(0.9, 1.15), FLOATS: Budget(0.5, 0.5)}

_LINEARS = ((1, 1024, 1024), (16, 512, 512), (64, 1024, 1024), (256, 1024, 1024), (64, 4096, 1024))
# Images, channels, places, filters, kernel, stride, groups.
_CONVS = (
    (1, 64, 56, 64, 3, 1, 1), (8, 64, 56, 64, 3, 1, 1), (8, 256, 14, 256, 3, 1, 1), (8, 256, 28, 512, 1, 2, 1),
    (8, 128, 28, 128, 3, 1, 128), (1, 3, 224, 64, 7, 2, 1),
)  # fmt: skip


def _weight(T: Any, *shape: int) -> Any:
    return T.quantize_per_tensor(T.randn(*shape), 0.02, 0, T.qint8)


def _linear(m: int, k: int, n: int, dynamic: bool) -> Case:
    def make(T: ModuleType | Any) -> Callable[[], Any]:
        packed, x = T.ops.quantized.linear_prepack(_weight(T, n, k), T.randn(n)), T.randn(m, k)
        if dynamic:
            return lambda: T.ops.quantized.linear_dynamic(x, packed)
        quantised = T.quantize_per_tensor(x, 0.05, 128, T.quint8)
        return lambda: T.ops.quantized.linear(quantised, packed, 0.5, 128)

    return make


def _conv(n: int, c: int, places: int, filters: int, kernel: int, stride: int, groups: int) -> Case:
    def make(T: ModuleType | Any) -> Callable[[], Any]:
        weight = _weight(T, filters, c // groups, kernel, kernel)
        packed = T.ops.quantized.conv2d_prepack(
            weight, T.randn(filters), [stride] * 2, [kernel // 2] * 2, [1, 1], groups
        )
        x = T.quantize_per_tensor(T.randn(n, c, places, places), 0.05, 128, T.quint8)
        x = x.contiguous(memory_format=T.channels_last)
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


def _float(case: Case, linear: tuple[int, int, int] | None, conv: tuple[int, ...] | None) -> Callable[[Any], Any]:
    """Of two libraries that are both ours, the first gets the quantised layer and the second that of floats."""

    def make(T: Any) -> Callable[[], Any]:
        if T is not _Floats:
            return case(T)
        import taeda

        if linear is not None:
            m, k, n = linear
            x, w, b = taeda.randn(m, k), taeda.randn(n, k), taeda.randn(n)
            return lambda: taeda.nn.functional.linear(x, w, b)
        assert conv is not None
        n, c, places, filters, kernel, stride, groups = conv
        x, w, b = (
            taeda.randn(n, c, places, places),
            taeda.randn(filters, c // groups, kernel, kernel),
            taeda.randn(filters),
        )
        x = x.contiguous(memory_format=taeda.channels_last)
        return lambda: taeda.nn.functional.conv2d(x, w, b, stride, kernel // 2, 1, groups)

    return make


class _Floats:
    """In place of a library: our own layers of float32."""


def rows(quick: bool) -> list[Row]:
    """Both groups, with one thread."""
    import taeda

    rounds = 3 if quick else 12
    linears = [(f"linear {m}x{k}x{n}", (m, k, n), _linear(m, k, n, False)) for m, k, n in _LINEARS]
    convs = [(f"conv2d {'x'.join(map(str, c))}", c, _conv(*c)) for c in _CONVS]
    cases = [(name, case) for name, _, case in linears + convs]
    cases += [(f"linear_dynamic {m}x{k}x{n}", _linear(m, k, n, True)) for m, k, n in _LINEARS]
    cases += [(f"quantized_lstm 32x{b}x{h}", _lstm(b, h)) for b, h in ((1, 256), (16, 256))]
    found = compare(GROUP, cases, 1.15, rounds=rounds)
    taeda.set_num_threads(1)
    for name, shape, case in linears:
        if shape[0] >= 64:
            ours, floats = in_turn(_float(case, shape, None), (taeda, _Floats), rounds)  # type: ignore[arg-type]
            found.append(Row(FLOATS, name, ours * 1e6, floats * 1e6, "us", 0.5))
    for name, shape, case in convs:
        ours, floats = in_turn(_float(case, None, shape), (taeda, _Floats), rounds)  # type: ignore[arg-type]
        found.append(Row(FLOATS, name, ours * 1e6, floats * 1e6, "us", 0.5))
    return found
