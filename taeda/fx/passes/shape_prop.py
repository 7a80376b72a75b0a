"""`ShapeProp`: the shapes and dtypes of a graph's values, for one example."""

from __future__ import annotations

from typing import Any, NamedTuple

import taeda
from taeda.fx.interpreter import Interpreter
from taeda.fx.node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What a tensor is but its values."""

    shape: taeda.Size
    dtype: taeda.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: taeda.memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: taeda.Tensor, include_contiguity: bool = True) -> TensorMetadata:
    """What a tensor is but its values; ``memory_format`` is None if nobody asks for it."""
    tensor = result
    formats = (taeda.contiguous_format, taeda.channels_last, taeda.channels_last_3d)
    fitting = {taeda.channels_last: 4, taeda.channels_last_3d: 5}
    memory_format = (
        None
        if not include_contiguity
        else next(
            (
                f
                for f in formats
                if fitting.get(f, tensor.dim()) == tensor.dim() and tensor.is_contiguous(memory_format=f)
            ),
            None,
        )
    )
    return TensorMetadata(
        tensor.shape, tensor.dtype, tensor.requires_grad, tensor.stride(), memory_format, tensor.is_quantized, {}
    )


class ShapeProp(Interpreter):
    """Runs a graph once and notes, in ``node.meta``, each result's type and what its tensors are (``"tensor_meta"``)::

    ShapeProp(module).propagate(torch.zeros(1, 3, 224, 224))
    """

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        tensors: list[taeda.Tensor] = []

        def visit(leaf: Any) -> Any:
            if not isinstance(leaf, taeda.Tensor):
                return leaf
            tensors.append(leaf)
            return _extract_tensor_metadata(leaf)

        described = map_aggregate(result, visit)
        if tensors:
            n.meta["tensor_meta"] = described
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Runs the graph on the arguments and returns its result."""
        return super().run(*args)
