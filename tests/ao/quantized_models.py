"""Models and data that the tests quantise, in this library or in PyTorch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np


def batches(lib: ModuleType, shape: tuple[int, ...], count: int = 3) -> list[Any]:
    rng = np.random.default_rng(0)
    return [lib.tensor(rng.normal(size=shape).astype(np.float32)) for _ in range(count)]


def small_resnet(lib: ModuleType, stubs: bool) -> Any:
    """Convolutions with norms, a sum, pooling, and a linear layer; with the modules of eager mode, or functions."""
    nn, quantized, stub = lib.nn, lib.ao.nn.quantized, lib.ao.quantization

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant, self.dequant = stub.QuantStub(), stub.DeQuantStub()
            self.conv, self.bn, self.relu = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()
            self.conv2, self.bn2 = nn.Conv2d(8, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
            self.add, self.pool = quantized.FloatFunctional(), nn.MaxPool2d(2)
            self.fc1, self.relu1, self.fc2 = nn.Linear(128, 16), nn.ReLU(), nn.Linear(16, 5)

        def forward(self, x: Any) -> Any:
            x = self.relu(self.bn(self.conv(self.quant(x) if stubs else x)))
            y = self.bn2(self.conv2(x))
            x = self.pool(self.add.add_relu(x, y) if stubs else lib.relu(x + y)).flatten(1)
            x = self.fc2(self.relu1(self.fc1(x)))
            return self.dequant(x) if stubs else lib.sigmoid(x)

    lib.manual_seed(0)
    net = Net()
    for norm in (net.bn, net.bn2):
        with lib.no_grad():
            norm.running_mean.normal_()
            norm.running_var.uniform_(0.5, 1.5)
    return net


FUSED = [["conv", "bn", "relu"], ["conv2", "bn2"], ["fc1", "relu1"]]


def words(lib: ModuleType) -> Any:
    """An embedding, an LSTM of two directions, a GRU and a linear layer."""
    nn = lib.nn

    class Words(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.emb, self.lstm = nn.Embedding(20, 8), nn.LSTM(8, 12, 2, bidirectional=True)
            self.gru, self.fc = nn.GRU(24, 6), nn.Linear(6, 20)

        def forward(self, i: Any) -> Any:
            return self.fc(self.gru(self.lstm(self.emb(i))[0])[0])

    lib.manual_seed(0)
    return Words()
