"""The detectors."""

from taeda.ao.quantization.fx._model_report._base import (
    DETECTOR_IS_POST_OBS_KEY,
    DETECTOR_OBS_ARGS_KEY,
    DETECTOR_OBS_TO_INSERT_KEY,
    DETECTOR_TARGET_NODE_KEY,
    DetectorBase,
    DetectorQConfigInfo,
)
from taeda.ao.quantization.fx._model_report._dynamic_static import DynamicStaticDetector
from taeda.ao.quantization.fx._model_report._input_weight import InputWeightEqualizationDetector
from taeda.ao.quantization.fx._model_report._outlier import OutlierDetector
from taeda.ao.quantization.fx._model_report._per_channel import PerChannelDetector

__all__ = [
    "DETECTOR_IS_POST_OBS_KEY",
    "DETECTOR_OBS_ARGS_KEY",
    "DETECTOR_OBS_TO_INSERT_KEY",
    "DETECTOR_TARGET_NODE_KEY",
    "DetectorBase",
    "DetectorQConfigInfo",
    "DynamicStaticDetector",
    "InputWeightEqualizationDetector",
    "OutlierDetector",
    "PerChannelDetector",
]
