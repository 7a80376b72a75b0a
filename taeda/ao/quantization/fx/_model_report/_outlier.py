"""Channels whose greatest values stand far out."""

from __future__ import annotations

from typing import Any

from taeda import Tensor, fx, nn
from taeda.ao.quantization.fx._model_report._base import (
    PRE_OBSERVER,
    DetectorBase,
    DetectorQConfigInfo,
    is_plain,
    observed,
    points,
)
from taeda.ao.quantization.fx._model_report.model_report_observer import ModelReportObserver


class OutlierDetector(DetectorBase):
    """Compares the greatest value of each channel with a quantile of it.

    Args:
        ratio_threshold: a greatest value of more than so many times the quantile is an outlier.
        reference_percentile: which quantile, from 0 to 1.
        fraction_batches_used_threshold: which part of the batches must tell something of a channel.
        ch_axis: the dimension of channels.

    Raises:
        AssertionError: a part that is not from 0 to 1.
    """

    DEFAULT_PRE_OBSERVER_NAME = PRE_OBSERVER
    INPUT_ACTIVATION_PREFIX = "input_activation_"
    OUTLIER_KEY = "outliers_detected"
    NUM_BATCHES_KEY = "outlier_detection_batches_used"
    IS_SUFFICIENT_BATCHES_KEY = "outlier_detection_is_sufficient_batches"
    COMP_METRIC_KEY = "outlier_detection_percentile_ratios"
    RATIO_THRES_KEY = "outlier_detection_ratio_threshold"
    REF_PERCENTILE_KEY = "outlier_detection_reference_percentile"
    CHANNEL_AXIS_KEY = "outlier_detection_channel_axis"
    MAX_VALS_KEY = INPUT_ACTIVATION_PREFIX + "per_channel_max"
    CONSTANT_COUNTS_KEY = "constant_batch_counts"

    def __init__(
        self, ratio_threshold: float = 3.5, reference_percentile: float = 0.975,
        fraction_batches_used_threshold: float = 0.95, ch_axis: int = 1,
    ) -> None:  # fmt: skip
        super().__init__()
        if not (0 <= reference_percentile <= 1 and 0 <= fraction_batches_used_threshold <= 1):
            raise AssertionError("OutlierDetector: the percentile and the fraction of batches are from 0 to 1")
        self.ratio_threshold, self.reference_percentile = ratio_threshold, reference_percentile
        self.fraction_batches_used_threshold, self.ch_axis = fraction_batches_used_threshold, ch_axis

    def get_detector_name(self) -> str:
        return "outlier_detector"

    def _supports_insertion(self, module: nn.Module) -> bool:
        """Any module without parts is observed."""
        return is_plain(module)

    def _supports_report_gen(self, module: nn.Module) -> bool:
        return hasattr(module, PRE_OBSERVER)

    def get_qconfig_info(self, model: Any) -> dict[str, DetectorQConfigInfo]:
        """Nothing: outliers call for other data, or for equalisation."""
        return {}

    def determine_observer_insert_points(self, prepared_fx_model: fx.GraphModule) -> dict[str, dict[str, Any]]:
        return points(
            self, prepared_fx_model, self._supports_insertion,
            lambda: ModelReportObserver(ch_axis=self.ch_axis, comp_percentile=self.reference_percentile),
        )  # fmt: skip

    def _calculate_outlier_info(
        self, percentile_ratios: Tensor, counted_batches: Tensor, total_batches: int
    ) -> dict[str, list[bool]]:
        enough = [n / total_batches >= self.fraction_batches_used_threshold for n in counted_batches.tolist()]
        return {
            self.OUTLIER_KEY: [ratio > self.ratio_threshold for ratio in percentile_ratios.tolist()],
            self.IS_SUFFICIENT_BATCHES_KEY: enough,
        }

    def _generate_info_dict(self, model: Any) -> dict[str, dict[str, Any]]:
        found = {}
        for fqn, (_, pre) in observed(model, PRE_OBSERVER).items():
            seen, ratios = pre.percentile_batches_tracked, pre.average_percentile_ratio.abs()
            ratios = ratios.maximum(1 / ratios)  # how far from 1, either way
            judged = self._calculate_outlier_info(ratios, seen, pre.num_batches_tracked)
            found[fqn] = {
                self.CHANNEL_AXIS_KEY: self.ch_axis, self.REF_PERCENTILE_KEY: self.reference_percentile,
                self.RATIO_THRES_KEY: self.ratio_threshold, self.COMP_METRIC_KEY: ratios,
                self.NUM_BATCHES_KEY: seen, **judged, self.CONSTANT_COUNTS_KEY: pre.constant_channels,
                self.MAX_VALS_KEY: pre.max_val,
            }  # fmt: skip
        return found

    def generate_detector_report(self, model: Any) -> tuple[str, dict[str, Any]]:
        found = self._generate_info_dict(model)
        lines = []
        for fqn, facts in found.items():
            for at, (is_far, is_sure) in enumerate(
                zip(facts[self.OUTLIER_KEY], facts[self.IS_SUFFICIENT_BATCHES_KEY], strict=True)
            ):
                if is_far:
                    ratio = float(facts[self.COMP_METRIC_KEY][at])
                    sure = "" if is_sure else ", of few batches"
                    lines.append(f"  {fqn}: channel {at} reaches {ratio:.3g} times its quantile{sure}")
        return "Outliers:\n" + "\n".join(lines or ["  none"]) + "\n", found
