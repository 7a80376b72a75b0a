"""Quantisation of models whose modules are swapped: prepare, run on data, convert."""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import taeda
from taeda import nn
from taeda.ao.nn import intrinsic, quantizable, quantized
from taeda.ao.nn.intrinsic.modules.fused import _FusedModule
from taeda.ao.nn.intrinsic.qat.modules.conv_fused import _Norm
from taeda.ao.nn.quantized.modules._heads import MultiheadAttention as QuantizedAttention
from taeda.ao.quantization import qconfig as qconfigs
from taeda.ao.quantization.observer import _is_activation_post_process
from taeda.ao.quantization.qconfig import _add_module_to_qconfig_obs_ctr, _assert_valid_qconfig
from taeda.ao.quantization.quantization_mappings import (
    _get_special_act_post_process,
    _has_special_act_post_process,
    get_default_dynamic_quant_module_mappings,
    get_default_qat_module_mappings,
    get_default_qconfig_propagation_list,
    get_default_static_quant_module_mappings,
    get_default_static_quant_reference_module_mappings,
    no_observer_set,
)
from taeda.ao.quantization.stubs import DeQuantStub, QuantWrapper
from taeda.ao.quantization.utils import get_qparam_dict, has_no_children_ignoring_parametrizations
from taeda.nn.utils.parametrize import type_before_parametrizations

_FUNCTIONALS = (quantized.FloatFunctional, quantized.QFunctional)
# Modules that are swapped and observed as one.
_WHOLE = (_FusedModule, _Norm, intrinsic.ConvAdd2d, intrinsic.ConvAddReLU2d)
_DEFAULT_CUSTOM_CONFIG_DICT: dict[str, Any] = {
    "float_to_observed_custom_module_class": {
        nn.LSTM: quantizable.LSTM,
        nn.MultiheadAttention: quantizable.MultiheadAttention,
    },
    "observed_to_quantized_custom_module_class": {
        quantizable.LSTM: quantized.LSTM,
        quantizable.MultiheadAttention: QuantizedAttention,
    },
}


def get_default_custom_config_dict() -> dict[str, Any]:
    """What takes the place of modules that are observed and quantised in parts: LSTM and attention."""
    return _DEFAULT_CUSTOM_CONFIG_DICT


def _propagate(module: nn.Module, table: dict[Any, Any], parent: Any, prefix: str, left_out: tuple[Any, ...]) -> None:
    found = table.get(type_before_parametrizations(module), parent)
    found = table.get(prefix, found)
    found = getattr(module, "qconfig", found)
    _assert_valid_qconfig(found, module)
    module.qconfig = _add_module_to_qconfig_obs_ctr(found, module)
    for name, child in module.named_children():
        path = f"{prefix}.{name}" if prefix else name
        if path not in left_out and type(child) not in left_out:
            _propagate(child, table, module.qconfig, path, left_out)


def propagate_qconfig_(
    module: nn.Module, qconfig_dict: dict[Any, Any] | None = None,
    prepare_custom_config_dict: dict[str, Any] | None = None,
) -> None:  # fmt: skip
    """Gives each submodule an attribute ``qconfig``: its own, that of its name or type in ``qconfig_dict``, else its
    parent's."""
    config = prepare_custom_config_dict or {}
    left_out = (*config.get("non_traceable_module_name", []), *config.get("non_traceable_module_class", []))
    _propagate(module, qconfig_dict or {}, None, "", left_out)


def _observer_forward_hook(self: Any, input: Any, output: Any) -> Any:
    return self.activation_post_process(output)


def _observer_forward_pre_hook(self: Any, input: Any) -> Any:
    return self.activation_post_process(input[0])


def _register_activation_post_process_hook(module: nn.Module, pre_hook: bool = False) -> None:
    """Lets the observer of a module see its result, before other hooks do."""
    if pre_hook:
        module.register_forward_pre_hook(_observer_forward_pre_hook, prepend=True)
    else:
        module.register_forward_hook(_observer_forward_hook, prepend=True)


