"""Graphs that are quantised: what programs ask for beside a mapping, and what becomes of the graph."""

from __future__ import annotations

import io
import operator
from typing import Any

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized
from taeda.ao.quantization.fx.custom_config import ConvertCustomConfig, FuseCustomConfig, PrepareCustomConfig
from taeda.ao.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_fx
from taeda.nn import functional as F

x = taeda.randn(3, 4, generator=taeda.Generator().manual_seed(0))


def quantised(model: nn.Module, *inputs: taeda.Tensor, mapping: Any = None, convert: Any = None, **options: Any) -> Any:
    prepared = prepare_fx(model.eval(), mapping or q.get_default_qconfig_mapping("qnnpack"), inputs, **options)
    prepared(*inputs)
    return convert_fx(prepared, convert)


def targets(model: Any) -> list[Any]:
    return [node.target for node in model.graph.nodes if node.op.startswith("call")]


class Weighted(nn.Module):
    """A function of a weight, in a module of its own."""

    def __init__(self, function: Any, *shape: int, **options: Any) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(taeda.randn(*shape)), nn.Parameter(taeda.randn(2))
        self.function, self.options = function, options

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        return self.function(x, self.weight, self.bias, **self.options)


def test_graphs_are_programs() -> None:
    made = quantised(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)), x)
    file = io.BytesIO()
    taeda.jit.save(taeda.jit.script(made), file)
    file.seek(0)
    assert taeda.equal(taeda.jit.load(file)(x), made(x))


def test_inputs_that_come_quantised_and_outputs_that_stay_so() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)).eval()
    given = taeda.quantize_per_tensor(x, 0.05, 128, taeda.quint8)
    config = {"input_quantized_idxs": [0], "output_quantized_idxs": [0]}
    prepared = prepare_fx(model, q.get_default_qconfig_mapping("qnnpack"), (x,), config)
    prepared(x)
    made = convert_fx(prepared)
    assert targets(made) == ["0", "1"] and made(given).is_quantized
    assert (made(given).dequantize() - model(given.dequantize())).abs().max() < 0.1


@pytest.mark.parametrize("relu", [False, True])
def test_linear_functions_on_the_way(relu: bool) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Weighted(F.linear, 2, 4)

        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            return F.relu(self.inner(x)) if relu else self.inner(x)

    net = Net()
    made = quantised(net, x, mapping=q.QConfigMapping().set_global(q.default_dynamic_qconfig))
    ops = taeda.ops.quantized
    assert targets(made) == [ops.linear_relu_dynamic if relu else ops.linear_dynamic]
    assert "inner_packed_weight_0" in made.state_dict()
    assert (made(x) - net(x)).abs().max() < 0.1


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_transposed_convolutions_as_functions(dims: int) -> None:
    function = getattr(F, f"conv_transpose{dims}d")
    net = Weighted(function, 4, 2, *[3] * dims, stride=2, padding=1, output_padding=1)
    image = taeda.randn(1, 4, *[5] * dims)
    made = quantised(net, image)
    assert getattr(taeda.ops.quantized, f"conv_transpose{dims}d") in targets(made)
    assert (made(image) - net(image)).abs().max() < 0.03 * net(image).abs().max()


