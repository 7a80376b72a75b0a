"""``taeda.onnx.export``: models in ONNX give the module's numbers."""

from __future__ import annotations

import copy
import io
import warnings

import numpy as np
import pytest

import taeda
from taeda import nn
from taeda.nn import functional as F
from taeda.onnx.errors import OnnxExporterError
from taeda.utils import _pytree as pytree

onnx = pytest.importorskip("onnx", reason="needs taeda[onnx]")
pytest.importorskip("onnxruntime", reason="compares with ONNX Runtime")

from onnx_programs import NEWER, PROGRAMS, VARYING, Call  # noqa: E402


def close(module, program, args):
    expected = [v for v in pytree.tree_leaves(module(*args)) if v is not None]
    for a, b in zip(expected, program(*args), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype and taeda.allclose(a, b, 1e-3, 1e-4, equal_nan=True)


@pytest.mark.parametrize("opset", [11, 13, 18, 22])
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers(name, opset):
    module, args = PROGRAMS[name]
    taeda.onnx.export(copy.deepcopy(module).eval(), args, opset_version=opset, verify=True)


@pytest.mark.parametrize("name", NEWER)
def test_numbers_of_newer_ops(name):
    module, args = NEWER[name]
    taeda.onnx.export(module, args, verify=True)


@pytest.mark.parametrize("name", VARYING)
def test_sizes_vary(name):
    module, args = PROGRAMS[name]
    module = copy.deepcopy(module).eval()
    shapes, second = VARYING[name]
    close(module, taeda.onnx.export(module, args, dynamic_shapes=shapes, verify=True), second)


@pytest.mark.parametrize("opset", [13, 18])
def test_diagonals_and_windows_by_sizes(opset):
    shapes = ({0: taeda.export.Dim("t"), 1: taeda.export.Dim("s")},)
    module = Call(lambda x: (x.tril(x.shape[1] - x.shape[0]), x.triu(x.shape[0] - 2), x.unfold(1, 2, 2)))
    program = taeda.onnx.export(module, (taeda.randn(3, 5),), dynamic_shapes=shapes, opset_version=opset, verify=True)
    close(module, program, (taeda.randn(4, 9),))


OPS = {
    "addbmm": (lambda m, a, b: taeda.addbmm(m, a, b, beta=0.5, alpha=2.0), ((2, 4), (3, 2, 5), (3, 5, 4))),
    "celu": (lambda x: (taeda.celu(x, 1.3), taeda.celu(x.double(), 1.3)), ((5,),)),
    "without dimensions": (lambda x: (x.max(0), x.amin(0), x.count_nonzero(0)), ((),)),
    "norms": (lambda x: (taeda.linalg.norm(x, 1), taeda.linalg.norm(x, "fro"), taeda.linalg.norm(x, 3, 0)), ((3, 4),)),
    "bucketize": (lambda x: taeda.bucketize(x, taeda.tensor([-1.0, 0.0, 1.0]), right=True), ((6,),)),
    "unfold": (lambda x: (x.unfold(1, 2, 1), x.unfold(-1, 3, 2), x.unfold(0, 3, 1)), ((3, 5, 7),)),
    "det": (lambda x: taeda.linalg.det(x), ((2, 3, 3),)),
    "block_diag": (lambda x, y: taeda.block_diag(x, y), ((2, 3), (4,))),
}


@pytest.mark.parametrize("name", OPS)
def test_numbers_of_ops(name):
    function, shapes = OPS[name]
    taeda.onnx.export(Call(function).eval(), tuple(taeda.randn(s) for s in shapes), verify=True)


def test_whole_numbers_of_scripted_modules_are_inputs() -> None:
    class Repeat(nn.Module):
        def forward(self, x, n: int):
            for _ in range(n):
                x = x - 1 if x.sum() > 10 else x * 2
            return x

    module = taeda.jit.script(Repeat().eval())
    program = taeda.onnx.export(module, (taeda.ones(2), 3), verify=True)
    for n in (0, 2, 5):
        assert taeda.equal(program(taeda.ones(2), n)[0], module(taeda.ones(2), n))


def test_names_as_sizes_that_vary() -> None:
    program = taeda.onnx.export(nn.Linear(3, 2).eval(), (taeda.ones(2, 3),), dynamic_shapes=({0: "rows"},), verify=True)
    (dim, _) = program.model_proto.graph.input[0].type.tensor_type.shape.dim
    assert dim.dim_param == "rows" and program(taeda.ones(5, 3))[0].shape == (5, 2)


def test_sizes_of_parts_of_composites_vary() -> None:
    def pooled(x):
        return F.adaptive_avg_pool2d(x, (4, 4)).flatten(1)

    module = Call(pooled).eval()
    program = taeda.onnx.export(module, (taeda.randn(2, 3, 2, 2),), dynamic_shapes=(({0: "n"},),), verify=True)
    close(module, program, (taeda.randn(5, 3, 2, 2),))


def test_what_was_exported_is_read_again() -> None:
    for name in ("cnn", "transformer", "lstm", "pointwise", "while"):
        module, args = PROGRAMS[name]
        module = copy.deepcopy(module).eval()
        program = taeda.onnx.export(module, args, verify=False)
        again = pytree.tree_leaves(taeda.onnx.load(program.model_proto)(*args))
        for a, b in zip(pytree.tree_leaves(module(*args)), again, strict=True):
            assert taeda.allclose(a, b, 1e-3, 1e-4)


def layers():
    return nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Dropout(0.5), nn.BatchNorm1d(3))


