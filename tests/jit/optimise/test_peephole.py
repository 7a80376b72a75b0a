"""Peepholes."""

import pytest
from pass_texts import check

from taeda.jit.optimise import simplify

SIMPLER = {
    "an item of a tuple": (
        """
        graph(%x : Tensor, %y : int):
          %1 : int = prim::Constant[value=1]()
          %t : (Tensor, int) = prim::TupleConstruct(%x, %y)
          %a : int = prim::TupleIndex(%t, %1)
          return (%a)""",
        """
        graph(%x : Tensor, %y : int):
          %1 : int = prim::Constant[value=1]()
          %t : (Tensor, int) = prim::TupleConstruct(%x, %y)
          return (%y)""",
    ),
    "the length of a list": (
        """
        graph(%x : Tensor):
          %l : Tensor[] = prim::ListConstruct(%x, %x)
          %a : int = aten::len(%l)
          return (%a)""",
        """
        graph(%x : Tensor):
          %l : Tensor[] = prim::ListConstruct(%x, %x)
          %a : int = prim::Constant[value=2]()
          return (%a)""",
    ),
    "None": (
        """
        graph(%x : Tensor):
          %n : NoneType = prim::Constant()
          %a : bool = aten::__is__(%x, %n)
          %b : bool = aten::__isnot__(%x, %n)
          %c : bool = aten::__is__(%n, %n)
          return (%a, %b, %c)""",
        """
        graph(%x : Tensor):
          %n : NoneType = prim::Constant()
          %a : bool = prim::Constant[value=0]()
          %b : bool = prim::Constant[value=1]()
          %c : bool = prim::Constant[value=1]()
          return (%a, %b, %c)""",
    ),
    "twice not": (
        """
        graph(%c : bool):
          %a : bool = aten::__not__(%c)
          %b : bool = aten::__not__(%a)
          return (%b)""",
        """
        graph(%c : bool):
          %a : bool = aten::__not__(%c)
          return (%c)""",
    ),
    "nothing added to an int": (
        """
        graph(%x : int):
          %0 : int = prim::Constant[value=0]()
          %a : int = aten::add(%x, %0)
          return (%a)""",
        """
        graph(%x : int):
          %0 : int = prim::Constant[value=0]()
          return (%x)""",
    ),
    "the dtype and rank of a tensor of which they are known": (
        """
        graph(%x : Float(2, *)):
          %a : int = prim::dtype(%x)
          %b : int = aten::dim(%x)
          return (%a, %b)""",
        """
        graph(%x : Float(2, *)):
          %a : int = prim::Constant[value=6]()
          %b : int = prim::Constant[value=2]()
          return (%a, %b)""",
    ),
}
KEPT = {
    "nothing added to a float, which may be -0": """
        graph(%x : float):
          %0 : float = prim::Constant[value=0.]()
          %a : float = aten::add(%x, %0)
          return (%a)""",
    "an optional that may be None": """
        graph(%x : Tensor?):
          %n : NoneType = prim::Constant()
          %a : bool = aten::__is__(%x, %n)
          return (%a)""",
    "a list that grows": """
        graph(%x : Tensor):
          %l : Tensor[] = prim::ListConstruct(%x)
          %1 : Tensor[] = aten::append(%l, %x)
          %a : int = aten::len(%l)
          return (%a)""",
    "an item that is not there": """
        graph(%x : int):
          %2 : int = prim::Constant[value=2]()
          %l : int[] = prim::ListConstruct(%x)
          %a : int = aten::__getitem__(%l, %2)
          return (%a)""",
    "the rank of a tensor that is given another": """
        graph(%x : Float(2, 1)):
          %1 : Tensor = aten::squeeze_(%x)
          %b : int = aten::dim(%x)
          return (%b)""",
}


@pytest.mark.parametrize(("before", "after"), SIMPLER.values(), ids=SIMPLER)
def test_known_values(before, after):
    check(simplify, before, after)


@pytest.mark.parametrize("before", KEPT.values(), ids=KEPT)
def test_what_is_not_known_stays(before):
    check(simplify, before, None)
