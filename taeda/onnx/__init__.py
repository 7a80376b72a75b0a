"""ONNX models, out and in: `export` writes a module as one.

`load` reads a model as a module; ``taeda.onnx.backend`` runs models through ONNX's own interface.
"""

from __future__ import annotations

import enum
from typing import Any

from taeda import __version__
from taeda.onnx import errors as errors
from taeda.onnx import operators as operators
from taeda.onnx import symbolic_helper as symbolic_helper
from taeda.onnx import symbolic_opset11 as symbolic_opset11
from taeda.onnx.errors import OnnxExporterError as OnnxExporterError
from taeda.onnx.symbolics import register_custom_op_symbolic as register_custom_op_symbolic
from taeda.onnx.symbolics import unregister_custom_op_symbolic as unregister_custom_op_symbolic

__all__ = [
    "OnnxExporterError",
    "OperatorExportTypes",
    "TensorProtoDataType",
    "TrainingMode",
    "is_in_onnx_export",
    "producer_name",
    "producer_version",
    "register_custom_op_symbolic",
    "unregister_custom_op_symbolic",
]

producer_name, producer_version = "taeda", __version__
TrainingMode = enum.IntEnum("TrainingMode", ["EVAL", "PRESERVE", "TRAINING"], start=0)
OperatorExportTypes = enum.IntEnum(
    "OperatorExportTypes", ["ONNX", "ONNX_ATEN", "ONNX_ATEN_FALLBACK", "ONNX_FALLTHROUGH"], start=0
)
TensorProtoDataType = enum.IntEnum(
    "TensorProtoDataType",
    [
        "UNDEFINED", "FLOAT", "UINT8", "INT8", "UINT16", "INT16", "INT32", "INT64", "STRING", "BOOL", "FLOAT16",
        "DOUBLE", "UINT32", "UINT64", "COMPLEX64", "COMPLEX128", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ",
        "FLOAT8E5M2", "FLOAT8E5M2FNUZ",
    ],
    start=0,
)  # fmt: skip


def __getattr__(name: str) -> Any:
    import importlib

    if name == "load":
        from taeda.onnx.reader.model import load

        return load
    if name == "export":
        from taeda.onnx.writer.export import export

        return export
    if name == "ONNXProgram":
        from taeda.onnx.writer.program import ONNXProgram

        return ONNXProgram
    if name in ("backend", "ops", "reader", "writer"):
        return importlib.import_module(f"taeda.onnx.{name}")
    raise AttributeError(f"module 'taeda.onnx' has no attribute '{name}'")


def is_in_onnx_export() -> bool:
    """Whether a model is being exported."""
    import sys

    writer = sys.modules.get("taeda.onnx.writer.export")
    return writer is not None and writer.is_in_onnx_export()