def test_the_older_style(tmp_path) -> None:
    module = layers()  # in training mode, which comes back
    path = tmp_path / "m.onnx"
    given = taeda.onnx.export(
        module,
        taeda.randn(2, 4),
        str(path),
        input_names=["x"],
        output_names=["y"],
        opset_version=13,
        dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}},
        dynamo=False,
    )
    assert given is None and module.training
    model = onnx.load(str(path))
    onnx.checker.check_model(model, full_check=True)
    (x,), (y,) = model.graph.input, model.graph.output
    assert (x.name, y.name) == ("x", "y") and x.type.tensor_type.shape.dim[0].dim_param == "batch"
    assert y.type.tensor_type.shape.dim[0].dim_param == "batch"
    assert {t.name for t in model.graph.initializer} >= {"0.weight", "0.bias", "3.running_mean"}
    assert "Dropout" not in {n.op_type for n in model.graph.node} and model.opset_import[0].version == 13
    stream = io.BytesIO()
    taeda.onnx.export(module, (taeda.randn(2, 4), {}), stream, dynamo=False, keep_initializers_as_inputs=True)
    assert len(onnx.load_model_from_string(stream.getvalue()).graph.input) > 1
    taeda.onnx.export(module, taeda.randn(2, 4), path, dynamo=False, export_params=False)
    assert not any(t.name == "0.weight" for t in onnx.load(path).graph.initializer)


def test_training_mode_is_said_so() -> None:
    module = layers()
    with pytest.warns(UserWarning, match="training mode"):
        program = taeda.onnx.export(module, (taeda.randn(2, 4),))
    assert "Dropout" in {n.op_type for n in program.model_proto.graph.node}
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        taeda.onnx.export(
            module.eval(), (taeda.randn(2, 4),), stream, dynamo=False, training=taeda.onnx.TrainingMode.TRAINING
        )
    assert (
        "Dropout" in {n.op_type for n in onnx.load_model_from_string(stream.getvalue()).graph.node}
        and not module.training
    )


def test_symbolic_functions_of_programs() -> None:
    with taeda.library._scoped_library("onnxtest", "DEF") as library:
        library.define("scale(Tensor x, float by) -> Tensor")
        library.impl("scale", lambda x, by: x * by, "CompositeExplicitAutograd")
        module = Call(lambda x: taeda.ops.onnxtest.scale(x, 3.0))
        with pytest.raises(OnnxExporterError, match="onnxtest.scale"):
            taeda.onnx.export(module, (taeda.ones(2),))

        @taeda.onnx.symbolic_helper.parse_args("v", "f")
        def symbolic(g, x, by):
            return g.op("Mul", x, g.op("Constant", value_t=taeda.tensor(by)))

        taeda.onnx.register_custom_op_symbolic("onnxtest::scale", symbolic, 11)
        try:
            close(module, taeda.onnx.export(module, (taeda.ones(2),), verify=True), (taeda.randn(2),))
        finally:
            taeda.onnx.unregister_custom_op_symbolic("onnxtest::scale", 11)
        own = {taeda.ops.onnxtest.scale.default: lambda g, x, by: g.op("mine::Scale", x, by_f=by)}
        model = taeda.onnx.export(
            module, (taeda.ones(2),), custom_translation_table=own, custom_opsets={"mine": 3}, verify=False
        )
        assert {o.domain: o.version for o in model.model_proto.opset_import}["mine"] == 3


def test_refusals_name_every_op_and_its_line() -> None:
    def transforms(x):
        y = taeda.fft.rfft(x).abs()  # the first line
        return y, taeda.linalg.inv(x)  # the second line

    with pytest.raises(OnnxExporterError) as error:
        taeda.onnx.export(Call(transforms), (taeda.eye(3),))
    assert "the first line" in str(error.value) and "the second line" in str(error.value)
    with pytest.raises(OnnxExporterError, match="its result 1 is not said"):
        taeda.onnx.export(Call(lambda x: F.adaptive_max_pool2d(x, 2, return_indices=True)), (taeda.ones(1, 1, 4, 4),))
    lengths = taeda.tensor([4]), taeda.tensor([1])
    losses = (
        Call(lambda x: F.ctc_loss(x, taeda.tensor([[1]]), [4], [1])),
        Call(lambda x: F.ctc_loss(x, taeda.tensor([[1]]), *lengths)),
    )
    for loss in losses:
        with pytest.raises(OnnxExporterError, match="ctc_loss"):
            taeda.onnx.export(loss, (taeda.randn(4, 1, 3).log_softmax(-1),))
    with pytest.raises(ValueError, match="opset_version"):
        taeda.onnx.export(Call(transforms), (taeda.eye(3),), opset_version=9)
    with pytest.raises(OnnxExporterError, match="torch.cond"):
        taeda.onnx.export(Call(lambda x: x if x.sum() > 0 else -x), (taeda.ones(2),))


