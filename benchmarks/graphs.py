"""Programs: scripted and traced functions and modules, called from Python."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from benchmarks.programs import resnet18, transformer
from benchmarks.timing import Budget, Case, Row, compare

LOOPS, MODELS = "programs: scalar loops", "programs: small models"
SCRIPTING, ARCHIVES = "programs: scripting", "programs: archives"
BUDGETS = {
    LOOPS: Budget(0.5, 0.5), MODELS: Budget(0.3, 0.4), SCRIPTING: Budget(0.5, 0.5), ARCHIVES: Budget(0.5, 0.5),
}  # fmt: skip


def collatz(limit: int) -> int:
    """Steps of the longest chain below ``limit``."""
    longest = 0
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > longest:
            longest = steps
    return longest


def simpson(n: int, a: float, b: float) -> float:
    """The integral of ``x * (1 - x)`` between ``a`` and ``b``."""
    h = (b - a) / n
    total = 0.0
    for i in range(n):
        x = a + h * i
        y = x + h / 2
        total += (x * (1 - x) + 4 * y * (1 - y) + (x + h) * (1 - x - h)) * h / 6
    return total


def sieve(n: int) -> int:
    """How many primes there are below ``n``."""
    marks = [True] * n
    count = 0
    for i in range(2, n):
        if marks[i]:
            count += 1
            j = i * i
            while j < n:
                marks[j] = False
                j += i
    return count


def scripted(function: Callable[..., Any], *arguments: Any) -> Case:
    def case(T: Any) -> Callable[[], Any]:
        program = T.jit.script(function)
        return lambda: program(*arguments)

    return case


def mlp(T: Any) -> Callable[[], Any]:
    nn = T.nn
    program = T.jit.script(nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1)).eval())
    x = T.ones(4, 10)
    return lambda: program(x)


def lstm_cell(T: Any) -> Callable[[], Any]:
    def cell(x, h, c, w_ih, w_hh, b):  # type: ignore[no-untyped-def]
        gates = x @ w_ih.t() + h @ w_hh.t() + b
        i, f, g, o = gates.chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c

    shapes = (3, 10), (3, 8), (3, 8), (32, 10), (32, 8), (32,)
    arguments = [T.ones(*shape) / 10 for shape in shapes]
    program = T.jit.trace(cell, arguments)
    return lambda: program(*arguments)


def first_calls(T: Any) -> Callable[[], Any]:
    """Compiling a small function, and its first three calls."""
    text = "def f(x, n: int):\n    for i in range(n):\n        x = x * 2 + i\n    return x.sum()\n"
    x = T.ones(4)

    def run() -> None:
        program = T.jit.CompilationUnit(text).f
        for _ in range(3):
            program(x, 2)

    return run


def scripting(model: Callable[[Any], Any], calls: bool) -> Case:
    """Defining a model's classes, making it and scripting it; with its first call, too."""

    def case(T: Any) -> Callable[[], Any]:
        def run() -> None:
            module, arguments = model(T)
            program = T.jit.script(module)
            if calls:
                program(*arguments)

        return run

    return case


def loading(model: Callable[[Any], Any], calls: bool) -> Case:
    """Loading the archive that the library itself wrote; with the first call, too."""

    def case(T: Any) -> Callable[[], Any]:
        module, arguments = model(T)
        file = io.BytesIO()
        T.jit.save(T.jit.script(module), file)

        def run() -> None:
            file.seek(0)
            program = T.jit.load(file)
            if calls:
                program(*arguments)

        return run

    return case


def rows(quick: bool) -> list[Row]:
    """Loops over numbers, and models whose time is the overhead of calls."""
    rounds = 5 if quick else 20
    loops: list[tuple[str, Case]] = [
        ("while and if over ints", scripted(collatz, 300)),
        ("arithmetic of floats", scripted(simpson, 20_000, 0.0, 1.0)),
        ("a list of bools", scripted(sieve, 20_000)),
    ]  # fmt: skip
    models: list[tuple[str, Case]] = [
        ("scripted MLP", mlp), ("traced LSTM cell", lstm_cell),
    ]  # fmt: skip
    named = [("ResNet-18", resnet18), ("a transformer of six layers", transformer)]
    calls = [("", False), (", and its first call", True)]
    scripts = [(f"{name}{more}", scripting(model, call)) for name, model in named for more, call in calls]
    scripts.append(("a function of three lines, and three calls", first_calls))
    loads = [(f"loading {name}{more}", loading(model, call)) for name, model in named for more, call in calls]
    return [
        *compare(LOOPS, loops, 0.5, rounds=rounds),
        *compare(MODELS, models, 0.3, rounds=rounds * 2),
        *compare(SCRIPTING, scripts, 0.5, rounds=rounds // 2, unit="ms"),
        *compare(ARCHIVES, loads, 0.5, rounds=rounds, unit="ms"),
    ]
