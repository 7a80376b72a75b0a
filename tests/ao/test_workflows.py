"""Models quantised after training, while training, and on the fly; in eager mode and as graphs; beside PyTorch's."""

from __future__ import annotations

import copy
import io
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from quantized_models import FUSED, batches, small_resnet, words

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.quantization import quantize_fx

SHAPE = (4, 3, 8, 8)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _numbers(*values: Any) -> list[np.ndarray]:
    return [np.asarray(value.detach().numpy() if hasattr(value, "detach") else value, "float64") for value in values]


def eager(lib: ModuleType, engine: str) -> list[np.ndarray]:
    quant = lib.ao.quantization
    model = quant.fuse_modules(small_resnet(lib, True).eval(), FUSED)
    model.qconfig = quant.default_qconfig if engine == "minmax" else quant.get_default_qconfig(engine)
    prepared = quant.prepare(model)
    data = batches(lib, SHAPE)
    for x in data:
        prepared(x)
    made = quant.convert(prepared)
    scales = [made.quant.scale.item(), made.conv.scale, made.conv2.scale, made.add.scale, made.fc2.scale]
    zeros = [made.quant.zero_point.item(), made.conv.zero_point, made.add.zero_point, made.fc2.zero_point]
    return _numbers(zeros, made.conv.weight().int_repr(), made.fc1.weight().int_repr(), scales, made(data[0]))


