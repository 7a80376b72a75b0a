"""Ops over lists beside PyTorch's, in place and not, and their gradients."""

from __future__ import annotations

import pytest
from twin import check

import taeda

UNARY = [
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac",
    "lgamma", "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin",
    "sinh", "sqrt", "tan", "tanh", "trunc",
]  # fmt: skip


def xs(T, start=0.1, dtype="float32"):
    return [T.linspace(start, start + 0.8, 6, dtype=getattr(T, dtype)).reshape(2, 3), T.tensor([start + 0.3])]


def apply(T, name, *args, **kwargs):
    """The functional result and what the in-place form leaves."""
    lists = xs(T)
    results = list(getattr(T, f"_foreach_{name}")(lists, *args, **kwargs))
    assert getattr(T, f"_foreach_{name}_")(lists, *args, **kwargs) is lists
    return results + lists


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    check(lambda T: apply(T, name), rtol=1e-5)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "maximum", "minimum", "clamp_min", "clamp_max", "pow"])
def test_operand_forms(name):
    check(lambda T: apply(T, name, 0.5))
    check(lambda T: apply(T, name, [0.5, 2]))
    check(lambda T: apply(T, name, xs(T, 0.4)))


CASES = [
    lambda T: apply(T, "add", xs(T, 0.4), alpha=3),
    lambda T: apply(T, "sub", xs(T, 0.4), alpha=3),
    lambda T: apply(T, "add", T.tensor(2.0), alpha=3),
    lambda T: apply(T, "mul", T.tensor(2.0)),
    lambda T: apply(T, "div", T.tensor(2.0)),
    lambda T: apply(T, "lerp", xs(T, 0.4), 0.3),
    lambda T: apply(T, "lerp", xs(T, 0.4), [0.3, 0.8]),
    lambda T: apply(T, "lerp", xs(T, 0.4), xs(T, 0.2)),
    *(lambda T, n=n: apply(T, n, xs(T, 0.4), xs(T, 0.2)) for n in ("addcmul", "addcdiv")),
    *(lambda T, n=n: apply(T, n, xs(T, 0.4), xs(T, 0.2), value=0.5) for n in ("addcmul", "addcdiv")),
    *(lambda T, n=n: apply(T, n, xs(T, 0.4), xs(T, 0.2), [0.5, 2]) for n in ("addcmul", "addcdiv")),
    *(lambda T, n=n: apply(T, n, xs(T, 0.4), xs(T, 0.2), T.tensor([0.5, 2])) for n in ("addcmul", "addcdiv")),
    lambda T: T._foreach_pow(2.0, xs(T)),
    lambda T: T._foreach_norm(xs(T)),
    lambda T: T._foreach_norm(xs(T), 1),
    lambda T: T._foreach_norm(xs(T), float("inf")),
    lambda T: T._foreach_norm(xs(T), 2, T.float64),
    lambda T: T._foreach_powsum(xs(T), 3),
    lambda T: T._foreach_max(xs(T)),
    lambda T: T._foreach_mm([T.ones(2, 3)], [T.ones(3, 2)]),
    lambda T: T._foreach_clone(xs(T)),
    lambda T: (lambda a: (T._foreach_copy_(a, xs(T, 0.4)), a)[1])(xs(T)),
    lambda T: (lambda a: (T._foreach_zero_(a), a)[1])(xs(T)),
    lambda T: T._foreach_add([T.ones(2, dtype=T.int64), T.ones(2, dtype=T.bfloat16)], 1.5),
    lambda T: T._foreach_add([], 1),
    lambda T: T._foreach_add(xs(T), xs(T)[:1]),
    lambda T: T._foreach_add(xs(T), [1]),
    lambda T: T._foreach_add(xs(T), T.ones(2)),
    lambda T: T._foreach_addcmul(xs(T), xs(T), xs(T), T.ones(3)),
    lambda T: T._foreach_sqrt([]),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_cases(case):
    check(CASES[case])


def test_gradients_flow_through_both_forms():
    leaves = [taeda.tensor([1.0, 2.0], requires_grad=True), taeda.tensor([3.0], requires_grad=True)]
    squares = taeda._foreach_mul(leaves, leaves)
    taeda._foreach_mul_(squares, 3.0)
    sum(s.sum() for s in squares).backward()
    assert [leaf.grad.tolist() for leaf in leaves] == [[6.0, 12.0], [18.0]]
