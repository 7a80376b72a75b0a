"""``taeda.onnx.load``: models as modules."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pytest

import taeda
from taeda import export

onnx = pytest.importorskip("onnx", reason="needs taeda[onnx]")
helper, numpy_helper = onnx.helper, onnx.numpy_helper


def made(nodes, inputs, outputs, initializers=(), opset=17, domains=(), functions=()):
    def info(name, shape, kind=1):
        return helper.make_tensor_value_info(name, kind, shape)

    weights = [numpy_helper.from_array(value, name) for name, value in initializers]
    graph = helper.make_graph(nodes, "g", [info(*i) for i in inputs], [info(*o) for o in outputs], weights)
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=8)


def network():
    rng = np.random.default_rng(0)
    weight, bias = rng.normal(size=(3, 4)).astype(np.float32), np.zeros(3, np.float32)
    nodes = [
        helper.make_node("Gemm", ["x", "layer/weight", "layer/bias"], ["h"], transB=1),
        helper.make_node("Relu", ["h"], ["y"]),
    ]
    weights = [("layer/weight", weight), ("layer/bias", bias)]
    return made(nodes, [("x", ["n", 4])], [("y", ["n", 3])], weights), weight


def test_a_model_is_a_module_that_trains() -> None:
    model, weight = network()
    module = taeda.onnx.load(model)
    x = taeda.randn(5, 4)
    expected = taeda.relu(x @ taeda.from_numpy(weight).t())
    assert taeda.allclose(module(x), expected) and taeda.equal(module(x=x), module(x))
    assert {name for name, _ in module.named_parameters()} == {"layer_weight", "layer_bias"}
    optimizer = taeda.optim.SGD(module.parameters(), lr=0.1)
    first = module(x).square().mean()
    first.backward()
    optimizer.step()
    assert module(x).square().mean() < first


def test_files_copies_and_exports() -> None:
    model, _ = network()
    data = model.SerializeToString()
    x = taeda.randn(2, 4)
    expected = taeda.onnx.load(data)(x)
    with taeda.no_grad():
        module = taeda.onnx.load(io.BytesIO(data))
        module.layer_bias.add_(1)
    for twin in (copy.deepcopy(module), pickle.loads(pickle.dumps(module)), export.export(module, (x,)).module()):
        assert taeda.equal(twin(x), module(x)) and not taeda.equal(twin(x), expected)


def test_the_aten_op_reaches_declared_ops() -> None:
    node = helper.make_node("ATen", ["x", "y"], ["z"], domain="org.pytorch.aten", operator="addcdiv_like")
    node.attribute[0].s = b"add"
    node.attribute.append(helper.make_attribute("overload_name", "Tensor"))
    node.attribute.append(helper.make_attribute("alpha", 3))
    model = made([node], [("x", [2]), ("y", [2])], [("z", [2])], domains=["org.pytorch.aten"])
    assert taeda.onnx.load(model)(taeda.ones(2), taeda.ones(2)).tolist() == [4, 4]


def aten(operator, inputs, overload="", **attributes):
    names = [f"x{i}" for i in range(len(inputs))]
    node = helper.make_node("ATen", names, ["y"], domain="org.pytorch.aten", overload_name=overload, **attributes)
    node.attribute.append(helper.make_attribute("operator", operator))
    infos = [(name, list(x.shape), 7 if x.dtype == taeda.int64 else 1) for name, x in zip(names, inputs)]
    return taeda.onnx.load(made([node], infos, [("y", None)], domains=["org.pytorch.aten"]))(*inputs)


def test_arguments_of_the_aten_op() -> None:
    x, y = taeda.randn(2, 3), taeda.randn(2, 3)
    assert taeda.equal(aten("cat", [x, y], dim=1), taeda.cat([x, y], 1))
    assert taeda.equal(aten("sum", [x], "dim_IntList", dim=[0], keepdim=1), x.sum(0, keepdim=True))
    assert aten("sum", [x], dtype=7).dtype == taeda.float64
    places = taeda.tensor([1, 0])
    assert taeda.equal(aten("index_put", [x, places, y]), x.index_put((places,), y))
    assert taeda.equal(
        aten("layer_norm", [x, y[0]], normalized_shape=[3]), taeda.nn.functional.layer_norm(x, [3], y[0])
    )


def test_functions_of_a_model() -> None:
    body = [helper.make_node("Mul", ["a", "a"], ["b"]), helper.make_node("Add", ["b", "a"], ["c"])]
    function = helper.make_function("mine", "Poly", ["a"], ["c"], body, [helper.make_opsetid("", 17)])
    model = made([helper.make_node("Poly", ["x"], ["y"], domain="mine")], [("x", [2])], [("y", [2])],
                 domains=["mine"], functions=[function])  # fmt: skip
    assert taeda.onnx.load(model)(taeda.tensor([2.0, 3.0])).tolist() == [6, 12]


@pytest.mark.parametrize("opset", [6, 7])
def test_old_broadcasting(opset) -> None:
    attributes = {"axis": 1, "broadcast": 1} if opset < 7 else {}
    node = helper.make_node("Add", ["x", "b"], ["y"], **attributes)
    bias = np.arange(3, dtype=np.float32)
    weights = [("b", bias if opset < 7 else bias.reshape(3, 1))]
    module = taeda.onnx.load(made([node], [("x", [2, 3, 4])], [("y", [2, 3, 4])], weights, opset))
    x = taeda.randn(2, 3, 4)
    assert taeda.equal(module(x), x + taeda.arange(3.0)[:, None])


def test_errors_name_the_op_and_the_node() -> None:
    unknown = made(
        [helper.make_node("Nothing", ["x"], ["y"], domain="mine")], [("x", [2])], [("y", [2])], domains=["mine"]
    )
    with pytest.raises(taeda.onnx.errors.OnnxExporterError, match="Nothing of the domain mine"):
        taeda.onnx.load(unknown)
    assert not taeda.onnx.backend.is_compatible(unknown)
    model, _ = network()
    with pytest.raises(RuntimeError) as error:
        taeda.onnx.load(model)(taeda.ones(2, 5))
    assert "Gemm" in error.value.__notes__[0]
    with pytest.raises(TypeError, match="takes"):
        taeda.onnx.load(model)()


def test_run_node() -> None:
    node = helper.make_node("Add", ["a", "b"], ["c"])
    (result,) = taeda.onnx.backend.run_node(node, [np.ones(2, np.float32), np.ones(2, np.float32)])
    assert result.tolist() == [2, 2] and taeda.onnx.backend.supports_device("CPU")
    assert not taeda.onnx.backend.supports_device("TPU")


def test_the_table_says_what_it_forwards_and_why_not(capsys) -> None:
    from taeda.onnx.reader.__main__ import main

    main()
    text = capsys.readouterr().out
    assert "Sigmoid: aten.sigmoid" in text and "Conv: has attributes" in text
    assert "done by nothing" not in text.replace("MaxRoiPool", "")


@pytest.mark.parametrize("name", ["float8_e4m3b11fnuz", "int1", "int4"])
def test_types_without_a_dtype_stay_arrays(name):
    """Some of their letters are those of NumPy's own types."""
    import ml_dtypes

    from taeda.onnx.reader.values import from_numpy

    array = np.zeros(2, getattr(ml_dtypes, name))
    assert from_numpy(array) is array
    assert from_numpy(np.ones(2, ml_dtypes.bfloat16)).equal(taeda.ones(2, dtype=taeda.bfloat16))
    assert from_numpy(np.ones(2, ">f4")).equal(taeda.ones(2))
