"""The numeric suite for graphs: what is compared with what, loggers, shadows, and models with many shadows."""

from __future__ import annotations

import copy
import importlib
from importlib.util import find_spec
from typing import Any

import pytest

import taeda
from taeda import nn
from taeda.ao.ns import _numeric_suite_fx as suite
from taeda.ao.ns.fx import mappings, n_shadows
from taeda.ao.ns.fx.graph_matcher import GraphMatchingException, get_matching_subgraph_pairs
from taeda.ao.ns.fx.pattern_utils import get_type_a_related_to_b
from taeda.ao.ns.fx.qconfig_multi_mapping import QConfigMultiMapping
from taeda.ao.ns.fx.weight_utils import get_linear_fun_weight, get_op_to_type_to_weight_extraction_fn
from taeda.ao.quantization import default_dynamic_qconfig, default_qconfig, get_default_qconfig_mapping
from taeda.ao.quantization.backend_config import get_native_backend_config
from taeda.ao.quantization.qconfig_mapping import QConfigMapping
from taeda.ao.quantization.quantize_fx import convert_fx, prepare_fx
from taeda.nn import functional as F

pytestmark = pytest.mark.filterwarnings("ignore")


def network(library: Any) -> Any:
    own, function = library.nn, library.nn.functional

    class Net(own.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.norm, self.relu = own.Conv2d(1, 2, 1), own.BatchNorm2d(2), own.ReLU()
            values = library.linspace(-1, 1, 16).reshape(4, 4)
            self.w, self.b = own.Parameter(values), own.Parameter(values[0].clone())
            with library.no_grad():
                self.conv.weight.copy_(library.tensor([0.75, -1.25]).reshape(2, 1, 1, 1))
                self.conv.bias.zero_()

        def forward(self, x):  # type: ignore[no-untyped-def]
            x = self.relu(self.norm(self.conv(x)))
            x = function.relu(function.linear(x, self.w, self.b))
            return function.hardswish(library.cat([x, x + 1.0], 1))

    return Net().eval()


def quantised(library: Any) -> tuple[Any, Any, Any]:
    """A prepared model, the converted one, and data."""
    fx = importlib.import_module(f"{library.__name__}.ao.quantization.quantize_fx")
    q = importlib.import_module(f"{library.__name__}.ao.quantization")
    x = library.linspace(-2, 2, 32).reshape(2, 1, 4, 4)
    prepared = fx.prepare_fx(network(library), q.QConfigMapping().set_global(q.default_qconfig), (x,))
    prepared(x)
    return prepared, fx.convert_fx(copy.deepcopy(prepared)), x


def plain(results: Any) -> Any:
    """What records say but for the values and the names of functions."""
    if isinstance(results, dict):
        dropped = ("values", "ref_node_target_type", "prev_node_target_type", "sqnr")
        return {key: plain(value) for key, value in results.items() if key not in dropped}
    return [plain(one) for one in results] if isinstance(results, list) else results


def runs(library: Any) -> tuple[Any, Any, Any]:
    """What the suite of a library says: of weights, of results and arguments, of shadows."""
    ns = importlib.import_module(f"{library.__name__}.ao.ns._numeric_suite_fx")
    utils = importlib.import_module(f"{library.__name__}.ao.ns.fx.utils")
    prepared, converted, x = quantised(library)
    weights = ns.extract_weights("a", prepared, "b", converted)
    a, b = ns.add_loggers("a", prepared, "b", converted, ns.OutputLogger, should_log_inputs=True)
    a(x), b(x)
    logged = ns.extract_logger_info(a, b, ns.OutputLogger, "b")
    both = ns.add_shadow_loggers("a", prepared, "b", converted, ns.OutputLogger)
    both(x)
    shadows = ns.extract_shadow_logger_info(both, ns.OutputLogger, "b")
    for results in (weights, logged, shadows):
        ns.extend_logger_results_with_comparison(results, "a", "b", utils.compute_sqnr, "sqnr")
    return weights, logged, shadows


def ratios(results: Any) -> list[float]:
    """How near the outputs and weights of ``b`` come, layer by layer."""
    kinds = ("weight", "node_output")
    return [
        float(record["sqnr"][0])
        for layer in results.values()
        for kind in kinds
        for record in layer.get(kind, {}).get("b", [])
    ]


@pytest.mark.torch
def test_results_as_pytorch(capsys: pytest.CaptureFixture[str]) -> None:
    ours, theirs = runs(taeda), runs(pytest.importorskip("torch"))
    capsys.readouterr()
    for one, other in zip(ours, theirs, strict=True):
        assert ratios(one) == pytest.approx(ratios(other), rel=1e-2)
        assert [key.split("_")[0] for key in one] == [key.split("_")[0] for key in other]
        assert [list(layer) for layer in one.values()] == [list(layer) for layer in other.values()]
        assert plain(one["conv"]) == plain(other["conv"])  # PyTorch names the functions in its copies anew


def test_graphs_that_do_not_match_are_refused() -> None:
    linear, twice = nn.Sequential(nn.Linear(1, 1)), nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    conv = nn.Sequential(nn.Conv2d(1, 1, 1))
    with pytest.raises(GraphMatchingException, match="1 and 2 steps"):
        suite.add_loggers("a", linear, "b", twice)
    with pytest.raises(GraphMatchingException, match="do not do the same"):
        suite.extract_weights("a", linear, "b", conv)


def _own_linear(x, w, b):  # type: ignore[no-untyped-def]
    return F.linear(x, w, b)


taeda.fx.wrap("_own_linear")


def test_ops_of_ones_own_are_related_by_the_user() -> None:
    class Calls(nn.Module):
        def __init__(self, own: bool) -> None:
            super().__init__()
            self.w, self.b, self.own = nn.Parameter(taeda.eye(2)), nn.Parameter(taeda.zeros(2)), own

        def forward(self, x):  # type: ignore[no-untyped-def]
            return _own_linear(x, self.w, self.b) if self.own else F.linear(x, self.w, self.b)

    a, b = Calls(False), Calls(True)
    with pytest.raises(GraphMatchingException):
        suite.extract_weights("a", a, "b", b)
    sets = mappings.get_base_name_to_sets_of_related_ops()
    mappings.add_op_to_sets_of_related_ops(sets, _own_linear, F.linear)
    assert (F.linear, _own_linear) in get_type_a_related_to_b(sets)
    extractors = get_op_to_type_to_weight_extraction_fn()
    extractors["call_function"][_own_linear] = get_linear_fun_weight
    results = suite.extract_weights("a", a, "b", b, sets, None, extractors)
    assert [record["values"][0].tolist() for record in results["_own_linear"]["weight"]["b"]] == [[[1, 0], [0, 1]]]
    mappings.add_op_to_sets_of_related_ops(sets, taeda.sinh, None)
    assert mappings.get_base_name_for_op(sets, taeda.sinh) is not None
    with pytest.raises(AssertionError, match="in no set"):
        mappings.add_op_to_sets_of_related_ops(sets, taeda.cosh, taeda.asinh)


def test_steps_are_paired_in_the_order_in_which_they_run() -> None:
    prepared, converted, _ = quantised(taeda)
    pairs = list(get_matching_subgraph_pairs(prepared, converted).values())
    assert [one.base_op_node.name for one, _ in pairs] == ["conv", "linear", "add", "cat", "hardswish"]
    assert [one.end_node.op for one, _ in pairs] == ["call_module"] * 3 + ["call_function", "call_module"]
    assert all(other.start_node is other.end_node for _, other in pairs)


def test_loggers_leave_what_is_computed_and_script() -> None:
    prepared, converted, x = quantised(taeda)
    wanted = prepared(x), converted(x)
    a, b = suite.add_loggers("a", prepared, "b", converted)
    for model, result in zip((a, b), wanted, strict=True):
        assert taeda.equal(taeda.jit.script(model)(x), result)
        assert taeda.equal(model(x), result)
    count = len(next(iter(suite.extract_logger_info(a, b, suite.OutputLogger, "b").values()))["node_output"]["a"])
    assert count == 1
    suite.loggers_set_enabled(a, False)
    a(x)
    results = suite.extract_logger_info(a, b, suite.OutputLogger, "b")
    assert all(len(layer["node_output"]["a"][0]["values"]) == 1 for layer in results.values())


def test_integers_shadow_floats(capsys: pytest.CaptureFixture[str]) -> None:
    prepared, converted, x = quantised(taeda)
    both = suite.add_shadow_loggers("int8", converted, "float", prepared)
    assert taeda.equal(both(x), prepared(x))
    assert "no shadow of 'add'" in capsys.readouterr().out
    results = suite.extract_shadow_logger_info(both, suite.OutputLogger, "float")
    suite.extend_logger_results_with_comparison(results, "float", "int8", suite.compute_sqnr, "near")
    near = [layer["node_output"]["int8"][0]["near"][0].item() for layer in results.values()]
    assert len(near) == 2
    assert min(near) > 30
    assert both.conv_input_scale_0 == converted.conv_input_scale_0


def layers() -> nn.Sequential:
    taeda.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)).eval()


