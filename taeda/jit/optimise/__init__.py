"""Passes: functions that change a graph into one that does the same with less, and say whether they did.

``PASSES`` is their order. A pass works on any graph, alone or in another order, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from taeda.jit.ir import Graph
from taeda.jit.optimise.aliases import kept
from taeda.jit.optimise.batch_norm import fold_batch_norms
from taeda.jit.optimise.branches import fold_branches, lower_tuples, peel_loops, unroll_counted_loops, unroll_loops
from taeda.jit.optimise.common_subexpressions import merge_common_subexpressions
from taeda.jit.optimise.constant_folding import fold_constants
from taeda.jit.optimise.dead_code import remove_dead_code
from taeda.jit.optimise.inline import inline_calls, inline_forks
from taeda.jit.optimise.peephole import simplify
from taeda.jit.optimise.refinement import refine_integers, refine_list_lengths
from taeda.jit.optimise.shapes import propagate_shapes

Pass = Callable[[Graph], bool]

# Before a program runs. Calls stay calls, so that errors show who called whom; tools that want one graph inline first.
PASSES: list[Pass] = [
    lower_tuples, simplify, fold_constants, fold_branches, unroll_loops, merge_common_subexpressions, remove_dead_code,
]  # fmt: skip
_ROUNDS = 3  # what one pass does may let another do more


def steps(graph: Graph, passes: list[Pass] | None = None) -> Iterator[Pass]:
    """Runs the passes, in rounds until none changes anything more, and gives each that changed the graph."""
    with kept(graph) as forget:
        for _ in range(_ROUNDS):
            changed = False
            for each in PASSES if passes is None else passes:
                if each(graph):
                    forget()
                    changed = True
                    yield each
            if not changed:
                return


def fold_numerics(graph: Graph) -> bool:
    """What changes results by rounding alone: constants that follow a convolution or product become part of its weight.
    Whether it changed the graph."""
    from taeda.jit.optimise.conv_arithmetic import fold_conv_products, fold_conv_sums

    found = False
    while fold_batch_norms(graph) | fold_conv_sums(graph) | fold_conv_products(graph):
        found = True
    return found


def optimise(graph: Graph) -> bool:
    """Runs all passes on a graph. Whether they changed it."""
    return any([True for _ in steps(graph)])


__all__ = [
    "PASSES", "Pass", "fold_batch_norms", "fold_branches", "fold_constants", "fold_numerics", "inline_calls",
    "inline_forks", "lower_tuples", "merge_common_subexpressions", "optimise", "peel_loops", "propagate_shapes",
    "refine_integers", "refine_list_lengths", "remove_dead_code", "simplify", "steps", "unroll_counted_loops",
    "unroll_loops",
]  # fmt: skip
