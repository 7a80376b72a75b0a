"""Branches and loops of which it is known how they run, and tuples that are taken apart."""

import pytest
from pass_texts import canonical, check, text

from taeda.jit.ir import parse_ir
from taeda.jit.optimise import fold_branches, lower_tuples, peel_loops, unroll_loops

BRANCH = """
    graph(%x : Tensor):
      %c : bool = prim::Constant[value={}]()
      %a : Tensor = prim::If(%c)
        block0():
          %1 : Tensor = aten::relu(%x)
          -> (%1)
        block1():
          %2 : Tensor = aten::neg(%x)
          -> (%2)
      return (%a)"""
TAKEN = """
    graph(%x : Tensor):
      %c : bool = prim::Constant[value={}]()
      %1 : Tensor = aten::{}(%x)
      return (%1)"""
LOOP = """
    graph(%x : Tensor):
      %n : int = prim::Constant[value={}]()
      %t : bool = prim::Constant[value=1]()
      %a : Tensor = prim::Loop(%n, %t, %x)
        block0(%i : int, %y : Tensor):
          %2 : Tensor = aten::mul(%y, %i)
          -> (%t, %2)
      return (%a)"""


@pytest.mark.parametrize(("condition", "op"), [(1, "relu"), (0, "neg")])
def test_a_known_condition(condition, op):
    check(fold_branches, BRANCH.format(condition), TAKEN.format(condition, op))


@pytest.mark.parametrize("count", [0, -3])
def test_a_loop_that_never_runs(count):
    check(fold_branches, LOOP.format(count), f"""
        graph(%x : Tensor):
          %n : int = prim::Constant[value={count}]()
          %t : bool = prim::Constant[value=1]()
          return (%x)""")  # fmt: skip


def test_short_loops_are_unrolled():
    check(unroll_loops, LOOP.format(2), """
        graph(%x : Tensor):
          %n : int = prim::Constant[value=2]()
          %t : bool = prim::Constant[value=1]()
          %0 : int = prim::Constant[value=0]()
          %a : Tensor = aten::mul(%x, %0)
          %1 : int = prim::Constant[value=1]()
          %b : Tensor = aten::mul(%a, %1)
          return (%b)""")  # fmt: skip


def test_long_loops_stay():
    check(unroll_loops, LOOP.format(1000), None)


def test_loops_that_may_end_early_stay():
    check(unroll_loops, """
        graph(%x : Tensor, %c : bool):
          %n : int = prim::Constant[value=2]()
          %t : bool = prim::Constant[value=1]()
          %a : Tensor = prim::Loop(%n, %t, %x)
            block0(%i : int, %y : Tensor):
              %2 : Tensor = aten::relu(%y)
              -> (%c, %2)
          return (%a)""", None)  # fmt: skip


def test_the_first_round_is_peeled():
    before = """
        graph(%x : Tensor):
          %n : int = prim::Constant[value=100]()
          %t : bool = prim::Constant[value=1]()
          %0 : int = prim::Constant[value=0]()
          %a : Tensor = prim::Loop(%n, %t, %x)
            block0(%i : int, %y : Tensor):
              %c : bool = aten::eq(%i, %0)
              %2 : Tensor = prim::If(%c)
                block0():
                  -> (%x)
                block1():
                  %3 : Tensor = aten::mul(%y, %i)
                  -> (%3)
              -> (%t, %2)
          return (%a)"""
    after = """
        graph(%x : Tensor):
          %n : int = prim::Constant[value=100]()
          %t : bool = prim::Constant[value=1]()
          %0 : int = prim::Constant[value=0]()
          %z : int = prim::Constant[value=0]()
          %1 : int = prim::Constant[value=1]()
          %rest : int = prim::Constant[value=99]()
          %c.1 : bool = aten::eq(%z, %0)
          %f : Tensor = prim::If(%c.1)
            block0():
              -> (%x)
            block1():
              %3 : Tensor = aten::mul(%x, %z)
              -> (%3)
          %a : Tensor = prim::Loop(%rest, %t, %f)
            block0(%i : int, %y : Tensor):
              %j : int = aten::add(%i, %1)
              %c : bool = aten::eq(%j, %0)
              %2 : Tensor = prim::If(%c)
                block0():
                  -> (%x)
                block1():
                  %4 : Tensor = aten::mul(%y, %j)
                  -> (%4)
              -> (%t, %2)
          return (%a)"""
    graph = parse_ir(text(before))
    assert peel_loops(graph)
    graph.lint()
    assert canonical(graph) == canonical(parse_ir(text(after)))


def test_tuples_that_are_taken_apart():
    check(lower_tuples, """
        graph(%x : Tensor, %y : int):
          %t : (Tensor, int) = prim::TupleConstruct(%x, %y)
          %a : Tensor, %b : int = prim::TupleUnpack(%t)
          return (%b, %a)""", """
        graph(%x : Tensor, %y : int):
          %t : (Tensor, int) = prim::TupleConstruct(%x, %y)
          return (%y, %x)""")  # fmt: skip