class Own(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        return self.linear(x)


class Observed(Own):
    @classmethod
    def from_float(cls, module: Any) -> Any:
        made = cls()
        made.linear = module.linear
        return made


class Quantised(Own):
    @classmethod
    def from_observed(cls, module: Any) -> Any:
        made: Any = cls()
        module.linear.activation_post_process = module.activation_post_process
        made.linear = quantized.Linear.from_float(module.linear)
        return made


def test_classes_of_the_user() -> None:
    model = nn.Sequential(Own(), nn.Linear(4, 2)).eval()
    wanted = model(x)
    made = quantised(
        model, x,
        prepare_custom_config=PrepareCustomConfig().set_float_to_observed_mapping(Own, Observed),
        convert=ConvertCustomConfig().set_observed_to_quantized_mapping(Observed, Quantised),
    )  # fmt: skip
    assert [type(made.get_submodule(name)) for name in "01"] == [Quantised, quantized.Linear]
    assert targets(made) == [taeda.quantize_per_tensor, "0", "1", "dequantize"]
    assert (made(x) - wanted).abs().max() < 0.1


def test_a_layer_that_is_called_twice_and_one_that_is_left_out() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.twice, self.once = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            return self.once(operator.add(self.twice(self.twice(x)), 1))

    mapping = q.get_default_qconfig_mapping("qnnpack")
    mapping.set_module_name_object_type_order("", nn.Linear, 2, None)
    made = quantised(Net(), x, mapping=mapping)
    assert type(made.twice) is quantized.Linear and type(made.once) is nn.Linear
    assert made(x).shape == (3, 4)


def test_sizes_are_no_tensors_and_are_those_of_what_is_quantised() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 2)

        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            x = self.first(x)
            rows, columns = x.size(0) + 0, x.shape[1] * (x.ndim - 1)
            return self.second(x.view(rows, columns))

    made = quantised(Net(), x)
    assert targets(made).count("dequantize") == 1 and made(x).shape == (3, 2)


def test_buffers_are_named_after_what_takes_the_value() -> None:
    made = quantised(nn.Sequential(nn.Sequential(nn.Linear(4, 2))), x)
    assert {"0_0_input_scale_0", "0_0_input_zero_point_0"} <= {*made.state_dict()}


def test_reference_modules_load_what_was_taken_away() -> None:
    prepared = prepare_fx(nn.Sequential(nn.Linear(4, 2)).eval(), q.get_default_qconfig_mapping("qnnpack"), (x,))
    prepared(x)
    made: Any = convert_to_reference_fx(prepared)
    state = made.state_dict()
    getattr(made, "0").weight_scale = None
    made.load_state_dict(state)
    assert taeda.equal(getattr(made, "0").weight_scale, state["0.weight_scale"])


@pytest.mark.parametrize("kind, config", [
    (PrepareCustomConfig, {
        "standalone_module_name": [("a", {"": None}, (1,), {"input_quantized_idxs": [0]}, None)],
        "standalone_module_class": [(Own, None, (1,), None, None)],
        "float_to_observed_custom_module_class": {"static": {Own: Observed}}, "non_traceable_module_name": ["b"],
        "non_traceable_module_class": [Own], "input_quantized_idxs": [0, 1], "output_quantized_idxs": [2],
        "preserved_attributes": ["kept"],
    }),
    (ConvertCustomConfig, {
        "observed_to_quantized_custom_module_class": {"static": {Observed: Quantised}},
        "preserved_attributes": ["kept"],
    }),
    (FuseCustomConfig, {"preserved_attributes": ["kept"]}),
])  # fmt: skip
def test_configs_as_dicts(kind: Any, config: dict[str, Any]) -> None:
    made = kind.from_dict(config).to_dict()
    assert made.keys() == config.keys() and kind.from_dict(made).to_dict() == made
    assert all(made[key] == config[key] for key in config if not key.startswith("standalone"))


def test_a_relu_that_a_block_uses_twice_goes_with_both_ops() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.conv2, self.relu = nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 1), nn.ReLU(inplace=True)

        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            y = self.conv2(self.relu(self.conv1(x)))
            y += x
            return self.relu(y)

    made = quantised(Block(), taeda.randn(1, 4, 2, 2))
    assert targets(made) == [
        taeda.quantize_per_tensor, "conv1", "conv2", taeda.ops.quantized.add_relu, "dequantize",
    ]  # fmt: skip
    assert {"conv1_input_scale_0", "relu_scale_0"} <= {*made.state_dict()}


def test_numbers_are_added_to_what_was_float() -> None:
    class Net(nn.Module):
        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            return F.gelu(x) + 1

    assert taeda.ops.quantized.add in targets(quantised(Net(), x))


