"""Questions about sizes that are values of a graph. Such a size has a number, its hint, and knows its origin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from taeda import Tensor
from taeda._schema.symbols import SymBool, SymFloat, SymInt, SymNode, _Symbol
from taeda.fx.graph_module import GraphModule
from taeda.utils import _pytree as pytree

__all__ = [
    "ConstraintViolationError",
    "GuardOnDataDependentSymNode",
    "bind_symbols",
    "canonicalize_bool_expr",
    "constrain_range",
    "constrain_unify",
    "definitely_false",
    "definitely_true",
    "eval_guards",
    "expect_true",
    "free_symbols",
    "free_unbacked_symbols",
    "fx_placeholder_targets",
    "fx_placeholder_vals",
    "guard_bool",
    "guard_float",
    "guard_int",
    "guard_or_false",
    "guard_or_true",
    "guard_scalar",
    "guard_size_oblivious",
    "has_free_symbols",
    "has_free_unbacked_symbols",
    "has_hint",
    "hint_int",
    "is_concrete_bool",
    "is_concrete_float",
    "is_concrete_int",
    "is_nested_int",
    "is_symbolic",
    "rebind_unbacked",
    "size_hint",
    "statically_known_false",
    "statically_known_true",
    "sym_and",
    "sym_eq",
    "sym_or",
]

SymTypes = (SymInt, SymFloat, SymBool)


class GuardOnDataDependentSymNode(RuntimeError):
    """A program goes on by a number that only the graph's run tells; ``cond`` is the condition."""

    def __init__(self, cond: Any, *args: Any) -> None:
        super().__init__(*args)
        self.cond = cond


class ConstraintViolationError(RuntimeError):
    """A size cannot vary as it was asked to."""


def is_symbolic(val: Any) -> bool:
    """Whether a number is a value of a graph."""
    return isinstance(val, _Symbol) and val.node.is_symbolic()


def is_concrete_int(a: Any) -> bool:
    """Whether a whole number is known."""
    return not is_symbolic(a)


is_concrete_float = is_concrete_bool = is_concrete_int


def has_hint(a: Any) -> bool:
    """Whether there is a number for it: always."""
    return not isinstance(a, _Symbol) or a.node.has_hint()


def hint_int(a: Any, fallback: int | None = None) -> int:
    """The number that a size has in the example, without a guard."""
    return int(a.node.require_hint()) if isinstance(a, _Symbol) else int(a)


def size_hint(a: Any, fallback: int | None = None) -> int:
    """`hint_int`."""
    return hint_int(a, fallback)


def guard_int(a: Any) -> int:
    """The number of a size; the graph is then for this number."""
    return int(a)


def guard_float(a: Any) -> float:
    """The number of a float; the graph is then for this number."""
    return float(a)


def guard_bool(a: Any) -> bool:
    """A condition on sizes as the example has it; the graph is then for sizes that do as well."""
    return bool(a)


def guard_scalar(a: Any) -> Any:
    """`guard_int`, `guard_float` or `guard_bool`, by what it is.

    Raises:
        AssertionError: it is no number.
    """
    for kinds, guard in (((bool, SymBool), guard_bool), ((int, SymInt), guard_int), ((float, SymFloat), guard_float)):
        if isinstance(a, kinds):
            return guard(a)
    raise AssertionError(f"taeda.fx.guard_scalar: expected a number; got {type(a).__name__}")


def guard_size_oblivious(expr: Any) -> bool:
    """`guard_bool`: sizes of 0 and 1 are fixed, so that nothing is to be assumed of them."""
    return bool(expr)


def _decided(x: Any) -> bool | None:
    """What a condition is for all sizes that the graph is for, as far as that is known."""
    if not isinstance(x, _Symbol):
        return bool(x)
    facts = getattr(x.node.recorder, "facts", None)
    return None if facts is None else facts.decide(x.node)


def statically_known_true(x: Any) -> bool:
    """Whether a condition holds whatever the sizes are, without a guard; False where that is not known."""
    return _decided(x) is True


def statically_known_false(x: Any) -> bool:
    """Whether a condition holds for no sizes, without a guard; False where that is not known."""
    return _decided(x) is False


def definitely_true(a: Any) -> bool:
    """Whether a condition holds: by a guard, where its sizes are known in the example."""
    return bool(a) if not _reads_values(a) else statically_known_true(a)


def definitely_false(a: Any) -> bool:
    """Whether a condition does not hold: by a guard, where its sizes are known in the example."""
    return not bool(a) if not _reads_values(a) else statically_known_false(a)


def guard_or_false(a: Any) -> bool:
    """A condition as the example has it; False where it is about numbers out of tensors and not known."""
    return bool(a) if not _reads_values(a) else statically_known_true(a)


def guard_or_true(a: Any) -> bool:
    """A condition as the example has it; True where it is about numbers out of tensors and not known."""
    return bool(a) if not _reads_values(a) else not statically_known_false(a)


def expect_true(a: Any, skip: int = 0) -> bool:
    """A condition that the program relies on; sizes of the inputs are guarded, others are checked in the graph."""
    if isinstance(a, _Symbol) and a.node.recorder is not None and a.node.recorder.check(a.node):
        return True
    return bool(a)


def canonicalize_bool_expr(expr: Any) -> Any:
    """A condition as it is: conditions are not rewritten here."""
    return expr


