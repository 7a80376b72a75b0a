"""What all sparsifiers of a model's weights share: masks over tensors by name, and how they are kept."""

from __future__ import annotations

import abc
import copy
from collections import defaultdict
from typing import Any

import taeda
from taeda import nn
from taeda.ao.pruning.sparsifier.utils import (
    FakeSparsity,
    get_arg_info_from_tensor_fqn,
    module_contains_param,
    module_to_fqn,
    swap_module,
)
from taeda.nn.utils import parametrize
from taeda.nn.utils.parametrize import type_before_parametrizations

__all__ = ["BaseSparsifier"]

SUPPORTED_MODULES: set[type[nn.Module]] = {nn.Linear}


class BaseSparsifier(abc.ABC):
    """Puts masks over the tensors of a model; a subclass says in ``update_mask`` what they are.

    ``groups`` has a dict for each tensor: ``module``, ``module_fqn``, ``tensor_name``, ``tensor_fqn``, and the numbers
    of the configuration, which come from ``defaults`` where a tensor's own does not say otherwise.
    """

    def __init__(self, defaults: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.defaults: dict[str, Any] = defaults or {}
        self.state: dict[str, dict[str, Any]] = defaultdict(dict)
        self.groups: list[dict[str, Any]] = []
        self.enable_mask_update = True

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "groups": self.groups}

    def __setstate__(self, state: dict[str, dict[str, Any]]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.groups):
            lines += [f"\tGroup {i}", f"\t    module: {group['module']}"]
            lines += [f"\t    {key}: {group[key]}" for key in sorted(group) if key != "module"]
        return "\n".join([*lines, ")"])

    def state_dict(self) -> dict[str, Any]:
        """The masks with what else ``state`` holds, and the groups without their modules."""
        groups = [{key: value for key, value in group.items() if key != "module"} for group in self.groups]
        return {"state": self.state, "groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any], strict: bool = True) -> None:
        """Takes masks and groups over; ``prepare`` must have been given the model.

        Raises:
            RuntimeError: ``strict``, and the model lacks a tensor.
        """
        groups = copy.deepcopy(state_dict["groups"])
        states = {name: dict(state) for name, state in state_dict["state"].items()}
        for name, state in states.items():
            info = get_arg_info_from_tensor_fqn(self.model, name)
            if info["module"] is None:
                if strict:
                    raise RuntimeError(f"load_state_dict: the model has no module {info['module_fqn']!r}")
                continue
            fake = self._fake(info["module"], info["tensor_name"])
            if state.get("mask") is not None:
                fake.mask = state["mask"]
            for group in groups:
                if group["tensor_fqn"] == name:
                    group.update(info)
        self.__setstate__({"state": defaultdict(dict, states), "groups": groups})

    def _fake(self, module: nn.Module, tensor_name: str) -> FakeSparsity:
        """The mask over a tensor, put there if need be."""
        if parametrize.is_parametrized(module, tensor_name):
            for part in module.parametrizations[tensor_name]:
                if isinstance(part, FakeSparsity):
                    return part
        made = FakeSparsity(taeda.ones_like(getattr(module, tensor_name)))
        parametrize.register_parametrization(module, tensor_name, made)
        return made

    def make_config_from_model(
        self, model: nn.Module, SUPPORTED_MODULES: set[type[nn.Module]] = SUPPORTED_MODULES
    ) -> None:
        """The weights of all modules of the supported classes, as the configuration."""
        self.config = []
        waiting = [model]
        while waiting:
            for child in waiting.pop().children():
                if type(child) in SUPPORTED_MODULES:
                    self.config.append({"tensor_fqn": f"{module_to_fqn(model, child)}.weight"})
                else:
                    waiting.append(child)

    def prepare(self, model: nn.Module, config: list[dict[str, Any]] | None) -> None:
        """Puts masks of ones over the tensors that ``config`` names by ``tensor_fqn``; None: all supported."""
        self.model = model
        self.config = config
        if config is None:
            self.make_config_from_model(model)
        for given in self.config:
            assert isinstance(given, dict), f"prepare: config must be a list of dicts; got a {type(given).__name__}"
            group = {**copy.deepcopy(self.defaults), **given}
            assert group.get("tensor_fqn") is not None, "prepare: an entry of config must have a tensor_fqn"
            info = get_arg_info_from_tensor_fqn(model, group["tensor_fqn"])
            for key, value in info.items():
                same = key == "tensor_fqn" or key not in group or group[key] is value or group[key] == value
                assert same, f"prepare: {key} of {info['tensor_fqn']!r} is {value!r} in the model, not {group[key]!r}"
            self.groups.append({**group, **info})
        self._prepare()

    def _prepare(self, *args: Any, **kwargs: Any) -> None:
        """Registers a parametrisation for each group."""
        for group in self.groups:
            module, name = group["module"], group["tensor_name"]
            mask = group["mask"] if "mask" in group else taeda.ones_like(getattr(module, name))
            self.state[group["tensor_fqn"]]["mask"] = mask
            made = group.get("parametrization", FakeSparsity)(mask)
            parametrize.register_parametrization(module, name, made)

    def squash_mask(
        self,
        params_to_keep: tuple[str, ...] | None = None,
        params_to_keep_per_layer: dict[str, tuple[str, ...]] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Makes the masked tensors the parameters themselves, and forgets the masks.

        What is named in ``params_to_keep``, and for a module in ``params_to_keep_per_layer``, stays as the dict
        ``sparse_params`` of the module.
        """
        for group in self.groups:
            module = group["module"]
            parametrize.remove_parametrizations(module, group["tensor_name"], leave_parametrized=True)
            kept = (*(params_to_keep or ()), *(params_to_keep_per_layer or {}).get(group["module_fqn"], ()))
            if kept:
                module.sparse_params = {name: group[name] for name in kept}

    def convert(
        self,
        module: nn.Module,
        mapping: dict[type[nn.Module], type[nn.Module]] | None = None,
        inplace: bool = False,
        parameterization: type[nn.Module] = FakeSparsity,
    ) -> nn.Module:
        """Swaps modules with masks for those of the classes in ``mapping``, made by ``from_dense``."""
        if mapping is None:
            raise NotImplementedError("convert: mapping must say which class takes the place of which")
        if not inplace:
            module = copy.deepcopy(module)
        for name, child in list(module.named_children()):
            found = module_contains_param(child, parameterization) and type_before_parametrizations(child) in mapping
            made = swap_module(child, mapping) if found else self.convert(child, mapping, True, parameterization)
            module._modules[name] = made
        return module

    def step(self, use_path: bool = True) -> None:
        """Updates all masks, unless ``enable_mask_update`` is off."""
        if not self.enable_mask_update:
            return
        with taeda.no_grad():
            for group in self.groups:
                self.update_mask(**group)

    @abc.abstractmethod
    def update_mask(self, module: nn.Module, tensor_name: str, **kwargs: Any) -> None:
        """Sets the mask of a tensor; ``kwargs`` is what else its group says."""