def test_several_forms_of_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    model, x = layers(), taeda.randn(5, 4)
    wanted = model(x)
    choices = QConfigMultiMapping().set_global([default_qconfig, default_dynamic_qconfig]).set_module_name(
        "2", [default_qconfig]
    )  # fmt: skip
    prepared = suite.prepare_n_shadows_model(model, (x,), choices, get_native_backend_config())
    assert taeda.equal(prepared(x), wanted)
    converted = suite.convert_n_shadows_model(prepared)
    kinds = {name: type(part.mod_0).__name__ for name, part in converted.named_children() if "wrapper" in name}
    assert kinds == {
        "shadow_wrapper_0_1": "LinearReLU",
        "shadow_wrapper_0_2": "LinearReLU",
        "shadow_wrapper_1_1": "Linear",
    }
    converted(x)
    by_step = suite.extract_results_n_shadows_model(converted)["model"]["node_output"]
    assert all(not records[0]["values"] for records in by_step.values())  # the loggers are off
    suite.loggers_set_enabled(converted, True)
    suite.loggers_set_save_activations(converted, False)
    assert taeda.equal(converted(x), wanted)
    results = suite.extract_results_n_shadows_model(converted)
    compared = n_shadows.create_results_comparison(n_shadows.group_results_by_subgraph(results))
    assert [(one["fqn"], list(one["candidates"])) for one in compared.values()] == [("0", ["1", "2"]), ("2", ["1"])]
    near = [form["cmp_mean"].item() for one in compared.values() for form in one["candidates"].values()]
    assert min(near) > 25
    suite.print_comparisons_n_shadows_model(results)
    assert ("subgraph_1" if find_spec("tabulate") else "pip install tabulate") in capsys.readouterr().out


