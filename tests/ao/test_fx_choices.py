"""Which parts graph mode quantises, and how it names and orders them: as PyTorch does."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import pytest

import taeda
from taeda.ao.ns.fx.utils import compute_cosine_similarity, compute_normalized_l2_error, compute_sqnr
from taeda.ao.quantization.backend_config import DTypeConfig


def model(library: Any) -> Any:
    nn = library.nn

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.last, self.relu = nn.Linear(2, 2), nn.ReLU()
            self.first = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU())
            self.middle = nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return self.relu(self.last(self.middle(self.first(x))))

    return Net()


def parts(library: Any, choice: str) -> Any:
    """The names, classes and states of a model that was prepared and, but for training, converted."""
    q = importlib.import_module(f"{library.__name__}.ao.quantization")
    fx = importlib.import_module(f"{library.__name__}.ao.quantization.quantize_fx")
    x = library.ones(1, 1, 4, 4)
    symmetric = q.HistogramObserver.with_args(dtype=library.qint8, qscheme=library.per_tensor_symmetric)
    mapping = {
        "no linear": lambda: q.get_default_qconfig_mapping("x86").set_object_type(library.nn.Linear, None),
        "qint8": lambda: q.QConfigMapping().set_global(
            q.QConfig(activation=symmetric, weight=q.default_weight_observer)
        ),
        "dynamic": lambda: q.QConfigMapping().set_global(q.default_dynamic_qconfig),
        "half": lambda: q.QConfigMapping().set_global(q.float16_dynamic_qconfig),
        "training": lambda: q.get_default_qat_qconfig_mapping("x86"),
    }.get(choice, lambda: q.get_default_qconfig_mapping("x86"))()
    if choice == "training":
        prepared = fx.prepare_qat_fx(model(library).train(), mapping, (x,))
        return [name for name, _ in prepared.named_modules()], list(prepared.state_dict())
    prepared = fx.prepare_fx(model(library).eval(), mapping, (x,))
    return (
        [name for name, _ in prepared.named_modules()],
        *prepared.state_dict(),
        [(name, type(part).__name__) for name, part in fx.convert_fx(prepared).named_modules()],
    )


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("choice", ["static", "no linear", "qint8", "dynamic", "half", "training"])
def test_parts_as_pytorch(choice: str) -> None:
    assert parts(taeda, choice) == parts(pytest.importorskip("torch"), choice)


STEPS = {
    "add and the method relu": lambda f, x: (x + x).relu_(),
    "add and relu": lambda f, x: f.relu(x + x),
    "a number before": lambda f, x: 2.5 * x,
    "in place": lambda f, x: x.add_(x),
    "flatten": lambda f, x: x.flatten(1),
    "reshape": lambda f, x: x.reshape(2, -1),
    "hardswish": lambda f, x: f.hardswish(x),
    "elu": lambda f, x: f.elu(x, 0.5),
    "leaky": lambda f, x: f.leaky_relu(x, 0.2),
    "dropout": lambda f, x: f.dropout(x, 0.5, False),
    "group": lambda f, x: f.group_norm(x, 2),
    "instance": lambda f, x: f.instance_norm(x),
    "product": lambda f, x: x @ x,
}


def steps(library: Any, name: str) -> Any:
    """The code of a graph with one step behind a convolution, prepared and converted."""
    fx = importlib.import_module(f"{library.__name__}.ao.quantization.quantize_fx")
    mappings = importlib.import_module(f"{library.__name__}.ao.quantization.qconfig_mapping")
    nn = library.nn

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(4, 4, 1)

        def forward(self, x: Any) -> Any:
            return STEPS[name](nn.functional, self.conv(x))

    x = library.ones(2, 4, 2, 2)
    prepared = fx.prepare_fx(Net().eval(), mappings.get_default_qconfig_mapping("x86"), (x,))
    prepared(x)
    code = prepared.code
    converted = fx.convert_fx(prepared)
    assert converted(x).shape[0] == 2
    return [text.replace(" : _Any_) -> _Any_:", "):") for text in (code, converted.code)]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STEPS)
def test_steps_as_pytorch(name: str) -> None:
    assert steps(taeda, name) == steps(pytest.importorskip("torch"), name)


def test_what_is_quantised_on_the_way_is_so_behind_what_others_see() -> None:
    fx = importlib.import_module("taeda.ao.quantization.quantize_fx")
    q = importlib.import_module("taeda.ao.quantization")
    net = taeda.nn.Sequential(taeda.nn.Conv1d(4, 4, 1), taeda.nn.Linear(3, 3), taeda.nn.LSTM(3, 2)).eval()
    mapping = q.get_default_qconfig_mapping("x86")
    mapping.set_object_type(taeda.nn.Linear, q.default_dynamic_qconfig)
    mapping.set_object_type(taeda.nn.LSTM, q.default_dynamic_qconfig)
    x = taeda.randn(2, 4, 3)
    prepared = fx.prepare_fx(net, mapping, (x,))
    kinds = [type(prepared.get_submodule(n.target)).__name__ for n in prepared.graph.nodes if n.op == "call_module"]
    static, dynamic = "HistogramObserver", "PlaceholderObserver"
    assert kinds == [static, "Conv1d", static, dynamic, "Linear", dynamic, "LSTM"]
    prepared(x)
    assert fx.convert_fx(prepared)(x)[0].shape == (2, 4, 2)


def test_measures_of_how_near_tensors_are() -> None:
    x = taeda.tensor([[3.0, 4.0], [0.0, 0.0]])
    assert compute_sqnr(x, 1.1 * x).item() == pytest.approx(20, abs=1e-4)
    assert compute_normalized_l2_error(x, 1.5 * x).item() == pytest.approx(0.5)
    assert [float(one) for one in compute_cosine_similarity((x, x), (2 * x, -x))] == pytest.approx([1, -1])
    assert compute_sqnr(taeda.quantize_per_tensor(x, 0.5, 0, taeda.qint8), 2 * x).item() == pytest.approx(0)


def test_a_choice_of_dtypes_shows_itself() -> None:
    shown = repr(DTypeConfig(input_dtype=taeda.quint8, is_dynamic=True))
    assert shown.startswith("DTypeConfig(input_dtype_with_constraints=DTypeWithConstraints(dtype=torch.quint8")
    assert shown.endswith("is_dynamic=True)")


def standing_alone(library: Any, takes: list[int], gives: list[int]) -> Any:
    """The codes of a graph with a module that is quantised by itself, prepared and converted."""
    fx = importlib.import_module(f"{library.__name__}.ao.quantization.quantize_fx")
    q = importlib.import_module(f"{library.__name__}.ao.quantization")
    configs = importlib.import_module(f"{library.__name__}.ao.quantization.fx.custom_config")
    nn = library.nn

    class Inner(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(1, 1, 1)

        def forward(self, x):  # type: ignore[no-untyped-def]
            return self.conv(x)

    x = library.linspace(-1, 1, 9).reshape(1, 1, 3, 3)
    mapping = q.QConfigMapping().set_global(q.default_qconfig)
    inner = configs.PrepareCustomConfig().set_input_quantized_indexes(takes).set_output_quantized_indexes(gives)
    config = configs.PrepareCustomConfig().set_standalone_module_name("1", mapping, (x,), inner, None)
    model = nn.Sequential(nn.Conv2d(1, 1, 1), Inner(), nn.Conv2d(1, 1, 1)).eval()
    prepared = fx.prepare_fx(model, mapping, (x,), prepare_custom_config=config)
    prepared(x)
    codes = [prepared.code, getattr(prepared, "1").code]
    converted = fx.convert_fx(prepared)
    assert converted(x).shape == x.shape
    return [*codes, converted.code, getattr(converted, "1").code]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_modules_that_stand_alone_take_and_give_integers_as_in_pytorch() -> None:
    torch = pytest.importorskip("torch")
    assert standing_alone(taeda, [0], [0]) == standing_alone(torch, [0], [0])
    assert standing_alone(taeda, [], [0])[0] == standing_alone(torch, [], [0])[0]
    code = standing_alone(taeda, [0], [])[2]  # PyTorch leaves in float what comes next
    assert code.count("quantize_per_tensor(") == 2


def test_linear_functions_of_halves() -> None:
    fx = importlib.import_module("taeda.ao.quantization.quantize_fx")
    q = importlib.import_module("taeda.ao.quantization")

    class Net(taeda.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = taeda.nn.Parameter(taeda.linspace(-1, 1, 9).reshape(3, 3))

        def forward(self, x):  # type: ignore[no-untyped-def]
            return taeda.nn.functional.relu(taeda.nn.functional.linear(x, self.w))

    x = taeda.linspace(-1, 1, 6).reshape(2, 3)
    prepared = fx.prepare_fx(Net().eval(), q.QConfigMapping().set_global(q.float16_dynamic_qconfig), (x,))
    converted = fx.convert_fx(prepared)
    assert [n.target for n in converted.graph.nodes if n.op == "call_function"] == [
        taeda.ops.quantized.linear_relu_dynamic_fp16
    ]
    wanted = taeda.relu(x @ prepared.w.half().float().T)
    taeda.testing.assert_close(converted(x), wanted)
    again = fx.prepare_fx(Net().eval(), q.QConfigMapping().set_global(q.float16_dynamic_qconfig), (x,))
    reference = fx.convert_to_reference_fx(again)
    assert "linear_relu" not in reference.code
    taeda.testing.assert_close(reference(x), wanted)


def test_scripted_fake_quantisation_is_switched() -> None:
    q = importlib.import_module("taeda.ao.quantization")
    scripted = taeda.jit.script(taeda.nn.Sequential(q.FusedMovingAvgObsFakeQuantize()))
    switches = lambda: [int(value) for key, value in scripted.state_dict().items() if key.endswith("enabled")]
    scripted.apply(q.disable_observer)
    scripted.apply(q.disable_fake_quant)
    assert switches() == [0, 0]
    x = taeda.tensor([0.123])
    assert taeda.equal(scripted(x), x)
    scripted.apply(q.enable_fake_quant)
    scripted.apply(q.enable_observer)
    assert switches() == [1, 1]


def test_tables_for_training_come_of_float_tables_with_a_qconfig() -> None:
    q = importlib.import_module("taeda.ao.quantization")
    qat = importlib.import_module("taeda.ao.nn.qat")
    for kind, other in ((taeda.nn.Embedding, qat.EmbeddingBag), (taeda.nn.EmbeddingBag, qat.Embedding)):
        table = kind(4, 3)
        table.qconfig = q.float_qparams_weight_only_qconfig
        with pytest.raises(AssertionError, match=f"got a {kind.__name__}"):
            other.from_float(table)
        table.qconfig = None
        with pytest.raises(AssertionError, match="no qconfig"):
            getattr(qat, kind.__name__).from_float(table)


def test_recorded_tensors_of_a_scripted_observer() -> None:
    q = importlib.import_module("taeda.ao.quantization")
    scripted = taeda.jit.script(q.RecordingObserver())
    scripted(taeda.ones(2))
    assert [value.tolist() for value in scripted.tensor_val] == [[1, 1]]
    assert [value.tolist() for value in scripted.get_tensor_value()] == [[1, 1]]


@pytest.mark.parametrize("dims", [2, 3])
def test_a_relu_behind_a_convolution_that_was_trained_stays(dims: int) -> None:
    fx = importlib.import_module("taeda.ao.quantization.quantize_fx")
    q = importlib.import_module("taeda.ao.quantization")
    nn, x = taeda.nn, taeda.randn(2, 2, *[3] * dims)
    net = nn.Sequential(getattr(nn, f"Conv{dims}d")(2, 8, 1), nn.ReLU()).train()
    prepared = fx.prepare_qat_fx(net, q.get_default_qat_qconfig_mapping("x86"), (x,))
    wanted = prepared(x)
    prepared.eval()
    assert type(prepared.get_submodule("0").to_float()).__name__ == f"ConvReLU{dims}d"
    for convert in (fx.convert_fx, fx.convert_to_reference_fx):
        made = convert(copy.deepcopy(prepared))(x)
        assert bool((made >= 0).all()) and bool((made == 0).any()) and taeda.allclose(made, wanted, atol=0.05)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_what_asks_for_sizes_names_no_scale() -> None:
    def keys(library: Any) -> list[str]:
        fx = importlib.import_module(f"{library.__name__}.ao.quantization.quantize_fx")
        q = importlib.import_module(f"{library.__name__}.ao.quantization")

        class Net(library.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.a = library.nn.Linear(2, 2)

            def forward(self, x: Any) -> Any:
                n, width = x.shape
                return self.a(x).view(n * width) + 1

        x = library.ones(3, 2)
        prepared = fx.prepare_fx(Net().eval(), q.get_default_qconfig_mapping("x86"), (x,))
        prepared(x)
        return sorted(fx.convert_fx(prepared).state_dict())

    assert keys(taeda) == keys(pytest.importorskip("torch"))


CALLS: dict[str, Any] = {
    "a float takes what a layer takes": lambda s, f, x: s.a(x) + f.gelu(x),
    "and comes first": lambda s, f, x: f.gelu(x) + s.a(x),
    "it is returned": lambda s, f, x: (s.a(x), x),
    "two layers take it": lambda s, f, x: s.a(x) + x + s.b(x),
    "of a float step": lambda s, f, x: (lambda y: s.a(y) + s.b(y) + y)(f.gelu(x)),
    "relu of the library": lambda s, f, x: x.new_zeros(1) + s.relu(s.a(x)) * 2,
    "relu of a sum": lambda s, f, x: s.relu(s.a(x) + s.b(x)),
    "one head twice": lambda s, f, x: f.relu(s.a(x)) + f.relu(s.a(x + 1)),
}


def calls(library: Any, name: str) -> Any:
    """The arguments of each node of a graph, prepared and converted, and the names in its state."""
    fx = importlib.import_module(f"{library.__name__}.ao.quantization.quantize_fx")
    mappings = importlib.import_module(f"{library.__name__}.ao.quantization.qconfig_mapping")

    class Net(library.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b, self.relu = library.nn.Linear(4, 4), library.nn.Linear(4, 4), library.relu

        def forward(self, x: Any) -> Any:
            return CALLS[name](self, library.nn.functional, x)

    x = library.linspace(-2, 2, 12).view(3, 4)
    prepared = fx.prepare_fx(Net().eval(), mappings.get_default_qconfig_mapping("x86"), (x,))
    shown = [[(node.name, str(node.args)) for node in prepared.graph.nodes]]
    prepared(x)
    made = fx.convert_fx(prepared)
    made(x)
    return [*shown, [(node.name, str(node.args)) for node in made.graph.nodes], sorted(made.state_dict())]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_calls_as_pytorch(name: str) -> None:
    assert calls(taeda, name) == calls(pytest.importorskip("torch"), name)


@pytest.mark.parametrize("use", ["parts", "whole", "state"])
def test_an_lstm_of_integers(use: str) -> None:
    fx = importlib.import_module("taeda.ao.quantization.quantize_fx")
    q = importlib.import_module("taeda.ao.quantization")
    custom = importlib.import_module("taeda.ao.quantization.fx.custom_config")
    quantizable, quantized = taeda.ao.nn.quantizable.LSTM, taeda.ao.nn.quantized.LSTM

    class Net(taeda.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.last = taeda.nn.LSTM(4, 4), taeda.nn.Linear(4, 3)
            self.same = taeda.nn.Identity()

        def forward(self, x: Any, h: Any, c: Any) -> Any:
            if use == "parts":
                out, (hidden, cell) = self.lstm(x, (h, c))
                return self.last(out), self.last(hidden), cell
            both = self.lstm(x, (h, c))
            return self.same(both[1] if use == "state" else both)

    x = (taeda.randn(5, 2, 4), taeda.randn(1, 2, 4), taeda.randn(1, 2, 4))
    net = Net().eval()
    prepared = fx.prepare_fx(
        copy.deepcopy(net), q.get_default_qconfig_mapping("x86"), x,
        custom.PrepareCustomConfig().set_float_to_observed_mapping(taeda.nn.LSTM, quantizable),
    )  # fmt: skip
    assert type(prepared.lstm) is quantizable
    prepared(*x)
    config = custom.ConvertCustomConfig().set_observed_to_quantized_mapping(quantizable, quantized)
    made = fx.convert_fx(prepared, convert_custom_config=config)
    assert type(made.lstm) is quantized
    flatten = taeda.utils._pytree.tree_leaves
    for a, b in zip(flatten(made(*x)), flatten(net(*x)), strict=True):
        assert taeda.allclose(a, b, atol=0.1)


def test_a_class_of_integers_is_called_twice() -> None:
    fx = importlib.import_module("taeda.ao.quantization.quantize_fx")
    q = importlib.import_module("taeda.ao.quantization")

    class Plain(taeda.nn.Module):
        def forward(self, x: Any) -> Any:
            return x + x

    class Observed(Plain):
        @classmethod
        def from_float(cls, plain: Any) -> Any:
            return cls()

    class Integers(taeda.nn.Module):
        @classmethod
        def from_observed(cls, observed: Any) -> Any:
            return cls()

        def forward(self, x: Any) -> Any:
            return taeda.ops.quantized.add(x, x, 0.1, 0)

    class Net(taeda.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.own = Plain()

        def forward(self, x: Any) -> Any:
            return self.own(x) + self.own(x)

    x, name = taeda.ones(3), "custom_module_class"
    to_observed = {f"float_to_observed_{name}": {"static": {Plain: Observed}}}
    prepared = fx.prepare_fx(Net().eval(), {"": q.default_qconfig}, (x,), prepare_custom_config=to_observed)
    prepared(x)
    to_integers = {f"observed_to_quantized_{name}": {"static": {Observed: Integers}}}
    made = fx.convert_fx(prepared, convert_custom_config=to_integers)
    assert taeda.allclose(made(x), taeda.full((3,), 4.0), atol=0.1)
