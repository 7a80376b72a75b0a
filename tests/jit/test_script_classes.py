"""Classes of ``ScriptModule``, hooks, containers by name, properties, and what of them archives keep."""

from __future__ import annotations

import io
from typing import Any

import pytest

import taeda as torch
from taeda import Tensor, jit, nn

FACTOR = 3


def loaded(module: Any) -> Any:
    file = io.BytesIO()
    jit.save(module, file)
    file.seek(0)
    return jit.load(file)


class Written(jit.ScriptModule):
    __constants__ = ["n"]

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n
        self.offset = jit.Attribute(0.5, float)
        assert self.offset == 0.5
        self.weight = nn.Parameter(torch.ones(2))
        self.layer = nn.Linear(2, 2)
        self.define("""
        def scaled(self, x):
            return self.weight * x * self.n * FACTOR
        """)

    @jit.script_method
    def forward(self, x):
        return self.scaled(x) + self.offset


def test_a_class_of_script_modules_is_a_program_once_it_is_set_up() -> None:
    module = Written(2)
    assert isinstance(module, Written) and isinstance(module, jit.RecursiveScriptModule) and module.n == 2
    assert module(torch.ones(2)).tolist() == [6.5, 6.5] == loaded(module)(torch.ones(2)).tolist()
    assert module.scaled(torch.ones(2)).tolist() == [6.0, 6.0]
    assert [name for name, _ in module.named_parameters()] == ["weight", "layer.weight", "layer.bias"]
    bare = jit.ScriptModule()
    bare.define("def forward(self, x):\n    return x + 1")
    assert bare(torch.ones(1)).item() == 2


class Inner(nn.Module):
    def forward(self, text: str) -> str:
        return text + "!"


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    def forward(self, text: str) -> str:
        return self.inner(text)


def before(self, given: tuple[str]) -> tuple[str]:
    return ("<" + given[0],)


def behind(self, given: tuple[str], result: str) -> str:
    return result + ">"


def forward(self, given: tuple[str]) -> tuple[str]:
    return given


def test_hooks_belong_to_the_program() -> None:
    module = Outer()
    module.inner.register_forward_pre_hook(before)
    module.register_forward_hook(behind)
    program = jit.script(module)
    assert module("a") == "<a!>" == program("a") == loaded(program)("a")
    other = Outer()
    other.register_forward_pre_hook(forward)
    with pytest.raises(RuntimeError, match="has the name of something else"):
        jit.script(other)


@jit.interface
class Maps(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Add(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + 1


class Double(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


class Chosen(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.by_name = nn.ModuleDict({"plus": Add(), "twice": Double()})
        self.by_place = nn.ModuleList([Add(), Double()])
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))])
        self.named = nn.ParameterDict({"a": nn.Parameter(torch.ones(1))})
        self.same = self.by_place[0]

    def forward(self, x: Tensor, name: str, place: int):
        first: Maps = self.by_name[name]
        second: Maps = self.by_place[place]
        names = [each for each in self.by_name]
        for weight in self.weights:
            x = x + weight
        return second.forward(first.forward(x)) + self.named["a"], names, self.same is self.by_place[0]


def test_containers_by_values_and_of_parameters() -> None:
    program = jit.script(Chosen())
    for each in (program, loaded(program)):
        result, names, same = each(torch.zeros(1), "twice", -2)
        assert result.item() == 6 and names == ["plus", "twice"] and same
        with pytest.raises((KeyError, RuntimeError)):
            each(torch.zeros(1), "other", 0)


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.held = 1

    @property
    def count(self):
        return self.held

    @count.setter
    def count(self, value: int):
        self.held = max(value, 0)

    def forward(self, n: int):
        self.count = n
        return self.count


def test_properties_and_nested_attributes_of_frozen_modules() -> None:
    program = jit.script(Counts())
    assert program(-3) == 0 == loaded(program)(-3) and program.count == 0
    whole = jit.script(nn.Sequential(nn.BatchNorm1d(2), nn.ReLU()).eval())
    frozen = jit.freeze(whole, ["0.running_mean"])
    assert torch.equal(frozen(torch.ones(2, 2)), whole(torch.ones(2, 2)))
    with pytest.raises(RuntimeError, match="to preserve"):
        jit.freeze(whole, ["0.nothing"])


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("x.long().sum().item()", 15), ("x.bool().all().item()", False), ("x.where(x > 3, x * 0).sum().item()", 9.0),
        ("x[slice(0, 1), slice(1, 3)].sum().item()", 3.0), ("[1, 2, 3][slice(0, 2)]", [1, 2]),
        ("(torch.relu if x.numel() > 3 else torch.neg)(x).sum().item()", 15.0), ("0.5 is 0.5", True),
        ("complex(x[0, :1], 2.0)", 2j), ("torch.jit._unwrap_optional(torch.jit.annotate(Optional[int], 3))", 3),
        ("x.unique().numel()", 6),
    ],
)  # fmt: skip
def test_expressions(body: str, wanted: Any) -> None:
    program = jit.CompilationUnit(f"def f(x):\n    return {body}").f
    assert program(torch.arange(6.0).reshape(2, 3)) == wanted


