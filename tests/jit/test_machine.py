"""Programs run as their graphs say: control flow, calls, containers, errors with their lines, memory."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import taeda as torch
from taeda import _C
from taeda.jit.ir import parse_ir
from taeda.jit.translate.program import Program, Unit


def program(text: str) -> tuple[str, list[Any]]:
    graph = parse_ir(text)
    made = Program()
    made.add(Unit("__torch__.f", graph, [(value.debugName(), None, False) for value in graph.inputs()]))
    return made.text(), made.externals.values


def compiled(text: str) -> _C._jit.Function:
    source, values = program(text)
    return _C._jit.load(source, values, [])["__torch__.f"]


COLLATZ = """graph(%n : int, %limit : int):
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %three : int = prim::Constant[value=3]()
  %zero : int = prim::Constant[value=0]()
  %start : bool = aten::ne(%n, %one)
  %last : int, %steps : int = prim::Loop(%limit, %start, %n, %zero)
    block0(%i : int, %m : int, %s : int):
      %rest : int = aten::remainder(%m, %two)
      %even : bool = aten::eq(%rest, %zero)
      %next : int = prim::If(%even)
        block0():
          %half : int = aten::floordiv(%m, %two)
          -> (%half)
        block1():
          %times : int = aten::mul(%m, %three)
          %plus : int = aten::add(%times, %one)
          -> (%plus)
      %more : int = aten::add(%s, %one)
      %go : bool = aten::ne(%next, %one)
      -> (%go, %next, %more)
  %both : (int, int) = prim::TupleConstruct(%last, %steps)
  return (%both)
"""


def collatz(n: int, limit: int) -> tuple[int, int]:
    steps = 0
    while n != 1 and steps < limit:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return n, steps


def test_loops_and_branches() -> None:
    run = compiled(COLLATZ)
    for n in range(1, 40):
        for limit in (0, 1, 5, 1000):
            assert run(n, limit) == collatz(n, limit)


def test_carried_values_are_exchanged_at_once() -> None:
    run = compiled("""graph(%n : int, %x : Tensor, %y : Tensor, %a : int, %b : int):
  %t : bool = prim::Constant[value=1]()
  %u : Tensor, %v : Tensor, %c : int, %d : int = prim::Loop(%n, %t, %x, %y, %a, %b)
    block0(%i : int, %p : Tensor, %q : Tensor, %j : int, %k : int):
      -> (%t, %q, %p, %k, %j)
  %out : (Tensor, Tensor, int, int) = prim::TupleConstruct(%u, %v, %c, %d)
  return (%out)
""")
    x, y = torch.ones(1), torch.zeros(1)
    assert [v.item() if isinstance(v, torch.Tensor) else v for v in run(3, x, y, 1, 2)] == [0.0, 1.0, 2, 1]
    assert [v.item() if isinstance(v, torch.Tensor) else v for v in run(2, x, y, 1, 2)] == [1.0, 0.0, 1, 2]


def test_numbers_go_in_and_out_of_boxes() -> None:
    run = compiled("""graph(%o : int?, %l : float[], %d : Dict(str, int)):
  %none : NoneType = prim::Constant()
  %zero : int = prim::Constant[value=0]()
  %key : str = prim::Constant[value="a"]()
  %absent : bool = aten::__is__(%o, %none)
  %n : int = prim::If(%absent)
    block0():
      -> (%zero)
    block1():
      %m : int = prim::unchecked_cast(%o)
      -> (%m)
  %f : float = aten::__getitem__(%l, %n)
  %v : int = aten::__getitem__(%d, %key)
  %s : float = aten::add(%f, %v)
  return (%s)
""")
    assert run(None, [1.5, 2.5], {"a": 3}) == 4.5 and run(1, [1.5, 2.5], {"a": 3}) == 5.5
    with pytest.raises(IndexError, match="out of range"):
        run(2, [1.5, 2.5], {"a": 3})
    with pytest.raises(KeyError):
        run(0, [1.5], {})


def _quotients(x: float, n: int):  # type: ignore[no-untyped-def]  # what it gives is worked out
    return x / n, n / x, n / 2 + x, x / 2 - n


def test_quotients_of_floats_and_integers_are_floats() -> None:
    function = torch.jit.script(_quotients)
    assert str(function.graph).count(": float = aten::div") == 4
    assert function(3.0, 2) == _quotients(3.0, 2)
    made = Program()
    made.add(Unit("__torch__.f", function.graph, [("x", None, False), ("n", None, False)]))
    assert "primitive" not in made.text(), "an instruction each, without boxes"
    with pytest.raises(ZeroDivisionError):
        function(3.0, 0)


def test_tensors_and_gradients() -> None:
    run = compiled(
        """graph(%x : Tensor, %w : Tensor, %b : Tensor?):
  %d : int = prim::Constant[value=6]()
  %f : bool = prim::Constant[value=0]()
  %none : NoneType = prim::Constant()
  %1 : Tensor = aten::linear(%x, %w, %b)
  %2 : Tensor = aten::relu_(%1)
  %3 : Tensor = aten::to(%2, %d, %f, %f, %none)
  %parts : Tensor[] = aten::unbind(%3, %dim)
  %p : Tensor, %q : Tensor = prim::ListUnpack(%parts)
  %4 : Tensor = aten::mul(%p, %q)
  %5 : Tensor = aten::sum(%4, %none)
  return (%5)
