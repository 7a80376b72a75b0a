"""Ops of ONNX that a program names itself."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda import nn

onnx = pytest.importorskip("onnx")


class Custom(nn.Module):
    def forward(self, x: taeda.Tensor) -> Any:
        attrs = {"key": "value", "n": 3, "f": 0.5, "flags": [True, False], "words": ["a", "b"], "numbers": [1.0, 2.5]}
        y = taeda.onnx.ops.symbolic("mine::Custom", (x + 1, None, x), attrs, dtype=x.dtype, shape=x.shape, version=3,
                                    metadata_props={"a": "b"})  # fmt: skip
        a, b = taeda.onnx.ops.symbolic_multi_out("mine::Two", (y,), dtypes=(x.dtype, 7), shapes=(x.shape, [1, 2]))
        return y.relu() + a, b


def test_the_node_that_a_call_names_is_written() -> None:
    x = taeda.ones(2, 3)
    model = taeda.onnx.export(Custom(), (x,), dynamo=True, dynamic_shapes=({0: taeda.export.Dim("n")},)).model_proto
    nodes = {node.op_type: node for node in model.graph.node}
    custom, two = nodes["Custom"], nodes["Two"]
    assert custom.domain == two.domain == "mine" and [i != "" for i in custom.input] == [True, False, True]
    held = {a.name: onnx.helper.get_attribute_value(a) for a in custom.attribute}
    assert held == {"key": b"value", "n": 3, "f": 0.5, "flags": [1, 0], "words": [b"a", b"b"], "numbers": [1.0, 2.5]}
    assert {o.domain: o.version for o in model.opset_import}["mine"] == 3
    assert [(p.key, p.value) for p in custom.metadata_props] == [("a", "b")]
    assert len(two.output) == 2 and nodes["Relu"].input[0] == custom.output[0]
    shapes = [[d.dim_param or d.dim_value for d in o.type.tensor_type.shape.dim] for o in model.graph.output]
    assert isinstance(shapes[0][0], str) and shapes[0][1:] == [3] and shapes[1] == [1, 2]
    assert model.graph.output[1].type.tensor_type.elem_type == 7


def test_outside_of_an_export_the_results_are_zeros() -> None:
    y, z = Custom()(taeda.ones(2, 3))
    assert taeda.equal(y, taeda.zeros(2, 3)) and taeda.equal(z, taeda.zeros(1, 2, dtype=taeda.int64))


REFUSED = {
    "tensor": (ValueError, {"attrs": {"t": taeda.ones(1)}, "dtype": 1}),
    "empty": (ValueError, {"attrs": {"t": []}, "dtype": 1}),
    "dtype": (ValueError, {"dtype": taeda.qint8}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_onnx_does_not_have_is_refused(name: str) -> None:
    error, given = REFUSED[name]
    with pytest.raises(error):
        taeda.onnx.ops.symbolic("mine::Op", (taeda.ones(1),), shape=[1], **given)
    with pytest.raises(RuntimeError, match="shape for each dtype"):
        taeda.onnx.ops.symbolic_multi_out("mine::Op", (), dtypes=[1], shapes=[[1], [2]])


def test_an_op_of_onnx_itself_runs() -> None:
    pytest.importorskip("onnxruntime")

    class Own(nn.Module):
        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            return taeda.onnx.ops.symbolic("Softplus", (x,), dtype=1, shape=x.shape) + 1

    x = taeda.randn(2, 3)
    model = taeda.onnx.export(Own(), (x,), dynamo=True).model_proto
    session = __import__("onnxruntime").InferenceSession(model.SerializeToString())
    (found,) = session.run(None, {model.graph.input[0].name: x.numpy()})
    assert taeda.allclose(taeda.tensor(found), nn.functional.softplus(x) + 1, atol=1e-5)
