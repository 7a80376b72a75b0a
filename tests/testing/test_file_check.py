"""What ``FileCheck`` finds in texts, and what it misses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import taeda as torch
from taeda.testing import FileCheck

HOLDS: list[tuple[Callable[[FileCheck], FileCheck], str]] = [
    (lambda c: c.check("a").check_next("b"), "a\n b"),
    (lambda c: c.check_count("a", 2), "a a a"),
    (lambda c: c.check_count("a", 2, exactly=True).check("b"), "a a b a"),
    (lambda c: c.check_not("a").check("b"), "c b a"),
    (lambda c: c.check("b").check_not("a"), "a b"),
    (lambda c: c.check_dag("x").check_dag("y").check("z"), "y x z"),
    (lambda c: c.check_same("x"), "x"),
    (lambda c: c.check_regex("a+b"), "xaaab"),
    (lambda c: c.check_source_highlighted("ab"), "x ab\n  ~~ <--- HERE"),
]
FAILS: list[tuple[Callable[[FileCheck], FileCheck], str]] = [
    (lambda c: c.check("a").check_next("b"), "a\n\n b"),
    (lambda c: c.check("a").check_same("b"), "a\nb"),
    (lambda c: c.check_count("a", 3), "a a b"),
    (lambda c: c.check_count("a", 2, exactly=True), "a a a"),
    (lambda c: c.check_not("a").check("b"), "a b a"),
    (lambda c: c.check("b").check("a"), "a b"),
    (lambda c: c.check_dag("x").check_dag("y").check("z"), "y z x"),
    (lambda c: c.check_source_highlighted("ab"), "x ab\n  ~ <--- HERE"),
    (lambda c: c.check_source_highlighted("ab"), "x ab\n  ~~~ <--- HERE"),
    (lambda c: c, "nothing is asked"),
]


@pytest.mark.parametrize(("checks", "text"), HOLDS)
def test_what_holds(checks: Callable[[FileCheck], FileCheck], text: str) -> None:
    checks(FileCheck()).run(text)


@pytest.mark.parametrize(("checks", "text"), FAILS)
def test_what_fails(checks: Callable[[FileCheck], FileCheck], text: str) -> None:
    with pytest.raises(RuntimeError, match="FileCheck"):
        checks(FileCheck()).run(text)


def test_checks_in_comments_and_graphs() -> None:
    graph = torch.jit.CompilationUnit("def f(x):\n    return torch.relu(x) + 1").f.graph
    FileCheck().check("aten::relu").check("aten::add").run(graph)
    FileCheck().run("# CHECK: aten::relu\n# CHECK-NOT: aten::mul\n# CHECK-COUNT-EXACTLY-1: aten::add\n", graph)
    for wrong in ("# CHECK: aten::mul", "# CHECK-WRONG: aten::relu", "no check"):
        with pytest.raises(RuntimeError, match="FileCheck"):
            FileCheck().run(wrong, graph)
    with pytest.raises(TypeError, match="text or a graph"):
        FileCheck().check("a").run(3)