def eager_qat(lib: ModuleType, engine: str) -> list[np.ndarray]:
    quant = lib.ao.quantization
    model = quant.fuse_modules_qat(small_resnet(lib, True).train(), FUSED)
    model.qconfig = quant.get_default_qat_qconfig(engine)
    prepared, data, losses = quant.prepare_qat(model), batches(lib, SHAPE), []
    optimizer = lib.optim.SGD(prepared.parameters(), 0.001)
    for x in data:
        optimizer.zero_grad()
        loss = (prepared(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    made = quant.convert(prepared.eval())
    return _numbers(losses, [made.conv.scale, made.add.scale, made.fc2.scale], made(data[0]))


def dynamic(lib: ModuleType, dtype: str) -> list[np.ndarray]:
    model = words(lib)
    ids = lib.arange(30).reshape(6, 5) % 20
    return _numbers(lib.ao.quantization.quantize_dynamic(model, dtype=getattr(lib, dtype))(ids), model(ids))


def graph(lib: ModuleType, engine: str) -> list[np.ndarray]:
    from_fx = __import__(f"{lib.__name__}.ao.quantization.quantize_fx", fromlist=["prepare_fx"])
    data = batches(lib, SHAPE)
    mapping = lib.ao.quantization.get_default_qconfig_mapping(engine)
    prepared = from_fx.prepare_fx(small_resnet(lib, False).eval(), mapping, (data[0],))
    for x in data:
        prepared(x)
    made, reference = from_fx.convert_fx(copy.deepcopy(prepared)), from_fx.convert_to_reference_fx(prepared)
    scales = [v.item() for k, v in sorted(reference.state_dict().items()) if k.endswith("_scale_0")]
    return _numbers(scales, made(data[0]))


def graph_qat(lib: ModuleType, engine: str) -> list[np.ndarray]:
    from_fx = __import__(f"{lib.__name__}.ao.quantization.quantize_fx", fromlist=["prepare_fx"])
    data, losses = batches(lib, SHAPE), []
    mapping = lib.ao.quantization.get_default_qat_qconfig_mapping(engine)
    prepared = from_fx.prepare_qat_fx(small_resnet(lib, False).train(), mapping, (data[0],))
    optimizer = lib.optim.SGD(prepared.parameters(), 0.001)
    for x in data:
        optimizer.zero_grad()
        loss = (prepared(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return _numbers(losses, from_fx.convert_fx(prepared.eval())(data[0]))


def lstm_after_training(lib: ModuleType, engine: str) -> list[np.ndarray]:
    quant = lib.ao.quantization

    class Net(lib.nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.quant, self.lstm, self.dequant = quant.QuantStub(), lib.nn.LSTM(3, 4), quant.DeQuantStub()

        def forward(self, x: Any) -> Any:
            return self.dequant(self.lstm(self.quant(x))[0])

    lib.manual_seed(0)
    model = Net().eval()
    model.qconfig = quant.default_qconfig
    x = batches(lib, (5, 2, 3))[0]
    prepared = quant.prepare(model)
    return _numbers(prepared(x), quant.convert(prepared)(x))


WORKFLOWS = [
    *((eager, engine) for engine in ("x86", "qnnpack", "minmax")), (eager_qat, "x86"), (dynamic, "qint8"),
    (dynamic, "float16"), (graph, "x86"), (graph_qat, "x86"), (lstm_after_training, ""),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("workflow, engine", WORKFLOWS, ids=lambda value: getattr(value, "__name__", value))
def test_as_pytorch(workflow: Any, engine: str) -> None:
    """The same scales and levels; what is float differs by its rounding, and after steps of training by a level."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch.ao.quantization")
    if engine == "qnnpack" and not torch.cpu._is_vnni_supported():
        pytest.skip("PyTorch's sums of products of eight bits saturate here; test_little_is_lost sees that ours do not")
    for ours, theirs in zip(workflow(taeda, engine), workflow(torch, engine), strict=True):
        trained = workflow in (eager_qat, graph_qat)
        np.testing.assert_allclose(ours, theirs, rtol=2e-3 if trained else 1e-5, atol=1e-2 if trained else 1e-6)


@pytest.mark.parametrize("engine", ["x86", "qnnpack"])
def test_little_is_lost(engine: str) -> None:
    """Quantised results are within a few levels of the float model's."""
    model = small_resnet(taeda, True).eval()
    x = batches(taeda, SHAPE)[0]
    wanted = model(x).detach()
    off = taeda.tensor(eager(taeda, engine)[-1], dtype=taeda.float32) - wanted
    assert off.abs().max() < 0.06 * (wanted.max() - wanted.min())


def test_hooks_and_unquantised_parts_stay() -> None:
    model = nn.Sequential(q.QuantStub(), nn.Linear(4, 4), q.DeQuantStub(), nn.Linear(4, 2)).eval()
    seen: list[int] = []
    model[1].register_forward_hook(lambda *_: seen.append(1))
    model.qconfig = q.default_qconfig  # type: ignore[assignment]
    model[3].qconfig = None  # type: ignore[assignment]
    x = taeda.randn(3, 4)
    prepared = q.prepare(model)
    prepared(x)
    made = q.convert(prepared)
    made(x)
    assert len(seen) == 2 and type(made[3]) is nn.Linear and not any(hasattr(m, "qconfig") for m in made.modules())


def test_what_is_missing_is_said() -> None:
    with pytest.warns(UserWarning, match="no module has a qconfig"):
        q.prepare(nn.Sequential(nn.Linear(2, 2)))
    with pytest.raises(AssertionError, match="training mode"):
        q.prepare_qat(nn.Sequential(nn.Linear(2, 2)).eval())
    with pytest.raises(ValueError, match="dtype must be"):
        q.quantize_dynamic(nn.Sequential(nn.Linear(2, 2)), dtype=taeda.int64)
    wide = nn.Sequential(nn.ConvTranspose2d(2, 2, 3))
    wide.qconfig = q.default_per_channel_qconfig  # type: ignore[assignment]
    with pytest.raises(AssertionError, match="cannot be quantised by channel"):
        q.prepare(wide)


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU])
def test_layers_that_are_not_trained_drop_nothing(layer: Any) -> None:
    made = q.quantize_dynamic(nn.Sequential(layer(3, 4, 2, dropout=0.9)), {layer})
    x = taeda.randn(5, 2, 3)
    assert not made[0].training and taeda.equal(made(x)[0], made(x)[0])
    assert made.train()[0].training and not taeda.equal(made(x)[0], made(x)[0])


def test_state_and_pickle() -> None:
    x = batches(taeda, SHAPE)[0]

    def made() -> Any:
        model = nn.Sequential(
            q.QuantStub(), nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5), q.DeQuantStub()
        ).eval()  # fmt: skip
        model.qconfig = q.default_per_channel_qconfig  # type: ignore[assignment]
        prepared = q.prepare(model)
        prepared(x)
        return q.convert(prepared)

    one, other = made(), made()
    assert not taeda.equal(one(x), other(x))
    other.load_state_dict(one.state_dict())
    assert other[1].scale == one[1].scale and taeda.equal(one(x), other(x))
    buffer = io.BytesIO()
    taeda.save(one, buffer)
    buffer.seek(0)
    assert taeda.equal(taeda.load(buffer, weights_only=False)(x), one(x))
    assert taeda.equal(copy.deepcopy(one)(x), one(x))


def test_graphs_keep_what_is_asked_for_and_leave_out_what_is_not_traced() -> None:
    class Opaque(nn.Module):
        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            return x if x.sum() > 0 else -x

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.opaque, self.kept = nn.Linear(4, 4), Opaque(), "as it was"

        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            return self.opaque(self.fc(x))

    config = {"non_traceable_module_class": [Opaque], "preserved_attributes": ["kept"]}
    x = taeda.randn(2, 4)
    prepared = quantize_fx.prepare_fx(Net().eval(), q.get_default_qconfig_mapping(), (x,), config)
    prepared(x)
    made = quantize_fx.convert_fx(prepared)
    assert made.kept == "as it was" and isinstance(made.opaque, Opaque)
    assert type(made.fc) is taeda.ao.nn.quantized.Linear and made(x).shape == (2, 4)


def test_a_mapping_leaves_parts_out() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)).eval()
    mapping = q.get_default_qconfig_mapping().set_module_name("1", None)
    x = taeda.randn(3, 4)
    prepared = quantize_fx.prepare_fx(model, mapping, (x,))
    prepared(x)
    made = quantize_fx.convert_fx(prepared)
    found = [type(getattr(made, name)) for name in "01"]
    assert found == [taeda.ao.nn.quantized.Linear, nn.Linear]


def test_numeric_suite() -> None:
    from taeda.ao.ns import _numeric_suite as suite

    model = nn.Sequential(q.QuantStub(), nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3), q.DeQuantStub()).eval()
    model.qconfig = q.default_qconfig  # type: ignore[assignment]
    x = taeda.randn(8, 4)
    prepared = q.prepare(model)
    prepared(x)
    made = q.convert(prepared)
    weights = suite.compare_weights(model.state_dict(), made.state_dict())
    assert [*weights] == ["1._packed_params._packed_params", "3._packed_params._packed_params"]
    for pair in weights.values():
        assert (pair["float"] - pair["quantized"].dequantize()).abs().max() < 0.01
    results = suite.compare_model_outputs(copy.deepcopy(model), copy.deepcopy(made), x)
    assert {"1.stats", "3.stats"} <= {*results}
    beside = suite.compare_model_stub(copy.deepcopy(model), copy.deepcopy(made), [nn.Linear], x)
    assert [*beside] == ["1.stats", "3.stats"] and len(beside["1.stats"]["float"]) == 1


