"""Which classes quantisation puts in the place of which."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import taeda
from taeda import nn
from taeda.ao.nn import intrinsic, qat, quantized
from taeda.ao.nn.intrinsic import qat as fused_qat
from taeda.ao.nn.intrinsic import quantized as fused_quantized
from taeda.ao.nn.intrinsic.quantized import dynamic as fused_dynamic
from taeda.ao.nn.qat import dynamic as qat_dynamic
from taeda.ao.nn.quantized import dynamic, reference
from taeda.ao.quantization import fake_quantize as fakes
from taeda.ao.quantization.stubs import DeQuantStub, QuantStub
from taeda.ao.quantization.utils import get_combined_dict
from taeda.nn import functional as F
from taeda.nn.modules.linear import NonDynamicallyQuantizableLinear

Mapping = dict[Any, Any]

_CONVS = [f"{kind}{d}d" for kind in ("Conv", "ConvTranspose") for d in (1, 2, 3)]
_SAME = (
    *_CONVS, "BatchNorm2d", "BatchNorm3d", "Dropout", "ELU", "Embedding", "EmbeddingBag", "GroupNorm", "Hardswish",
    "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm", "LeakyReLU", "Linear", "ReLU6", "PReLU",
)  # fmt: skip
_FUSED = (
    "BNReLU2d", "BNReLU3d", "ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "ConvAdd2d", "ConvAddReLU2d", "LinearReLU",
    "LinearLeakyReLU", "LinearTanh",
)  # fmt: skip
_CELLS = ("GRUCell", "LSTMCell", "RNNCell", "LSTM", "GRU")

DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS: Mapping = {
    QuantStub: quantized.Quantize,
    DeQuantStub: quantized.DeQuantize,
    **{
        getattr(nn, name): getattr(reference, name)
        for name in ("Linear", *_CONVS, "Embedding", "EmbeddingBag", *_CELLS)
    },
}
DEFAULT_STATIC_QUANT_MODULE_MAPPINGS: Mapping = {
    QuantStub: quantized.Quantize,
    DeQuantStub: quantized.DeQuantize,
    **{getattr(nn, name): getattr(quantized, name) for name in _SAME},
    NonDynamicallyQuantizableLinear: quantized.Linear,
    quantized.FloatFunctional: quantized.QFunctional,
    **{getattr(intrinsic, name): getattr(fused_quantized, name) for name in _FUSED},
    **{getattr(fused_qat, f"ConvBn{d}d"): getattr(quantized, f"Conv{d}d") for d in (1, 2, 3)},
    **{getattr(fused_qat, f"ConvBnReLU{d}d"): getattr(fused_quantized, f"ConvReLU{d}d") for d in (1, 2, 3)},
    **{getattr(fused_qat, f"ConvReLU{d}d"): getattr(fused_quantized, f"ConvReLU{d}d") for d in (1, 2, 3)},
    fused_qat.LinearReLU: fused_quantized.LinearReLU,
    fused_qat.LinearBn1d: quantized.Linear,
    qat.Linear: quantized.Linear,
    qat.Conv1d: quantized.Conv1d,
    qat.Conv2d: quantized.Conv2d,
    qat.Conv3d: quantized.Conv3d,
}
DEFAULT_QAT_MODULE_MAPPINGS: Mapping = {
    nn.Conv2d: qat.Conv2d,
    nn.Conv3d: qat.Conv3d,
    nn.Linear: qat.Linear,
    NonDynamicallyQuantizableLinear: qat.Linear,
    **{getattr(intrinsic, f"{kind}{d}d"): getattr(fused_qat, f"{kind}{d}d")
       for kind in ("ConvBn", "ConvBnReLU") for d in (1, 2, 3)},
    intrinsic.ConvReLU2d: fused_qat.ConvReLU2d,
    intrinsic.ConvReLU3d: fused_qat.ConvReLU3d,
    intrinsic.LinearReLU: fused_qat.LinearReLU,
    intrinsic.LinearBn1d: fused_qat.LinearBn1d,
}  # fmt: skip
DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS: Mapping = {
    **{
        getattr(nn, name): getattr(dynamic, name)
        for name in ("GRUCell", "Linear", "LSTM", "GRU", "LSTMCell", "RNNCell")
    },
    qat_dynamic.Linear: dynamic.Linear,
    NonDynamicallyQuantizableLinear: dynamic.Linear,
    intrinsic.LinearReLU: fused_dynamic.LinearReLU,
    nn.EmbeddingBag: quantized.EmbeddingBag,
    nn.Embedding: quantized.Embedding,
}
DEFAULT_STATIC_SPARSE_QUANT_MODULE_MAPPINGS: Mapping = {}
DEFAULT_DYNAMIC_SPARSE_QUANT_MODULE_MAPPINGS: Mapping = {}
_INCLUDE_QCONFIG_PROPAGATE_LIST = (nn.Sequential,)


def _quantized_operators() -> Mapping:
    ops = taeda.ops.quantized
    names = ("elu", "hardswish", "instance_norm", "layer_norm", "leaky_relu", "dropout")
    return {getattr(F, name): getattr(ops, name, None) for name in names}


DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS: Mapping = _quantized_operators()
DEFAULT_MODULE_TO_ACT_POST_PROCESS: Mapping = {
    nn.Hardsigmoid: fakes.default_fixed_qparams_range_0to1_fake_quant,
    nn.Sigmoid: fakes.default_fixed_qparams_range_0to1_fake_quant,
    nn.Softmax: fakes.default_fixed_qparams_range_0to1_fake_quant,
    nn.Tanh: fakes.default_fixed_qparams_range_neg1to1_fake_quant,
}


def no_observer_set() -> set[Any]:
    """Classes whose results are not observed."""
    return {quantized.FloatFunctional, *_quantizable()}


def _quantizable() -> set[Any]:
    from taeda.ao.nn import quantizable

    return {quantizable.LSTM, quantizable.LSTMCell, quantizable.MultiheadAttention}


def get_default_static_quant_module_mappings() -> Mapping:
    """Float classes to quantised ones, for quantisation after training."""
    return copy.copy(DEFAULT_STATIC_QUANT_MODULE_MAPPINGS)


def get_default_static_quant_reference_module_mappings() -> Mapping:
    """Float classes to their references."""
    return copy.copy(DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS)


def get_embedding_static_quant_module_mappings() -> Mapping:
    """The static mapping with tables that were trained with rounding."""
    return {
        **DEFAULT_STATIC_QUANT_MODULE_MAPPINGS,
        qat.EmbeddingBag: quantized.EmbeddingBag,
        qat.Embedding: quantized.Embedding,
    }


def get_default_static_sparse_quant_module_mappings() -> Mapping:
    """None: quantised layers with sparse weights are not made."""
    return copy.copy(DEFAULT_STATIC_SPARSE_QUANT_MODULE_MAPPINGS)


def get_default_dynamic_sparse_quant_module_mappings() -> Mapping:
    """None: quantised layers with sparse weights are not made."""
    return copy.copy(DEFAULT_DYNAMIC_SPARSE_QUANT_MODULE_MAPPINGS)


def _class_of(kind: Any, mapping: Mapping, what: str) -> Any:
    if mapping.get(kind) is None:
        raise AssertionError(f"{kind} has no {what} quantised class")
    return copy.copy(mapping[kind])


def get_static_quant_module_class(
    float_module_class: Callable[..., Any], additional_static_quant_mapping: Mapping | None = None,
    is_reference: bool = False,
) -> Any:  # fmt: skip
    """The statically quantised class of a float one.

    Raises:
        AssertionError: there is none.
    """
    base = DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS if is_reference else DEFAULT_STATIC_QUANT_MODULE_MAPPINGS
    return _class_of(float_module_class, get_combined_dict(base, additional_static_quant_mapping or {}), "statically")


def get_dynamic_quant_module_class(
    float_module_class: Callable[..., Any], additional_dynamic_quant_mapping: Mapping | None = None
) -> Any:
    """The dynamically quantised class of a float one.

    Raises:
        AssertionError: there is none.
    """
    mapping = get_combined_dict(DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS, additional_dynamic_quant_mapping or {})
    return _class_of(float_module_class, mapping, "dynamically")


def get_default_qat_module_mappings() -> Mapping:
    """Float classes to those whose weights are rounded while training."""
    return copy.copy(DEFAULT_QAT_MODULE_MAPPINGS)


def get_embedding_qat_module_mappings() -> Mapping:
    """The same with tables."""
    return {**DEFAULT_QAT_MODULE_MAPPINGS, nn.EmbeddingBag: qat.EmbeddingBag, nn.Embedding: qat.Embedding}


def get_default_dynamic_quant_module_mappings() -> Mapping:
    """Float classes to those that quantise their inputs on the fly."""
    return DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS


def get_default_qconfig_propagation_list() -> set[Any]:
    """Classes that a qconfig goes down to."""
    return {
        *DEFAULT_STATIC_QUANT_MODULE_MAPPINGS, *DEFAULT_QAT_MODULE_MAPPINGS, *DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
        *_INCLUDE_QCONFIG_PROPAGATE_LIST,
    }  # fmt: skip


def get_default_compare_output_module_list() -> set[Any]:
    """Classes whose results the numeric suite compares."""
    tables = (
        DEFAULT_STATIC_QUANT_MODULE_MAPPINGS, DEFAULT_QAT_MODULE_MAPPINGS, DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS
    )  # fmt: skip
    return {*_INCLUDE_QCONFIG_PROPAGATE_LIST}.union(*({*table, *table.values()} for table in tables))


def get_default_float_to_quantized_operator_mappings() -> Mapping:
    """Float functions to quantised ones."""
    return copy.copy(DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS)


def get_quantized_operator(float_op: Callable[..., Any]) -> Any:
    """The quantised form of a float function.

    Raises:
        AssertionError: there is none.
    """
    found = DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS.get(float_op)
    if found is None:
        raise AssertionError(f"{float_op} has no quantised form")
    return found


def _get_special_act_post_process(module: nn.Module) -> Any:
    """What observes the results of modules whose range is known."""
    return DEFAULT_MODULE_TO_ACT_POST_PROCESS.get(type(module))


def _has_special_act_post_process(module: nn.Module) -> bool:
    return module.training and type(module) in DEFAULT_MODULE_TO_ACT_POST_PROCESS