""".replace("%dim", "%zero").replace("  %d :", "  %zero : int = prim::Constant[value=0]()\n  %d :", 1)
    )
    x, w, b = torch.randn(2, 3), torch.randn(4, 3, requires_grad=True), torch.randn(4, requires_grad=True)
    expected = (p := torch.relu(torch.nn.functional.linear(x, w, b))).select(0, 0).mul(p.select(0, 1)).sum()
    for bias in (b, None):
        out = run(x, w, bias)
        assert out.requires_grad
        if bias is not None:
            assert torch.equal(out, expected)
            ours, theirs = (torch.autograd.grad(o, (w, b)) for o in (out, expected))
            assert all(torch.equal(a, c) for a, c in zip(ours, theirs, strict=True))


def test_a_tensor_is_freed_after_its_last_use() -> None:
    seen: list[bool] = []
    library = torch.library.Library("machine_test", "DEF")
    library.define("watch(Tensor x) -> Tensor")
    held: list[Any] = []
    library.impl("watch", lambda x: seen.append(held[0]() is None) or x.clone(), "CPU")
    run = compiled("""graph(%x : Tensor):
  %1 : Tensor = aten::sigmoid(%x)
  %2 : Tensor = aten::relu(%1)
  %3 : Tensor = machine_test::watch(%2)
  return (%3)
""")
    x = torch.ones(3)
    held.append(weakref.ref(x))
    run(x)
    assert seen == [False]
    del x
    gc.collect()
    run(torch.ones(3))
    assert seen[1]


def test_what_fails_shows_its_place() -> None:
    source, values = program("""graph(%a : int, %b : int):
  %c : int = aten::floordiv(%a, %b)
  return (%c)
""")
    source = source.replace("function ", 'source "file.py" 7 "def f(a, b):\\n    return a // b"\nfunction ', 1)
    source = source.replace(" = floordiv.i i0 i1", " = floordiv.i i0 i1 ; 0 24 30")
    run = _C._jit.load(source, values, [])["__torch__.f"]
    assert run(7, -2) == -4
    with pytest.raises(ZeroDivisionError) as caught:
        run(1, 0)
    assert isinstance(caught.value, RuntimeError) and isinstance(caught.value, torch.jit.Error)
    assert 'File "file.py", line 8, in f\n    return a // b\n           ~~~~~~ <--- HERE' in str(caught.value)


def test_recursion_ends_with_an_error() -> None:
    head = 'taeda-program 1\nfunction "f"\nparameter "n" i0 int\nreturns int\nregisters 0 2\ncode\n'
    text = head + 'i1 = call "f" i0\nreturn i1\nend\n'
    with pytest.raises(RecursionError, match="5000 deep"):
        _C._jit.load(text, [], [])["f"](1)


def test_arguments_are_checked() -> None:
    run = compiled("graph(%x : Tensor, %n : int):\n  %y : Tensor = aten::mul(%x, %n)\n  return (%y)\n")
    assert run(torch.ones(1), n=3).item() == 3
    wrong: list[tuple[tuple[Any, ...], str]] = [
        ((1, 2), "takes a Tensor for 'x'"), ((torch.ones(1),), "missing the argument 'n'"),
        ((torch.ones(1), 1, 2), "takes 2 arguments"), ((torch.ones(1), 1.5), "takes a int"),
    ]  # fmt: skip
    for arguments, message in wrong:
        with pytest.raises(RuntimeError, match=message):
            run(*arguments)
    with pytest.raises(RuntimeError, match="no argument 'm'"):
        run(torch.ones(1), m=1)


DAMAGED = [
    ("taeda-program 1", "taeda-program 99", "has version 99"),
    ("return", "retrn", "is no instruction"),
    ("aten::mul.Tensor", "aten::never", "has no op"),
    ("v0", "v77", "there is no register"),
    ("registers ", "registers -", "out of range"),
    ("end\n", "", "does not end"),
    ("return ", "jump @99\nreturn ", "leads out of the function"),
    ("return ", 'primitive no::such v0\nreturn ', "no function no::such"),
    ("returns Tensor", "returns Tensr", "is no type"),
    ("return ", "drop ", "runs off its end"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), DAMAGED)
def test_a_damaged_program_is_refused(old: str, new: str, message: str) -> None:
    source, values = program("graph(%x : Tensor):\n  %y : Tensor = aten::mul(%x, %x)\n  return (%y)\n")
    assert old in source
    place = source.rindex(old)
    with pytest.raises(ValueError, match=message):
        _C._jit.load(source[:place] + new + source[place + len(old) :], values, [])


def test_objects() -> None:
    text = """taeda-program 1
class "__torch__.machine_test.Counter" plain
attribute "count" plain int
attribute "log" plain list str
function "__torch__.machine_test.Counter.add" of "__torch__.machine_test.Counter"
parameter "self" v0 class "__torch__.machine_test.Counter"
parameter "by" i0 int = 1
returns int
registers 1 2
code
i1 = get "count" class "__torch__.machine_test.Counter" v0
i1 = add.i i1 i0
set "count" class "__torch__.machine_test.Counter" v0 i1
return i1
end
function "make"
parameter "n" i0 int
returns class "__torch__.machine_test.Counter"
registers 2 2
constant list str 0
code
v0 = new class "__torch__.machine_test.Counter"
set "count" class "__torch__.machine_test.Counter" v0 i0
set "log" class "__torch__.machine_test.Counter" v0 k0
i1 = method "add" v0 i0
return v0!
end
"""
    made = _C._jit.load(text, [], [])["make"](3)
    made = getattr(made, "_c", made)  # once Python has a face for objects
    assert made.getattr("count") == 6 and made.type()._name == "__torch__.machine_test.Counter"
    assert made.call_method("add", 10) == 16
    made.setattr("count", -1)
    assert made.call_method("add", 1) == 0 and made.getattr("log") == []
    with pytest.raises(RuntimeError, match="no attribute 'nothing'"):
        made.getattr("nothing")
