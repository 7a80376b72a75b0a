"""A model, the detectors that look at it, and what they found."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import taeda
from taeda import fx, nn
from taeda.ao.quantization.fx._model_report.detector import (
    DETECTOR_IS_POST_OBS_KEY,
    DETECTOR_OBS_ARGS_KEY,
    DETECTOR_OBS_TO_INSERT_KEY,
    DETECTOR_TARGET_NODE_KEY,
    DetectorBase,
    DetectorQConfigInfo,
)
from taeda.ao.quantization.fx._model_report.model_report_visualizer import ModelReportVisualizer
from taeda.ao.quantization.fx.equalize_observers import EqualizationQConfig
from taeda.ao.quantization.observer import ObserverBase
from taeda.ao.quantization.qconfig import QConfig
from taeda.ao.quantization.qconfig_mapping import QConfigMapping

# How a detector's finding is taken over.
Take = Callable[[DetectorQConfigInfo, DetectorQConfigInfo], None]


class ModelReport:
    """Reports on a prepared model: put observers in, run it on data, read.

    Args:
        model: of ``prepare_fx``.
        desired_report_detectors: the detectors, one of a kind.

    Raises:
        ValueError: no detectors.
    """

    def __init__(self, model: fx.GraphModule, desired_report_detectors: set[DetectorBase]) -> None:
        if not desired_report_detectors:
            raise ValueError("ModelReport: give one detector, at least")
        self._model = model
        self._desired_report_detectors = desired_report_detectors
        self._desired_detector_names = {detector.get_detector_name() for detector in desired_report_detectors}
        self._detector_name_to_observer_fqns: dict[str, set[str]] = {
            name: set() for name in self._desired_detector_names
        }
        self._prepared_flag = False
        self._removed_observers = False
        self._generated_reports: dict[str, dict[str, Any]] = {}

    def get_desired_reports_names(self) -> set[str]:
        """The detectors' names."""
        return self._desired_detector_names.copy()

    def get_observers_of_interest(self) -> dict[str, set[str]]:
        """By the name of a detector, the observers that it looks at."""
        return {name: set(fqns) for name, fqns in self._detector_name_to_observer_fqns.items()}

    def prepare_detailed_calibration(self) -> fx.GraphModule:
        """Puts the detectors' observers into the model, and returns it. ValueError the second time."""
        if self._prepared_flag:
            raise ValueError("ModelReport.prepare_detailed_calibration: the observers are in the model already")
        # A detector that wants more of an observer, its own quantile, has its way with it.
        for detector in sorted(self._desired_report_detectors, key=lambda one: one.get_detector_name()):
            wanted = detector.determine_observer_insert_points(self._model)
            self._detector_name_to_observer_fqns[detector.get_detector_name()].update(wanted)
            for fqn, point in wanted.items():
                self._insert_observer_around_module(
                    fqn, point[DETECTOR_TARGET_NODE_KEY], point[DETECTOR_OBS_TO_INSERT_KEY],
                    point[DETECTOR_OBS_ARGS_KEY], point[DETECTOR_IS_POST_OBS_KEY],
                )  # fmt: skip
        self._model.recompile()
        self._prepared_flag = True
        return self._model

    def _insert_observer_around_module(
        self, obs_fqn: str, target_node: fx.Node, obs_to_insert: ObserverBase, observer_args: tuple[Any, ...],
        insert_post: bool,
    ) -> None:  # fmt: skip
        """A call whose result nobody uses; where there is one of that name, its observer is replaced."""
        self._model.add_submodule(obs_fqn, obs_to_insert)
        if any(node.target == obs_fqn for node in self._model.graph.nodes):
            return
        graph = self._model.graph
        with graph.inserting_after(target_node) if insert_post else graph.inserting_before(target_node):
            graph.create_node("call_module", obs_fqn, args=observer_args)

    def _get_node_from_fqn(self, node_fqn: str) -> fx.Node:
        """The node that calls a module. ValueError if there is none."""
        for node in self._model.graph.nodes:
            if node.target == node_fqn:
                return node
        raise ValueError(f"ModelReport: the graph has no node for {node_fqn!r}")

    def generate_model_report(self, remove_inserted_observers: bool) -> dict[str, tuple[str, dict[str, Any]]]:
        """By the name of a detector, a text and what it says of each module; run the model on data before.

        Args:
            remove_inserted_observers: takes them out of the model; there are no further reports then.

        Raises:
            Exception: no observers are in the model.
        """
        if not self._prepared_flag:
            raise Exception("ModelReport: call prepare_detailed_calibration() first")
        if self._removed_observers:
            raise Exception("ModelReport: its observers were taken out of the model")
        reports = {}
        for detector in self._desired_report_detectors:
            name = detector.get_detector_name()
            reports[name] = detector.generate_detector_report(self._model)
            self._generated_reports[name] = reports[name][1]
        if remove_inserted_observers:
            self._removed_observers = True
            for fqn in set().union(*self._detector_name_to_observer_fqns.values()):
                self._model.graph.erase_node(self._get_node_from_fqn(fqn))
                self._model.delete_submodule(fqn)
            self._model.recompile()
        return reports

    def _is_same_info_for_same_key(self, info_dict_a: dict[str, Any], info_dict_b: dict[str, Any]) -> bool:
        """Whether two reports on a module say the same where both say something."""

        def same(a: Any, b: Any) -> bool:
            return taeda.equal(a, b) if isinstance(a, taeda.Tensor) else a == b

        return all(same(info_dict_a[key], info_dict_b[key]) for key in info_dict_a.keys() & info_dict_b.keys())

    def _reformat_reports_for_visualizer(self) -> OrderedDict[str, Any]:
        """By the name of a module, in the model's order, what all detectors say. ValueError if they disagree."""
        together: dict[str, dict[str, Any]] = {}
        for report in self._generated_reports.values():
            for fqn, facts in report.items():
                known = together.setdefault(fqn, {})
                if not self._is_same_info_for_same_key(known, facts):
                    raise ValueError(f"ModelReport: detectors say different things of {fqn!r}")
                known.update(facts)
        order = [fqn for fqn, _ in self._model.named_modules() if fqn in together]
        return OrderedDict((fqn, together[fqn]) for fqn in order)

    def generate_visualizer(self) -> ModelReportVisualizer:
        """What shows the reports as tables and plots. Exception if there are none yet."""
        if not self._generated_reports:
            raise Exception("ModelReport: call generate_model_report() first")
        return ModelReportVisualizer(self._reformat_reports_for_visualizer())

    def _generate_qconfig_mapping_helper(
        self, detector_qconfig_info_combined: dict[str, DetectorQConfigInfo],
        generation_function: Callable[[DetectorQConfigInfo, nn.Module], Any],
    ) -> QConfigMapping:  # fmt: skip
        mapping = QConfigMapping()
        for fqn, module in self._model.named_modules():
            if (info := detector_qconfig_info_combined.get(fqn)) is not None:
                mapping.set_module_name(fqn, generation_function(info, module))
        return mapping

    def _update_detector_quantizaiton_qconfig_info(
        self, combined_info: DetectorQConfigInfo, new_info: DetectorQConfigInfo
    ) -> None:
        combined_info.is_activation_dynamic |= new_info.is_activation_dynamic
        combined_info.is_weight_per_channel |= new_info.is_weight_per_channel

    def _update_detector_equalization_qconfig_info(
        self, combined_info: DetectorQConfigInfo, new_info: DetectorQConfigInfo
    ) -> None:
        combined_info.is_equalization_recommended |= new_info.is_equalization_recommended

    def _generate_module_fqn_to_detector_info_mapping(
        self, update_qconfig_info_function: Take
    ) -> dict[str, DetectorQConfigInfo]:
        if not self._prepared_flag or self._removed_observers:
            raise Exception("ModelReport: wants its observers in the model, which saw data")
        together: dict[str, DetectorQConfigInfo] = {}
        for detector in self._desired_report_detectors:
            for fqn, info in detector.get_qconfig_info(self._model).items():
                update_qconfig_info_function(together.setdefault(fqn, DetectorQConfigInfo(fqn)), info)
        return together

    def generate_qconfig_mapping(self) -> QConfigMapping:
        """A qconfig for each module on which something was found: dynamic or static, by channel or by tensor."""
        return self._generate_qconfig_mapping_helper(
            self._generate_module_fqn_to_detector_info_mapping(self._update_detector_quantizaiton_qconfig_info),
            self._quantization_config_generator,
        )

    def _quantization_config_generator(self, detector_qconfig_info: DetectorQConfigInfo, module: nn.Module) -> QConfig:
        return detector_qconfig_info.generate_quantization_qconfig(module)

    def _equalization_config_generator(
        self, detector_qconfig_info: DetectorQConfigInfo, module: nn.Module
    ) -> EqualizationQConfig:
        return detector_qconfig_info.generate_equalization_qconfig()

    def generate_equalization_mapping(self) -> QConfigMapping:
        """The observers of equalisation for each module on which something was found."""
        return self._generate_qconfig_mapping_helper(
            self._generate_module_fqn_to_detector_info_mapping(self._update_detector_equalization_qconfig_info),
            self._equalization_config_generator,
        )
