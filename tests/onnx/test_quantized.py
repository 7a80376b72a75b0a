"""Quantised models in ONNX: integers with a scale, and the numbers that the quantised model gives."""

from __future__ import annotations

import io

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.export import Dim
from taeda.nn import functional as F

onnx = pytest.importorskip("onnx", reason="needs taeda[onnx]")
pytest.importorskip("onnxruntime", reason="compares with ONNX Runtime")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = q.QuantStub(), q.DeQuantStub()
        self.first, self.relu, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 1)
        self.sum, self.last = nn.quantized.FloatFunctional(), nn.Linear(4 * 9, 5)

    def forward(self, x):
        x = self.relu(self.first(self.quant(x)))
        x = F.avg_pool2d(self.sum.add(x, self.second(x)), 2)
        return self.dequant(self.last(x.flatten(1)).sigmoid())


def quantized(qconfig):
    taeda.manual_seed(0)
    model = q.fuse_modules(Net().eval(), [["first", "relu"]])
    model.qconfig = qconfig
    model = q.prepare(model)
    for _ in range(3):
        model(taeda.randn(8, 3, 6, 6))
    return q.convert(model)


BY_TENSOR = q.QConfig(q.MinMaxObserver.with_args(dtype=taeda.quint8), q.default_weight_observer)


@pytest.mark.parametrize(
    ("qconfig", "opset"), [(q.get_default_qconfig("x86"), 13), (q.get_default_qconfig("x86"), 18), (BY_TENSOR, 11)]
)
def test_a_quantised_model(qconfig, opset) -> None:
    model = quantized(qconfig)
    shapes = ({0: Dim("batch")},)
    program = taeda.onnx.export(
        model, (taeda.randn(2, 3, 6, 6),), dynamic_shapes=shapes, opset_version=opset, verify=True
    )
    x = taeda.randn(5, 3, 6, 6)
    step = 1 / 256  # a result on a tie may be rounded the other way
    assert (program(x)[0] - model(x)).abs().max() <= step + 1e-6
    kinds = {str(i.data_type) for i in program.model_proto.graph.initializer if len(i.dims) == 4}
    assert kinds == {str(onnx.TensorProto.INT8)}


def test_numbers_that_are_rounded_and_weights_that_are_quantised() -> None:
    class Rounded(nn.Module):
        def forward(self, x):
            by_tensor = taeda.quantize_per_tensor(x, 0.1, 10, taeda.quint8)
            by_channel = taeda.quantize_per_channel(x, taeda.tensor([0.1, 0.2]), taeda.tensor([0, 3]), 1, taeda.qint8)
            few = taeda.fake_quantize_per_tensor_affine(x, 0.5, 2, 0, 15)
            return by_tensor.dequantize() * 2, by_channel.dequantize(), few

    program = taeda.onnx.export(Rounded(), (taeda.randn(3, 2),), verify=True)
    x = taeda.randn(3, 2) * 4
    for a, b in zip(program(x), Rounded()(x), strict=True):
        assert taeda.allclose(a, b, atol=1e-6)
    dynamic = q.quantize_dynamic(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), dtype=taeda.qint8)
    x = taeda.randn(5, 4)
    assert taeda.allclose(taeda.onnx.export(dynamic, (x,), verify=True)(x)[0], dynamic(x), atol=1e-3)
    stream = io.BytesIO()
    taeda.onnx.export(dynamic, x, stream, dynamo=False)
    assert taeda.allclose(taeda.onnx.load(stream.getvalue())(x), dynamic(x), atol=1e-3)
