"""Switches of TorchScript's optimiser. They are checked and kept; while nothing is compiled, nothing reads them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_switches = {"profiling_executor": True, "profiling_mode": True, "cpu": False, "gpu": False, "texpr": True,
             "autocast": True}  # fmt: skip
_strategy: list[tuple[str, int]] = [("STATIC", 2), ("DYNAMIC", 10)]
_onednn_fusion = False


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Sets how often code is specialised to static and to dynamic shapes; gives what it was.

    Raises:
        ValueError: a kind that is neither ``"STATIC"`` nor ``"DYNAMIC"``.
    """
    global _strategy
    for kind, _ in strategy:
        if kind not in ("STATIC", "DYNAMIC"):
            raise ValueError(f"taeda.jit.set_fusion_strategy: the kinds are STATIC and DYNAMIC; got {kind}")
    before, _strategy = _strategy, list(strategy)
    return before


def enable_onednn_fusion(enabled: bool) -> None:
    """Sets what `onednn_fusion_enabled` gives."""
    global _onednn_fusion
    _onednn_fusion = bool(enabled)


def onednn_fusion_enabled() -> bool:
    """What `enable_onednn_fusion` set."""
    return _onednn_fusion


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Within, whether to optimise compiled code."""
    yield


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """Within, which fuser to use: ``"fuser0"`` to ``"fuser3"``, or ``"none"``."""
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3", "none"):
        raise Exception(f"taeda.jit.fuser: there is no fuser {name!r}; known are fuser0 to fuser3")
    yield


class strict_fusion:
    """Within, compiled code that could not be fused would be an error."""

    def __init__(self) -> None:
        warnings.warn("taeda.jit.strict_fusion: it concerns scripted code only", UserWarning, stacklevel=2)

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


def _set(name: str, enabled: bool) -> bool:
    before, _switches[name] = _switches[name], bool(enabled)
    return before


# As programs find them in ``torch._C``.


def _jit_set_profiling_executor(enabled: bool) -> bool:
    return _set("profiling_executor", enabled)


def _jit_set_profiling_mode(enabled: bool) -> bool:
    return _set("profiling_mode", enabled)


def _jit_set_autocast_mode(enabled: bool) -> bool:
    """Autocast within programs is as they say, whatever is set here."""
    return _set("autocast", enabled)


def _jit_set_texpr_fuser_enabled(enabled: bool) -> None:
    _set("texpr", enabled)


def _jit_texpr_fuser_enabled() -> bool:
    return _switches["texpr"]


def _jit_override_can_fuse_on_cpu(enabled: bool) -> None:
    _set("cpu", enabled)


def _jit_can_fuse_on_cpu() -> bool:
    return _switches["cpu"]


def _jit_override_can_fuse_on_gpu(enabled: bool) -> None:
    _set("gpu", enabled)


def _jit_can_fuse_on_gpu() -> bool:
    return _switches["gpu"]


def _jit_set_nvfuser_enabled(enabled: bool) -> None:
    """Sets nothing: PyTorch has no such fuser any more, and says so no longer either."""
