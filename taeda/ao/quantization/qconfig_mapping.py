"""A QConfigMapping says which QConfig each part of a model gets."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any

import taeda
from taeda import nn
from taeda.ao.quantization import fake_quantize as fakes
from taeda.ao.quantization import observer as observers
from taeda.ao.quantization.qconfig import (
    QConfig,
    QConfigAny,
    default_quint8_weight_qconfig,
    default_reuse_input_qconfig,
    get_default_qat_qconfig,
    get_default_qconfig,
)

_GLOBAL_DICT_KEY = ""
_OBJECT_TYPE_DICT_KEY = "object_type"
_MODULE_NAME_REGEX_DICT_KEY = "module_name_regex"
_MODULE_NAME_DICT_KEY = "module_name"
_MODULE_NAME_OBJECT_TYPE_ORDER_DICT_KEY = "module_name_object_type_order"
_NEG1TO1: tuple[Any, ...] = (taeda.tanh, nn.Tanh, "tanh", "tanh_")
_0TO1: tuple[Any, ...] = (
    nn.functional.hardsigmoid, "hardsigmoid", "hardsigmoid_", nn.Hardsigmoid, taeda.sigmoid, "sigmoid", "sigmoid_",
    nn.Sigmoid, nn.Softmax,
)  # fmt: skip
_BY_TENSOR = (
    nn.functional.conv_transpose1d, nn.functional.conv_transpose2d, nn.functional.conv_transpose3d,
    nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d,
)  # fmt: skip


class QConfigMapping:
    """Which QConfig each part of a model gets: what is set later in this list goes before what is earlier.

    ``set_global``; by the type of a module or by a function, ``set_object_type``; by the name of a module as a regular
    expression, ``set_module_name_regex``; by a module's name, ``set_module_name``; by the name of a module, what is
    called in it, and how many of these came before, ``set_module_name_object_type_order``. None means: not quantised.
    """

    def __init__(self) -> None:
        self.global_qconfig: QConfigAny = None
        self.object_type_qconfigs: OrderedDict[Any, QConfigAny] = OrderedDict()
        self.module_name_regex_qconfigs: OrderedDict[str, QConfigAny] = OrderedDict()
        self.module_name_qconfigs: OrderedDict[str, QConfigAny] = OrderedDict()
        self.module_name_object_type_order_qconfigs: OrderedDict[tuple[str, Any, int], QConfigAny] = OrderedDict()

    def set_global(self, global_qconfig: QConfigAny) -> QConfigMapping:
        """For all that nothing else is said of."""
        self.global_qconfig = global_qconfig
        return self

    def set_object_type(self, object_type: Any, qconfig: QConfigAny) -> QConfigMapping:
        """For modules of a type, a function, or a method by its name."""
        self.object_type_qconfigs[object_type] = qconfig
        return self

    def set_module_name_regex(self, module_name_regex: str, qconfig: QConfigAny) -> QConfigMapping:
        """For modules whose name matches; the first that does."""
        self.module_name_regex_qconfigs[module_name_regex] = qconfig
        return self

    def set_module_name(self, module_name: str, qconfig: QConfigAny) -> QConfigMapping:
        """For a module and what is in it."""
        self.module_name_qconfigs[module_name] = qconfig
        return self

    def set_module_name_object_type_order(
        self, module_name: str, object_type: Any, index: int, qconfig: QConfigAny
    ) -> QConfigMapping:
        """For the call of ``object_type`` in a module before which there were ``index``."""
        self.module_name_object_type_order_qconfigs[module_name, object_type, index] = qconfig
        return self

    def __repr__(self) -> str:
        lines = [f"QConfigMapping (\n global_qconfig\n  {self.global_qconfig}"]
        for name, table in vars(self).items():
            if isinstance(table, OrderedDict):
                rows = "".join(f"\n  {key}: {qconfig}" for key, qconfig in table.items())
                lines.append(f" {name}{rows or chr(10) + '  OrderedDict()'}")
        return "\n".join([*lines, ")"])

    def to_dict(self) -> dict[str, Any]:
        """The same as a dict, whose lists hold tuples."""
        return {
            _GLOBAL_DICT_KEY: self.global_qconfig,
            _OBJECT_TYPE_DICT_KEY: list(self.object_type_qconfigs.items()),
            _MODULE_NAME_REGEX_DICT_KEY: list(self.module_name_regex_qconfigs.items()),
            _MODULE_NAME_DICT_KEY: list(self.module_name_qconfigs.items()),
            _MODULE_NAME_OBJECT_TYPE_ORDER_DICT_KEY: [
                (*key, qconfig) for key, qconfig in self.module_name_object_type_order_qconfigs.items()
            ],
        }

    @classmethod
    def from_dict(cls, qconfig_dict: dict[str, Any]) -> QConfigMapping:
        """What `to_dict` gives, or a program wrote in its form."""
        made = cls().set_global(qconfig_dict.get(_GLOBAL_DICT_KEY))
        for key, qconfig in qconfig_dict.get(_OBJECT_TYPE_DICT_KEY, []):
            made.set_object_type(key, qconfig)
        for key, qconfig in qconfig_dict.get(_MODULE_NAME_REGEX_DICT_KEY, []):
            made.set_module_name_regex(key, qconfig)
        for key, qconfig in qconfig_dict.get(_MODULE_NAME_DICT_KEY, []):
            made.set_module_name(key, qconfig)
        for name, kind, index, qconfig in qconfig_dict.get(_MODULE_NAME_OBJECT_TYPE_ORDER_DICT_KEY, []):
            made.set_module_name_object_type_order(name, kind, index, qconfig)
        return made

    def qconfig_of(self, name: str, kind: Any, index: int | None = None) -> QConfigAny:
        """That of the module or call ``kind`` in the module ``name``; ``index`` like ones came before it there."""
        if index is not None and (name, kind, index) in self.module_name_object_type_order_qconfigs:
            return self.module_name_object_type_order_qconfigs[name, kind, index]
        path = name
        while path:
            if path in self.module_name_qconfigs:
                return self.module_name_qconfigs[path]
            path = path.rpartition(".")[0]
        for pattern, qconfig in self.module_name_regex_qconfigs.items():
            if re.match(pattern, name):
                return qconfig
        return self.object_type_qconfigs.get(kind, self.global_qconfig)


def _default(training: bool, backend: str, version: int) -> QConfigMapping:
    qconfig = get_default_qat_qconfig(backend, version) if training else get_default_qconfig(backend, version)
    weight = fakes.default_weight_fake_quant if training else observers.default_weight_observer
    made = QConfigMapping().set_global(qconfig)
    made.set_object_type("reshape", default_reuse_input_qconfig)
    for kind in _BY_TENSOR:  # their weights have no scale by channel
        made.set_object_type(kind, QConfig(qconfig.activation, weight))
    for kind in (nn.functional.layer_norm, nn.LayerNorm):
        made.set_object_type(kind, QConfig(qconfig.activation, observers.default_placeholder_observer))
    made.set_object_type(nn.PReLU, default_quint8_weight_qconfig)
    for kind in (*_0TO1, *_NEG1TO1):
        made.set_object_type(kind, QConfig(_fixed(kind, training), weight))
    return made


def _fixed(kind: Any, training: bool) -> Any:
    """Results of such a function have a range that is known."""
    if kind in _NEG1TO1:
        return (fakes.default_fixed_qparams_range_neg1to1_fake_quant if training
                else observers.default_fixed_qparams_range_neg1to1_observer)  # fmt: skip
    return (fakes.default_fixed_qparams_range_0to1_fake_quant if training
            else observers.default_fixed_qparams_range_0to1_observer)  # fmt: skip


def get_default_qconfig_mapping(backend: str = "x86", version: int = 0) -> QConfigMapping:
    """What serves most models after training: `get_default_qconfig`, and fixed ranges where results have them."""
    return _default(False, backend, version)


def get_default_qat_qconfig_mapping(backend: str = "x86", version: int = 1) -> QConfigMapping:
    """The same for training with rounding."""
    return _default(True, backend, version)