def test_a_chain_of_shadows_is_the_quantised_model() -> None:
    model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU(), nn.Linear(4, 4), nn.Softsign()).eval()
    x = taeda.randn(2, 1, 4, 4)
    mapping = get_default_qconfig_mapping("x86")
    reference = prepare_fx(copy.deepcopy(model), mapping, (x,))
    prepared = suite._prepare_n_shadows_add_loggers_model(model, (x,), mapping, get_native_backend_config())
    reference(x), prepared(x)
    converted = suite.convert_n_shadows_model(prepared)
    suite.loggers_set_enabled(converted, True)
    assert taeda.equal(converted(x), model(x))
    by_step = suite.extract_results_n_shadows_model(converted)["model"]["node_output"]
    last = by_step[list(by_step)[-1]][0]["values"][-1]
    taeda.testing.assert_close(last, convert_fx(reference)(x))


def test_weights_of_forms() -> None:
    model, x = layers(), taeda.randn(5, 4)
    mapping = QConfigMapping().set_global(default_qconfig).set_module_name("2", None)
    found = suite._n_shadows_compare_weights(model, (x,), mapping, get_native_backend_config())["model"]["weight"]
    assert list(found) == ["subgraph_0_0", "subgraph_0_1"]
    assert found["subgraph_0_1"][0]["comparisons"][0] > 35


def test_lists_of_qconfigs_are_filled_up_and_have_no_equals() -> None:
    assert len(QConfigMultiMapping().set_global([default_qconfig, default_qconfig]).qconfig_mappings_list) == 1
    early = QConfigMultiMapping().set_object_type(nn.Linear, [default_qconfig]).set_module_name("fc", [default_qconfig])
    early.set_global([None, default_qconfig, default_dynamic_qconfig])
    second = early.qconfig_mappings_list[1]
    assert second.global_qconfig is default_dynamic_qconfig
    assert second.object_type_qconfigs == {nn.Linear: None}
    assert second.module_name_qconfigs == {"fc": None}
    late = QConfigMultiMapping().set_global([default_qconfig, default_dynamic_qconfig])
    late.set_module_name_regex("fc.*", [default_qconfig]).set_module_name_object_type_order("", nn.Linear, 0, [None])
    assert late.qconfig_mappings_list[1].module_name_regex_qconfigs == {"fc.*": None}
    assert late.qconfig_mappings_list[0].module_name_object_type_order_qconfigs == {("", nn.Linear, 0): None}
    again = QConfigMultiMapping.from_list_qconfig_mapping(early.qconfig_mappings_list)
    assert repr(again) == repr(early)
    assert repr(again).startswith("QConfigMultiMapping [\nQConfigMapping (")


def test_what_was_not_quantised_has_no_shadow_and_what_is_not_watched_no_results() -> None:
    q = importlib.import_module("taeda.ao.quantization")
    eager = importlib.import_module("taeda.ao.ns._numeric_suite")

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant, self.fc, self.dequant, self.rest = (
                q.QuantStub(),
                nn.Linear(2, 2),
                q.DeQuantStub(),
                nn.Linear(2, 2),
            )
            self.sum = taeda.ao.nn.quantized.FloatFunctional()
            self.rest.qconfig = None  # type: ignore[assignment]

        def forward(self, x):  # type: ignore[no-untyped-def]
            return self.rest(self.dequant(self.sum.add_scalar(self.fc(self.quant(x)), 1.0)))

    model, x = Net().eval(), taeda.randn(3, 2)
    model.qconfig = default_qconfig  # type: ignore[assignment]
    prepared = q.prepare(model)
    prepared(x)
    outputs = eager.compare_model_outputs(copy.deepcopy(model), q.convert(prepared), x)
    assert set(outputs) == {"quant.stats", "fc.stats"}
    converted = q.convert(prepared)
    assert list(eager.compare_model_stub(model, converted, [nn.Linear], x)) == ["fc.stats"]
    assert type(converted.rest) is nn.Linear
