"""Ops of ONNX that are ops here, by name: found, not listed.

An op is forwarded if ONNX gives it no attributes and tensors alone, and a declared op has its name and as many tensors,
and nothing else that must be given. ``python -m taeda.onnx.reader`` prints what is, what is not, and why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import taeda
from taeda.onnx.reader.table import OPS, op
from taeda.onnx.reader.values import is_unsigned, onnx_package

# Where the names differ.
NAMES = {"Not": "logical_not", "And": "logical_and", "Or": "logical_or", "Xor": "logical_xor", "Neg": "neg",
         "Equal": "eq", "Greater": "gt", "GreaterOrEqual": "ge", "Less": "lt", "LessOrEqual": "le", "MatMul": "matmul",
         "IsNaN": "isnan", "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor",
         "BitwiseNot": "bitwise_not", "NonZero": "nonzero", "Det": "linalg_det"}  # fmt: skip
# Where a name means something else.
OTHER_MEANING = {
    "Range": "ends before the limit, where aten::range ends with it", "Size": "gives a tensor",
    "Max": "takes any number of inputs", "Min": "takes any number of inputs", "Mean": "takes any number of inputs",
    "Sum": "takes any number of inputs", "Div": "rounds to zero between whole numbers",
    "NonZero": "gives a row for each dimension", "Expand": "takes the shape as a tensor, and broadcasts both ways",
    "Where": "takes dtypes of its own", "Pow": "gives the first input's dtype", "PRelu": "broadcasts the slope",
    "Split": "takes the lengths as a tensor", "Unique": "has other results", "Shape": "gives a tensor",
    "Dropout": "is told of training by an input", "MatMul": "", "BitCast": "is a view",
}  # fmt: skip


def snake(name: str) -> str:
    """``LogSoftmax`` as ``log_softmax``."""
    return NAMES.get(name) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def newest_schemas() -> Iterator[Any]:
    newest: dict[str, Any] = {}
    for schema in onnx_package().defs.get_all_schemas():
        if schema.domain == "" and not schema.deprecated:
            newest[schema.name] = schema
    yield from (newest[name] for name in sorted(newest))


def decide(schema: Any) -> tuple[Any, str]:
    """The op that an ONNX op is forwarded to, or None; and why."""
    if OTHER_MEANING.get(schema.name):
        return None, OTHER_MEANING[schema.name]
    if schema.attributes:
        return None, f"has attributes ({', '.join(sorted(schema.attributes))})"
    if any(i.option.name != "Single" for i in schema.inputs):
        return None, "has optional or repeated inputs"
    packet = getattr(taeda.ops.aten, snake(schema.name), None)
    if packet is None:
        return None, f"there is no aten::{snake(schema.name)}"
    for overload in packet.overloads():
        found = getattr(packet, overload)
        arguments = found._schema.arguments
        tensors = [a for a in arguments if str(a.type) == "Tensor"]
        rest = [a for a in arguments if str(a.type) != "Tensor"]
        fits = len(tensors) == len(schema.inputs) and len(found._schema.returns) == len(schema.outputs)
        if fits and all(a.has_default_value() for a in rest) and "out" not in overload:
            return found, f"is {found}"
    return None, f"no overload of aten::{snake(schema.name)} takes {len(schema.inputs)} tensors alone"


def fill() -> None:
    """Adds what is forwarded to the table, where no function stands."""
    for schema in newest_schemas():
        if ("", schema.name) in OPS:
            continue
        found, _ = decide(schema)
        if found is not None:
            op(schema.name)(_calling(found))


def _calling(found: Any) -> Any:
    def call(*inputs: Any, **attributes: Any) -> Any:
        dtype = next((x.dtype for x in inputs if isinstance(x, taeda.Tensor)), None)
        if not is_unsigned(dtype):
            return found(*inputs)
        result = found(*(x.to(taeda.int64) for x in inputs))
        return result if result.dtype == taeda.bool else result.to(dtype)

    call.__name__ = str(found)
    return call


@op("ATen", domain="org.pytorch.aten")
def aten(*inputs: Any, operator: str, overload_name: str = "", **attributes: Any) -> Any:
    """Any declared op: inputs are its tensors in order, attributes all else by name; dtypes by PyTorch's numbers.

    Raises:
        AttributeError: there is no such op.
    """
    from taeda._library.ops import find_overload

    found = find_overload(f"aten::{operator}", overload_name)
    given = list(inputs)
    arguments: dict[str, Any] = {}
    parameters = found._schema.arguments
    for i, parameter in enumerate(parameters):
        kind = str(parameter.real_type)
        if parameter.name in attributes:
            arguments[parameter.name] = _converted(attributes[parameter.name], kind)
        elif "Tensor" in kind and kind.startswith("List") and given:
            rest = [p for p in parameters[i + 1 :] if "Tensor" in str(p.real_type) and not p.has_default_value()]
            count = max(len(given) - len(rest), 0)
            arguments[parameter.name], given = given[:count], given[count:]
        elif "Tensor" in kind and given:
            arguments[parameter.name] = given.pop(0)
        elif given and not parameter.has_default_value():
            value = given.pop(0)
            arguments[parameter.name] = value.tolist() if isinstance(value, taeda.Tensor) else value
    return found(**arguments)


def _converted(value: Any, kind: str) -> Any:
    """An attribute as the op takes it; dtypes are PyTorch's numbers."""
    from taeda.fx.ir import by_type

    if "bool" in kind:
        return [bool(v) for v in value] if isinstance(value, list) else bool(value)
    return by_type(value, kind)
