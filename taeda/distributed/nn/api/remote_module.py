"""A module that lives on another worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import nn
from taeda.distributed.rpc import RRef, remote, rpc_sync
from taeda.futures import Future

__all__ = ["RemoteModule"]

_STATE = ("on", "device", "is_device_map_set", "is_scriptable", "generated_methods", "module_rref", "training")
_REMOTE_MODULE_PICKLED_ATTRIBUTES = tuple(name for name in _STATE if name != "training")
# What of a module is about tensors of this process.
_NOT_HERE = (
    "register_buffer", "register_parameter", "add_module", "apply", "cuda", "ipu", "xpu", "cpu", "type", "float",
    "double", "half", "bfloat16", "to", "register_backward_hook", "register_forward_pre_hook",
    "register_forward_hook", "state_dict", "load_state_dict", "parameters", "named_parameters", "buffers",
    "named_buffers", "children", "named_children", "modules", "named_modules", "requires_grad_", "zero_grad",
    "share_memory", "extra_repr",
)  # fmt: skip


class RemoteModule(nn.Module):
    """``module_cls(*args, **kwargs)``, made on another worker, where ``forward`` runs.

    Args:
        remote_device: ``"worker/cpu"``, or the worker alone.
        module_cls: a module's class, or a function that makes one.
        args, kwargs: for ``module_cls``.
        _module_interface_cls: accepted; its methods besides ``forward`` can be called, too.

    Raises:
        ValueError: ``remote_device`` names no worker, or what was made is no module.
    """

    def __init__(
        self,
        remote_device: str,
        module_cls: Callable[..., nn.Module],
        args: Sequence[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
        _module_interface_cls: Any = None,
    ) -> None:
        super().__init__()
        worker, device = _parts(remote_device)
        made = remote(worker, _make, (module_cls, tuple(args or ()), kwargs or {}, device))
        self._set(worker, device, made)

    def _set(self, worker: str | int, device: str, module: RRef[nn.Module]) -> None:
        self.on, self.device, self.module_rref = worker, device, module
        self.is_device_map_set, self.is_scriptable, self.generated_methods = False, False, ()

    @staticmethod
    def init_from_module_rref(
        remote_device: str, module_rref: RRef[nn.Module], _module_interface_cls: Any = None
    ) -> RemoteModule:
        """The same, for a module that is there already."""
        made = RemoteModule.__new__(RemoteModule)
        nn.Module.__init__(made)
        made._set(*_parts(remote_device), module_rref)
        return made

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module's ``forward`` gives."""
        return self.module_rref.rpc_sync().forward(*args, **kwargs)

    def forward_async(self, *args: Any, **kwargs: Any) -> Future[Any]:
        """A future of it."""
        return self.module_rref.rpc_async().forward(*args, **kwargs)

    def remote_parameters(self, recurse: bool = True) -> list[RRef[nn.Parameter]]:
        """References to the module's parameters, for `taeda.distributed.optim.DistributedOptimizer`."""
        return rpc_sync(self.on, _parameters, (self.module_rref, recurse))

    def get_module_rref(self) -> RRef[nn.Module]:
        """A reference to the module."""
        return self.module_rref

    def train(self, mode: bool = True) -> Any:
        """Sets the module's mode."""
        return self.module_rref.rpc_sync().train(mode)

    def eval(self) -> Any:
        """Likewise."""
        return self.train(False)

    def _reduce_for_rpc(self) -> Any:
        return _arrive, ({name: getattr(self, name) for name in _STATE},)

    def __reduce__(self) -> Any:
        raise RuntimeError(
            "taeda.distributed.nn.RemoteModule: it can only be pickled on its way to another worker; save the module "
            "on its own worker"
        )


_RemoteModule = RemoteModule


def _refuse(name: str) -> Callable[..., Any]:
    def method(self: RemoteModule, *args: Any, **kwargs: Any) -> Any:
        hint = "; remote_parameters() refers to its parameters" if name == "parameters" else ""
        raise ValueError(
            f"taeda.distributed.nn.RemoteModule.{name}: the module and its tensors live on {self.on}{hint}"
        )

    method.__name__ = name
    return method


for _name in _NOT_HERE:
    setattr(RemoteModule, _name, _refuse(_name))


def _parts(remote_device: str) -> tuple[str | int, str]:
    """The worker and the device."""
    worker, _, device = str(remote_device).partition("/")
    device = device or "cpu"
    try:
        taeda.device(device)
        if not worker:
            raise RuntimeError
    except RuntimeError:
        raise ValueError(
            f"taeda.distributed.nn.RemoteModule: remote_device is wanted as 'worker/device'; got {remote_device!r}"
        ) from None
    return (int(worker[5:]) if worker.startswith("rank:") else worker), device


def _make(kind: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], device: str) -> nn.Module:
    module = kind(*args, **kwargs)
    if not isinstance(module, nn.Module):
        raise ValueError(
            f"taeda.distributed.nn.RemoteModule: module_cls must make a Module; it made a {type(module).__name__}"
        )
    return module.to(device)


def _parameters(module: RRef[nn.Module], recurse: bool) -> list[RRef[nn.Parameter]]:
    return [RRef(parameter) for parameter in module.local_value().parameters(recurse)]


def _arrive(state: dict[str, Any]) -> RemoteModule:
    made = RemoteModule.__new__(RemoteModule)
    nn.Module.__init__(made)
    for name, value in state.items():
        object.__setattr__(made, name, value)
    return made