def _needs_observation(module: nn.Module) -> bool:
    return getattr(module, "qconfig", None) is not None


def _observe(module: nn.Module, maker: Any = None) -> None:
    if _needs_observation(module) and not isinstance(module, DeQuantStub):
        module.add_module("activation_post_process", (maker or module.qconfig.activation)())
        _register_activation_post_process_hook(module)


def _add_observer_(
    module: nn.Module, qconfig_propagation_list: Any = None, non_leaf_module_list: Any = None, device: Any = None,
    custom_module_class_mapping: dict[Any, Any] | None = None,
) -> None:  # fmt: skip
    """Observers for the results of the leaves of a model."""
    kinds = get_default_qconfig_propagation_list() if qconfig_propagation_list is None else qconfig_propagation_list
    custom = custom_module_class_mapping or {}
    for name, child in list(module.named_children()):
        kind = type_before_parametrizations(child)
        if kind is nn.Dropout:
            continue
        if isinstance(child, _FUNCTIONALS):
            if _needs_observation(child):
                child.activation_post_process = child.qconfig.activation()
        elif isinstance(child, _WHOLE) or (non_leaf_module_list and kind in non_leaf_module_list):
            _observe(child)
        elif _has_special_act_post_process(child):
            _observe(child, _get_special_act_post_process(child))
        elif _needs_observation(child) and kind in custom:
            observed = custom[kind].from_float(child)
            setattr(module, name, observed)
            if custom[kind] not in no_observer_set():
                _observe(observed)
        else:
            _add_observer_(child, kinds, non_leaf_module_list, device, custom)
    is_leaf = has_no_children_ignoring_parametrizations(module) and not isinstance(module, nn.Sequential)
    if is_leaf and type_before_parametrizations(module) in kinds:
        _observe(module)


def prepare(
    model: nn.Module, inplace: bool = False, allow_list: Any = None, observer_non_leaf_module_list: Any = None,
    prepare_custom_config_dict: dict[str, Any] | None = None,
) -> Any:  # fmt: skip
    """``model`` with observers, which see the results of its modules while it runs on data.

    What has an attribute ``qconfig``, or is in what has one, is observed.

    Args:
        model: in evaluation mode.
        inplace: change ``model`` itself, not a copy.
        allow_list: classes to observe, in place of `get_default_qconfig_propagation_list`.
        observer_non_leaf_module_list: classes to observe though they have submodules.
        prepare_custom_config_dict: see `get_default_custom_config_dict`.
    """
    config = get_default_custom_config_dict() if prepare_custom_config_dict is None else prepare_custom_config_dict
    if not inplace:
        model = copy.deepcopy(model)
    propagate_qconfig_(model, qconfig_dict=None)
    if not any(getattr(module, "qconfig", None) for module in model.modules()):
        warnings.warn("prepare: no module has a qconfig, so nothing is observed: set model.qconfig first", stacklevel=2)
    _add_observer_(
        model, allow_list, observer_non_leaf_module_list,
        custom_module_class_mapping=config.get("float_to_observed_custom_module_class", {}),
    )  # fmt: skip
    return model


def _remove_activation_post_process(module: nn.Module) -> None:
    if _is_activation_post_process(getattr(module, "activation_post_process", None)):
        delattr(module, "activation_post_process")
    for hooks, ours in (
        (module._forward_hooks, _observer_forward_hook), (module._forward_pre_hooks, _observer_forward_pre_hook)
    ):  # fmt: skip
        for key in [key for key, hook in hooks.items() if hook is ours]:
            hooks.pop(key)


def _remove_qconfig(module: nn.Module) -> None:
    """Takes qconfigs and observers out of a model."""
    for child in module.children():
        _remove_qconfig(child)
    if hasattr(module, "qconfig"):
        del module.qconfig
    _remove_activation_post_process(module)


