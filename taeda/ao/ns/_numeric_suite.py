"""The numeric suite for models whose modules were swapped: weights, results, and modules run side by side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn import quantized
from taeda.ao.nn.quantized import dynamic
from taeda.ao.quantization.quantization_mappings import get_default_compare_output_module_list
from taeda.ao.quantization.quantize import _observer_forward_hook, prepare

NON_LEAF_MODULE_TO_ADD_OBSERVER_ALLOW_LIST = {
    dynamic.Linear, quantized.Linear, dynamic.LSTM, quantized.LSTM,
}  # fmt: skip


def _float_name(name: str, names: Iterable[str]) -> str | None:
    """The float module's key that belongs to a quantised one's: they differ in what follows the module's path."""
    path = name.removesuffix("._packed_params._packed_params").removesuffix(".weight")
    fitting = [other for other in names if other == f"{path}.weight" or other.startswith(f"{path}.0.weight")]
    return fitting[0] if fitting else None


def compare_weights(float_dict: dict[str, Any], quantized_dict: dict[str, Any]) -> dict[str, dict[str, Tensor]]:
    """The weights of two ``state_dict``s, by name: ``{"fc.weight": {"float": ..., "quantized": ...}}``."""
    found: dict[str, dict[str, Tensor]] = {}
    for key, value in quantized_dict.items():
        if key.endswith("._packed_params._packed_params"):
            weight = value[0]
        elif key.endswith("weight") and isinstance(value, Tensor):
            weight = value
        elif "_all_weight_values" in key:
            _compare_cells(key, value, float_dict, found)
            continue
        else:
            continue
        name = _float_name(key, float_dict)
        if name is not None:
            found[key] = {"float": float_dict[name], "quantized": weight}
    return found


def _compare_cells(key: str, cell: Any, float_dict: dict[str, Any], found: dict[str, dict[str, Tensor]]) -> None:
    """The weights of one direction of a recurrent layer."""
    path, _, rest = key.partition("._all_weight_values.")
    place = int(rest.partition(".")[0])
    both = any(name.startswith(f"{path}.weight") and name.endswith("_reverse") for name in float_dict)
    suffix = f"l{place // 2}" + ("_reverse" if place % 2 else "") if both else f"l{place}"
    for name, packed in zip(("ih", "hh"), cell.__getstate__()[0][4], strict=False):
        weight = taeda.ops.quantized.linear_unpack(packed)[0]
        float_name = f"{path}.weight_{name}_{suffix}"
        found[float_name] = {"float": float_dict[float_name], "quantized": weight}


class Logger(nn.Module):
    """Keeps what passes through it in ``stats``."""

    def __init__(self) -> None:
        super().__init__()
        self.stats: dict[str, Any] = {}
        self.dtype = taeda.quint8

    def forward(self, x: Any) -> Any:
        """``x``."""
        return x


class ShadowLogger(Logger):
    """Keeps pairs: what a quantised module gave, and its float shadow."""

    def __init__(self) -> None:
        super().__init__()
        self.stats["float"], self.stats["quantized"] = [], []

    def forward(self, x: Any, y: Any) -> None:  # type: ignore[override]
        """Takes note of ``x``, quantised, and ``y``, float."""
        first = lambda value: value[0] if isinstance(value, tuple) else value
        self.stats["quantized"].append(first(x).detach())
        self.stats["float"].append(first(y).detach())


class OutputLogger(Logger):
    """Keeps all tensors that pass through it."""

    def __init__(self) -> None:
        super().__init__()
        self.stats["tensor_val"] = []

    def forward(self, x: Any) -> Any:
        """Takes note of ``x`` and returns it."""
        self.stats["tensor_val"].append(x)
        return x


