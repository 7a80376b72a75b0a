"""Weight normalisation (Salimans and Kingma, 2016): a weight as a length times a direction, by a forward pre-hook."""

from __future__ import annotations

import warnings
from typing import Any

import taeda
from taeda import Tensor
from taeda.nn.parameter import Parameter

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook: before each forward it sets the weight from its length ``_g`` and direction ``_v``."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Tensor:
        """``g * v / |v|``, with a norm for each index of the dimension, or one for all if that is -1."""
        direction, length = getattr(module, self.name + "_v"), getattr(module, self.name + "_g")
        return taeda._weight_norm(direction, length, self.dim)

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def _hooks(module: Any, name: str) -> list[tuple[int, WeightNorm]]:
    hooks = module._forward_pre_hooks.items()
    return [(key, hook) for key, hook in hooks if isinstance(hook, WeightNorm) and hook.name == name]


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Replaces the parameter ``name`` by ``name_g``, its norms, and ``name_v``, its direction; returns the module.

    Args:
        dim: the dimension of which each index has a norm of its own; ``None`` for one norm of all.

    Raises:
        RuntimeError: the parameter is normalised already.
    """
    warnings.warn("taeda.nn.utils.weight_norm is deprecated; use taeda.nn.utils.parametrizations.weight_norm",
                  FutureWarning, stacklevel=2)  # fmt: skip
    if _hooks(module, name):
        raise RuntimeError(f"taeda.nn.utils.weight_norm: '{name}' of this {type(module).__name__} has it already")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    delattr(module, name)
    module.register_parameter(name + "_g", Parameter(taeda.norm_except_dim(weight, 2, hook.dim).data))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Makes the weight a plain parameter again; returns the module. ValueError if it is not normalised."""
    found = _hooks(module, name)
    if not found:
        raise ValueError(f"taeda.nn.utils.remove_weight_norm: '{name}' of this {type(module).__name__} has none")
    key, hook = found[0]
    with taeda.no_grad():
        weight = hook.compute_weight(module)
    for attribute in (name, name + "_g", name + "_v"):
        delattr(module, attribute)
    del module._forward_pre_hooks[key]
    setattr(module, name, Parameter(weight.data))
    return module