def add_quant_dequant(module: nn.Module) -> nn.Module:
    """``module`` with each leaf that has a qconfig in a `QuantWrapper`; the result is new if it is a leaf."""
    if has_no_children_ignoring_parametrizations(module) and getattr(module, "qconfig", None):
        return QuantWrapper(module)
    for name, child in module.named_children():
        module._modules[name] = add_quant_dequant(child)
    return module


def swap_module(
    mod: nn.Module, mapping: dict[Any, Any], custom_module_class_mapping: dict[Any, Any],
    use_precomputed_fake_quant: bool = False,
) -> Any:  # fmt: skip
    """What takes the place of ``mod`` by the mapping of classes, with its hooks; ``mod`` itself if nothing does."""
    if getattr(mod, "qconfig", None) is None:
        return mod
    kind = type_before_parametrizations(mod)
    if kind in custom_module_class_mapping:
        new = custom_module_class_mapping[kind].from_observed(mod)
    elif kind in mapping:
        new = _swapped(mod, mapping[kind])
    else:
        return mod
    for pre_hook in mod._forward_pre_hooks.values():
        new.register_forward_pre_hook(pre_hook)
    for hook in mod._forward_hooks.values():
        if hook is not _observer_forward_hook:
            new.register_forward_hook(hook)
    devices = {parameter.device for parameter in mod.parameters()}
    if len(devices) == 1 and next(iter(devices)).type != "cpu":
        new.to(next(iter(devices)))
    return new


def _swapped(mod: Any, kind: Any) -> Any:
    from taeda.ao.nn.quantized.reference.modules.utils import QuantizedWeights

    if not issubclass(kind, QuantizedWeights):
        return kind.from_float(mod)
    names = [name for name, _ in mod.named_parameters(recurse=False) if name.startswith("weight")]
    found = {}
    for name in names:
        watching = mod.qconfig.weight()
        if watching.dtype != taeda.float16:
            watching(getattr(mod, name))
        found[name] = get_qparam_dict(watching)
    return kind.from_float(mod, found["weight"] if names == ["weight"] else found)


def convert(
    module: nn.Module, mapping: dict[Any, Any] | None = None, inplace: bool = False, remove_qconfig: bool = True,
    is_reference: bool = False, convert_custom_config_dict: dict[str, Any] | None = None,
    use_precomputed_fake_quant: bool = False,
) -> Any:  # fmt: skip
    """``module`` with its submodules swapped for quantised ones, by what their observers saw.

    Args:
        mapping: classes to those that take their place; see `get_default_static_quant_module_mappings`.
        inplace: change ``module`` itself, not a copy.
        remove_qconfig: take qconfigs and observers out.
        is_reference: swap for modules that compute in float with quantised weights.
        convert_custom_config_dict: see `get_default_custom_config_dict`.
    """
    if not inplace:
        module = copy.deepcopy(module)
    config = get_default_custom_config_dict() if convert_custom_config_dict is None else convert_custom_config_dict
    if mapping is None:
        mapping = (
            get_default_static_quant_reference_module_mappings() if is_reference
            else get_default_static_quant_module_mappings()
        )  # fmt: skip
    _convert(module, mapping, config.get("observed_to_quantized_custom_module_class", {}))
    if remove_qconfig:
        _remove_qconfig(module)
    return module


def _convert(module: nn.Module, mapping: dict[Any, Any], custom: dict[Any, Any]) -> None:
    for name, child in list(module.named_children()):
        if not isinstance(child, _WHOLE) and type_before_parametrizations(child) not in custom:
            _convert(child, mapping, custom)
        module._modules[name] = swap_module(child, mapping, custom)


