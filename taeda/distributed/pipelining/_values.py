"""Which stage makes each value of a split graph, and which stages use it."""

from __future__ import annotations

from taeda.fx.node import Node


class Values:
    """The inputs and outputs of each stage, by node."""

    def __init__(self, inputs: list[list[Node]], outputs: list[list[Node]], made: dict[Node, int]) -> None:
        self.inputs, self.outputs, self.made = inputs, outputs, made

    def sources(self, stage: int) -> list[tuple[int, list[int] | None]]:
        """For each stage that ``stage`` hears from: which of its inputs come from there."""
        found: dict[int, list[int] | None] = {}
        if stage == 0:
            return []
        for index, node in enumerate(self.inputs[stage]):
            places = found.setdefault(self.made[node], [])
            assert places is not None
            places.append(index)
        return sorted(found.items())

    def destinations(self, stage: int) -> list[tuple[int, list[int] | None]]:
        """For each stage that ``stage`` tells: which of its outputs go there, in the order of that stage's inputs."""
        found: list[tuple[int, list[int] | None]] = []
        for other in range(stage + 1, len(self.inputs)):
            if used := [node for node in self.inputs[other] if self.made[node] == stage]:
                found.append((other, [self.outputs[stage].index(node) for node in used]))
        return found
