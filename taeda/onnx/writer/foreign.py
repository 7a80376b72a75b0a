"""Ops that ONNX cannot say, as nodes of the domain ``org.pytorch.aten``, where a program asks for that.

`taeda.onnx.load` runs those called ``ATen``; other runtimes need an op of that name.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda.jit._ir_types import number_of
from taeda.onnx.writer.builder import Builder, Value

DOMAIN = "org.pytorch.aten"
FALLTHROUGH = 3


def foreign(g: Builder, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], kind: int) -> Any:
    """The node of an op: tensors are inputs, all else attributes by the names of the schema.

    Args:
        g: the builder.
        op: an op of ATen.
        args, kwargs: its arguments.
        kind: an `OperatorExportTypes`; with ``ONNX_FALLTHROUGH`` the node has the op's name, else it is ``ATen``, whose
            attribute ``operator`` says the op.

    Raises:
        NotImplementedError: the op is not ATen's, or an argument is no attribute of ONNX.
    """
    if op.namespace != "aten":
        raise NotImplementedError(f"ops of {op.namespace} need a symbolic function")
    names = [a.name for a in op._schema.arguments]
    inputs: list[Value] = []
    attributes: dict[str, Any] = {}
    for name, value in {**dict(zip(names, args)), **kwargs}.items():
        if isinstance(value, Value):
            inputs.append(value)
        elif isinstance(value, (list, tuple)) and any(isinstance(v, Value) for v in value):
            inputs.extend(g.number(v, taeda.int64) if isinstance(v, int) else v for v in value)
        elif value is not None:
            key, given = _attribute(name, value)
            attributes[key] = given
    count = len(op._schema.returns)
    if kind == FALLTHROUGH:
        return g.op(f"{DOMAIN}::{op._opname}", *inputs, outputs=count, **attributes)
    return g.op(
        f"{DOMAIN}::ATen", *inputs, outputs=count, operator_s=op._opname, overload_name_s=op._overloadname, **attributes
    )  # fmt: skip


def _attribute(name: str, value: Any) -> tuple[str, Any]:
    if isinstance(value, taeda.dtype):
        return f"{name}_i", number_of(value)
    if isinstance(value, (bool, int)):
        return f"{name}_i", int(value)
    if isinstance(value, float):
        return f"{name}_f", value
    if isinstance(value, str):
        return f"{name}_s", value
    if isinstance(value, (list, tuple)) and all(isinstance(v, int) for v in value):
        return f"{name}_is", [int(v) for v in value]
    if isinstance(value, (list, tuple)) and all(isinstance(v, (int, float)) for v in value):
        return f"{name}_fs", [float(v) for v in value]
    raise NotImplementedError(f"the argument {name} is a {type(value).__name__}, which is no attribute of ONNX")
