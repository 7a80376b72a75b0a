"""`CapabilityBasedPartitioner`: what a back end supports, in as few parts as can be."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Sequence

from taeda.fx._naming import qualified_name
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node
from taeda.fx.passes.operator_support import OperatorSupportBase
from taeda.fx.passes.utils.fuser_utils import fuse_by_partitions

__all__ = ["CapabilityBasedPartitioner", "Partition"]


class Partition:
    """Nodes that run together; ``nodes`` is a dict of them."""

    def __init__(
        self, id: int | None = None, nodes: Iterable[Node] | None = None, node_orders: Iterable[int] | None = None
    ) -> None:
        self.id = id
        self.nodes: dict[Node, int | None] = {}
        listed = list(nodes or [])
        orders = list(node_orders) if node_orders is not None else [None] * len(listed)
        self.nodes.update(zip(listed, orders, strict=True))

    def __repr__(self) -> str:
        return f"Partition({self.id}: {', '.join(map(str, self.nodes))})"

    def add_node(self, node: Node, node_order: int | None = None) -> None:
        """Adds a node."""
        self.nodes[node] = node_order

    def remove_node(self, node: Node) -> None:
        """Takes a node out."""
        del self.nodes[node]

    def size(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)


class CapabilityBasedPartitioner:
    """Divides a graph into parts of supported nodes.

    Args:
        graph_module: has the graph.
        operator_support: says which nodes are supported.
        allows_single_node_partition: keep parts of one node, too.
        non_compute_ops: names of targets that do not count as work: a part of them alone is left out.
        allowed_single_node_partition_ops: names of targets that may be a part of their own all the same.
        skip_horizontal_fusion: parts that do not touch stay apart.
    """

    def __init__(
        self, graph_module: GraphModule, operator_support: OperatorSupportBase,
        allows_single_node_partition: bool = False, non_compute_ops: Sequence[str] | None = None,
        allowed_single_node_partition_ops: Sequence[str] | None = None, skip_horizontal_fusion: bool = False,
    ) -> None:  # fmt: skip
        self.graph_module, self.operator_support = graph_module, operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = non_compute_ops or []
        self.allowed_single_node_partition_ops = allowed_single_node_partition_ops or []
        self.skip_horizontal_fusion = skip_horizontal_fusion

    def propose_partitions(self) -> list[Partition]:
        """The parts. None depends on itself through others."""
        modules = dict(self.graph_module.named_modules())
        nodes = list(self.graph_module.graph.nodes)
        supported = {
            n for n in nodes
            if n.op not in ("placeholder", "output") and self.operator_support.is_node_supported(modules, n)
        }  # fmt: skip
        merged = _Merging(nodes, supported, self.skip_horizontal_fusion).run()
        found = [Partition(i, members) for i, members in enumerate(merged)]
        self._move_getitems(found)
        return [p for p in found if p.nodes and (self.allows_single_node_partition or self._is_worth(p))]

    @staticmethod
    def _move_getitems(partitions: list[Partition]) -> None:
        """An item of a tuple goes where the tuple is made; where that is no part's, neither is the item."""
        of_node = {node: partition for partition in partitions for node in partition.nodes}
        for node in sorted(of_node, key=[*next(iter(of_node)).graph.nodes].index) if of_node else ():
            if node.target is not operator.getitem or not isinstance(node.args[0], Node):
                continue
            home = of_node.get(node.args[0])
            if home is not of_node[node]:
                of_node.pop(node).remove_node(node)
                if home is not None:
                    home.add_node(node)
                    of_node[node] = home
        for node, partition in list(of_node.items()):
            for user in node.users:
                if user.target is operator.getitem and user not in of_node:
                    partition.add_node(user)

    def _is_worth(self, partition: Partition) -> bool:
        """Whether it has more than one function that computes, or one that may be alone."""
        ignored = {"_operator.getitem", "operator.getitem", *self.non_compute_ops}
        work = 0
        for node in partition.nodes:
            if node.op == "call_function":
                name = qualified_name(node.target)
                work += name not in ignored and not f"{name}.".startswith("torch.ops.aten.view.")
                work += name in self.allowed_single_node_partition_ops
        return work > 1

    def fuse_partitions(self, partitions: list[Partition], prefix: str = "fused_") -> GraphModule:
        """The module with a call of a module in the place of each part."""
        return fuse_by_partitions(self.graph_module, [dict(p.nodes) for p in partitions], prefix)

    def remove_bookend_non_compute_ops(self, partitions: list[Partition]) -> None:
        """Takes nodes that are no work out of the parts, where they stand at their beginnings and ends."""
        ignored = set(self.non_compute_ops)

        def is_idle(node: Node) -> bool:
            return node.op == "call_function" and qualified_name(node.target) in ignored

        for partition in partitions:
            for ahead in (True, False):
                self._trim(partition, is_idle, ahead)

    @staticmethod
    def _trim(partition: Partition, is_idle: Callable[[Node], bool], ahead: bool) -> None:
        changed = True
        while changed:
            changed = False
            for node in list(partition.nodes):
                around: Collection[Node] = node.all_input_nodes if ahead else list(node.users)
                if is_idle(node) and not any(other in partition.nodes for other in around):
                    partition.remove_node(node)
                    changed = True

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """`fuse_partitions` of `propose_partitions`."""
        return self.fuse_partitions(self.propose_partitions(), prefix)