def _dequantized(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(_dequantized(one) for one in value)
    return value.dequantize() if isinstance(value, Tensor) and value.is_quantized else value


class Shadow(nn.Module):
    """A quantised module with its float one beside it: both run on the same input, the logger sees both results."""

    def __init__(self, q_module: nn.Module, float_module: nn.Module, logger_cls: Any) -> None:
        super().__init__()
        self.orig_module, self.shadow_module = q_module, float_module
        self.dequant = quantized.DeQuantize()
        self.logger = logger_cls()

    def _logged(self, result: Any, shadow: Any) -> Any:
        self.logger(result, shadow)
        return result

    def forward(self, *x: Any) -> Any:
        """The quantised module's result."""
        return self._logged(self.orig_module(*x), self.shadow_module(*_dequantized(x)))

    def _call(self, name: str, x: Tensor, y: Any, **more: Any) -> Tensor:
        result = getattr(self.orig_module, name)(x, y, **more)
        shadow = getattr(self.shadow_module, name)(_dequantized(x), _dequantized(y), **more)
        logged: Tensor = self._logged(result, shadow)
        return logged

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """``add`` of both."""
        return self._call("add", x, y)

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """``add_scalar`` of both."""
        return self._call("add_scalar", x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """``mul`` of both."""
        return self._call("mul", x, y)

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """``mul_scalar`` of both."""
        return self._call("mul_scalar", x, y)

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """``cat`` of both."""
        result = self.orig_module.cat(x, dim)  # type: ignore[operator]
        shadow = self.shadow_module.cat(_dequantized(x), dim)  # type: ignore[operator]
        logged: Tensor = self._logged(result, shadow)
        return logged

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """``add_relu`` of both."""
        return self._call("add_relu", x, y)


def _kinds(module: nn.Module) -> list[type]:
    return [type(part) for part in module.modules()]


def prepare_model_with_stubs(
    float_module: nn.Module, q_module: nn.Module, module_swap_list: Any, logger_cls: Any
) -> None:
    """Puts shadows of ``float_module``'s parts beside those of ``q_module``, in place, for the classes in the list."""
    floats = dict(float_module.named_children())
    for name, module in list(q_module.named_children()):
        if name not in floats:
            continue
        beside = floats[name]
        if type(beside) in {*module_swap_list} and _kinds(beside) != _kinds(module):  # what was quantised
            q_module._modules[name] = Shadow(module, beside, logger_cls)
        else:
            prepare_model_with_stubs(beside, module, module_swap_list, logger_cls)


def get_logger_dict(mod: nn.Module, prefix: str = "") -> dict[str, Any]:
    """What the loggers of a model have kept, by the path of the module and ``stats``."""
    found: dict[str, Any] = {}
    for path, module in mod.named_modules(prefix=prefix):
        if isinstance(module, Logger):
            found[f"{path}.stats"] = module.stats
    return found


def compare_model_stub(
    float_model: nn.Module, q_model: nn.Module, module_swap_list: Any, *data: Any, logger_cls: Any = ShadowLogger
) -> dict[str, Any]:
    """Runs ``q_model`` on data with float modules beside: ``{"fc.stats": {"float": [...], "quantized": [...]}}``."""
    prepare_model_with_stubs(float_model, q_model, module_swap_list, logger_cls)
    q_model(*data)
    return {key.replace(".logger.stats", ".stats"): value for key, value in get_logger_dict(q_model).items()}


def prepare_model_outputs(
    float_module: nn.Module, q_module: nn.Module, logger_cls: Any = OutputLogger, allow_list: Any = None
) -> None:
    """Loggers for the results of the modules of both models, in place."""
    from taeda.ao.quantization.qconfig import QConfig

    classes = get_default_compare_output_module_list() if allow_list is None else allow_list
    for model in (float_module, q_module):
        for module in model.modules():  # what observers of calibration are left gives way
            for key in [key for key, hook in module._forward_hooks.items() if hook is _observer_forward_hook]:
                module._forward_hooks.pop(key)
        kept = getattr(model, "qconfig", None)
        model.qconfig = QConfig(activation=logger_cls, weight=None)  # type: ignore[assignment]
        prepare(
            model, inplace=True, allow_list=classes,
            observer_non_leaf_module_list=NON_LEAF_MODULE_TO_ADD_OBSERVER_ALLOW_LIST, prepare_custom_config_dict={},
        )  # fmt: skip
        model.qconfig = kept


def get_matching_activations(float_module: nn.Module, q_module: nn.Module) -> dict[str, dict[str, Any]]:
    """What the loggers of both models have kept under the same name."""
    floats, quantizeds = get_logger_dict(float_module), get_logger_dict(q_module)
    found = {}
    for key, value in quantizeds.items():
        if key in floats and value["tensor_val"] and floats[key]["tensor_val"]:
            shown = key.replace(".activation_post_process.stats", ".stats")
            found[shown] = {"float": floats[key]["tensor_val"], "quantized": value["tensor_val"]}
    return found


def compare_model_outputs(
    float_model: nn.Module, q_model: nn.Module, *data: Any, logger_cls: Any = OutputLogger, allow_list: Any = None
) -> dict[str, dict[str, Any]]:
    """Runs both models on data: ``{"fc.stats": {"float": [...], "quantized": [...]}}``, module by module."""
    prepare_model_outputs(float_model, q_model, logger_cls, allow_list)
    float_model(*data)
    q_model(*data)
    return get_matching_activations(float_model, q_model)