def test_a_call_takes_what_goes_for_a_type() -> None:
    program = jit.CompilationUnit(
        "def f(a: int, b: List[bool], c: Tuple[int, float], d: Dict[str, int]):\n    return a, b, c, d"
    ).f
    given = program(True, [0, 2], [1, 2.0], {"k": torch.tensor([3])})
    assert given == (1, [False, True], (1, 2.0), {"k": 3})
    for wrong in (("a", [], (1, 2.0), {}), (1, [], (1,), {}), (1, []), (1.5, [], (1, 2.0), {})):
        with pytest.raises(RuntimeError, match="f"):
            program(*wrong)
    unit = jit.CompilationUnit("def g(x: Optional[Tensor], y: Optional[Tensor]):\n    return bool((x == y))")
    assert not unit.g(None, torch.ones(1)) and unit.g(torch.ones(1), torch.ones(1))


@jit.script
class Sized:
    def __init__(self, size: int):
        self.size = size

    def same(self, other: Any) -> bool:
        return other.size == self.size if isinstance(other, self.__class__) else False

    def __eq__(self, other) -> bool:  # a tensor: what follows is never compiled
        if not isinstance(other, self.__class__):
            return False
        return self.size == other.nothing


def test_the_class_of_an_object_is_asked_for() -> None:
    unit = jit.script(_sized)
    assert unit(torch.ones(1), 3) == (True, False, False)


def _sized(x, n: int):
    made = Sized(3)
    return made.same(Sized(n)), made.same(n), made == x


class Matcher:
    def __init__(self, limit: float) -> None:
        self.limit = limit

    def match(self, x: torch.Tensor) -> torch.Tensor:
        return x > self.limit


class LooseMatcher(Matcher):
    def match(self, x: torch.Tensor) -> torch.Tensor:
        return x >= self.limit


class WithMatcher(nn.Module):
    matcher: Matcher

    def __init__(self, matcher: Matcher) -> None:
        super().__init__()
        self.matcher = matcher

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.matcher.match(x)


@pytest.mark.parametrize("cls", [Matcher, LooseMatcher])
def test_an_attribute_may_be_of_a_class_derived_from_its_annotation(cls: type[Matcher]) -> None:
    module, x = WithMatcher(cls(1.0)), torch.tensor([0.0, 1.0, 2.0])
    assert torch.equal(jit.script(module)(x), module(x))


def test_objects_of_a_program_and_of_python_are_compared() -> None:
    @jit.script
    class Pair:
        def __init__(self, a: int) -> None:
            self.a = a

        def __eq__(self, other: Pair) -> bool:  # type: ignore[override]
            return self.a == other.a

        def more(self, other: Pair) -> int:
            return self.a + other.a

    made = jit.script(lambda: Pair(2))()
    assert made == Pair(2) and (made == Pair(3)) is False and made.more(Pair(5)) == 7


@jit.script
class Point:
    def __init__(self, x: int, y: int):
        self.x = x
        self.y = y

    @staticmethod
    def first_of(points: list[Point]) -> Point:
        return points[0]

    @staticmethod
    def at(x: int) -> Point:
        return Point.first_of([Point(x, x + 1)])


def test_static_methods_of_a_class_name_it_in_types() -> None:
    def use(x: int) -> tuple[int, int]:
        point = Point.at(x)
        return point.x, point.y

    assert jit.script(use)(3) == (3, 4)


@jit.interface
class Adder:
    def add(self, x: Tensor) -> Tensor:
        pass


@jit.script
class AddsOne:
    def __init__(self) -> None:
        pass

    def add(self, x: Tensor):
        return x + 1


class Adds(nn.Module):
    adder: Adder

    def __init__(self, adder: Any) -> None:
        super().__init__()
        self.adder = adder

    def forward(self, x: Tensor) -> Tensor:
        return self.adder.add(x)


@jit.interface
class Layer(nn.Module):
    def forward(self, input: Tensor) -> Tensor:
        pass


class Around(nn.Module):
    layer: Layer

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return self.layer.forward(x)


def test_an_interface_as_attribute_takes_objects_of_classes() -> None:
    for module in (Adds(AddsOne()), Around(nn.Sequential(Around(nn.ReLU()), Adds(AddsOne())))):
        scripted = jit.script(module)
        for program in (scripted, loaded(scripted)):
            assert program(torch.ones(1)).tolist() == [2.0]
    with pytest.raises(RuntimeError, match="lacks a method of the interface"):
        jit.script(Adds(Point(1, 2)))
    with pytest.raises(RuntimeError, match="lacks a method of the interface"):
        jit.script(Adds(object()))


def test_of_classes_with_one_name_the_one_that_python_made_is_compiled() -> None:
    found = []
    for large in (True, False):
        if large:

            class Size:
                def value(self) -> int:
                    return 100

        else:

            class Size:  # type: ignore[no-redef]
                def value(self) -> int:
                    return 1

        jit.script(Size)
        found.append(jit.script(lambda: Size().value())())
    assert found == [100, 1]
