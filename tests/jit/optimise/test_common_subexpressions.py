"""Common subexpressions, and what must not be merged."""

import pytest
from pass_texts import check

from taeda.jit.optimise import merge_common_subexpressions

MERGED = {
    "equal computations": (
        """
        graph(%x : Tensor):
          %1 : int = prim::Constant[value=1]()
          %2 : int = prim::Constant[value=1]()
          %a : Tensor = aten::add(%x, %1, %1)
          %b : Tensor = aten::add(%x, %2, %2)
          %c : Tensor = aten::mul(%a, %b)
          return (%c)""",
        """
        graph(%x : Tensor):
          %1 : int = prim::Constant[value=1]()
          %a : Tensor = aten::add(%x, %1, %1)
          %c : Tensor = aten::mul(%a, %a)
          return (%c)""",
    ),
    "with one in an inner block": (
        """
        graph(%x : Tensor, %c : bool):
          %a : Tensor = aten::relu(%x)
          %r : Tensor = prim::If(%c)
            block0():
              %b : Tensor = aten::relu(%x)
              %d : Tensor = aten::neg(%b)
              -> (%d)
            block1():
              -> (%x)
          %s : Tensor = aten::mul(%r, %a)
          return (%s)""",
        """
        graph(%x : Tensor, %c : bool):
          %a : Tensor = aten::relu(%x)
          %r : Tensor = prim::If(%c)
            block0():
              %d : Tensor = aten::neg(%a)
              -> (%d)
            block1():
              -> (%x)
          %s : Tensor = aten::mul(%r, %a)
          return (%s)""",
    ),
    "lists that are only read": (
        """
        graph(%x : Tensor, %n : int, %f : bool):
          %a : int[] = prim::ListConstruct(%n, %n)
          %b : int[] = prim::ListConstruct(%n, %n)
          %c : Tensor = aten::amax(%x, %a, %f)
          %d : Tensor = aten::amax(%x, %b, %f)
          %e : Tensor = aten::mul(%c, %d)
          return (%e)""",
        """
        graph(%x : Tensor, %n : int, %f : bool):
          %a : int[] = prim::ListConstruct(%n, %n)
          %c : Tensor = aten::amax(%x, %a, %f)
          %e : Tensor = aten::mul(%c, %c)
          return (%e)""",
    ),
}
KEPT = {
    "around a write": """
        graph(%x : Tensor):
          %1 : int = prim::Constant[value=1]()
          %a : Tensor = aten::relu(%x)
          %2 : Tensor = aten::add_(%x, %1, %1)
          %b : Tensor = aten::relu(%x)
          %c : Tensor = aten::mul(%a, %b)
          return (%c)""",
    "around a write through a view": """
        graph(%x : Tensor):
          %0 : int = prim::Constant[value=0]()
          %1 : Tensor = aten::relu(%x)
          %v : Tensor = aten::select(%1, %0, %0)
          %a : Tensor = aten::neg(%1)
          %2 : Tensor = aten::zero_(%v)
          %b : Tensor = aten::neg(%1)
          %c : Tensor = aten::mul(%a, %b)
          return (%c)""",
    "one of two that is written to": """
        graph(%x : Tensor):
          %a : Tensor = aten::relu(%x)
          %b : Tensor = aten::relu(%x)
          %2 : Tensor = aten::zero_(%a)
          %c : Tensor = aten::mul(%a, %b)
          return (%c)""",
    "two results": """
        graph(%x : Tensor):
          %a : Tensor = aten::relu(%x)
          %b : Tensor = aten::relu(%x)
          return (%a, %b)""",
    "random numbers": """
        graph(%x : Tensor):
          %n : NoneType = prim::Constant()
          %a : Tensor = aten::rand_like(%x, %n, %n, %n, %n, %n)
          %b : Tensor = aten::rand_like(%x, %n, %n, %n, %n, %n)
          %c : Tensor = aten::mul(%a, %b)
          return (%c)""",
    "numbers that print alike": """
        graph(%x : Tensor):
          %1 : int = prim::Constant[value=1]()
          %2 : float = prim::Constant[value=1.]()
          %t : bool = prim::Constant[value=1]()
          %z : float = prim::Constant[value=0.]()
          %m : float = prim::Constant[value=-0.]()
           = prim::Print(%1, %2, %t, %z, %m)
          return (%x)""",
    "lists that grow": """
        graph(%n : int):
          %a : int[] = prim::ListConstruct(%n)
          %b : int[] = prim::ListConstruct(%n)
          %1 : int[] = aten::append(%a, %n)
          %2 : int = aten::len(%a)
          %3 : int = aten::len(%b)
          %4 : int = aten::add(%2, %3)
          return (%4)""",
    "around a change of mode": """
        graph(%x : Tensor, %c : bool):
          %a : Tensor = aten::relu(%x)
           = aten::set_grad_enabled(%c)
          %b : Tensor = aten::relu(%x)
          %d : Tensor = aten::mul(%a, %b)
          return (%d)""",
}


@pytest.mark.parametrize(("before", "after"), MERGED.values(), ids=MERGED)
def test_equal_computations_become_one(before, after):
    check(merge_common_subexpressions, before, after)


@pytest.mark.parametrize("before", KEPT.values(), ids=KEPT)
def test_what_differs_stays(before):
    check(merge_common_subexpressions, before, None)
