"""Which ops do the same in float and quantised, and what they take and give."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import taeda
from taeda import nn
from taeda.ao.nn import intrinsic
from taeda.ao.nn.intrinsic import qat as fused_qat
from taeda.ao.quantization import quantization_mappings as tables
from taeda.ao.quantization.fake_quantize import FakeQuantizeBase
from taeda.ao.quantization.fx import patterns
from taeda.ao.quantization.observer import ObserverBase
from taeda.ao.quantization.stubs import DeQuantStub, QuantStub
from taeda.nn import functional as F

Op = Callable[..., Any] | str
Sets = dict[str, set[Any]]

_QUANTISED = (
    "add", "batch_norm2d", "batch_norm3d", "cat", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "dropout", "elu", "hardswish", "instance_norm", "layer_norm", "leaky_relu", "linear",
    "linear_dynamic", "matmul", "mul", "softmax", "group_norm",
)  # fmt: skip
_SAME = (
    (F.relu, taeda.relu, nn.ReLU, "relu", "relu_"),
    (taeda.sigmoid, F.sigmoid, nn.Sigmoid, "sigmoid", "sigmoid_"),
    (taeda.tanh, F.tanh, nn.Tanh, "tanh", "tanh_"),
    (F.hardsigmoid, nn.Hardsigmoid, "hardsigmoid", "hardsigmoid_"),
    (F.hardtanh, F.hardtanh_, nn.Hardtanh),
    (operator.add, taeda.add, operator.iadd, "add", "add_"),
    (operator.mul, taeda.mul, operator.imul, "mul", "mul_"),
    (nn.modules.linear.NonDynamicallyQuantizableLinear, nn.Linear),
)
_UNMATCHABLE_FUNCTIONS = (
    taeda.quantize_per_tensor, taeda.quantize_per_channel, taeda.quantize_per_tensor_dynamic, operator.getitem, getattr,
)  # fmt: skip
_UNMATCHABLE_METHODS = (
    "to", "dequantize", "reshape", "view", "unsqueeze_", "unsqueeze", "transpose", "squeeze_", "squeeze", "size",
    "shape", "resize_", "repeat_interleave", "repeat", "permute", "numel", "mean", "detach_", "detach", "contiguous",
    "clamp", "chunk",
)  # fmt: skip
_OBSERVERS = (ObserverBase, FakeQuantizeBase)


def _op(name: str) -> Any:
    return getattr(taeda.ops.quantized, name)


def _plain(fused: type) -> Any:
    """The class that a fused one is named after."""
    found = re.match(r"(Conv|Linear|BN)(?:Bn)?(?:ReLU|LeakyReLU|Tanh)?(\dd)?", fused.__name__)
    assert found is not None
    kind, dims = found.groups(default="")
    return getattr(nn, {"BN": "BatchNorm"}.get(kind, kind) + (dims if kind != "Linear" else ""))


def _related() -> Iterator[tuple[Any, ...]]:
    yield from _SAME
    for table in (
        tables.DEFAULT_STATIC_QUANT_MODULE_MAPPINGS, tables.DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
        tables.get_embedding_qat_module_mappings(), tables.DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS,
        tables.DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS,
    ):  # fmt: skip
        yield from ((a, b) for a, b in table.items() if a not in (QuantStub, DeQuantStub))
    for fused in (*patterns.FUSED, intrinsic.BNReLU2d, intrinsic.BNReLU3d):
        yield fused, _plain(fused)
    yield fused_qat.LinearBn1d, nn.Linear
    for function, name in {**patterns.CONV_FUNCTIONS, **patterns.OWN_FUNCTIONS}.items():
        yield function, _op(name)
    for name in _QUANTISED:
        if hasattr(taeda.ops.quantized, f"{name}_relu"):
            yield _op(name), _op(f"{name}_relu")
    yield F.linear, _op("linear"), _op("linear_dynamic"), _op("linear_relu_dynamic")
    yield operator.add, _op("add")
    yield operator.mul, _op("mul")
    yield taeda.matmul, operator.matmul, _op("matmul")
    yield taeda.cat, taeda.concat, _op("cat")
    for op in _all_patterns():
        yield (op,)


def _all_patterns() -> Iterable[Any]:
    return (
        *patterns.WEIGHTED, *patterns.TABLES, *patterns.RECURRENT, *patterns.OWN_MODULES, *patterns.FIXED_MODULES,
        *patterns.SHARING_MODULES, *patterns.ADDS, *patterns.MULS, *patterns.MATMULS, *patterns.LINEARS,
        *patterns.CONV_FUNCTIONS, *patterns.OWN_FUNCTIONS, *patterns.FIXED_FUNCTIONS, *patterns.CATS,
        *(op for op in patterns.SHARING_FUNCTIONS if op not in _UNMATCHABLE_METHODS),
    )  # fmt: skip


def get_base_name_to_sets_of_related_ops() -> Sets:
    """Ops that do the same, by a name for each set."""
    sets: list[set[Any]] = []
    for group in _related():
        joined = [one for one in sets if not one.isdisjoint(group)]
        first = joined[0] if joined else set[Any]()
        if not joined:
            sets.append(first)
        first.update(group)
        for other in joined[1:]:
            first |= other
            sets.remove(other)
    return {str(i): one for i, one in enumerate(sets)}


def get_base_name_for_op(base_name_to_sets_of_related_ops: Sets, op: Op) -> str | None:
    """The name of the set that an op is in; None for one in none."""
    return next((name for name, ops in base_name_to_sets_of_related_ops.items() if op in ops), None)


def add_op_to_sets_of_related_ops(
    base_name_to_sets_of_related_ops: Sets, op: Op, related_op: Op | None
) -> None:  # fmt: skip
    """Puts an op into the set of another, or with None into one of its own.

    Raises:
        AssertionError: the other is in none.
    """
    if related_op is None:
        base_name_to_sets_of_related_ops[str(len(base_name_to_sets_of_related_ops))] = {op}
        return
    name = get_base_name_for_op(base_name_to_sets_of_related_ops, related_op)
    if name is None:
        raise AssertionError(f"add_op_to_sets_of_related_ops: {related_op} is in no set; add it first, with None")
    base_name_to_sets_of_related_ops[name].add(op)


def get_node_type_to_io_type_map() -> dict[str, set[Any]]:
    """What ops take and give: floats, integers, halves, or what they are given."""
    quantised = {_op(name) for name in _QUANTISED if name != "linear_dynamic"}
    quantised |= {_op(f"{name}_relu") for name in _QUANTISED if hasattr(taeda.ops.quantized, f"{name}_relu")}
    either = {op for op in (*patterns.SHARING_FUNCTIONS, *patterns.FIXED_FUNCTIONS) if op not in _UNMATCHABLE_METHODS}
    static, dynamic = tables.DEFAULT_STATIC_QUANT_MODULE_MAPPINGS, tables.DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS
    skipped = (*patterns.FIXED_MODULES, *patterns.SHARING_MODULES, *patterns.TABLES, QuantStub, DeQuantStub)
    modules = {
        *(plain for plain in static if plain not in skipped), *patterns.WEIGHTED, *patterns.OWN_MODULES, nn.LSTM,
        nn.GRU, nn.modules.linear.NonDynamicallyQuantizableLinear, *tables.DEFAULT_QAT_MODULE_MAPPINGS.values(),
    }  # fmt: skip
    return {
        "funs_io_type_fp32": {
            *patterns.LINEARS, *patterns.CONV_FUNCTIONS, *patterns.OWN_FUNCTIONS, *patterns.ADDS, *patterns.MULS,
            *patterns.MATMULS, taeda.sum, _op("linear_dynamic"), _op("linear_relu_dynamic"),
        },
        "funs_io_type_fp16": set(),
        "funs_io_type_int8": quantised,
        "funs_io_type_fp32_or_int8": {*(op for op in either if callable(op)), *patterns.CATS},
        "mods_io_type_fp32": modules | {cls for plain, cls in dynamic.items() if plain not in patterns.TABLES},
        "mods_io_type_int8": {cls for plain, cls in static.items() if plain not in skipped},
        "mods_io_type_fp32_or_int8": {*patterns.SHARING_MODULES, *patterns.FIXED_MODULES},
        "meths_io_type_fp32_or_int8": {op for op in either if isinstance(op, str)},
    }  # fmt: skip


def get_unmatchable_types_map() -> dict[str, set[Any]]:
    """What is not compared: it moves values, or tells of them."""
    return {
        "funs_unmatchable": {*_UNMATCHABLE_FUNCTIONS},
        "mods_unmatchable": {*_OBSERVERS},
        "meths_unmatchable": {*_UNMATCHABLE_METHODS},
    }
