"""Exporting: a module as a graph that stands by itself, and as an ONNX model."""

from __future__ import annotations

import importlib.util
import io
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.timing import Budget, Case, Row, compare

GROUP = "programs: export"
BUDGETS = {GROUP: Budget(0.3, 0.4)}
_WHY = {"ONNX, 20 convolutions": "PyTorch's older exporter, which compares nothing with the model"}


def convolutions(nn: Any) -> Any:
    """Twenty convolutions with norms, as in a small residual network."""
    layers: list[Any] = [nn.Conv2d(3, 16, 3, padding=1)]
    for _ in range(20):
        layers += [nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)).eval()


def encoder(nn: Any) -> Any:
    """A transformer of four layers."""
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    return nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).eval()


def exported(make: Callable[[Any], Any], shape: tuple[int, ...]) -> Case:
    def case(T: Any) -> Callable[[], Any]:
        module, x = make(T.nn), T.ones(*shape)
        return lambda: T.export.export(module, (x,))

    return case


def in_onnx(make: Callable[[Any], Any], shape: tuple[int, ...], dynamo: bool) -> Case:
    """As programs call it: ours also runs the model in ONNX Runtime, where that is installed, and compares."""

    def case(T: Any) -> Callable[[], Any]:
        module, x = make(T.nn), T.ones(*shape)
        kwargs: dict[str, Any] = {"verbose": False} if dynamo else {}

        def run() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                T.onnx.export(module, (x,), io.BytesIO(), dynamo=dynamo, **kwargs)

        return run

    return case


def rows(quick: bool) -> list[Row]:
    """Graphs and ONNX models of a convolutional network and of a transformer."""
    cases: list[tuple[str, Case]] = [
        ("export, 20 convolutions", exported(convolutions, (2, 3, 16, 16))),
        ("export, 4 transformer layers", exported(encoder, (2, 8, 32))),
    ]
    if importlib.util.find_spec("onnx") is not None:
        styles = [False] if importlib.util.find_spec("onnxscript") is None else [False, True]
        for style in styles:
            how = "ONNX by dynamo" if style else "ONNX"
            cases.append((f"{how}, 20 convolutions", in_onnx(convolutions, (2, 3, 16, 16), style)))
            cases.append((f"{how}, 4 transformer layers", in_onnx(encoder, (2, 8, 32), style)))
    found = compare(GROUP, cases, 0.3, rounds=2 if quick else 5, unit="ms")
    return [replace(row, why=_WHY.get(row.name, "")) for row in found]
