"""Modules of the library with inputs, for tests of what compiles them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import nn


def _image(*size: int) -> taeda.Tensor:
    return taeda.randn(*size)


_ACTIVATIONS = [
    "CELU", "ELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "Mish",
    "ReLU", "ReLU6", "RReLU", "SELU", "Sigmoid", "SiLU", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink",
    "Identity", "Dropout", "AlphaDropout", "FeatureAlphaDropout", "Dropout1d",
]  # fmt: skip
_POOLS = {"MaxPool": 3, "AvgPool": 3, "AdaptiveAvgPool": 2, "AdaptiveMaxPool": 2}
_PADS = ["ConstantPad", "ReflectionPad", "ReplicationPad", "ZeroPad", "CircularPad"]
_PAIR_LOSSES = [
    "L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss", "KLDivLoss", "PoissonNLLLoss", "SoftMarginLoss",
    "BCEWithLogitsLoss", "HingeEmbeddingLoss", "MultiLabelSoftMarginLoss",
]  # fmt: skip

Case = tuple[str, Callable[[], nn.Module], Callable[[], tuple[Any, ...]]]


def cases() -> list[Case]:
    """(name, module, inputs)."""
    out: list[Case] = []

    def add(name: str, module: Callable[[], nn.Module], *inputs: Callable[[], Any]) -> None:
        out.append((name, module, lambda: tuple(make() for make in inputs)))

    for name in _ACTIVATIONS:
        add(name, getattr(nn, name), lambda: taeda.randn(3, 4, 5))
    add("Threshold", lambda: nn.Threshold(0.1, 2.0), lambda: taeda.randn(3, 4))
    add("ReLU inplace", lambda: nn.ReLU(inplace=True), lambda: taeda.randn(3, 4))
    add("PReLU", lambda: nn.PReLU(4), lambda: taeda.randn(3, 4))
    add("GLU", nn.GLU, lambda: taeda.randn(3, 4))
    for name in ("Softmax", "LogSoftmax", "Softmin"):
        add(name, lambda name=name: getattr(nn, name)(dim=1), lambda: taeda.randn(3, 4))
    add("Softmax2d", nn.Softmax2d, lambda: taeda.randn(1, 3, 4, 4))
    for d in (1, 2, 3):
        image = lambda d=d: _image(2, 4, *(6,) * d)
        for padding in ("zeros", "circular"):
            add(f"Conv{d}d {padding}", lambda d=d, padding=padding: getattr(nn, f"Conv{d}d")(
                4, 6, 3, padding=1, padding_mode=padding), image)  # fmt: skip
        add(
            f"Conv{d}d same", lambda d=d: getattr(nn, f"Conv{d}d")(4, 6, 3, padding="same", groups=2, bias=False), image
        )
        add(f"ConvTranspose{d}d", lambda d=d: getattr(nn, f"ConvTranspose{d}d")(4, 6, 3, stride=2), image)
        add(f"BatchNorm{d}d", lambda d=d: getattr(nn, f"BatchNorm{d}d")(4), image)
        add(f"BatchNorm{d}d bare", lambda d=d: getattr(nn, f"BatchNorm{d}d")(
            4, momentum=None, affine=False, track_running_stats=False), image)  # fmt: skip
        add(f"InstanceNorm{d}d", lambda d=d: getattr(nn, f"InstanceNorm{d}d")(4, affine=True), image)
        for name, size in _POOLS.items():
            add(f"{name}{d}d", lambda d=d, name=name, size=size: getattr(nn, f"{name}{d}d")(size), image)
        for name in ("MaxPool", "AdaptiveMaxPool"):
            add(f"{name}{d}d indices", lambda d=d, name=name: getattr(nn, f"{name}{d}d")(2, return_indices=True), image)
        add(f"LPPool{d}d", lambda d=d: getattr(nn, f"LPPool{d}d")(2.0, 2), image)
        for name in _PADS:
            args = (1, 0.5) if name == "ConstantPad" else (1,)
            add(f"{name}{d}d", lambda d=d, name=name, args=args: getattr(nn, f"{name}{d}d")(*args), image)
    add("GroupNorm", lambda: nn.GroupNorm(2, 4), lambda: _image(2, 4, 5))
    add("LayerNorm", lambda: nn.LayerNorm([4, 5]), lambda: _image(2, 4, 5))
    add("RMSNorm", lambda: nn.RMSNorm(5), lambda: _image(2, 4, 5))
    add("LocalResponseNorm", lambda: nn.LocalResponseNorm(2), lambda: _image(2, 4, 5))
    add("Linear", lambda: nn.Linear(4, 3), lambda: taeda.randn(2, 4))
    add("Bilinear", lambda: nn.Bilinear(4, 3, 2), lambda: taeda.randn(2, 4), lambda: taeda.randn(2, 3))
    add("Flatten", nn.Flatten, lambda: _image(2, 4, 5))
    add("Unflatten", lambda: nn.Unflatten(1, (2, 2)), lambda: _image(2, 4, 5))
    add("Fold", lambda: nn.Fold((4, 4), 2), lambda: taeda.randn(1, 8, 9))
    add("Unfold", lambda: nn.Unfold(2), lambda: taeda.randn(1, 2, 4, 4))
    add("PixelShuffle", lambda: nn.PixelShuffle(2), lambda: _image(1, 4, 3, 3))
    add("PixelUnshuffle", lambda: nn.PixelUnshuffle(2), lambda: _image(1, 4, 4, 4))
    add("ChannelShuffle", lambda: nn.ChannelShuffle(2), lambda: _image(1, 4, 3, 3))
    for mode in ("nearest", "bilinear", "bicubic"):
        add(f"Upsample {mode}", lambda mode=mode: nn.Upsample(scale_factor=2.0, mode=mode), lambda: _image(1, 2, 3, 3))
    add("UpsamplingNearest2d", lambda: nn.UpsamplingNearest2d(size=(5, 5)), lambda: _image(1, 2, 3, 3))
    add("UpsamplingBilinear2d", lambda: nn.UpsamplingBilinear2d(scale_factor=2), lambda: _image(1, 2, 3, 3))
    add("ZeroPad2d", lambda: nn.ZeroPad2d((1, 2, 0, 1)), lambda: _image(1, 2, 3, 3))
    add("CosineSimilarity", nn.CosineSimilarity, lambda: taeda.randn(2, 4), lambda: taeda.randn(2, 4))
    add("PairwiseDistance", nn.PairwiseDistance, lambda: taeda.randn(2, 4), lambda: taeda.randn(2, 4))
    add("Embedding", lambda: nn.Embedding(5, 3, padding_idx=0), lambda: taeda.tensor([[1, 2], [0, 4]]))
    add("EmbeddingBag", lambda: nn.EmbeddingBag(5, 3), lambda: taeda.tensor([[1, 2], [0, 4]]))
    for name in _PAIR_LOSSES:
        positive = name in ("KLDivLoss", "BCEWithLogitsLoss", "MultiLabelSoftMarginLoss")
        target = (lambda: taeda.rand(3, 4)) if positive else (lambda: taeda.randn(3, 4).sign())
        add(name, getattr(nn, name), lambda: taeda.randn(3, 4), target)
    add("BCELoss", nn.BCELoss, lambda: taeda.rand(3, 4), lambda: taeda.rand(3, 4))
    add("CrossEntropyLoss", lambda: nn.CrossEntropyLoss(label_smoothing=0.1), lambda: taeda.randn(3, 4),
        lambda: taeda.tensor([0, 1, 3]))  # fmt: skip
    add("NLLLoss", nn.NLLLoss, lambda: taeda.randn(3, 4), lambda: taeda.tensor([0, 1, 3]))
    add("MultiMarginLoss", nn.MultiMarginLoss, lambda: taeda.randn(3, 4), lambda: taeda.tensor([0, 1, 3]))
    add(
        "MultiLabelMarginLoss",
        nn.MultiLabelMarginLoss,
        lambda: taeda.randn(1, 4),
        lambda: taeda.tensor([[3, 0, -1, 1]]),
    )
    add(
        "GaussianNLLLoss",
        nn.GaussianNLLLoss,
        lambda: taeda.randn(3, 4),
        lambda: taeda.randn(3, 4),
        lambda: taeda.rand(3, 4),
    )
    add("CosineEmbeddingLoss", nn.CosineEmbeddingLoss, lambda: taeda.randn(3, 4), lambda: taeda.randn(3, 4),
        lambda: taeda.tensor([1, -1, 1]))  # fmt: skip
    add("MarginRankingLoss", nn.MarginRankingLoss, lambda: taeda.randn(3), lambda: taeda.randn(3),
        lambda: taeda.tensor([1, -1, 1]))  # fmt: skip
    add("TripletMarginLoss", nn.TripletMarginLoss, *[lambda: taeda.randn(3, 4)] * 3)
    add("CTCLoss", nn.CTCLoss, lambda: taeda.randn(5, 1, 4).log_softmax(2), lambda: taeda.tensor([[1, 2]]),
        lambda: taeda.tensor([5]), lambda: taeda.tensor([2]))  # fmt: skip
    for name in ("RNN", "LSTM", "GRU"):
        add(name, lambda name=name: getattr(nn, name)(3, 4, 2, bidirectional=True), lambda: taeda.randn(5, 2, 3))
        add(f"{name}Cell", lambda name=name: getattr(nn, f"{name}Cell")(3, 4), lambda: taeda.randn(2, 3))
    add("LSTM proj", lambda: nn.LSTM(3, 4, proj_size=2, batch_first=True), lambda: taeda.randn(2, 5, 3))
    add("MultiheadAttention", lambda: nn.MultiheadAttention(4, 2), *[lambda: taeda.randn(3, 2, 4)] * 3)
    add("MultiheadAttention batch_first", lambda: nn.MultiheadAttention(4, 2, batch_first=True, kdim=3, vdim=3),
        lambda: taeda.randn(2, 3, 4), lambda: taeda.randn(2, 5, 3), lambda: taeda.randn(2, 5, 3))  # fmt: skip
    add("TransformerEncoderLayer", lambda: nn.TransformerEncoderLayer(4, 2, 8), lambda: taeda.randn(3, 2, 4))
    add("TransformerDecoderLayer", lambda: nn.TransformerDecoderLayer(4, 2, 8), *[lambda: taeda.randn(3, 2, 4)] * 2)
    add("TransformerEncoder", lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2),
        lambda: taeda.randn(3, 2, 4))  # fmt: skip
    add("Transformer", lambda: nn.Transformer(4, 2, 1, 1, 8), *[lambda: taeda.randn(3, 2, 4)] * 2)
    add("Sequential", lambda: nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU()), lambda: taeda.randn(2, 4))
    add("AdaptiveLogSoftmaxWithLoss", lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3]), lambda: taeda.randn(3, 4),
        lambda: taeda.tensor([0, 5, 2]))  # fmt: skip
    return out
