"""ONNX's enumerations and symbolic functions."""

import pytest

import taeda
from taeda import onnx


class Graph:
    """Writes down the nodes."""

    def __init__(self):
        self.nodes = []

    def op(self, name, *inputs, **attributes):
        self.nodes.append((name, inputs, attributes))
        return f"%{len(self.nodes)}"


def test_nothing_is_exported_now():
    assert not onnx.is_in_onnx_export()


def test_enumerations():
    assert onnx.TensorProtoDataType.FLOAT == 1 and onnx.TensorProtoDataType.BFLOAT16 == 16
    assert onnx.TrainingMode.EVAL == 0 and onnx.OperatorExportTypes.ONNX_FALLTHROUGH == 3


def test_symbolic_functions():
    g, ops = Graph(), onnx.symbolic_opset11
    assert ops.squeeze(g, ops.select(g, ops.unsqueeze(g, "x", 0), 1, "i"), 1) == "%3" and ops.squeeze(g, "y") == "%4"
    assert g.nodes == [
        ("Unsqueeze", ("x",), {"axes_i": [0]}),
        ("Gather", ("%1", "i"), {"axis_i": 1}),
        ("Squeeze", ("%2",), {"axes_i": [1]}),
        ("Squeeze", ("y",), {}),
    ]


def test_parse_args():
    tensor = taeda.ones(1)

    @onnx.symbolic_helper.parse_args("v", "i", "f", "b", "s", "t", "is", "fs", "none", "i")
    def symbolic(g, *args):
        return g, *args

    got = symbolic("g", "v", 3, 2, True, "s", tensor, [1, 2], (1, 2.5), None, None)
    assert got == ("g", "v", 3, 2.0, True, "s", tensor, [1, 2], [1.0, 2.5], None, None) and type(got[3]) is float
    assert symbolic.__name__ == "symbolic" and symbolic("g") == ("g",)
    for wrong in (("v", 2.5), ("v", 1, "x"), ("v", 1, 1, True, 3), ("v", 1, 1, True, "s", tensor, [1.5])):
        with pytest.raises(ValueError, match=r"symbolic: argument \d must be"):
            symbolic("g", *wrong)
    with pytest.raises(AssertionError, match="takes 10 arguments; got 11"):
        symbolic("g", *[None] * 11)
    with pytest.raises(ValueError, match="no descriptor 'q'"):
        onnx.symbolic_helper.parse_args("q")


def test_registering_a_symbolic_function():
    onnx.register_custom_op_symbolic("mine::scale", len, 11)
    onnx.unregister_custom_op_symbolic("mine::scale", 11)
    onnx.unregister_custom_op_symbolic("mine::scale", 11)
    for wrong in ("scale", "::scale", "mine::", "a::b::c", "1::x"):
        with pytest.raises(onnx.OnnxExporterError, match="namespace::name"):
            onnx.register_custom_op_symbolic(wrong, len, 11)
        with pytest.raises(onnx.errors.OnnxExporterError, match="namespace::name"):
            onnx.unregister_custom_op_symbolic(wrong, 11)


def test_shapes_as_tensors():
    shape = onnx.operators.shape_as_tensor(taeda.ones(2, 6))
    assert shape.dtype == taeda.int64 and shape.tolist() == [2, 6]
    assert onnx.operators.shape_as_tensor(taeda.ones(())).shape == (0,)
    assert onnx.operators.reshape_from_tensor_shape(taeda.ones(12), shape).shape == (2, 6)
