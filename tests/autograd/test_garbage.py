"""Classes stay whole when the collector takes the last of their objects, which lay in a cycle."""

from __future__ import annotations

import gc
import subprocess
import sys

import taeda
from taeda.autograd import Function

NODES = """
import gc
import taeda

gc.collect()
x = taeda.ones(2, requires_grad=True)
for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "sum"):  # nodes of types that are made now
    cycle = [getattr(x, name)().grad_fn]
    cycle.append(cycle)
    del cycle
    gc.collect(0)
    assert len(getattr(x, name)().grad_fn.next_functions) == 1, name
"""


def collect_one_of(make) -> None:
    cycle = [make()]
    cycle.append(cycle)
    del cycle
    gc.collect(0)


def test_of_nodes() -> None:
    subprocess.run([sys.executable, "-c", NODES], check=True, timeout=120)


def test_of_functions_and_modes() -> None:
    gc.collect()

    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            contexts.append(ctx)
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad

    class Quiet(taeda.no_grad):
        mark = 3

    contexts: list = []
    x = taeda.ones(2, requires_grad=True)
    for _ in range(3):
        collect_one_of(lambda: (Double.apply(x), contexts.pop())[1])
        collect_one_of(Quiet)
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0] and Double.__mro__[1] is Function and Quiet().mark == 3