class _Merging:
    """Supported nodes, merged into parts from the last to the first wherever no circle arises."""

    def __init__(self, nodes: list[Node], supported: set[Node], apart: bool) -> None:
        self.nodes, self.supported, self.apart = nodes, supported, apart
        self.part: dict[Node, int] = {}
        self.members: dict[int, dict[Node, None]] = {}
        self.after: dict[Node, int] = {}  # bits of the nodes that depend on a node
        self.bit = {node: 1 << i for i, node in enumerate(nodes)}
        for node in reversed(nodes):
            mask = 0
            for user in node.users:
                mask |= self.bit.get(user, 0) | self.after.get(user, 0)
            self.after[node] = mask
        self.reach: dict[int, int] = {}  # by part: what depends on it
        self.own: dict[int, int] = {}  # by part: its nodes
        self.order: dict[int, int] = {}  # by part: the number of its last node, which is tried first

    def run(self) -> list[dict[Node, None]]:
        for number, node in enumerate(reversed(self.nodes)):
            if node not in self.supported:
                continue
            self.part[node] = self.order[number] = number
            self.members[number] = {node: None}
            self.reach[number], self.own[number] = self.after[node], self.bit[node]
            near = {self.part[user]: None for user in node.users if user in self.part}
            others = near if self.apart else sorted(self.members, key=self.order.__getitem__)
            for other in others:
                if other != number:
                    self._merge(number, other)
        return [dict(reversed(list(members.items()))) for members in self.members.values()]

    def _merge(self, one: int, other: int) -> None:
        """Makes two parts the first of them, unless that would depend on itself."""
        own, reach = self.own[one] | self.own[other], self.reach[one] | self.reach[other]
        if self._comes_back(own, reach):
            return
        members = self.members.pop(other)
        self.members[one] = {**members, **self.members[one]}
        for node in members:
            self.part[node] = one
        self.own[one], self.reach[one] = own, reach
        self.order[one] = min(self.order[one], self.order.pop(other))
        del self.own[other], self.reach[other]

    def _comes_back(self, own: int, reach: int) -> bool:
        """Whether a value goes out of these nodes and comes in again, also through parts that run as one."""
        outside = reach & ~own
        seen = 0
        while outside & ~seen:
            seen = outside
            for number, nodes in self.own.items():
                if nodes & outside and not nodes & own and nodes & ~outside | self.reach[number] & ~outside:
                    outside |= (nodes | self.reach[number]) & ~own
                    if (self.reach[number] | nodes) & own:
                        return True
        return any(self.after[node] & own for node in self._of(outside))

    def _of(self, mask: int) -> Iterable[Node]:
        while mask:
            low = mask & -mask
            yield self.nodes[low.bit_length() - 1]
            mask ^= low
