"""Spectral normalisation (Miyato et al., 2018): a weight over its largest singular value, by a forward pre-hook."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.nn.modules.module import Module
from taeda.nn.parameter import Parameter

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]

_NAME = "taeda.nn.utils"


class SpectralNorm:
    """The hook: before each forward it sets the weight from ``_orig``, ``_u`` and ``_v``.

    Args:
        name: the parameter's name.
        n_power_iterations: steps of the power method in each forward in training mode.
        dim: the dimension that becomes the rows of a matrix.
    """

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"{_NAME}.spectral_norm: n_power_iterations must be positive; got {n_power_iterations}")
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight with dimension ``dim`` as rows and all others as columns."""
        return weight.movedim(self.dim, 0).flatten(1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        """``_orig`` over the singular value of ``_u`` and ``_v``, which are improved in place first if so asked."""
        weight, u, v = (getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with taeda.no_grad():
                for _ in range(self.n_power_iterations):
                    v = F.normalize(taeda.mv(matrix.t(), u), dim=0, eps=self.eps, out=v)
                    u = F.normalize(taeda.mv(matrix, v), dim=0, eps=self.eps, out=u)
                u, v = u.clone(), v.clone()  # the gradient needs them as they are now
        return weight / taeda.dot(u, taeda.mv(matrix, v))

    def remove(self, module: Any) -> None:
        """Makes the weight a plain parameter again."""
        with taeda.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v(self, matrix: Tensor, u: Tensor, sigma: Tensor) -> Tensor:
        """The v for which ``u @ matrix @ v`` is ``sigma``, which states of version 0 do not hold."""
        v = taeda.linalg.pinv(matrix.t() @ matrix) @ (matrix.t() @ u)
        return v * (sigma / taeda.dot(u, matrix @ v))

    def _load_old(self, state_dict: Any, prefix: str, local_metadata: Any, *_: Any) -> None:
        version = local_metadata.get("spectral_norm", {}).get(self.name + ".version", None)
        key = prefix + self.name
        if version is not None and version >= 1:
            return
        if version is None and all(key + suffix in state_dict for suffix in ("_orig", "_u", "_v")):
            return
        if key + "_orig" not in state_dict or key not in state_dict:
            return
        with taeda.no_grad():
            original, weight = state_dict[key + "_orig"], state_dict.pop(key)
            matrix = self.reshape_weight_to_matrix(original)
            state_dict[key + "_v"] = self._solve_v(matrix, state_dict[key + "_u"], (original / weight).mean())

    def _save_version(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        if self.name + ".version" in versions:
            raise RuntimeError(f"{_NAME}.spectral_norm: '{self.name}' has a version in the state already")
        versions[self.name + ".version"] = self._version


def _hooks(module: Any, name: str) -> list[tuple[int, SpectralNorm]]:
    hooks = module._forward_pre_hooks.items()
    return [(key, hook) for key, hook in hooks if isinstance(hook, SpectralNorm) and hook.name == name]


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divides the parameter ``name`` by its spectral norm before each forward; returns the module.

    Args:
        n_power_iterations: steps of the power method in each forward in training mode.
        dim: the dimension that becomes the rows of a matrix; None for 0, or 1 for transposed convolutions.

    Raises:
        RuntimeError: it is normalised already.
        KeyError: the module has no such parameter.
        ValueError: the parameter is None.
    """
    from taeda.nn.utils.parametrizations import _is_transposed

    if _hooks(module, name):
        raise RuntimeError(f"{_NAME}.spectral_norm: '{name}' of this {type(module).__name__} has it already")
    if dim is None:
        dim = 1 if _is_transposed(module) else 0
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"{_NAME}.spectral_norm: {type(module).__name__} holds no tensor as '{name}'")
    with taeda.no_grad():
        matrix = hook.reshape_weight_to_matrix(weight)
        u, v = (F.normalize(weight.new_empty(size).normal_(0, 1), dim=0, eps=eps) for size in matrix.shape)
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    module._register_state_dict_hook(hook._save_version)
    module._register_load_state_dict_pre_hook(hook._load_old)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Makes the weight a plain parameter again; returns the module. ValueError if it is not normalised."""
    found = _hooks(module, name)
    if not found:
        raise ValueError(f"{_NAME}.remove_spectral_norm: '{name}' of this {type(module).__name__} has none")
    key, hook = found[0]
    hook.remove(module)
    del module._forward_pre_hooks[key]
    for hooks in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
        for number, entry in list(hooks.items()):
            function = getattr(entry, "hook", entry)
            if getattr(function, "__self__", None) is hook:
                del hooks[number]
    return module
