"""What all detectors have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from taeda import fx, nn
from taeda.ao.quantization.fx._model_report.model_report_observer import ModelReportObserver
from taeda.ao.quantization.fx.equalize_observers import EqualizationQConfig, default_equalization_qconfig
from taeda.ao.quantization.observer import (
    ObserverBase,
    default_dynamic_quant_observer,
    default_observer,
    default_per_channel_weight_observer,
    default_weight_observer,
)
from taeda.ao.quantization.qconfig import QConfig, _assert_valid_qconfig

DETECTOR_TARGET_NODE_KEY = "target_node"
DETECTOR_OBS_TO_INSERT_KEY = "observer_to_insert"
DETECTOR_IS_POST_OBS_KEY = "is_post_observer"
DETECTOR_OBS_ARGS_KEY = "observer_args"
PRE_OBSERVER = "model_report_pre_observer"
POST_OBSERVER = "model_report_post_observer"


class DetectorQConfigInfo:
    """What detectors found out about one module, from which its qconfig follows."""

    def __init__(self, module_fqn: str) -> None:
        self.module_fqn = module_fqn
        self.is_activation_dynamic = False
        self.is_weight_per_channel = False
        self.is_equalization_recommended = False

    def generate_quantization_qconfig(self, module: nn.Module) -> QConfig:
        """The qconfig for ``module``; with a weight by tensor if it cannot have one by channel."""
        activation = default_dynamic_quant_observer if self.is_activation_dynamic else default_observer
        if self.is_weight_per_channel:
            made = QConfig(activation, default_per_channel_weight_observer)
            try:
                _assert_valid_qconfig(made, module)
            except AssertionError:
                pass
            else:
                return made
        return QConfig(activation, default_weight_observer)

    def generate_equalization_qconfig(self) -> EqualizationQConfig:
        """The observers of equalisation."""
        return default_equalization_qconfig


class DetectorBase(ABC):
    """Looks for one thing in a prepared model."""

    def __init__(self) -> None:
        self.detector_config_info: Any = None

    @abstractmethod
    def determine_observer_insert_points(self, model: Any) -> dict[str, dict[str, Any]]:
        """By the name of an observer that it needs: at which node it belongs, the observer, its arguments, and whether
        it stands behind the node."""

    @abstractmethod
    def get_detector_name(self) -> str:
        """Its name in reports."""

    @abstractmethod
    def get_qconfig_info(self, model: Any) -> dict[str, DetectorQConfigInfo]:
        """By the name of a module, what it found."""

    def _get_targeting_node(self, prepared_fx_model: fx.GraphModule, target_fqn: str) -> fx.Node:
        """The node that calls a module. ValueError if there is none."""
        for node in prepared_fx_model.graph.nodes:
            if node.target == target_fqn:
                return node
        raise ValueError(f"model report: the graph has no node for the module {target_fqn!r}")

    @abstractmethod
    def generate_detector_report(self, model: Any) -> tuple[str, dict[str, Any]]:
        """A text for people, and by the name of a module what the text says."""


def points(
    detector: DetectorBase, model: fx.GraphModule, wanted: Any, observer: Any, behind: bool = False
) -> dict[str, dict[str, Any]]:
    """Observers before, or else behind, each called module of which ``wanted`` is true."""
    found = {}
    for fqn, module in model.named_modules(remove_duplicate=False):
        if not wanted(module):
            continue
        # parts of a fused module are called where it is
        called = next((node for node in model.graph.nodes if node.op == "call_module" and node.target == fqn), None)
        if called is None:
            called = detector._get_targeting_node(model, fqn.rpartition(".")[0])
        name = f"{fqn}.{POST_OBSERVER if behind else PRE_OBSERVER}"
        found[name] = {
            DETECTOR_TARGET_NODE_KEY: called,
            DETECTOR_OBS_TO_INSERT_KEY: observer(),
            DETECTOR_IS_POST_OBS_KEY: behind,
            DETECTOR_OBS_ARGS_KEY: (called,) if behind else called.args,
        }
    return found


def observed(model: nn.Module, *names: str) -> dict[str, tuple[Any, ...]]:
    """By the name of a module that has such observers: itself and them."""
    return {
        fqn: (module, *(getattr(module, name) for name in names))
        for fqn, module in model.named_modules()
        if all(isinstance(getattr(module, name, None), ModelReportObserver) for name in names)
    }


def is_plain(module: nn.Module) -> bool:
    """Whether a module has no parts but observers, and is none itself."""
    return not isinstance(module, ObserverBase) and all(isinstance(part, ObserverBase) for part in module.children())
