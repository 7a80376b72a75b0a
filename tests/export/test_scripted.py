"""Scripted and traced modules, exported; and in ONNX."""

from __future__ import annotations

import io
from typing import Any

import pytest

import taeda
from taeda import export, nn
from taeda.export import Dim
from taeda.utils import _pytree as pytree


class Control(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x, n: int = 2):
        y = self.layer(x)
        for i in range(n):
            y = taeda.relu(y) + i
        if bool(y.sum() > 0):
            y = y * 2
        else:
            y = y - 1
        return y.view(x.shape[0], -1)


def until(x, k: int):
    while bool(x.sum() < 100):
        x = x * 2 + k
        if bool(x.max() > 50):
            break
    return x


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x):
        h = taeda.zeros(x.size(1), 4)
        c = taeda.zeros(x.size(1), 4)
        rows = []
        for t in range(x.size(0)):
            h, c = self.cell(x[t], (h, c))
            rows.append(h)
        y = taeda.stack(rows)
        for layer in self.layers:
            y = taeda.tanh(layer(y))
        return y, (h, c)


class Final(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)

    def forward(self, x):
        h = taeda.zeros(x.size(1), 4)
        for t in range(x.size(0)):
            h = self.cell(x[t], h)
        return h


def close(a, b):
    pairs = zip(pytree.tree_leaves(a), pytree.tree_leaves(b), strict=True)
    return all(taeda.allclose(x, y, 1e-4, 1e-5) for x, y in pairs)


def test_branches_and_loops_on_values_are_kept():
    module = Control()
    program = export.export(taeda.jit.script(module), (taeda.randn(2, 3),), dynamic_shapes={"x": {0: Dim("n")}})
    assert program.graph_signature.parameters == ("layer.weight", "layer.bias")
    assert {"while_loop", "cond"} <= {str(n.target) for n in program.graph.nodes}
    run = program.module()
    for x in (taeda.randn(5, 3).abs(), -100 * taeda.ones(4, 3)):
        assert close(run(x), module(x))


def cases():
    convolution = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return [
        (Control(), (taeda.randn(2, 3),), {"x": {0: Dim("n")}}, [(taeda.ones(4, 3),), (-taeda.ones(1, 3) * 50,)]),
        (until, (taeda.ones(3), 1), None, [(taeda.full((3,), 0.1), 1), (taeda.full((3,), 60.0), 1)]),
        (Cells(), (taeda.randn(5, 2, 3),), None, [(taeda.randn(5, 2, 3),)]),
        (Final(), (taeda.randn(5, 2, 3),), {"x": {0: Dim("t"), 1: Dim("b")}}, [(taeda.randn(7, 1, 3),)]),
        (convolution, (taeda.randn(2, 3, 8, 8),), None, [(taeda.randn(2, 3, 8, 8),)]),
        (
            nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
            (taeda.randn(2, 3, 8),),
            None,
            [(taeda.randn(2, 3, 8),)],
        ),
    ]


@pytest.mark.parametrize("number", range(6))
def test_scripted_programs_in_onnx(number):
    pytest.importorskip("onnx", reason="needs taeda[onnx]")
    pytest.importorskip("onnxruntime", reason="compares with ONNX Runtime")
    module, args, shapes, others = cases()[number]
    module = module.eval() if isinstance(module, nn.Module) else module
    program = taeda.onnx.export(taeda.jit.script(module), args, dynamic_shapes=shapes, verify=True)
    for other in (args, *others):
        assert close(program(*other), module(*other))
    kinds = {n.op_type for n in program.model_proto.graph.node}
    assert number > 1 or "Loop" in kinds


def test_a_traced_module_is_exported():
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU()).eval()
    traced = taeda.jit.trace(module, (taeda.randn(2, 3),))
    run = export.export(traced, (taeda.randn(2, 3),)).module()
    x = taeda.randn(2, 3)
    assert close(run(x), module(x))


@taeda.jit.script
class Scaled:
    def __init__(self, factor: float):
        self.factor = factor

    def __enter__(self) -> float:
        return self.factor * 2

    def __exit__(self, kind: Any, value: Any, traceback: Any):
        self.factor = self.factor + 1


class Within(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 2)

    def forward(self, x):
        with taeda.no_grad():
            y = self.first(x)
        scaled = Scaled(1.5)
        with taeda.autograd.profiler.record_function("marked"), scaled as factor:
            y = self.second(y) * factor
        return y + scaled.factor


def test_what_a_program_enters_is_exported():
    module, x = Within(), taeda.randn(2, 3)
    file = io.BytesIO()
    taeda.jit.save(taeda.jit.script(module), file)
    file.seek(0)
    for scripted in (taeda.jit.script(module), taeda.jit.load(file)):
        run = export.export(scripted, (x,)).module()
        assert close(run(x), module(x)) and taeda.is_grad_enabled()
        run(x).sum().backward()
        assert [name for name, p in run.named_parameters() if p.grad is not None] == ["second.weight", "second.bias"]
