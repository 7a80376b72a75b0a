"""Nodes that programs name themselves, by `taeda.onnx.ops.symbolic`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from taeda.onnx.writer.builder import Builder
from taeda.onnx.writer.table import translates

NAMESPACE = "onnx_symbolic"


def _node(g: Builder, inputs: Any, op: str, outputs: int, attributes: str, metadata: str, version: int | None) -> Any:
    made = g.op(op, *inputs, outputs=outputs, **json.loads(attributes))
    domain = op.rpartition("::")[0]
    if domain and version is not None:
        g.domains[domain] = version
    for key, value in json.loads(metadata).items():
        g.nodes[-1].metadata_props.add(key=key, value=value)
    return made


@translates(f"{NAMESPACE}::_symbolic")
def symbolic(g: Builder, inputs: Any, op: str, onnx_dtype: int, shape: Any, attributes: str, metadata: str,
             version: int | None = None) -> Any:  # fmt: skip
    return _node(g, inputs, op, 1, attributes, metadata, version)


@translates(f"{NAMESPACE}::_symbolic_multi_out")
def symbolic_multi_out(g: Builder, inputs: Any, op: str, onnx_dtypes: Sequence[int], sizes: Any, ranks: Any,
                       attributes: str, metadata: str, version: int | None = None) -> Any:  # fmt: skip
    made = _node(g, inputs, op, len(onnx_dtypes), attributes, metadata, version)
    return made if len(onnx_dtypes) > 1 else (made,)
