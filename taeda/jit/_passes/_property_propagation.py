"""What is known of a graph's inputs from an example."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._schema.types import TensorType
from taeda.jit.ir import Graph


def apply_input_props_using_example(graph: Graph, example_input: list[Any]) -> None:
    """Gives the graph's inputs, but for a method's object, what is known of the example's tensors.

    Raises:
        RuntimeError: the example has another number of values, or tensors where the graph takes none.
    """
    inputs = [value for value in graph.inputs() if value.debugName() != "self"]
    if len(inputs) != len(example_input):
        raise RuntimeError(
            f"apply_input_props_using_example: the graph takes {len(inputs)} values; got {len(example_input)}"
        )
    for value, example in zip(inputs, example_input, strict=True):
        if example is None:
            continue
        if isinstance(example, Tensor) != isinstance(value.type(), TensorType):
            raise RuntimeError(
                f"apply_input_props_using_example: '{value.debugName()}' is a {value.type()}; got a "
                f"{type(example).__name__}"
            )
        if isinstance(example, Tensor):
            value.inferTypeFrom(example)
