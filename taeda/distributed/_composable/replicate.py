"""Replicas of a module on all processes, without a wrapper around it."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import taeda
from taeda import nn
from taeda.distributed._composable.contract import _get_registry, contract
from taeda.nn.parallel import DistributedDataParallel


class _ReplicateState:
    """The reducer of a module, which its first forward pass makes."""

    def __init__(self) -> None:
        self.ddp: DistributedDataParallel | None = None
        self._ddp_weakref: Any = lambda: None

    def start(self, module: nn.Module, ignored: set[nn.Module], wishes: dict[str, Any]) -> None:
        """Has the module's forward passes make its gradients means over the processes."""
        apart = {name for name, one in module.named_modules() if one in ignored or _held_by_others(module, one)}
        names = [name for name, _ in (*module.named_parameters(), *module.named_buffers())]
        module._ddp_params_and_buffers_to_ignore = [
            name for name in names if any(name.startswith(f"{prefix}.") for prefix in apart)
        ]

        def before(_: nn.Module, args: Any) -> None:
            if self.ddp is None:
                self.ddp = DistributedDataParallel(module, **wishes)
                self._ddp_weakref = weakref.ref(self.ddp)
            self.ddp._before_forward()

        def behind(_: nn.Module, args: Any, output: Any) -> None:
            assert self.ddp is not None
            self.ddp._behind_forward(output)

        module.register_forward_pre_hook(before)
        module.register_forward_hook(behind)


def _held_by_others(root: nn.Module, module: nn.Module) -> bool:
    """Whether a module within is replicated, or sharded, by itself."""
    from taeda.distributed.fsdp import FSDPModule

    return module is not root and ("replicate" in (_get_registry(module) or ()) or isinstance(module, FSDPModule))


@contract(state_cls=_ReplicateState)
def replicate(module: nn.Module, ignored_modules: Iterable[nn.Module] | None = None, **kwargs: Any) -> nn.Module:
    """Has backward passes of ``module`` take the mean of its gradients over the processes, as
    `DistributedDataParallel` does, whose arguments may be given."""
    device = kwargs.pop("device_id", None)
    if device is not None and not isinstance(device, (int, taeda.device)):
        raise RuntimeError(
            f"taeda.distributed._composable.replicate: device_id is to be an int or a device, not "
            f"{type(device).__name__}"
        )
    mesh = kwargs.pop("device_mesh", None)
    if mesh is not None:
        kwargs["process_group"] = mesh.get_group()
    replicate.state(module).start(module, set(ignored_modules or ()), kwargs)
    return module
