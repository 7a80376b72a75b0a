"""Saved programs with quantised tensors and modules."""

from __future__ import annotations

import io
from typing import Any

import pytest

import taeda
from taeda import Tensor, nn
from taeda.ao import quantization


class Held(nn.Module):
    """Has a tensor of each scheme."""

    def __init__(self) -> None:
        super().__init__()
        x = taeda.arange(6).reshape(2, 3).float()
        self.register_buffer("whole", taeda.quantize_per_tensor(x, 0.5, 1, taeda.qint8))
        scales, zeros = taeda.tensor([0.5, 0.25]), taeda.tensor([0, 1])
        self.register_buffer("lines", taeda.quantize_per_channel(x, scales, zeros, 0, taeda.quint8))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.whole.dequantize() + self.lines.dequantize()


def archive(module: nn.Module) -> io.BytesIO:
    file = io.BytesIO()
    taeda.jit.save(taeda.jit.script(module), file)
    file.seek(0)
    return file


def network() -> Any:
    taeda.manual_seed(0)
    layers = (quantization.QuantStub(), nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 3), quantization.DeQuantStub())
    model = nn.Sequential(*layers).eval()
    model.qconfig = quantization.get_default_qconfig("x86")
    quantization.prepare(model, inplace=True)
    model(taeda.randn(2, 1, 4, 4))
    return quantization.convert(model)


def test_tensors_come_back_with_their_scheme() -> None:
    module = Held()
    loaded, x = taeda.jit.load(archive(module)), taeda.ones(2, 3)
    assert taeda.equal(loaded(x), module(x)) and loaded.lines.q_per_channel_axis() == 0
    assert loaded.whole.q_scale() == 0.5 and loaded.whole.dtype == taeda.qint8


def test_quantised_networks_come_back_more_than_once() -> None:
    model, x = network(), taeda.randn(2, 1, 4, 4)
    file = archive(model)
    for _ in range(2):
        file.seek(0)
        assert taeda.equal(taeda.jit.load(file)(x), model(x))


@pytest.mark.torch
def test_pytorch_reads_the_tensors() -> None:
    torch = pytest.importorskip("torch")
    module = Held()
    theirs = torch.jit.load(archive(module))
    assert theirs(torch.ones(2, 3)).tolist() == module(taeda.ones(2, 3)).tolist()
    assert theirs.lines.q_per_channel_scales().tolist() == [0.5, 0.25]
