"""Whether one range serves all batches."""

from __future__ import annotations

from typing import Any, ClassVar

from taeda import fx, nn
from taeda.ao.quantization.fx._model_report._base import (
    POST_OBSERVER,
    PRE_OBSERVER,
    DetectorBase,
    DetectorQConfigInfo,
    observed,
    points,
)
from taeda.ao.quantization.fx._model_report.model_report_observer import ModelReportObserver


class DynamicStaticDetector(DetectorBase):
    """Compares the ranges of batches with that of all data: where they are small, quantise dynamically.

    Args:
        tolerance: values are stationary if their batches have, in the mean, more than this part of the whole range.
    """

    DEFAULT_PRE_OBSERVER_NAME = PRE_OBSERVER
    DEFAULT_POST_OBSERVER_NAME = POST_OBSERVER
    STATIONARY_STR = "stationary"
    NON_STATIONARY_STR = "non-stationary"
    INPUT_ACTIVATION_PREFIX = "input_activation_"
    OUTPUT_ACTIVATION_PREFIX = "output_activation_"
    TOLERANCE_KEY = "dynamic_static_tolerance"
    DEFAULT_DYNAMIC_REC_KEY = "dynamic_recommended"
    PRE_OBS_COMP_STAT_KEY = INPUT_ACTIVATION_PREFIX + "dynamic_static_comp_stat"
    POST_OBS_COMP_STAT_KEY = OUTPUT_ACTIVATION_PREFIX + "dynamic_static_comp_stat"
    PRE_OBS_DATA_DIST_KEY = INPUT_ACTIVATION_PREFIX + "dynamic_static_data_classification"
    POST_OBS_DATA_DIST_KEY = OUTPUT_ACTIVATION_PREFIX + "dynamic_static_data_classification"
    IS_CURRENTLY_SUPPORTED_KEY = "is_dynamic_supported"
    DEFAULT_DYNAMIC_STATIC_CHECK_SUPPORTED: ClassVar[set[Any]] = {nn.Linear}
    DEFAULT_DYNAMIC_STATIC_FUTURE_SUPPORTED: ClassVar[set[Any]] = {nn.Conv1d, nn.Conv2d, nn.Conv3d}

    def __init__(self, tolerance: float = 0.5) -> None:
        super().__init__()
        self.tolerance = tolerance
        self.useful_observer_fqns: set[str] = set()

    def get_detector_name(self) -> str:
        return "dynamic_vs_static_detector"

    def _is_supported(self, module: nn.Module, insert: bool = False) -> bool:
        """With ``insert``, whether it is observed; else, whether its report can be written."""
        kinds = self.DEFAULT_DYNAMIC_STATIC_CHECK_SUPPORTED | self.DEFAULT_DYNAMIC_STATIC_FUTURE_SUPPORTED
        if not isinstance(module, tuple(kinds)):
            return False
        return insert or (hasattr(module, PRE_OBSERVER) and hasattr(module, POST_OBSERVER))

    def determine_observer_insert_points(self, prepared_fx_model: fx.GraphModule) -> dict[str, dict[str, Any]]:
        def wanted(module: nn.Module) -> bool:
            return self._is_supported(module, insert=True)

        before = points(self, prepared_fx_model, wanted, ModelReportObserver)
        behind = points(self, prepared_fx_model, wanted, ModelReportObserver, behind=True)
        return {name: found for pair in zip(before.items(), behind.items(), strict=True) for name, found in pair}

    def get_qconfig_info(self, model: Any) -> dict[str, DetectorQConfigInfo]:
        made = {}
        for fqn, facts in self._generate_dict_info(model).items():
            made[fqn] = DetectorQConfigInfo(fqn)
            supported = facts[self.IS_CURRENTLY_SUPPORTED_KEY]
            made[fqn].is_activation_dynamic = bool(supported and facts[self.DEFAULT_DYNAMIC_REC_KEY])
        return made

    def _generate_dict_info(self, model: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for fqn, (module, pre, post) in observed(model, PRE_OBSERVER, POST_OBSERVER).items():
            if not self._is_supported(module):
                continue
            before, behind = pre.get_batch_to_epoch_ratio(), post.get_batch_to_epoch_ratio()
            kind = {True: self.STATIONARY_STR, False: self.NON_STATIONARY_STR}
            found[fqn] = {
                self.TOLERANCE_KEY: self.tolerance,
                self.DEFAULT_DYNAMIC_REC_KEY: behind <= self.tolerance,
                self.PRE_OBS_COMP_STAT_KEY: before,
                self.PRE_OBS_DATA_DIST_KEY: kind[bool(before > self.tolerance)],
                self.POST_OBS_COMP_STAT_KEY: behind,
                self.POST_OBS_DATA_DIST_KEY: kind[bool(behind > self.tolerance)],
                self.IS_CURRENTLY_SUPPORTED_KEY: isinstance(module, tuple(self.DEFAULT_DYNAMIC_STATIC_CHECK_SUPPORTED)),
            }
        return found

    def generate_detector_report(self, model: Any) -> tuple[str, dict[str, Any]]:
        found = self._generate_dict_info(model)
        lines = []
        for fqn, facts in found.items():
            way = "dynamically" if facts[self.DEFAULT_DYNAMIC_REC_KEY] else "statically"
            later = "" if facts[self.IS_CURRENTLY_SUPPORTED_KEY] else " (of this layer not possible dynamically)"
            lines.append(
                f"  {fqn}: input {facts[self.PRE_OBS_DATA_DIST_KEY]} ({float(facts[self.PRE_OBS_COMP_STAT_KEY]):.3f}), "
                f"output {facts[self.POST_OBS_DATA_DIST_KEY]} ({float(facts[self.POST_OBS_COMP_STAT_KEY]):.3f}): "
                f"quantise {way}{later}"
            )
        return "Ranges of batches by the whole range:\n" + "\n".join(lines or ["  no layer to report on"]) + "\n", found