def test_convolutions_are_not_quantised_on_the_way() -> None:
    mapping = q.QConfigMapping().set_global(q.default_dynamic_qconfig)
    made = quantised(nn.Sequential(nn.Conv1d(4, 2, 1)), x[..., None], mapping=mapping)
    assert type(made.get_submodule("0")) is nn.Conv1d


def test_what_has_the_scale_of_its_argument_is_observed_at_the_start_too() -> None:
    prepared = prepare_fx(nn.Sequential(nn.AvgPool2d(2)).eval(), {"": q.default_qconfig}, (taeda.randn(1, 1, 4, 4),))
    assert len([name for name, _ in prepared.named_modules(remove_duplicate=False) if "post_process" in name]) == 2
    assert prepared.activation_post_process_0 is prepared.activation_post_process_1
    prepared(taeda.randn(1, 1, 4, 4))
    assert targets(convert_fx(prepared)) == [taeda.quantize_per_tensor, "0", "dequantize"]


@pytest.mark.parametrize(
    ("limits", "observer", "kept"),
    [
        ({"quant_min_lower_bound": 0, "quant_max_upper_bound": 31}, {"quant_min": 0, "quant_max": 15}, True),
        ({"quant_min_lower_bound": 0, "quant_max_upper_bound": 31}, {"quant_min": 0, "quant_max": 63}, False),
        ({"scale_min_lower_bound": 2**-12}, {"eps": 2**-10}, True),
        ({"scale_min_lower_bound": 2**-12}, {"eps": 2**-14}, False),
    ],
)
def test_backends_have_limits(limits: dict[str, Any], observer: dict[str, Any], kept: bool) -> None:
    from taeda.ao.quantization import backend_config as backends

    dtypes = backends.DTypeConfig(backends.DTypeWithConstraints(taeda.quint8, **limits), taeda.quint8, taeda.qint8)
    pattern = backends.BackendPatternConfig(nn.Linear).add_dtype_config(dtypes)
    backend = backends.BackendConfig("mine").set_backend_pattern_config(pattern)
    qconfig = q.QConfig(q.MinMaxObserver.with_args(dtype=taeda.quint8, **observer), q.default_weight_observer)
    prepared = prepare_fx(nn.Sequential(nn.Linear(4, 2)).eval(), {"": qconfig}, (x,), backend_config=backend)
    prepared(x)
    made = convert_fx(prepared, backend_config=backend)
    assert type(made.get_submodule("0")) is (quantized.Linear if kept else nn.Linear)


def test_a_mapping_says_what_is_not_converted() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)).eval()
    mapping = {"": q.default_qconfig}
    prepared = prepare_fx(model, mapping, (x,))
    prepared(x)
    made = convert_fx(prepared, qconfig_mapping={**mapping, "module_name": [("1", None), ("2", None)]})
    assert [type(made.get_submodule(name)) for name in "012"] == [quantized.Linear, nn.Linear, nn.Linear]
    assert targets(made).count("dequantize") == 1 and made(x).shape == (3, 2)


@pytest.mark.parametrize("qconfig", [q.default_qconfig, q.default_dynamic_qconfig, q.get_default_qconfig("fbgemm")])
def test_reference_of_plain_tensors(qconfig: Any) -> None:
    """The same numbers by ops of integers that are no quantised tensors."""
    from taeda.ao.quantization.quantize_fx import _convert_to_reference_decomposed_fx

    made = []
    for convert in (convert_to_reference_fx, _convert_to_reference_decomposed_fx):
        prepared = prepare_fx(nn.Sequential(nn.Linear(4, 2)).eval(), {"": qconfig}, (x,))
        prepared.load_state_dict({name: taeda.full_like(value, 0.3) for name, value in prepared.named_parameters()},
                                 strict=False)  # fmt: skip
        prepared(x)
        made.append(convert(prepared))
    assert not any(target in (taeda.quantize_per_tensor, "dequantize") for target in targets(made[1]))
    step = float(made[0](x).abs().max()) / 64
    taeda.testing.assert_close(made[1](x), made[0](x), atol=step, rtol=0)


