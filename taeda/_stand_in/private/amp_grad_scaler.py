"""A tensor on each device that asks for it."""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["_MultiDeviceReplicator"]


class _MultiDeviceReplicator:
    """Copies of a tensor, made when a device first asks for its own."""

    def __init__(self, master_tensor: Tensor) -> None:
        self.master = master_tensor
        self._per_device_tensors: dict[taeda.device, Tensor] = {}

    def get(self, device: taeda.device | str) -> Tensor:
        """The tensor on ``device``."""
        device = taeda.device(device)
        if device not in self._per_device_tensors:
            self._per_device_tensors[device] = self.master.to(device, non_blocking=True, copy=True)
        return self._per_device_tensors[device]
