"""Tracing: what a function leaves behind when it is called with symbols, and what its mistakes say."""

from __future__ import annotations

import pytest

from taedagen.opdef import exp, isnan, op, where
from taedagen.opdef.errors import DeclarationError
from taedagen.opdef.expr import arg, const, shared_nodes, substitute, trace, walk

X, Y = arg("x"), arg("y")


@pytest.mark.parametrize(
    "build, text",
    [
        (lambda: X + Y, "add(x, y)"),
        (lambda: 1 + X, "add(1, x)"),
        (lambda: X - 1, "sub(x, 1)"),
        (lambda: 1 - X, "sub(1, x)"),
        (lambda: 2 * X, "mul(2, x)"),
        (lambda: 1 / X, "div(1, x)"),
        (lambda: X // 2, "floordiv(x, 2)"),
        (lambda: 7 % X, "pymod(7, x)"),
        (lambda: X**2, "pow(x, 2)"),
        (lambda: 2**X, "pow(2, x)"),
        (lambda: -X, "neg(x)"),
        (lambda: +X, "x"),
        (lambda: abs(X), "abs(x)"),
        (lambda: X << 1, "shift_left(x, 1)"),
        (lambda: X >> Y, "shift_right(x, y)"),
        (lambda: X @ Y, "matmul(x, y)"),
        (lambda: X < 0, "lt(x, 0)"),
        (lambda: X > 0, "gt(x, 0)"),
        (lambda: X == Y, "eq(x, y)"),
        (lambda: X != 1, "ne(x, 1)"),
        (lambda: X & Y, "bitwise_and(x, y)"),
        (lambda: ~X, "bitwise_not(x)"),
        (lambda: exp(X), "exp(x)"),
        (lambda: round(X), "round(x)"),
        (lambda: (X > 0) & ~isnan(Y), "logical_and(gt(x, 0), logical_not(isnan(y)))"),
        (lambda: where(X > 0, X, 0), "where(gt(x, 0), x, 0)"),
        (lambda: X.sum([0, 1], keepdim=True), "sum(x, [0, 1], keepdim=True)"),
        (lambda: op.sum(X, [0, 1], keepdim=True), "sum(x, [0, 1], keepdim=True)"),
        (lambda: X.transpose(0, X.dim() - 1), "transpose(x, 0, sub(dim(x), 1))"),
        (lambda: op.foo(X)[1], "foo(x)[1]"),
    ],
)
def test_node(build, text):
    assert repr(build()) == text


def test_equal_nodes_are_one_object():
    assert X + Y is X + Y
    assert X + Y is not Y + X
    assert X.sum(0, keepdim=True) is op.sum(X, 0, keepdim=True)


@pytest.mark.parametrize("a, b", [(1, 1.0), (1, True), (0.0, -0.0), ("1", 1), (None, False)])
def test_literals_that_compare_equal_stay_apart(a, b):
    assert const(a) is not const(b)


@pytest.mark.parametrize(
    "build, expected",
    [
        (lambda: X > 0, True),
        (lambda: isnan(X), True),
        (lambda: ~(X > 0), True),
        (lambda: (X > 0) | (Y > 0), True),
        (lambda: where(X > 0, X > 1, Y > 1), True),
        (lambda: where(X > 0, X, Y), False),
        (lambda: X & Y, False),
        (lambda: X + 1, False),
    ],
)
def test_masks_are_told_from_values(build, expected):
    assert build().is_mask is expected


def test_shared_nodes_come_in_computable_order():
    t = exp(X)
    u = t * t
    assert shared_nodes([u + u, Y]) == [t, u]
    assert shared_nodes([t + X]) == []


def test_a_root_counts_as_a_use():
    assert shared_nodes([exp(X), exp(X) + 1])[0] is exp(X)


def test_walk_lists_children_first_and_once():
    names = [repr(node) for node in walk([exp(X) + X])]
    assert names == ["x", "exp(x)", "add(exp(x), x)"]


def test_substitute():
    assert substitute(exp(X) + Y.sum(dim=X), {"x": Y * 2}) is exp(Y * 2) + Y.sum(dim=Y * 2)


def test_trace_keeps_the_structure():
    assert trace(lambda x: {"a": x, "b": 0, "c": None}, {"x": X}) == {"a": X, "b": const(0), "c": None}
    assert trace(lambda x: (x, 1), {"x": X}) == (X, const(1))
    assert trace(lambda x: None, {"x": X}) is None


@pytest.mark.parametrize("mistake", [
    lambda x: 1 if x > 0 else 0, lambda x: x and 1, lambda x: not x, lambda x: 0 < x < 1,
])  # fmt: skip
def test_truth_of_a_symbol_names_place_and_remedy(mistake):
    with pytest.raises(DeclarationError) as error:
        trace(mistake, {"x": X})
    assert "where(cond, a, b)" in str(error.value)
    assert error.value.file.endswith("test_expr.py")
    assert error.value.line == mistake.__code__.co_firstlineno


@pytest.mark.parametrize("mistake, words", [
    (lambda x: x + object(), "object cannot stand in a formula"),
    (lambda x: list(x), "one value"),
])  # fmt: skip
def test_other_mistakes(mistake, words):
    with pytest.raises(DeclarationError, match=words):
        trace(mistake, {"x": X})
