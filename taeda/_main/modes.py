"""The modes of this thread: recording, inference, and the search for anomalies."""

from __future__ import annotations

from taeda import _C


def is_grad_enabled() -> bool:
    """Whether calls record gradients in this thread."""
    return _C._autograd.is_grad_enabled()


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return _C._autograd.is_inference_mode_enabled()


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switches anomaly mode, in which backward names the forward call that a failing node belongs to."""
    _C._autograd.set_anomaly_enabled(mode, check_nan)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return _C._autograd.is_anomaly_enabled()


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN."""
    return _C._autograd.is_anomaly_check_nan_enabled()
