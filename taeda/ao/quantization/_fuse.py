"""Modules of a model that follow one another, made one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from taeda import nn
from taeda.ao.nn import intrinsic
from taeda.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

Types = tuple[type[Any], ...]

_CONVS = ((nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d))
_TRANSPOSED: dict[type[Any], type[Any]] = {
    nn.ConvTranspose1d: nn.BatchNorm1d,
    nn.ConvTranspose2d: nn.BatchNorm2d,
    nn.ConvTranspose3d: nn.BatchNorm3d,
}
# What runs as a sequence of its parts.
_SEQUENCES: dict[Types, type[Any]] = {
    sequence.parts: sequence
    for sequence in (
        intrinsic.ConvReLU1d, intrinsic.ConvReLU2d, intrinsic.ConvReLU3d, intrinsic.LinearReLU, intrinsic.BNReLU2d,
        intrinsic.BNReLU3d,
    )
}  # fmt: skip
# What runs as a sequence while it is trained with quantisation in mind; for evaluation the norm is folded.
_WITH_NORM: dict[Types, type[Any]] = {
    sequence.parts: sequence
    for sequence in (
        intrinsic.ConvBn1d, intrinsic.ConvBn2d, intrinsic.ConvBn3d, intrinsic.ConvBnReLU1d, intrinsic.ConvBnReLU2d,
        intrinsic.ConvBnReLU3d, intrinsic.LinearBn1d,
    )
}  # fmt: skip


def _fuse(modules: Sequence[Any], is_qat: bool) -> Any:
    """One module that does what ``modules`` do one after the other."""
    types = tuple(type(module) for module in modules)
    if types in _SEQUENCES:
        return _SEQUENCES[types](*modules)
    transposed = len(types) == 2 and _TRANSPOSED.get(types[0]) is types[1]
    if not (types in _WITH_NORM or transposed):
        raise AssertionError(
            f"taeda.ao.quantization.fuse_modules: cannot fuse {', '.join(one.__name__ for one in types)}"
        )
    if len({module.training for module in modules}) > 1:
        raise AssertionError("taeda.ao.quantization.fuse_modules: all modules must be in the same mode, train or eval")
    if is_qat and not transposed:
        return _WITH_NORM[types](*modules)
    if modules[0].training:
        raise AssertionError(
            "taeda.ao.quantization.fuse_modules: a norm is folded in evaluation mode only; call eval() first"
        )
    if transposed:
        return fuse_conv_bn_eval(modules[0], modules[1], transpose=True)
    fold: Any = fuse_linear_bn_eval if isinstance(modules[0], nn.Linear) else fuse_conv_bn_eval
    folded = fold(modules[0], modules[1])
    return folded if len(modules) == 2 else _fuse([folded, modules[2]], is_qat)


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
    own = (additional_fuser_method_mapping or {}).get(tuple(type(module) for module in mod_list))
    first, last = mod_list[0], mod_list[-1]
    before, after = list(first._forward_pre_hooks.values()), list(last._forward_hooks.values())
    first._forward_pre_hooks.clear()
    last._forward_hooks.clear()
    fused = _fuse(mod_list, is_qat) if own is None else own(is_qat, *mod_list)
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
