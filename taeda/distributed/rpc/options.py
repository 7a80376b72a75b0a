"""How a worker is set up."""

from __future__ import annotations

from typing import Any

from taeda.distributed.rpc import constants
from taeda.types import Device

__all__ = ["RpcBackendOptions", "TensorPipeRpcBackendOptions"]


class RpcBackendOptions:
    """What every way to call has.

    Args:
        rpc_timeout: seconds after which a call fails, 0 for never.
        init_method: where the workers meet; see `taeda.distributed.rendezvous`.
    """

    def __init__(
        self, rpc_timeout: float = constants.DEFAULT_RPC_TIMEOUT_SEC, init_method: str = constants.DEFAULT_INIT_METHOD
    ) -> None:
        self.rpc_timeout, self.init_method = rpc_timeout, init_method


class TensorPipeRpcBackendOptions(RpcBackendOptions):
    """The same, with PyTorch's names.

    Args:
        num_worker_threads: how many calls of others run here at a time, at most.
        device_maps: devices here and there; those of a CPU need none.
        devices: likewise.

    Raises:
        TypeError: an argument is of another type.
    """

    def __init__(
        self,
        *,
        num_worker_threads: int = constants.DEFAULT_NUM_WORKER_THREADS,
        rpc_timeout: float = constants.DEFAULT_RPC_TIMEOUT_SEC,
        init_method: str = constants.DEFAULT_INIT_METHOD,
        device_maps: dict[str, dict[Device, Device]] | None = None,
        devices: list[Device] | None = None,
        _transports: list[str] | None = None,
        _channels: list[str] | None = None,
    ) -> None:
        for name, value, kind in (("num_worker_threads", num_worker_threads, int), ("rpc_timeout", rpc_timeout, float)):
            if not isinstance(value, (int, kind)) or isinstance(value, bool):
                raise TypeError(
                    f"taeda.distributed.rpc.TensorPipeRpcBackendOptions: {name} is wanted as a number; got {value!r}"
                )
        super().__init__(rpc_timeout, init_method)
        self.num_worker_threads = num_worker_threads
        self.device_maps: dict[str, dict[Any, Any]] = {}
        self.devices: list[Any] = []
        self.set_devices(devices or [])
        for to, devices_there in (device_maps or {}).items():
            self.set_device_map(to, devices_there)

    def set_device_map(self, to: str, device_map: dict[Device, Device]) -> None:
        """Which device of worker ``to`` stands for one of this worker."""
        self.device_maps.setdefault(to, {}).update(device_map)

    def set_devices(self, devices: list[Device]) -> None:
        """The devices whose tensors are sent, besides the CPU.

        Raises:
            ValueError: one of them is a CPU, which has no number.
        """
        import taeda

        self.devices = [taeda.device(device) for device in devices if device is not None]
        if any(device.type == "cpu" for device in self.devices):
            raise ValueError(
                "taeda.distributed.rpc.TensorPipeRpcBackendOptions: devices are wanted with a number; got cpu, whose "
                "tensors are always sent"
            )
