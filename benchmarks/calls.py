"""What a call costs before any work is done: small tensors, where only the way to the kernel counts."""

from __future__ import annotations

from typing import Any

from benchmarks.timing import Budget, Case, Row, compare

GROUP = "calls"
BUDGETS = {GROUP: Budget(0.25, 0.4), f"{GROUP}, dressed": Budget(0.5, 0.5)}


def _calls(T: Any, a: Any, b: Any, m: Any) -> dict[str, Any]:
    return {
        "a + b": lambda: a + b,
        "a + 1": lambda: a + 1,
        "m[0]": lambda: m[0],
        "m.view(16)": lambda: m.view(16),
        "a.sum()": lambda: a.sum(),
        "m @ m": lambda: m @ m,
        "relu(a)": lambda: T.relu(a),
    }


def _plain(T: Any) -> dict[str, Any]:
    return _calls(T, T.ones(4), T.ones(4), T.ones(4, 4))


def _with_gradient(T: Any) -> dict[str, Any]:
    return _calls(T, T.ones(4, requires_grad=True), T.ones(4), T.ones(4, 4, requires_grad=True))


def _with_subclass(T: Any) -> dict[str, Any]:
    class Sub(T.Tensor):
        __torch_function__ = T._C._disabled_torch_function_impl

    a, m = T.ones(4).as_subclass(Sub), T.ones(4, 4).as_subclass(Sub)
    return _calls(T, a, a, m)


def _with_keyword(T: Any) -> dict[str, Any]:
    a, b, m = T.ones(4), T.ones(4), T.ones(4, 4)
    return {
        "a + b": lambda: T.add(a, other=b),
        "a + 1": lambda: T.add(a, other=1),
        "m[0]": lambda: T.select(m, 0, index=0),
        "m.view(16)": lambda: m.view(size=(16,)),
        "a.sum()": lambda: a.sum(dim=0),
        "m @ m": lambda: T.matmul(m, other=m),
        "relu(a)": lambda: T.relu(input=a),
    }


def _cases(make: Any, names: Any) -> list[tuple[str, Case]]:
    return [(name, lambda T, name=name: make(T)[name]) for name in names]


def rows(quick: bool) -> list[Row]:
    """Seven calls plain, and each while recording, with a Python subclass, with a keyword argument."""
    import taeda

    names, rounds = list(_plain(taeda)), 20 if quick else 100
    found = compare(GROUP, _cases(_plain, names), 0.4, rounds=rounds)
    for suffix, make in (("requires_grad", _with_gradient), ("subclass", _with_subclass), ("keyword", _with_keyword)):
        dressed = [(f"{name}, {suffix}", case) for name, case in _cases(make, names)]
        found += compare(f"{GROUP}, dressed", dressed, 0.5, rounds=rounds)
    return found
