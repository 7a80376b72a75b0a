"""Whole modules go from one system to the other in a file, both ways, and compute the same there."""

from __future__ import annotations

import importlib
import inspect
import io
from typing import Any

import pytest

import taeda
from taeda._serialization.names import name_in_file, resolve

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

IMAGE, LINE, ROWS, SEQUENCE = (1, 2, 5, 5), (1, 2, 5), (2, 3), (3, 2, 4)
CASES: dict[str, tuple[str, Any]] = {
    "Linear": ("nn.Linear(3, 2)", ROWS),
    "Conv1d": ("nn.Conv1d(2, 3, 3, padding='same')", LINE),
    "Conv2d": ("nn.Conv2d(2, 4, 3, padding=1, padding_mode='reflect')", IMAGE),
    "ConvTranspose2d": ("nn.ConvTranspose2d(2, 3, 3)", IMAGE),
    "BatchNorm2d": ("nn.BatchNorm2d(2)", IMAGE),
    "LayerNorm": ("nn.LayerNorm(3)", ROWS),
    "GroupNorm": ("nn.GroupNorm(2, 2)", IMAGE),
    "InstanceNorm2d": ("nn.InstanceNorm2d(2, affine=True)", IMAGE),
    "LSTM": ("nn.LSTM(4, 3, 2, bidirectional=True, proj_size=2)", SEQUENCE),
    "GRU": ("nn.GRU(4, 3, batch_first=True)", SEQUENCE),
    "RNN": ("nn.RNN(4, 3, nonlinearity='relu')", SEQUENCE),
    "LSTMCell": ("nn.LSTMCell(3, 2)", ROWS),
    "GRUCell": ("nn.GRUCell(3, 2)", ROWS),
    "Embedding": ("nn.Embedding(5, 3, padding_idx=0)", None),
    "EmbeddingBag": ("nn.EmbeddingBag(5, 3, mode='mean')", None),
    "TransformerEncoderLayer": ("nn.TransformerEncoderLayer(4, 2, 8, activation='gelu').eval()", SEQUENCE),
    "TransformerEncoder": ("nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2).eval()", SEQUENCE),
    "TransformerDecoderLayer": ("nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0)", [SEQUENCE] * 2),
    "Transformer": ("nn.Transformer(4, 2, 1, 1, 8, dropout=0.0)", [SEQUENCE] * 2),
    "MultiheadAttention": ("nn.MultiheadAttention(4, 2)", [SEQUENCE] * 3),
    "Sequential": ("nn.Sequential(nn.Linear(3, 3), nn.GELU(), nn.Dropout(0.0), nn.PReLU(), nn.Flatten())", ROWS),
    "pooling": ("nn.Sequential(nn.MaxPool2d(2), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(1))", IMAGE),
    "Upsample": ("nn.Upsample(scale_factor=2, mode='bilinear')", IMAGE),
    "ChannelShuffle": ("nn.ChannelShuffle(2)", IMAGE),
    "losses": ("nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))", [ROWS] * 2),
}  # fmt: skip


def inputs(module: Any, shapes: Any) -> list[Any]:
    if shapes is None:
        return [module.tensor([[1, 2], [0, 4]])]
    generator = module.Generator().manual_seed(1)
    return [module.rand(shape, generator=generator) for shape in ([shapes] if isinstance(shapes, tuple) else shapes)]


def outputs(value: Any) -> list[Any]:
    return [value.tolist()] if hasattr(value, "tolist") else [part for one in value for part in outputs(one)]


@pytest.mark.parametrize("to", ["PyTorch", "Taeda"])
@pytest.mark.parametrize("name", CASES)
def test_a_module_in_a_file(name: str, to: str) -> None:
    writer, reader = (taeda, torch) if to == "PyTorch" else (torch, taeda)
    text, shapes = CASES[name]
    made = eval(text, {"nn": writer.nn, "torch": writer})
    file = io.BytesIO()
    writer.save(made, file)
    file.seek(0)
    found = reader.load(file, weights_only=False)
    assert type(found) is getattr(reader.nn, type(made).__name__)
    expected, got = outputs(made(*inputs(writer, shapes))), outputs(found(*inputs(reader, shapes)))
    for one, other in zip(expected, got, strict=True):
        taeda.testing.assert_close(taeda.tensor(other), taeda.tensor(one), rtol=1e-4, atol=1e-5)
    found.register_forward_hook(print).remove()
    found.train().zero_grad()
    reader.save(found, io.BytesIO())


ROOMS = (
    "nn", "nn.utils.parametrize", "nn.utils.parametrizations", "nn.utils.prune", "nn.utils.rnn", "optim",
    "optim.lr_scheduler", "optim.swa_utils", "distributions", "distributions.transforms", "utils.data", "nn.intrinsic",
    "fx", "quasirandom", "amp",
)  # fmt: skip


@pytest.mark.parametrize("room", ROOMS)
def test_files_call_classes_as_pytorch_does(room: str) -> None:
    ours, theirs = importlib.import_module(f"taeda.{room}"), importlib.import_module(f"torch.{room}")
    for name in dir(theirs):
        one, other = getattr(ours, name, None), getattr(theirs, name)
        if not (inspect.isclass(one) and inspect.isclass(other) and other.__module__.startswith("torch.")):
            continue
        if one.__module__.startswith("taeda."):
            module, qualified = name_in_file(one.__module__, one.__qualname__)
            assert getattr(importlib.import_module(module), qualified) is other, name
            assert resolve(other.__module__, other.__qualname__) is one, name
