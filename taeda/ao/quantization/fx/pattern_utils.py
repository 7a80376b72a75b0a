"""Patterns that programs register, with classes that handle them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.ao.quantization.fake_quantize import FixedQParamsFakeQuantize

_DEFAULT_FUSION_PATTERNS: dict[Any, Any] = {}
_DEFAULT_QUANTIZATION_PATTERNS: dict[Any, Any] = {}
_DEFAULT_OUTPUT_FAKE_QUANTIZE_MAP: dict[Any, Any] = {}
_DEFAULT_OUTPUT_OBSERVER_MAP: dict[Any, Any] = {}


def _register_fusion_pattern(pattern: Any) -> Callable[[Any], Any]:
    def register(handler: Any) -> Any:
        _DEFAULT_FUSION_PATTERNS[pattern] = handler
        return handler

    return register


def _register_quant_pattern(pattern: Any, fixed_qparams_observer: Any = None) -> Callable[[Any], Any]:
    """A decorator; with the observer of a result whose range is known."""

    def register(handler: Any) -> Any:
        _DEFAULT_QUANTIZATION_PATTERNS[pattern] = handler
        if fixed_qparams_observer is not None:
            _DEFAULT_OUTPUT_OBSERVER_MAP[pattern] = fixed_qparams_observer
            rounding = FixedQParamsFakeQuantize.with_args(observer=fixed_qparams_observer)
            _DEFAULT_OUTPUT_FAKE_QUANTIZE_MAP[pattern] = rounding
        return handler

    return register


def get_default_fusion_patterns() -> dict[Any, Any]:
    """By pattern, the classes that fuse it."""
    return dict(_DEFAULT_FUSION_PATTERNS)


def get_default_quant_patterns() -> dict[Any, Any]:
    """By pattern, the classes that quantise it."""
    return dict(_DEFAULT_QUANTIZATION_PATTERNS)


def get_default_output_activation_post_process_map(is_training: bool) -> dict[Any, Any]:
    """By pattern, what observes its result, or in training rounds it, where its range is known."""
    return dict(_DEFAULT_OUTPUT_FAKE_QUANTIZE_MAP if is_training else _DEFAULT_OUTPUT_OBSERVER_MAP)
