"""Dead code: what goes, and what stays because it does something."""

import pytest
from pass_texts import check

from taeda.jit.optimise import remove_dead_code

KEPT = {
    "a write to an argument": """
        graph(%x : Tensor):
          %1 : int = prim::Constant[value=1]()
          %2 : Tensor = aten::add_(%x, %1, %1)
          return (%x)""",
    "random numbers": """
        graph(%x : Tensor):
          %1 : float = prim::Constant[value=0.5]()
          %2 : bool = prim::Constant[value=1]()
          %3 : Tensor = aten::dropout(%x, %1, %2)
          return (%x)""",
    "a division that may raise": """
        graph(%x : Tensor, %n : int):
          %1 : int = aten::floordiv(%n, %n)
          return (%x)""",
    "an item that may not be there": """
        graph(%x : int[], %n : int):
          %1 : int = aten::__getitem__(%x, %n)
          return (%n)""",
    "print": """
        graph(%x : Tensor):
           = prim::Print(%x)
          return (%x)""",
    "an exception in a branch": """
        graph(%x : Tensor, %c : bool):
          %1 : str = prim::Constant[value="no"]()
          %2 : NoneType = prim::Constant()
           = prim::If(%c)
            block0():
               = prim::RaiseException(%1, %2)
              -> ()
            block1():
              -> ()
          return (%x)""",
    "a loop that may be endless": """
        graph(%x : Tensor, %c : bool):
          %1 : int = prim::Constant[value=9223372036854775807]()
           = prim::Loop(%1, %c)
            block0(%i : int):
              %3 : bool = aten::__not__(%c)
              -> (%3)
          return (%x)""",
    "an attribute that is set": """
        graph(%self : __torch__.DeadCode, %x : Tensor):
           = prim::SetAttr[name="x"](%self, %x)
          return (%x)""",
}
REMOVED = {
    "what nobody uses, with what only that used": (
        """
        graph(%x : Tensor):
          %1 : int = prim::Constant[value=1]()
          %2 : Tensor = aten::add(%x, %1, %1)
          %3 : Tensor = aten::relu(%2)
          return (%x)""",
        """
        graph(%x : Tensor):
          return (%x)""",
    ),
    "a result of a branch": (
        """
        graph(%x : Tensor, %c : bool):
          %a : Tensor, %b : Tensor = prim::If(%c)
            block0():
              %2 : Tensor = aten::relu(%x)
              %3 : Tensor = aten::neg(%x)
              -> (%2, %3)
            block1():
              -> (%x, %x)
          return (%b)""",
        """
        graph(%x : Tensor, %c : bool):
          %b : Tensor = prim::If(%c)
            block0():
              %3 : Tensor = aten::neg(%x)
              -> (%3)
            block1():
              -> (%x)
          return (%b)""",
    ),
    "what a loop carries for nobody": (
        """
        graph(%x : Tensor, %n : int):
          %t : bool = prim::Constant[value=1]()
          %a : Tensor, %b : Tensor = prim::Loop(%n, %t, %x, %x)
            block0(%i : int, %a.1 : Tensor, %b.1 : Tensor):
              %2 : Tensor = aten::relu(%a.1)
              %3 : Tensor = aten::neg(%b.1)
              -> (%t, %2, %3)
          return (%b)""",
        """
        graph(%x : Tensor, %n : int):
          %t : bool = prim::Constant[value=1]()
          %b : Tensor = prim::Loop(%n, %t, %x)
            block0(%i : int, %b.1 : Tensor):
              %3 : Tensor = aten::neg(%b.1)
              -> (%t, %3)
          return (%b)""",
    ),
}


@pytest.mark.parametrize("before", KEPT.values(), ids=KEPT)
def test_what_does_something_stays(before):
    check(remove_dead_code, before, None)


@pytest.mark.parametrize(("before", "after"), REMOVED.values(), ids=REMOVED)
def test_what_does_nothing_goes(before, after):
    check(remove_dead_code, before, after)