def sym_eq(x: Any, y: Any) -> Any:
    """Whether two sizes, or two tuples or lists of sizes, are equal: a symbol where that is one's.

    Raises:
        AssertionError: they are of different kinds.
    """
    if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)):
        return len(x) == len(y) and sym_and(*map(sym_eq, x, y))
    if isinstance(x, (int, SymInt)) and isinstance(y, (int, SymInt)):
        return x == y
    raise AssertionError(
        f"taeda.fx.sym_eq: expected two sizes or two tuples; got {type(x).__name__}, {type(y).__name__}"
    )


def sym_and(*values: Any) -> Any:
    """Whether all conditions hold, as a symbol if one of them is."""
    result: Any = True
    for value in values:
        if value is False or result is False:
            return False
        result = value if result is True else result if value is True else result & value
    return result


def sym_or(*values: Any) -> Any:
    """Whether one of the conditions holds, as a symbol if one of them is."""
    result: Any = False
    for value in values:
        if value is True or result is True:
            return True
        result = value if result is False else result if value is False else result | value
    return result


def constrain_range(a: Any, *, min: int | None = None, max: int | None = None) -> None:
    """States that a number is within limits; the graph checks numbers that come out of tensors.

    Raises:
        ValueError: ``max`` is less than ``min``, or the number is without.
    """
    low, high = -(2**63) if min is None else min, 2**63 - 1 if max is None else max
    if high < low:
        raise ValueError(f"taeda.fx.constrain_range: max must be at least min; got {min} and {max}")
    if not low <= hint_int(a) <= high:
        raise ValueError(f"taeda.fx.constrain_range: {hint_int(a)} is not from {low} to {high}")
    if is_symbolic(a):
        if min is not None:
            expect_true(a >= min)
        if max is not None:
            expect_true(a <= max)


def constrain_unify(a: Any, b: Any) -> None:
    """States that two sizes are equal."""
    expect_true(a == b)


def is_nested_int(s: Any) -> bool:
    """Whether a number stands for the lengths of a nested tensor."""
    import sys

    module = sys.modules.get("taeda.nested._ragged")  # before that is loaded, there is none
    return module is not None and isinstance(s, module.RaggedSize)


def rebind_unbacked(shape_env: Any, n: Any, result: Any) -> None:
    """Nothing: a node's number is the symbol of that node."""


# Which symbols there are in a value


def _symbols(value: Any) -> Iterator[SymNode]:
    for leaf in pytree.tree_leaves(value):
        if isinstance(leaf, _Symbol):
            yield leaf.node
        elif isinstance(leaf, SymNode):
            yield leaf
        elif isinstance(leaf, (Tensor, tuple)):  # sizes are a tuple that is a leaf
            items: Any = leaf.shape if isinstance(leaf, Tensor) else leaf
            yield from (size.node for size in items if isinstance(size, _Symbol))


def _leaves(node: SymNode) -> Iterator[SymNode]:
    inner = [operand for operand in node.operands if isinstance(operand, SymNode)]
    if not inner:
        yield node
    for operand in inner:
        yield from _leaves(operand)


def _reads_values(a: Any) -> bool:
    return isinstance(a, _Symbol) and any(leaf.operation == "item" for leaf in _leaves(a.node))


def free_symbols(val: Any) -> set[SymNode]:
    """The sizes that the numbers in a value, or the sizes of its tensors, are calculated from."""
    return {leaf for node in _symbols(val) for leaf in _leaves(node)}


def has_free_symbols(val: Any) -> bool:
    """Whether there are any."""
    return bool(free_symbols(val))


def free_unbacked_symbols(x: Any) -> set[SymNode]:
    """Those of them that come out of tensors."""
    return {leaf for leaf in free_symbols(x) if leaf.operation == "item"}


def has_free_unbacked_symbols(x: Any) -> bool:
    """Whether there are any."""
    return bool(free_unbacked_symbols(x))


def fx_placeholder_vals(gm: GraphModule) -> list[Any]:
    """What is known of each input of a graph."""
    return [node.meta["val"] for node in gm.graph.nodes if node.op == "placeholder"]


def fx_placeholder_targets(gm: GraphModule) -> list[str]:
    """The names of a graph's inputs."""
    return [str(node.target) for node in gm.graph.nodes if node.op == "placeholder"]


def bind_symbols(gm: GraphModule, *args: Any) -> dict[SymNode, int]:
    """The number of each size that a symbolic graph of `make_fx` reads of its inputs, for these arguments."""
    values = dict(zip(fx_placeholder_targets(gm), pytree.tree_leaves(args), strict=True))
    recording: Any = gm.shape_env
    return {node: recording.number(node, values) for node in recording.sizes if id(node) in recording.places}


def eval_guards(gm: GraphModule, *args: Any, ignore_static: bool = True) -> bool:
    """Whether a symbolic graph of `make_fx` is for these arguments: what it was guarded by holds for them."""
    values = dict(zip(fx_placeholder_targets(gm), pytree.tree_leaves(args), strict=True))
    recording: Any = gm.shape_env
    for guard in recording.guards:
        try:
            if bool(recording.number(guard.condition, values)) is not guard.value:
                return False
        except LookupError:  # about a number that only the run tells
            continue
    return True