@pytest.mark.parametrize("kind", ["ONNX_ATEN_FALLBACK", "ONNX_FALLTHROUGH"])
def test_ops_that_onnx_does_not_have(kind) -> None:
    def program(x):
        values, places = taeda.linalg.eigh(x + x.t())
        return taeda.relu(values), taeda.linalg.inv(x).sum(0, keepdim=True), places.abs()

    how = getattr(taeda.onnx.OperatorExportTypes, kind)
    x = taeda.eye(3) * taeda.tensor([1.0, 2.0, 3.0])
    made = taeda.onnx.export(Call(program), (x,), operator_export_type=how)
    ops = {(n.domain, n.op_type) for n in made.model_proto.graph.node}
    assert ("", "Relu") in ops and any(domain == "org.pytorch.aten" for domain, _ in ops)
    if kind == "ONNX_ATEN_FALLBACK":
        close(Call(program), made, (x,))


def test_what_differs_is_named_with_its_line() -> None:
    wrong = {"aten::sin": lambda g, x: g.op("Cos", x)}

    def program(x):
        y = x * 2
        y = y.sin()  # the wrong line
        return y + 1

    with pytest.raises(OnnxExporterError, match=r"aten\.sin(.|\n)*the wrong line"):
        taeda.onnx.export(Call(program), (taeda.ones(2),), custom_translation_table=wrong, verify=True)


def test_data_beside_the_file(tmp_path) -> None:
    module = nn.Linear(64, 64)
    program = taeda.onnx.export(module.eval(), (taeda.randn(1, 64),))
    program.save(tmp_path / "m.onnx", external_data=True)
    assert (tmp_path / "m.onnx.data").stat().st_size >= 64 * 64 * 4
    x = taeda.randn(1, 64)
    assert taeda.allclose(taeda.onnx.load(tmp_path / "m.onnx")(x), module(x), atol=1e-5)
    other = nn.Linear(64, 64)
    program.apply_weights(other.state_dict())
    assert taeda.allclose(program(x)[0], other(x), atol=1e-4)


def test_an_exported_program_is_taken_and_a_report_given(tmp_path) -> None:
    module = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    exported = taeda.export.export(module, (taeda.randn(2, 3),), dynamic_shapes=({0: taeda.export.Dim("n")},))
    program = taeda.onnx.export(exported, report=True, artifacts_dir=tmp_path)
    close(module, program, (taeda.randn(5, 3),))
    assert "Gemm" in (tmp_path / "onnx_export_report.md").read_text() and "Gemm" in repr(program)
    (y,) = program.compute_values([program.model_proto.graph.node[0].output[0]], (taeda.zeros(1, 3),))
    assert np.allclose(y, module[0].bias.detach(), atol=1e-6)


JOINED = {
    "conv1d": (lambda: nn.Conv1d(4, 6, 3, groups=2, bias=False), nn.BatchNorm1d, (2, 4, 7)),
    "conv2d": (lambda: nn.Conv2d(4, 6, 3), nn.BatchNorm2d, (2, 4, 7, 7)),
    "conv_transpose2d": (lambda: nn.ConvTranspose2d(4, 6, 3, groups=2), nn.BatchNorm2d, (2, 4, 5, 5)),
}


@pytest.mark.parametrize("name", JOINED)
def test_batch_norm_joins_the_convolution_before(name):
    layer, norm, shape = JOINED[name]
    model = nn.Sequential(layer(), norm(6))
    for _ in range(3):
        model(taeda.randn(shape))
    model.eval()
    kinds = lambda **options: [n.op_type for n in taeda.onnx.export(
        model, (taeda.randn(shape),), verify=True, **options
    ).model_proto.graph.node]  # fmt: skip
    assert kinds() == ["ConvTranspose" if "transpose" in name else "Conv"]
    assert "BatchNormalization" in kinds(keep_initializers_as_inputs=True)


def test_batch_norm_stays_where_the_convolution_is_used_twice():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.norm = nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)

        def forward(self, x):
            y = self.layer(x)
            return y + self.norm(y)

    program = taeda.onnx.export(Twice().eval(), (taeda.randn(1, 3, 4, 4),), verify=True)
    assert "BatchNormalization" in [n.op_type for n in program.model_proto.graph.node]
