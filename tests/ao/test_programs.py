"""Quantised modules as programs: scripted, traced, saved and read."""

from __future__ import annotations

import io
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
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


def _scripted_conv() -> tuple[Any, taeda.Tensor]:
    conv = taeda.ao.nn.quantized.Conv2d(2, 3, 2)
    weight = taeda.quantize_per_tensor(taeda.randn(3, 2, 2, 2), 0.02, 0, taeda.qint8)
    conv.set_weight_bias(weight, taeda.randn(3))
    return taeda.jit.script(conv), taeda.quantize_per_tensor(taeda.randn(1, 2, 4, 4), 0.05, 120, taeda.quint8)


def test_programs_load_where_nothing_was_packed(tmp_path: Path) -> None:
    scripted, x = _scripted_conv()
    taeda.jit.save(scripted, tmp_path / "conv.pt")
    code = f"import taeda; print(type(taeda.jit.load({str(tmp_path / 'conv.pt')!r})).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "RecursiveScriptModule", done.stderr


@pytest.mark.parametrize(
    ("op", "kind"), [("linear", "Linear"), ("conv2d", "Conv2d"), ("conv", "Conv2d"), ("conv3d", "Conv3d"), ("add", "")]
)
def test_old_programs_call_packed_weights_tensors(op: str, kind: str) -> None:
    """Their class is told by what packs them."""
    text = f"class A(Module):\n  _packed_params : Tensor\n  def f(self):\n    _0 = ops.quantized.{op}_prepack(w, b)\n"
    wanted = f"__torch__.torch.classes.quantized.{kind}PackedParamsBase" if kind else "Tensor"
    assert taeda.jit.files.program._packed_type(text) == wanted


@pytest.mark.parametrize("layout", [1, 2, 3])
def test_layouts_of_packed_convolutions(layout: int) -> None:
    weight, bias = taeda.quantize_per_tensor(taeda.randn(3, 2, 2, 2), 0.02, 0, taeda.qint8), taeda.randn(3)
    numbers = [2, 1, 2, 1, 0, 1, 1, 0, 0, 1, 0]  # rank, stride, padding, dilation, output padding, groups, transposed
    lists = [[taeda.tensor([n]) for n in numbers[i : i + 2]] for i in (1, 3, 5)]
    state: Any = {
        1: (weight, bias, *lists, taeda.tensor([1])),
        2: ("2", [taeda.tensor(numbers, dtype=taeda.int16), weight], [bias]),
        3: (3, numbers, [None, weight, bias]),
    }[layout]
    made = taeda.jit._packed._conv(state)
    assert made.stride() == [1, 2] and made.padding() == [1, 0] and made.dilation() == [1, 1] and made.groups() == 1
    assert taeda.equal(made.unpack()[0].int_repr(), weight.int_repr()) and taeda.equal(made.bias(), bias)