def test_numeric_suite_of_graphs() -> None:
    from taeda.ao.ns import _numeric_suite_fx as suite

    x = batches(taeda, SHAPE)[0]
    prepared = quantize_fx.prepare_fx(small_resnet(taeda, False).eval(), q.get_default_qconfig_mapping(), (x,))
    prepared(x)
    made = lambda: quantize_fx.convert_fx(copy.deepcopy(prepared))
    weights = suite.extract_weights("float", prepared, "int8", made())
    assert [*weights] == ["conv", "conv2", "fc1", "fc2"]
    logged = suite.add_loggers("float", copy.deepcopy(prepared), "int8", made())
    for model in logged:
        model(x)
    results = suite.extract_logger_info(*logged, suite.OutputLogger, "int8")
    suite.extend_logger_results_with_comparison(results, "float", "int8", suite.compute_sqnr, "sqnr")
    assert {"conv", "fc2", "sigmoid"} <= {*results}
    assert all(record["sqnr"][0] > 15 for of in results.values() for record in of["node_output"]["int8"])
    beside = suite.add_shadow_loggers("float", copy.deepcopy(prepared), "int8", made())
    beside(x)
    results = suite.extract_shadow_logger_info(beside, suite.OutputLogger, "int8")
    assert {*results["fc1"]["node_output"]} == {"float", "int8"}
