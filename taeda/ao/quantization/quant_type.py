"""The ways of quantising."""

from __future__ import annotations

import enum


class QuantType(enum.IntEnum):
    """How a model, or a part of it, is quantised."""

    DYNAMIC = 0  # activations on the fly, each tensor with a range of its own
    STATIC = 1  # activations with ranges observed beforehand
    QAT = 2  # as STATIC, the model having been trained with rounding
    WEIGHT_ONLY = 3


_NAMES = {
    QuantType.STATIC: "static",
    QuantType.DYNAMIC: "dynamic",
    QuantType.QAT: "qat",
    QuantType.WEIGHT_ONLY: "weight_only",
}


def _quant_type_to_str(quant_type: QuantType) -> str:
    return _NAMES[quant_type]


def _get_quant_type_to_str(quant_type: QuantType) -> str:
    return _NAMES[quant_type]


def _quant_type_from_str(name: str) -> QuantType:
    for quant_type, text in _NAMES.items():
        if text == name:
            return quant_type
    raise ValueError(f"there is no way of quantising {name!r}; there are {', '.join(_NAMES.values())}")
