"""A device of one's own: its name, its module, and the methods that go with it. ``docs/add-a-backend.md`` tells the
rest."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import taeda
from taeda import _C

if TYPE_CHECKING:
    from taeda.types import Device

__all__ = ["generate_methods_for_privateuse1_backend", "rename_privateuse1_backend"]


def rename_privateuse1_backend(backend_name: str) -> None:
    """Give the backend slot PrivateUse1 the name that ``taeda.device`` and printing use, once for the process.

    Raises:
        RuntimeError: the name is taken by another device, or the slot has another name already.
    """
    before = _C._get_privateuse1_backend_name()
    if before not in ("privateuseone", backend_name):
        raise RuntimeError(f"taeda.utils.rename_privateuse1_backend: the backend is called '{before}' already")
    _C._rename_privateuse_backend(backend_name)


def _register_device_module(device_type: str, module: Any) -> None:
    """Makes ``module`` the attribute ``taeda.<device_type>``: what programs ask for streams, counts and seeds.

    Raises:
        RuntimeError: there is such a module already.
    """
    device_type = taeda.device(device_type).type
    if hasattr(taeda, device_type):
        raise RuntimeError(f"taeda._register_device_module: there is a taeda.{device_type} already")
    setattr(taeda, device_type, module)
    if isinstance(module, ModuleType):
        sys.modules[f"taeda.{device_type}"] = module


def generate_methods_for_privateuse1_backend(for_tensor: bool = True, for_module: bool = True,
                                            for_packed_sequence: bool = True, for_storage: bool = False,
                                            unsupported_dtype: Any = None) -> None:  # fmt: skip
    """Add ``Tensor.is_<name>``, ``Tensor.<name>()``, ``Module.<name>()`` and so on for the renamed backend.

    Raises:
        RuntimeError: a class has such an attribute already.
    """
    name = _C._get_privateuse1_backend_name()
    if for_tensor:
        _add(taeda.Tensor, f"is_{name}", property(lambda self: self.device.type == name))
        _add(taeda.Tensor, name, _mover(name))
    if for_module:
        from taeda.nn import Module

        def to_backend(self: Any, device: Device = None) -> Any:
            return self._apply(lambda t: t.to(taeda.device(name) if device is None else device))

        _add(Module, name, to_backend)
    if for_packed_sequence:
        from taeda.nn.utils.rnn import PackedSequence

        _add(PackedSequence, f"is_{name}", property(lambda self: self.data.device.type == name))
        _add(PackedSequence, name, lambda self, *args, **kwargs: self.to(name, *args, **kwargs))
    if for_storage:
        _add(taeda.UntypedStorage, f"is_{name}", property(lambda self: self.device.type == name))


def _mover(name: str) -> Any:
    def to_backend(self: Any, device: Device = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        target = (
            taeda.device(name) if device is None else taeda.device(name, device) if isinstance(device, int) else device
        )
        return self.to(target, non_blocking=non_blocking, **kwargs)

    to_backend.__doc__ = f"A copy in the memory of the device {name}; this tensor itself if it is there."
    return to_backend


def _add(cls: type, name: str, member: Any) -> None:
    if hasattr(cls, name):
        raise RuntimeError(
            f"taeda.utils.generate_methods_for_privateuse1_backend: {cls.__name__} has a member '{name}' already"
        )
    setattr(cls, name, member)
