"""What the numeric suite for graphs passes around."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NamedTuple

from taeda import fx


class NSSingleResultValuesType(str, enum.Enum):  # noqa: UP042
    """What the values of a record are."""

    WEIGHT = "weight"
    NODE_OUTPUT = "node_output"
    NODE_INPUT = "node_input"


class NSSubgraph(NamedTuple):
    """Nodes that follow one another and are one step; ``base_op_node`` says which."""

    start_node: fx.Node
    end_node: fx.Node
    base_op_node: fx.Node


NSSingleResultType = dict[str, Any]
# By layer, by type of values, by model.
NSResultsType = dict[str, dict[str, dict[str, list[NSSingleResultType]]]]
NSNodeTargetType = Callable[..., Any] | str
