"""Names of tensors within models, and the parametrisation that puts a mask over one."""

from __future__ import annotations

from typing import Any

from taeda import Tensor, nn
from taeda.nn.utils.parametrize import is_parametrized, type_before_parametrizations

__all__ = [
    "FakeSparsity", "fqn_to_module", "get_arg_info_from_tensor_fqn", "module_contains_param", "module_to_fqn",
    "swap_module",
]  # fmt: skip


def module_contains_param(module: nn.Module, parametrization: type[nn.Module]) -> bool:
    """Whether any parametrisation of ``module`` is an instance of that class."""
    return is_parametrized(module) and any(
        isinstance(part, parametrization) for parts in module.parametrizations.values() for part in parts
    )


def swap_module(mod: nn.Module, mapping: dict[type[nn.Module], Any]) -> nn.Module:
    """The class that ``mapping`` has for ``mod``, made by its ``from_dense``, with the hooks of ``mod``; else ``mod``.

    Raises:
        ValueError: ``mod`` is on several devices.
    """
    wanted = mapping.get(type_before_parametrizations(mod))
    if wanted is None:
        return mod
    made: nn.Module = wanted.from_dense(mod)
    for hook in mod._forward_pre_hooks.values():
        made.register_forward_pre_hook(hook)
    for hook in mod._forward_hooks.values():
        made.register_forward_hook(hook)
    devices = {p.device for p in (*mod.parameters(), *mod.buffers())}
    if len(devices) > 1:
        raise ValueError(f"swap_module: the module must be on one device; got {sorted(map(str, devices))}")
    return made.to(devices.pop()) if devices else made


def module_to_fqn(model: nn.Module, module: nn.Module, prefix: str = "") -> str | None:
    """The dotted name of ``module`` within ``model``, None where it is not part of it."""
    return next(
        (".".join(filter(None, (prefix, name))) for name, part in model.named_modules() if part is module), None
    )


def fqn_to_module(model: nn.Module | None, path: str) -> Any:
    """The module, or the tensor, of that dotted name; None where there is none."""
    found: Any = model
    for name in filter(None, path.split(".")):
        found = getattr(found, name, None)
    return found


def get_arg_info_from_tensor_fqn(model: nn.Module, tensor_fqn: str) -> dict[str, Any]:
    """A tensor's module, that one's name, the tensor's name within it, and the whole name."""
    fqn = tensor_fqn.removeprefix(".")
    module_fqn, _, tensor_name = fqn.rpartition(".")
    return {
        "module_fqn": module_fqn,
        "module": fqn_to_module(model, module_fqn),
        "tensor_name": tensor_name,
        "tensor_fqn": fqn,
    }


class FakeSparsity(nn.Module):
    """The product with a mask, as a parametrisation. The mask is not in state dicts: sparsifiers keep it."""

    mask: Tensor

    def __init__(self, mask: Tensor) -> None:
        super().__init__()
        self.register_buffer("mask", mask)

    def forward(self, x: Tensor) -> Tensor:
        assert self.mask.shape == x.shape, f"FakeSparsity: the mask is {self.mask.shape}, the tensor {x.shape}"
        return self.mask * x

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Empty."""
        return {}
