"""Ops that programs derive from `HigherOrderOperator`, with a rule for each key, mode or class."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda._C import DispatchKey
from taeda._ops import HigherOrderOperator
from taeda.utils._python_dispatch import TorchDispatchMode


def _make(name: str) -> Any:
    return type("Made", (HigherOrderOperator,), {"__init__": lambda self: HigherOrderOperator.__init__(self, name)})()


def test_keys() -> None:
    op, order = _make("twice_of"), []

    @op.py_impl(DispatchKey.CompositeExplicitAutograd)
    def dense(function: Any, x: Any) -> Any:
        order.append("dense")
        return function(function(x))

    with pytest.raises(RuntimeError, match="py_impl"):
        op.py_impl(DispatchKey.CompositeExplicitAutograd)

    @op.py_impl(DispatchKey.Autograd)
    def recorded(function: Any, x: Any) -> Any:
        order.append("autograd")
        return op(function, x)

    x = taeda.ones(2, requires_grad=True)
    taeda.func.vmap(lambda x: op(taeda.exp, x))(x).sum().backward()
    assert order == ["autograd", "dense"] and taeda.allclose(x.grad, taeda.exp(x.exp() + x))
    op.fallthrough(DispatchKey.Autograd)
    op(taeda.exp, x)
    assert order[2:] == ["dense"] and taeda.ops.higher_order.twice_of is op
    assert op.name() == "twice_of" and repr(op) == "twice_of" and taeda.utils._pytree.tree_leaves(op) == [op]


def test_modes_and_classes() -> None:
    op = _make("told_of")

    class Mode(TorchDispatchMode):
        pass

    class Own(taeda.Tensor):
        pass

    op.py_impl(Mode)(lambda mode, x: (mode, taeda._C._len_torch_dispatch_stack()))
    op.py_impl(Own)(lambda x: "own")
    x = taeda.ones(1)
    with Mode() as mode:
        assert op(x) == (mode, 0)
    assert op(taeda.ones(1).as_subclass(Own)) == "own"
    with pytest.raises(NotImplementedError, match="told_of: has no implementation for CPU; .*Mode"):
        op(taeda.ones(1))
