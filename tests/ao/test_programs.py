"""Quantised modules as programs: scripted, traced, saved and read."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized
from taeda.nn.utils.rnn import PackedSequence, pack_padded_sequence

x = taeda.randn(5, 3, 4, generator=taeda.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Ragged(nn.Module):
    """A recurrent layer on sequences of several lengths."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: taeda.Tensor, lengths: taeda.Tensor) -> taeda.Tensor:
        packed: PackedSequence = pack_padded_sequence(x, lengths)
        return self.layer(packed)[0].data


def dynamic(module: nn.Module, dtype: taeda.dtype = taeda.qint8) -> Any:
    return q.quantize_dynamic(nn.Sequential(module), {type(module)}, dtype=dtype)[0]


def static(*modules: nn.Module) -> Any:
    model = q.QuantWrapper(nn.Sequential(*modules)).eval()
    model.qconfig = q.default_qconfig  # type: ignore[assignment]
    prepared = q.prepare(model)
    prepared(x)
    return q.convert(prepared)


PROGRAMS: dict[str, tuple[Callable[[], nn.Module], tuple[taeda.Tensor, ...]]] = {
    "linear": (lambda: static(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2)), (x,)),
    "convolution": (lambda: static(nn.Conv1d(3, 2, 3), nn.ReLU()), (x,)),
    "embedding": (lambda: quantized.Embedding(9, 4), (taeda.arange(6),)),
    "embedding of 4 bits": (lambda: quantized.Embedding(9, 4, dtype=taeda.quint4x2), (taeda.arange(6),)),
    "bag": (lambda: quantized.EmbeddingBag(9, 4), (taeda.arange(6), taeda.tensor([0, 2, 4]))),
    "bag of 4 bits": (
        lambda: quantized.EmbeddingBag(9, 4, dtype=taeda.quint4x2), (taeda.arange(6), taeda.tensor([0, 2, 4])),
    ),
    **{
        f"{kind.__name__} {dtype}": (lambda kind=kind, dtype=dtype: dynamic(kind(4, 6), dtype), (x,))  # type: ignore[misc]
        for kind in (nn.Linear, nn.LSTM, nn.GRU) for dtype in (taeda.qint8, taeda.float16)
    },
    **{
        f"{kind.__name__} {dtype}": (lambda kind=kind, dtype=dtype: dynamic(kind(4, 6), dtype), (x[0],))  # type: ignore[misc]
        for kind in (nn.LSTMCell, nn.GRUCell, nn.RNNCell) for dtype in (taeda.qint8, taeda.float16)
    },
    "ragged": (
        lambda: Ragged(dynamic(nn.LSTM(4, 6, 2, bidirectional=True))), (x, taeda.tensor([5, 4, 2])),
    ),
}  # fmt: skip


def first(result: Any) -> taeda.Tensor:
    return result if isinstance(result, taeda.Tensor) else first(result[0])


# A trace would fix the lengths.
@pytest.mark.parametrize(
    "name, make",
    [(name, make) for name in PROGRAMS for make in ("script", "trace") if (name, make) != ("ragged", "trace")],
)
def test_programs_compute_as_modules(name: str, make: str) -> None:
    build, inputs = PROGRAMS[name]
    model = build()
    program: Any = taeda.jit.script(model) if make == "script" else taeda.jit.trace(model, inputs)
    file = io.BytesIO()
    taeda.jit.save(program, file)
    file.seek(0)
    wanted = first(model(*inputs))
    assert taeda.equal(first(program(*inputs)), wanted)
    assert taeda.equal(first(taeda.jit.load(file)(*inputs)), wanted)


@pytest.mark.parametrize("kind", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_cells_of_float16_weights_are_near_the_float_ones(kind: Any) -> None:
    cell = kind(4, 6)
    near = first(dynamic(cell, taeda.float16)(x[0]))
    taeda.testing.assert_close(near, first(cell(x[0])), rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("kind", [quantized.Linear, lambda *s: quantized.Conv1d(*s, 1)])
def test_weights_are_zero_until_they_are_set(kind: Any) -> None:
    assert not kind(30, 40).weight().int_repr().any()
