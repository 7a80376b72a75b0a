"""Whether scaling the channels of inputs would help."""

from __future__ import annotations

from typing import Any, ClassVar

import taeda
from taeda import Tensor, fx, nn
from taeda.ao.quantization.fx._model_report._base import (
    PRE_OBSERVER,
    DetectorBase,
    DetectorQConfigInfo,
    observed,
    points,
)
from taeda.ao.quantization.fx._model_report._per_channel import WEIGHTED
from taeda.ao.quantization.fx._model_report.model_report_observer import ModelReportObserver
from taeda.ao.quantization.observer import PerChannelMinMaxObserver


class InputWeightEqualizationDetector(DetectorBase):
    """Compares, by channel, the input's part of its whole range with the weight's.

    Args:
        ratio_threshold: equalisation is recommended where the two differ by no more than this factor, from 0 to 1.
        ch_axis: the dimension of channels.

    Raises:
        ValueError: ``ratio_threshold`` is not from 0 to 1.
    """

    SUPPORTED_MODULES: ClassVar[set[Any]] = WEIGHTED
    DEFAULT_PRE_OBSERVER_NAME = PRE_OBSERVER
    WEIGHT_PREFIX = "weight_"
    ACTIVATION_PREFIX = "input_activation_"
    PER_CHANNEL_MAX_KEY = "per_channel_max"
    PER_CHANNEL_MIN_KEY = "per_channel_min"
    GLOBAL_MAX_KEY = "global_max"
    GLOBAL_MIN_KEY = "global_min"
    RECOMMENDED_KEY = "input_weight_equalization_recommended"
    COMP_METRIC_KEY = "input_weight_channel_comparison_metrics"
    THRESHOLD_KEY = "input_weight_threshold"
    CHANNEL_KEY = "input_weight_channel_axis"
    WEIGHT_STR = "weight"
    INPUT_STR = "input"
    DEFAULT_RECOMMEND_INPUT_WEIGHT_CHANNEL_RATIO = 0.4

    def __init__(self, ratio_threshold: float, ch_axis: int = 1) -> None:
        super().__init__()
        if not 0 <= ratio_threshold <= 1:
            raise ValueError(f"InputWeightEqualizationDetector: the threshold is from 0 to 1; got {ratio_threshold}")
        self.ratio_threshold, self.ch_axis = ratio_threshold, ch_axis

    def get_detector_name(self) -> str:
        return "input_weight_equalization_detector"

    def _is_supported(self, module: nn.Module, insert: bool = False) -> bool:
        """With ``insert``, whether it is observed; else, whether its report can be written."""
        return isinstance(module, tuple(self.SUPPORTED_MODULES)) and (insert or hasattr(module, PRE_OBSERVER))

    def determine_observer_insert_points(self, prepared_fx_model: fx.GraphModule) -> dict[str, dict[str, Any]]:
        return points(
            self, prepared_fx_model, lambda module: self._is_supported(module, insert=True),
            lambda: ModelReportObserver(ch_axis=self.ch_axis),
        )  # fmt: skip

    def get_qconfig_info(self, model: Any) -> dict[str, DetectorQConfigInfo]:
        made = {}
        for fqn, facts in self._report(model).items():
            made[fqn] = DetectorQConfigInfo(fqn)
            made[fqn].is_equalization_recommended = any(facts[self.RECOMMENDED_KEY])
        return made

    def _ranges(self, prefix: str, low: Tensor, high: Tensor) -> dict[str, Tensor]:
        return {
            prefix + self.PER_CHANNEL_MAX_KEY: high, prefix + self.PER_CHANNEL_MIN_KEY: low,
            prefix + self.GLOBAL_MAX_KEY: high.max(), prefix + self.GLOBAL_MIN_KEY: low.min(),
        }  # fmt: skip

    def _extract_input_info(self, model: Any) -> dict[str, dict[str, Any]]:
        found = {}
        for fqn, (module, pre) in observed(model, PRE_OBSERVER).items():
            if self._is_supported(module):
                found[fqn] = self._ranges(self.ACTIVATION_PREFIX, pre.min_val, pre.max_val)
        return found

    def _extract_weight_info(self, model: Any) -> dict[str, dict[str, Any]]:
        found = {}
        for fqn, (module, _) in observed(model, PRE_OBSERVER).items():
            if self._is_supported(module):
                seen = PerChannelMinMaxObserver(ch_axis=self.ch_axis)
                seen(module.weight)
                found[fqn] = self._ranges(self.WEIGHT_PREFIX, seen.min_val, seen.max_val)
        return found

    def _calculate_range_ratio(self, info_dict: dict[str, Any], info_str: str, module_fqn: str) -> Tensor:
        """The root of each channel's part of the whole range, (C). ValueError if that is 0."""
        prefix = self.ACTIVATION_PREFIX if info_str == self.INPUT_STR else self.WEIGHT_PREFIX
        channel = info_dict[prefix + self.PER_CHANNEL_MAX_KEY] - info_dict[prefix + self.PER_CHANNEL_MIN_KEY]
        whole = info_dict[prefix + self.GLOBAL_MAX_KEY] - info_dict[prefix + self.GLOBAL_MIN_KEY]
        if float(whole) == 0:
            raise ValueError(f"model report: the {info_str} of {module_fqn} has no range; run the model on other data")
        return (channel / whole).sqrt()

    def _generate_comparison_values(self, input_info: dict[str, Any], weight_info: dict[str, Any]) -> dict[str, Tensor]:
        found = {}
        for fqn in input_info:
            weight = self._calculate_range_ratio(weight_info[fqn], self.WEIGHT_STR, fqn)
            given = self._calculate_range_ratio(input_info[fqn], self.INPUT_STR, fqn)
            if given.numel() > weight.numel():  # groups: each column meets several channels
                weight = weight.repeat(given.numel() // weight.numel())
            if given.numel() != weight.numel():
                raise ValueError(
                    f"model report: the input of {fqn} has {given.numel()} channels along dimension {self.ch_axis}, "
                    f"its weight {weight.numel()} columns; another ch_axis may fit"
                )
            found[fqn] = weight / given
        return found

    def _generate_dict_info(
        self, input_info: dict[str, Any], weight_info: dict[str, Any], comp_stats: dict[str, Any]
    ) -> dict[str, dict[str, Any]]:
        found = {}
        for fqn, ratios in comp_stats.items():
            inside = (ratios >= self.ratio_threshold) & (ratios <= 1 / max(self.ratio_threshold, 1e-38))
            found[fqn] = {
                self.RECOMMENDED_KEY: inside.tolist(), self.COMP_METRIC_KEY: ratios,
                self.THRESHOLD_KEY: self.ratio_threshold, self.CHANNEL_KEY: self.ch_axis,
                **input_info[fqn], **weight_info[fqn],
            }  # fmt: skip
        return found

    def _report(self, model: Any) -> dict[str, dict[str, Any]]:
        inputs, weights = self._extract_input_info(model), self._extract_weight_info(model)
        with taeda.no_grad():
            return self._generate_dict_info(inputs, weights, self._generate_comparison_values(inputs, weights))

    def generate_detector_report(self, model: Any) -> tuple[str, dict[str, Any]]:
        found = self._report(model)
        lines = []
        for fqn, facts in found.items():
            helped, count = sum(facts[self.RECOMMENDED_KEY]), len(facts[self.RECOMMENDED_KEY])
            which = [at for at, yes in enumerate(facts[self.RECOMMENDED_KEY]) if yes]
            lines.append(f"  {fqn}: equalise {helped} of {count} channels: {which}")
        return "Equalisation of inputs and weights:\n" + "\n".join(lines or ["  no layer to report on"]) + "\n", found
