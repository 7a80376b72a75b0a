"""A batch shared among devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda.nn.modules.module import Module
from taeda.nn.parallel.parallel_apply import parallel_apply
from taeda.nn.parallel.replicate import replicate
from taeda.nn.parallel.scatter_gather import gather, scatter_kwargs

__all__ = ["DataParallel", "data_parallel"]


def _devices(device_ids: Sequence[Any] | None) -> list[Any]:
    """The devices asked for, or all that there are besides the CPU; a number is one of a GPU."""
    if device_ids is None:
        device_ids = range(taeda.cuda.device_count())
    return [taeda.device("cuda", given) if isinstance(given, int) else taeda.device(given) for given in device_ids]


def _run(module: Any, inputs: Any, kwargs: Any, devices: list[Any], output_device: Any, dim: int, call: Any) -> Any:
    pieces, named = scatter_kwargs(inputs, kwargs, devices, dim)
    if not pieces and not named:
        pieces, named = ((),), ({},)
    if len(devices) == 1:
        return call(module, pieces[0], named[0])
    used = devices[: len(pieces)]
    return gather(parallel_apply(replicate(module, used), pieces, named, used), output_device, dim)


class DataParallel(Module):
    """Runs ``module`` on a chunk of the batch on each device, and joins the outputs; without devices, as it is.

    Args:
        device_ids: devices, or numbers of GPUs; None for all GPUs.
        output_device: where the outputs are joined; the first device if None.
        dim: the batch's dimension.
    """

    def __init__(
        self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.dim = dim
        devices = _devices(device_ids)
        self.device_ids = [device.index if device.type == "cuda" else device for device in devices]
        self._devices = devices
        self.output_device = output_device if output_device is not None or not devices else self.device_ids[0]
        if len(devices) == 1:
            self.module.to(devices[0])

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        if not self._devices:
            return self.module(*inputs, **kwargs)
        for tensor in (*self.module.parameters(), *self.module.buffers()):
            if tensor.device != self._devices[0]:
                raise RuntimeError(
                    f"taeda.nn.DataParallel: the module must be on {self._devices[0]}; a tensor is on {tensor.device}"
                )
        target = self._devices[0] if self.output_device is None else _devices([self.output_device])[0]
        return _run(self.module, inputs, kwargs, self._devices, target, self.dim, lambda m, a, k: m(*a, **k))


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: Any = None,
) -> Any:
    """`DataParallel` as a function; ``inputs`` is a tuple of arguments, or one."""
    arguments = () if inputs is None else inputs if isinstance(inputs, tuple) else (inputs,)
    return DataParallel(module, device_ids, output_device, dim)(*arguments, **(module_kwargs or {}))
