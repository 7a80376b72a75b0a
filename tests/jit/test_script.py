"""Scripted functions give what Python gives, exceptions included."""

import copy

import nn_cases
import pytest
from programs import PROGRAMS

import taeda
from taeda import jit


def _same(a, b) -> bool:
    if isinstance(a, taeda.Tensor):
        return isinstance(b, taeda.Tensor) and taeda.allclose(a, b, equal_nan=True)
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, float):
        return type(b) is float and (a == b or abs(a - b) < 1e-9 or (a != a and b != b))
    return type(a) is type(b) and a == b


def _outcome(function, args):
    try:
        return "gives", function(*copy.deepcopy(args))
    except Exception as error:
        return "raises", error


@pytest.mark.parametrize("function", [f for f, _ in PROGRAMS], ids=lambda f: f.__name__)
def test_programs(function):
    scripted = jit.script(function)
    scripted.graph.lint()
    for args in dict(PROGRAMS)[function]:
        wanted, found = _outcome(function, args), _outcome(scripted, args)
        assert wanted[0] == found[0], (args, wanted, found)
        if wanted[0] == "gives":
            assert _same(wanted[1], found[1]), (args, wanted[1], found[1])
        else:
            assert isinstance(found[1], type(wanted[1])), (args, wanted, found)
            assert function.__name__ != "raises" or str(wanted[1].args[0]) in str(found[1])


@pytest.mark.parametrize("case", nn_cases.cases(), ids=lambda case: case[0])
@pytest.mark.filterwarnings("ignore")
def test_the_librarys_modules(case):
    _, make, inputs = case
    taeda.manual_seed(0)
    module, given = make().eval(), inputs()
    taeda.manual_seed(1)
    wanted = module(*[x.clone() for x in given])
    taeda.manual_seed(1)
    assert _same(jit.script(module)(*[x.clone() for x in given]), wanted)


def test_a_class_method_makes_objects_of_its_class() -> None:
    @jit.script
    class Counted:
        def __init__(self, n: int):
            self.n = n

        @classmethod
        def of(self, n: int):
            return Counted(n)

        def next(self):
            return self.of(self.n + 1)

    @jit.script
    def third(n: int) -> int:
        return Counted(n).next().next().n

    assert third(5) == 7


def test_the_greater_of_a_tensor_and_a_number() -> None:
    @jit.script
    def clipped(box: taeda.Tensor, high: int, factor: float):
        return max(box[0], 0), min(box[1] + 1, high), max(factor, box[2])

    assert clipped(taeda.tensor([-3, 7, 2]), 5, 2.5) == (0, 5, 2.5)


def test_a_declared_list_becomes_one_of_others() -> None:
    @jit.script
    def joined(x: taeda.Tensor) -> list[taeda.Tensor]:
        parts: list[list[taeda.Tensor]] = []
        for i in range(2):
            parts.append([x + i, x - i])
        parts = [taeda.cat(pair) for pair in parts]
        return parts

    assert [each.tolist() for each in joined(taeda.tensor([1]))] == [[1, 1], [2, 0]]


@pytest.mark.parametrize("start", ["[]", "[i for i in range(2)]", "[1, 2]"])
def test_a_list_that_has_been_added_to_is_no_literal(start: str) -> None:
    text = f"""
def numbers() -> List[float]:
    found = annotate(List[int], {start})
    found.append(3)
    return found
"""
    with pytest.raises(RuntimeError, match=r"List\[int\]"):
        jit.CompilationUnit(text).numbers()