def prepare_qat(model: nn.Module, mapping: dict[Any, Any] | None = None, inplace: bool = False) -> Any:
    """``model`` with weights and results rounded as quantisation will, for training.

    Args:
        model: in training mode, with an attribute ``qconfig`` such as `get_default_qat_qconfig` makes.
        mapping: see `get_default_qat_module_mappings`.
        inplace: change ``model`` itself, not a copy.

    Raises:
        AssertionError: the model is in evaluation mode.
    """
    if not model.training:
        raise AssertionError("prepare_qat: the model must be in training mode; call train() first")
    if mapping is None:
        mapping = get_default_qat_module_mappings()
    if not inplace:
        model = copy.deepcopy(model)
    propagate_qconfig_(model, qconfig_dict=None)
    convert(model, mapping=mapping, inplace=True, remove_qconfig=False)
    return prepare(model, observer_non_leaf_module_list={*mapping.values()}, inplace=True)


def quantize(
    model: nn.Module, run_fn: Callable[..., Any], run_args: Any, mapping: dict[Any, Any] | None = None,
    inplace: bool = False,
) -> Any:  # fmt: skip
    """`prepare`, ``run_fn(model, *run_args)`` on data, `convert`."""
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    prepare(model, inplace=True)
    run_fn(model, *run_args)
    return convert(model, mapping, inplace=True)


def quantize_qat(model: nn.Module, run_fn: Callable[..., Any], run_args: Any, inplace: bool = False) -> Any:
    """`prepare_qat`, ``run_fn(model, *run_args)``, which trains it, `convert`."""
    if not inplace:
        model = copy.deepcopy(model)
    model.train()
    prepare_qat(model, inplace=True)
    run_fn(model, *run_args)
    return convert(model, inplace=True)


def _dynamic_spec(dtype: Any) -> dict[Any, Any]:
    layers = (nn.Linear, nn.LSTM, nn.GRU, nn.LSTMCell, nn.RNNCell, nn.GRUCell)
    if dtype == taeda.qint8:
        return dict.fromkeys(layers, qconfigs.default_dynamic_qconfig)
    if dtype == taeda.float16:
        return dict.fromkeys(layers, qconfigs.float16_dynamic_qconfig)
    if dtype == taeda.quint8:
        return dict.fromkeys((nn.EmbeddingBag, nn.Embedding), qconfigs.float_qparams_weight_only_qconfig)
    if dtype == taeda.quint4x2:
        return {nn.EmbeddingBag: qconfigs.float_qparams_weight_only_qconfig_4bit}
    raise ValueError(f"quantize_dynamic: dtype must be qint8, float16, quint8 or quint4x2; got {dtype}")


def quantize_dynamic(
    model: nn.Module, qconfig_spec: Any = None, dtype: Any = taeda.qint8, mapping: dict[Any, Any] | None = None,
    inplace: bool = False,
) -> Any:  # fmt: skip
    """``model`` with weights quantised, and inputs of its layers on the fly.

    Args:
        qconfig_spec: classes or names of submodules to quantise; or a dict of these to qconfigs. By default linear and
            recurrent layers (tables for ``quint8`` and ``quint4x2``).
        dtype: of weights: ``qint8``, ``float16``, ``quint8``, ``quint4x2``.
        mapping: see `get_default_dynamic_quant_module_mappings`.
        inplace: change ``model`` itself, not a copy.

    Raises:
        ValueError: the dtype is another.
    """
    if qconfig_spec is None:
        qconfig_spec = _dynamic_spec(dtype)
    elif isinstance(qconfig_spec, (set, frozenset)):
        qconfig_spec = dict(zip(qconfig_spec, itertools.repeat(next(iter(_dynamic_spec(dtype).values())))))
    if mapping is None:
        mapping = get_default_dynamic_quant_module_mappings()
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    propagate_qconfig_(model, qconfig_spec)
    return convert(model, mapping, inplace=True)


def default_eval_fn(model: nn.Module, calib_data: Any) -> None:
    """Runs the model on the data of a loader of inputs and targets."""
    for data, _ in calib_data:
        model(data)
