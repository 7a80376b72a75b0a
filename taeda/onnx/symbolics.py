"""The symbolic functions that programs register for their own ops."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from taeda.onnx.errors import OnnxExporterError

SYMBOLICS: dict[tuple[str, int], Callable[..., Any]] = {}


def _check_name(function: str, symbolic_name: str) -> None:
    if not re.fullmatch(r"[A-Za-z][\w-]*::[A-Za-z_][\w.]*", symbolic_name):
        raise OnnxExporterError(f"taeda.onnx.{function}: an op is named 'namespace::name'; got '{symbolic_name}'")


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int) -> None:
    """Remembers how an op is written in ONNX, from a version of ONNX's operator set on.

    Args:
        symbolic_name: the op, e.g. ``"mylib::scale"``.
        symbolic_fn: ``symbolic_fn(g, *args)`` adds nodes to the graph ``g`` with ``g.op(...)`` and returns the result.
        opset_version: the first version that it is good for.

    Raises:
        OnnxExporterError: the name has no namespace.
    """
    _check_name("register_custom_op_symbolic", symbolic_name)
    SYMBOLICS[symbolic_name, opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Takes back what `register_custom_op_symbolic` remembered for that version, if anything.

    Raises:
        OnnxExporterError: the name has no namespace.
    """
    _check_name("unregister_custom_op_symbolic", symbolic_name)
    SYMBOLICS.pop((symbolic_name, opset_version), None)
