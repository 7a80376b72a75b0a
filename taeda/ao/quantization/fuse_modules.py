"""Modules of a model that follow one another, made one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from taeda import nn
from taeda.ao.quantization.fuser_method_mappings import get_fuser_method
from taeda.nn.utils.parametrize import type_before_parametrizations as class_of

Types = tuple[type[Any], ...]


def fuse_known_modules(
    mod_list: Sequence[Any],
    is_qat: bool,
    additional_fuser_method_mapping: dict[Types, Callable[..., Any]] | None = None,
) -> list[nn.Module]:
    """As many modules as ``mod_list`` has: the fused one, and identities in place of the others.

    The first module's forward pre-hooks and the last one's forward hooks go over to the fused one.

    Args:
        mod_list: one of the sequences that `fuse_modules` names.
        is_qat: the model is going to be trained; norms stay.
        additional_fuser_method_mapping: types of modules to functions ``f(is_qat, *modules)`` that fuse them.

    Raises:
        AssertionError: there is no such sequence, or the modules are in a mode that it cannot be made in.
    """
    method = get_fuser_method([class_of(module) for module in mod_list], additional_fuser_method_mapping)
    first, last = mod_list[0], mod_list[-1]
    before, after = list(first._forward_pre_hooks.values()), list(last._forward_hooks.values())
    first._forward_pre_hooks.clear()
    last._forward_hooks.clear()
    fused = method(is_qat, *mod_list)
    for pre_hook in before:
        fused.register_forward_pre_hook(pre_hook)
    for hook in after:
        fused.register_forward_hook(hook)
    rest = [nn.Identity() for _ in mod_list[1:]]
    for identity in rest:
        identity.training = first.training
    return [fused, *rest]


def _fuse_all(
    model: nn.Module,
    modules_to_fuse: Sequence[Any],
    is_qat: bool,
    inplace: bool,
    fuser_func: Callable[..., Any],
    config: dict[str, Any] | None,
) -> nn.Module:
    if not inplace:
        model = copy.deepcopy(model)
    mapping = (config or {}).get("additional_fuser_method_mapping", {})
    groups = [modules_to_fuse] if all(isinstance(one, str) for one in modules_to_fuse) else modules_to_fuse
    for names in groups:
        fused = fuser_func([model.get_submodule(name) for name in names], is_qat, mapping)
        for name, module in zip(names, fused, strict=True):
            parent, _, last = name.rpartition(".")
            setattr(model.get_submodule(parent), last, module)
    return model


def fuse_modules(
    model: nn.Module,
    modules_to_fuse: Sequence[Any],
    inplace: bool = False,
    fuser_func: Callable[..., Any] = fuse_known_modules,
    fuse_custom_config_dict: dict[str, Any] | None = None,
) -> nn.Module:
    """``model`` with modules that follow one another made one: convolution or linear layer, norm, ReLU.

    A norm is folded into the layer before it. What ends with a ReLU becomes a sequence of
    `taeda.ao.nn.intrinsic`. The fused module takes the place of the first, identities those of the others.

    Args:
        model: in evaluation mode if a norm is to be folded.
        modules_to_fuse: the names of the modules, e.g. ``["conv", "bn", "relu"]``, or a list of such lists.
        inplace: change ``model`` itself, not a copy.
        fuser_func: ``f(modules, is_qat, mapping)`` in place of `fuse_known_modules`.
        fuse_custom_config_dict: may hold ``"additional_fuser_method_mapping"``, see `fuse_known_modules`.

    Raises:
        AssertionError: see `fuse_known_modules`.
        AttributeError: there is no module of such a name.
    """
    return _fuse_all(model, modules_to_fuse, False, inplace, fuser_func, fuse_custom_config_dict)


def fuse_modules_qat(
    model: nn.Module,
    modules_to_fuse: Sequence[Any],
    inplace: bool = False,
    fuser_func: Callable[..., Any] = fuse_known_modules,
    fuse_custom_config_dict: dict[str, Any] | None = None,
) -> nn.Module:
    """As `fuse_modules`, for a model that is going to be trained: norms stay, within the sequences."""
    return _fuse_all(model, modules_to_fuse, True, inplace, fuser_func, fuse_custom_config_dict)
