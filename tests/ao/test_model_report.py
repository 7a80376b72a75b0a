"""Reports on prepared models, on data whose ranges are known."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda import Tensor, nn
from taeda.ao.quantization import QConfigMapping, get_default_qconfig, get_default_qconfig_mapping
from taeda.ao.quantization import observer as observers
from taeda.ao.quantization.fx import _equalize as equalize
from taeda.ao.quantization.fx._model_report import detector as detectors
from taeda.ao.quantization.fx._model_report.model_report import ModelReport
from taeda.ao.quantization.fx._model_report.model_report_observer import ModelReportObserver
from taeda.ao.quantization.fx._model_report.model_report_visualizer import ModelReportVisualizer
from taeda.ao.quantization.quantize_fx import convert_fx, prepare_fx


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.relu, self.conv = nn.Linear(3, 3), nn.ReLU(), nn.Conv2d(3, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(self.relu(self.first(x)))


def report(*chosen: detectors.DetectorBase, mapping: Any = None) -> tuple[Any, ModelReport]:
    taeda.manual_seed(0)
    prepared = prepare_fx(Net().eval(), mapping or get_default_qconfig_mapping(), (taeda.randn(1, 3, 4, 3),))
    made = ModelReport(prepared, set(chosen))
    return made.prepare_detailed_calibration(), made


def test_observer() -> None:
    seen = ModelReportObserver(comp_percentile=0.5)
    x = taeda.tensor([[1.0, 0.0, 2.0], [3.0, 0.0, 2.0], [-6.0, 0.0, 2.0]])
    assert seen(x) is x and seen(x + 1) is not x
    assert (seen.epoch_activation_min, seen.epoch_activation_max) == (-6, 4) and seen.num_batches_tracked == 2
    assert seen.get_batch_to_epoch_ratio() == 0.9 and seen.min_val.tolist() == [-6, 0, 2]
    assert seen.average_percentile_ratio.tolist() == [2.5, 1, 1]  # of 3 / 1 and 4 / 2; zeros tell nothing
    assert seen.percentile_batches_tracked.tolist() == [2, 1, 2] and seen.constant_channels.tolist() == [0, 2, 2]
    seen.reset_batch_and_epoch_values()
    with pytest.raises(ValueError, match="no range"):
        seen.get_batch_to_epoch_ratio()
    with pytest.raises(Exception, match="no scale"):
        seen.calculate_qparams()


def test_observers_stand_around_modules_and_go_again() -> None:
    model, made = report(detectors.DynamicStaticDetector(), detectors.PerChannelDetector())
    names = {"first.0.model_report_pre_observer", "first.0.model_report_post_observer",
             "conv.model_report_pre_observer", "conv.model_report_post_observer"}  # fmt: skip
    assert made.get_observers_of_interest() == {"dynamic_vs_static_detector": names, "per_channel_detector": set()}
    calls = [str(node.target) for node in model.graph.nodes]
    at = calls.index("first")  # with the ReLU in it
    assert calls[at - 1 : at + 2 : 2] == ["first.0.model_report_pre_observer", "first.0.model_report_post_observer"]
    with pytest.raises(ValueError, match="already"):
        made.prepare_detailed_calibration()
    for _ in range(3):
        model(taeda.randn(1, 3, 4, 3))
    texts = made.generate_model_report(True)
    assert set(texts) == made.get_desired_reports_names()
    assert not any("model_report" in str(node.target) for node in model.graph.nodes)
    assert not any(isinstance(module, ModelReportObserver) for module in model.modules())
    with pytest.raises(Exception, match="taken out"):
        made.generate_model_report(False)


def test_stationary_or_not() -> None:
    model, made = report(detectors.DynamicStaticDetector(tolerance=0.6))
    for shift in (0.0, 100.0):  # each batch has half of the whole range, or less
        model(taeda.rand(1, 3, 4, 3) + shift)
    _, facts = made.generate_model_report(False)["dynamic_vs_static_detector"]
    first = next(value for name, value in facts.items() if name.startswith("first"))
    assert first["input_activation_dynamic_static_data_classification"] == "non-stationary"
    assert (
        bool(first["dynamic_recommended"])
        and first["is_dynamic_supported"]
        and not facts["conv"]["is_dynamic_supported"]
    )
    qconfigs = made.generate_qconfig_mapping().module_name_qconfigs
    assert qconfigs["conv"].activation == observers.default_observer
    assert observers.default_dynamic_quant_observer in [config.activation for config in qconfigs.values()]


@pytest.mark.parametrize("by_channel", [True, False])
def test_weights_by_channel(by_channel: bool) -> None:
    mapping = QConfigMapping().set_global(get_default_qconfig("fbgemm" if by_channel else "qnnpack"))
    model, made = report(detectors.PerChannelDetector("qnnpack"), mapping=mapping)
    text, facts = made.generate_model_report(False)["per_channel_detector"]
    assert all(one["per_channel_quantization_used"] is by_channel for one in facts.values()) and len(facts) == 2
    assert ("nothing is left" in text) is by_channel and ("conv: by tensor" in text) is not by_channel
    made_of = made.generate_qconfig_mapping()
    assert made_of.module_name_qconfigs["conv"].weight == observers.default_per_channel_weight_observer
    convert_fx(prepare_fx(Net().eval(), made_of, (taeda.randn(1, 3, 4, 3),)))
    with pytest.raises(ValueError, match="backend"):
        detectors.PerChannelDetector("tpu")


def test_outliers() -> None:
    model, made = report(detectors.OutlierDetector(reference_percentile=0.9, ratio_threshold=10.0))
    x = taeda.rand(1, 3, 8, 3) + 1
    x[0, 1, 0, 0] = 1e6
    model(x)
    text, facts = made.generate_model_report(False)["outlier_detector"]
    first = next(value for name, value in facts.items() if name.startswith("first"))
    assert first["outliers_detected"] == [False, True, False] and first["input_activation_per_channel_max"][1] == 1e6
    assert first["outlier_detection_is_sufficient_batches"] == [True] * 3 and "channel 1 reaches" in text


def test_equalisation_is_recommended_where_ranges_go_together() -> None:
    model, made = report(detectors.InputWeightEqualizationDetector(0.5))
    taeda.nn.init.constant_(model.conv.weight, 1.0)
    with taeda.no_grad():
        model.conv.weight[0] = taeda.tensor([-1.0, 0.99, 1.0]).view(3, 1, 1)  # the second column has nearly no range
    model(taeda.randn(1, 3, 4, 3))
    text, facts = made.generate_model_report(False)["input_weight_equalization_detector"]
    conv = facts["conv"]
    metric = conv["input_weight_channel_comparison_metrics"]
    assert conv["input_weight_equalization_recommended"] == [0.5 <= value <= 2 for value in metric.tolist()]
    assert metric[1] < 0.5 and conv["weight_global_min"] == -1 and "conv: equalise" in text
    assert set(made.generate_equalization_mapping().module_name_qconfigs) == set(facts)
    with pytest.raises(ValueError, match="from 0 to 1"):
        detectors.InputWeightEqualizationDetector(2.0)


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    model, made = report(detectors.OutlierDetector(), detectors.InputWeightEqualizationDetector(0.5))
    model(taeda.randn(1, 3, 4, 3))
    with pytest.raises(Exception, match="first"):
        made.generate_visualizer()
    made.generate_model_report(False)
    shown = made.generate_visualizer()
    assert "conv" in shown.get_all_unique_module_fqns()
    assert "weight_global_max" in shown.get_all_unique_feature_names()
    assert "outliers_detected" not in shown.get_all_unique_feature_names()
    tables = shown.generate_filtered_tables("per_channel_max", "conv")
    headers, rows = tables[ModelReportVisualizer.TABLE_CHANNEL_KEY]
    assert headers == ["idx", "layer_fqn", "channel", "input_activation_per_channel_max", "weight_per_channel_max"]
    assert [row[:3] for row in rows] == [[at, "conv", at] for at in range(3)]
    assert tables[ModelReportVisualizer.TABLE_TENSOR_KEY] == ([], [])
    shown.generate_table_visualization("global_max")
    assert "input_activation_global_max" in capsys.readouterr().out
    places, values, by_channel = shown._get_plottable_data("constant_batch_counts", "")
    assert by_channel and len(values) == 3 and len(places) == len(values[0])
    with pytest.raises(ValueError, match="plots one feature"):
        shown._get_plottable_data("max", "")


def test_scale_of_equalisation() -> None:
    x, w = taeda.tensor([[0.0, 1.0, 5.0], [4.0, 2.0, 5.0]]), taeda.tensor([[0.0, 1.0, 1.0], [1.0, 5.0, 2.0]])
    inputs, weights = equalize._InputEqualizationObserver(), equalize._WeightEqualizationObserver()
    assert equalize.calculate_equalization_scale(inputs, weights).tolist() == 1
    inputs(x), weights(w)
    scale = equalize.calculate_equalization_scale(inputs, weights)
    assert scale.tolist() == [0.5, 2, 1]  # the roots of 1 / 4 and 4 / 1; a channel without range stays
    inputs.set_equalization_scale(scale)
    assert inputs.calculate_scaled_minmax() == (0, 5)
    with pytest.raises(TypeError, match="by tensor"):
        equalize._InputEqualizationObserver(qscheme=taeda.per_channel_affine)
    with pytest.raises(ValueError, match="classes"):
        equalize.EqualizationQConfig(inputs, weights)
    with pytest.raises(ValueError, match="2 to 5"):
        weights(taeda.ones(3))


def test_no_detectors() -> None:
    with pytest.raises(ValueError, match="one detector"):
        ModelReport(taeda.fx.symbolic_trace(Net()), set())