@pytest.mark.parametrize(("last", "norm"), [(nn.LeakyReLU(0.1), True), (nn.LeakyReLU(0.1), False), (nn.Tanh(), False)])
def test_what_onednn_fuses(last: nn.Module, norm: bool) -> None:
    from taeda.ao.nn.intrinsic import quantized as fused
    from taeda.ao.quantization.backend_config import get_onednn_backend_config

    model = nn.Sequential(nn.Linear(4, 3), *([nn.BatchNorm1d(3)] if norm else []), last).eval()
    backend, mapping = get_onednn_backend_config(), q.get_default_qconfig_mapping("onednn")
    prepared = prepare_fx(model, mapping, (x,), backend_config=backend)
    prepared(x)
    made = convert_fx(prepared, backend_config=backend)
    assert type(made.get_submodule("0")) is getattr(fused, f"Linear{type(last).__name__}")
    assert (made(x) - model(x)).abs().max() < 0.1


def test_tuples_that_the_graph_makes_are_passed_by() -> None:
    from taeda.ao.quantization.fx.match_utils import MatchAllNode, _is_match
    from taeda.ao.quantization.fx.utils import _reroute_tuple_getitem_pattern

    graph = taeda.fx.Graph()
    a, b = graph.placeholder("a"), graph.placeholder("b")
    inner = graph.call_function(tuple, ([a, b],))
    outer = graph.call_function(tuple, ([inner, a],))
    taken = graph.call_function(operator.getitem, (graph.call_function(operator.getitem, (outer, 0)), 1))
    made = graph.call_function(taeda.add, (taken, 2))
    graph.output(made)
    _reroute_tuple_getitem_pattern(graph)
    assert made.args == (b, 2)
    assert _is_match({}, made, (taeda.add, MatchAllNode, 2)) and not _is_match({}, made, (taeda.add, MatchAllNode, 3))


def test_masks_are_not_observed_and_changes_in_place_reach_the_integers() -> None:
    class Masked(nn.Module):
        def forward(self, x: taeda.Tensor, mask: taeda.Tensor) -> taeda.Tensor:
            x = taeda.squeeze(x, 0)
            x.relu_()
            return x.masked_fill(mask.unsqueeze(0), 1.0)

    assert prepare_fx(nn.Sequential(nn.Linear(4, 2)).eval(), {"": q.default_qconfig}, taeda.randn(3, 4)) is not None
    inputs = (taeda.randn(1, 3, 4), taeda.arange(4) > 1)
    prepared = prepare_fx(Masked().eval(), {"": q.default_qconfig}, inputs)
    assert len([node for node in prepared.graph.nodes if node.op == "call_module"]) == 3  # of x alone
    prepared(*inputs)
    made = convert_fx(prepared)
    assert targets(made)[:4] == [taeda.quantize_per_tensor, taeda.squeeze, "relu_", "dequantize"]
    assert made(*inputs).min() >= 0 and made(*inputs)[0, 3] == 1.0


def test_modules_that_stand_for_functions_are_seen_through() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = quantized.FloatFunctional(), nn.Sequential()
            self.last.product = quantized.FloatFunctional()

        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            return self.last.product.mul(self.first.add_relu(x, x), x)

    prepared = prepare_fx(Net().eval(), q.get_default_qconfig_mapping("qnnpack"), (x,))
    assert len([name for name in targets(prepared) if "activation_post_process" in str(name)]) == 3  # x has one
    ops = taeda.ops.quantized
    assert [f for f in targets(quantised(Net(), x)) if f in (ops.add, ops.add_relu, ops.mul)] == [ops.add_relu, ops.mul]
