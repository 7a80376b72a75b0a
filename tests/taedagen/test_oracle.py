"""Formulas run by functions of Python's own."""

from __future__ import annotations

import math
import operator
from typing import Any

import pytest

from taedagen.emit.oracle import evaluate
from taedagen.opdef import REGISTRY, load_ops

load_ops()
FUNCTIONS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "exp": math.exp, "tanh": math.tanh, "gt": operator.gt, "le": operator.le, "where": lambda c, a, b: a if c else b,
    "bitwise_or": operator.or_, "bitwise_and": operator.and_, "logical_or": lambda a, b: a or b, "ne": operator.ne,
    "logical_and": lambda a, b: a and b,
}  # fmt: skip


@pytest.mark.parametrize("name, values, dtype, wanted", [
    ("sigmoid", {"self": 0.5}, "float64", 1 / (1 + math.exp(-0.5))),
    ("gelu", {"self": 0.0, "approximate": "tanh"}, "float64", 0.0),
    ("add.Tensor", {"self": 2, "other": 3, "alpha": 2.0}, "int64", 8),  # the number is read as an integer
    ("add.Tensor", {"self": False, "other": True, "alpha": 1}, "bool", True),  # the second formula
    ("threshold", {"self": -1.0, "threshold": 0, "value": 7.0}, "float32", 7.0),
    ("where.self", {"condition": True, "self": 1.0, "other": 2.0}, "float64", 1.0),
])  # fmt: skip
def test_evaluate(name: str, values: dict[str, Any], dtype: str, wanted: float) -> None:
    declaration = next(d for d in REGISTRY.declarations if d.schema.full_name == name)
    assert evaluate(declaration, values, dtype, FUNCTIONS) == [wanted]


def test_a_function_that_is_not_given_is_named() -> None:
    declaration = next(d for d in REGISTRY.declarations if d.name == "digamma")
    with pytest.raises(LookupError, match="'digamma'"):
        evaluate(declaration, {"self": 1.0}, "float64", FUNCTIONS)
