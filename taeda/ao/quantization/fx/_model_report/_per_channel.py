"""Whether weights are quantised by channel where they could be."""

from __future__ import annotations

from typing import Any, ClassVar

from taeda import nn
from taeda.ao.nn import qat
from taeda.ao.quantization.fx._model_report._base import DetectorBase, DetectorQConfigInfo

WEIGHTED: set[Any] = {nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, qat.Linear, qat.Conv1d, qat.Conv2d, qat.Conv3d}


class PerChannelDetector(DetectorBase):
    """Finds layers whose weights could be quantised by channel.

    Args:
        backend: ``fbgemm``, ``qnnpack``, ``onednn`` or ``x86``.

    Raises:
        ValueError: another backend.
    """

    BACKEND_KEY = "backend"
    PER_CHAN_SUPPORTED_KEY = "per_channel_quantization_supported"
    PER_CHAN_USED_KEY = "per_channel_quantization_used"
    DEFAULT_BACKEND_PER_CHANNEL_SUPPORTED_MODULES: ClassVar[dict[str, set[Any]]] = {
        name: WEIGHTED for name in ("fbgemm", "qnnpack", "onednn", "x86")
    }

    def __init__(self, backend: str = "x86") -> None:
        super().__init__()
        if backend not in self.DEFAULT_BACKEND_PER_CHANNEL_SUPPORTED_MODULES:
            raise ValueError(
                f"PerChannelDetector: backend must be one of fbgemm, qnnpack, onednn, x86; got {backend!r}"
            )
        self.backend_chosen = backend
        self.supported_modules = self.DEFAULT_BACKEND_PER_CHANNEL_SUPPORTED_MODULES[backend]

    def get_detector_name(self) -> str:
        return "per_channel_detector"

    def get_qconfig_info(self, model: nn.Module) -> dict[str, DetectorQConfigInfo]:
        made = {}
        for fqn, facts in self._detect_per_channel_helper(model).items():
            made[fqn] = DetectorQConfigInfo(fqn)
            made[fqn].is_weight_per_channel = facts[self.PER_CHAN_SUPPORTED_KEY]
        return made

    def determine_observer_insert_points(self, model: nn.Module) -> dict[str, dict[str, Any]]:
        """None: the qconfigs tell all."""
        return {}

    def _detect_per_channel_helper(self, model: nn.Module) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for fqn, module in model.named_modules():
            qconfig = getattr(module, "qconfig", None)
            if qconfig is None or not isinstance(module, tuple(self.supported_modules)):
                continue
            found[fqn] = {
                self.PER_CHAN_SUPPORTED_KEY: True,
                self.PER_CHAN_USED_KEY: hasattr(qconfig.weight(), "ch_axis")
                and getattr(qconfig.weight(), "ch_axis", -1) != -1,
                self.BACKEND_KEY: self.backend_chosen,
            }
        return found

    def generate_detector_report(self, model: nn.Module) -> tuple[str, dict[str, Any]]:
        found = self._detect_per_channel_helper(model)
        missed = [fqn for fqn, facts in found.items() if not facts[self.PER_CHAN_USED_KEY]]
        text = f"Weights by channel, backend {self.backend_chosen}:\n"
        if not missed:
            return text + "nothing is left to do.", found
        lines = "\n".join(f"  {fqn}: by tensor; give its qconfig a weight observer by channel" for fqn in missed)
        return f"{text}{lines}\n", found
