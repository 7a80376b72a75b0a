"""What programs take over from Python: names where a class stands, objects, enumerations, what is left to Python."""

import enum
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple  # noqa: UP035 programs spell types so

import pytest

import taeda as torch
from taeda import jit, nn


def saved(model: Any) -> Any:
    file = io.BytesIO()
    jit.save(model, file)
    file.seek(0)
    return jit.load(file)


class Text(str, enum.Enum):  # noqa: UP042
    A = "a"
    B = "b"


class Number(int, enum.Enum):
    ONE = 1
    TWO = 2


class Held:
    def __init__(self, a: int):
        self.a = a

    def twice(self) -> int:
        return self.a * 2


class Model(nn.Module):
    __constants__ = ["w"]
    __jit_ignored_attributes__ = ["left", "layer"]

    def __init__(self, w=None):
        super().__init__()
        self.w = w
        self.text, self.number, self.held = Text.B, Number.TWO, Held(4)
        self.left, self.layer = object(), nn.Linear(2, 2)

    @jit.ignore
    def outside(self) -> int:
        return int(self.left is not None and self.layer is not None)

    def forward(self, n: int) -> int:
        "what it says"
        if self.text == Text.B and self.number == Number.TWO:
            return n + self.held.twice()
        return n


def test_objects_and_enumerations_as_attributes() -> None:
    model = jit.script(Model())
    assert model(1) == 9 and model.outside() == 1 and model.forward.__doc__ == "what it says"
    for value in (None, 2, True, "text", (2, 3), [5.9]):
        loaded = saved(jit.script(Model(value)))
        assert loaded.w == value and loaded(1) == 9
        assert loaded.text.name == "B" and saved(loaded).number.value == 2


class Noted(nn.Module):
    x: Optional[torch.Tensor]  # noqa: UP045

    def __init__(self):
        super().__init__()
        self.x = None

    @jit.ignore
    def note(self) -> int:
        self.x = torch.tensor([3])
        return 1

    def forward(self, n: int) -> int:
        self.note()
        unused = self.note()  # noqa: F841
        return n


def test_calls_of_python_stay_though_nobody_uses_their_result() -> None:
    model = jit.script(Noted())
    assert model(1) == 1 and model.x.item() == 3


def test_classes_see_the_names_around_them() -> None:
    tensor_type, one = torch.Tensor, 1

    def more(n: int) -> int:
        return n + 1

    @jit.script
    class First:
        def __init__(self):
            self.n = 3

        @property
        def after(self) -> int:
            return more(self.n)

        @jit.unused
        def outside(self, x: Iterable[int], **others) -> int:
            return 1

        def reaches(self) -> int:
            return self.outside(y="a")

    @jit.script
    class Second:
        def __init__(self):
            self.n = 3

        def same(self, other):
            # type: (First) -> bool
            return self.n == other.n

    class Third:
        def __init__(self):
            pass

        def given(self, x: tensor_type) -> tensor_type:
            return x + one

    def call():
        return Third().given(torch.ones(1)), First().after, Second().same(First())

    assert jit.script(call)() == call()
    with pytest.raises(RuntimeError, match="left out"):
        jit.script(lambda: First().reaches())()


@dataclass(order=True)
class Point:
    x: float
    y: float


def orders(a: float, b: float) -> Tuple[bool, bool, bool, bool]:  # noqa: UP006
    first, second = Point(a, b), Point(a, a)
    return first < second, first <= first, first > second, second >= first


@pytest.mark.parametrize("pair", [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0)])
def test_order_of_dataclasses(pair: tuple[float, float]) -> None:
    assert jit.script(orders)(*pair) == orders(*pair)


def empty() -> Any:
    return dict([])


def typed() -> Dict[str, Optional[int]]:  # noqa: UP006, UP045
    found: Dict[str, Optional[int]] = {word: None for word in ["a", "b"]}  # noqa: UP006, UP045
    return found


class Powers(jit.ScriptModule):
    def __init__(self):
        super().__init__()
        self.c = {2 + 3j: 2 - 3j, 1j: 4 + 0j}


def test_dicts() -> None:
    assert jit.script(empty)() == {} and jit.script(typed)() == typed()
    assert saved(Powers()).c == {2 + 3j: 2 - 3j, 1j: 4 + 0j}


# --- Traces
class Traced(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = 3

    @jit.export
    def twice(self, n: int) -> int:
        return self.a * n

    def forward(self, x, pair):
        return x + pair[0] + pair[1]


def test_what_traces_take() -> None:
    x, w = torch.ones(3, 4), torch.ones(4, 5, requires_grad=True)

    def detached(x, w):
        y = torch.matmul(x, w)
        y.detach_()
        return y * 2

    found = jit.trace(detached, (x, w.detach()))(x, w)
    assert not found.requires_grad and torch.equal(found, detached(x, w))
    named = jit.trace(Traced(), example_kwarg_inputs={"x": x, "pair": (x, x)})
    assert torch.equal(named(x=x, pair=(x, x)), 3 * x) and named.twice(2) == 6 and saved(named).twice(2) == 6
    graph, result, inputs = jit._get_trace_graph(nn.Linear(4, 2), x, return_inputs=True)
    assert len(inputs) == len(list(graph.inputs())) == 3 and result.shape == (3, 2)


@dataclass
class Settings:
    """What no program can hold: its annotation says text, its value is none."""

    kind: str = "a"
    layers: "list[Unknown]" = ()  # type: ignore[name-defined] # noqa: F821


class Configured(nn.Module):
    config: Settings

    def __init__(self):
        super().__init__()
        self.config, self.other, self.left = Settings(), Settings(), {1: object()}

    def forward(self, x):
        return x * 2 if self.config.kind == "a" else x


def test_attributes_that_no_program_holds_do_not_hinder_traces() -> None:
    model = nn.Sequential(Configured(), Configured())
    traced = jit.trace(model, torch.ones(2))
    assert traced(torch.ones(3)).tolist() == [4.0] * 3 and saved(traced)(torch.ones(1)).item() == 4
    with pytest.raises(RuntimeError, match="config"):
        jit.script(model)


class Named(nn.Module):
    """A part is called as the module itself is in its program, as in published models."""

    def __init__(self):
        super().__init__()
        self.self, self.x = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        return self.x(self.self(x))


def test_parts_that_are_called_as_arguments_are() -> None:
    model, x = Named(), torch.ones(2)
    traced = jit.trace(model, x)
    assert traced(x=x).equal(model(x)) and saved(traced)(x).equal(model(x))


def test_what_went_on_knows_more_than_what_left() -> None:
    def last(steps: int, gap: int) -> tuple[int | None, int]:
        found: int | None = None
        total = 0
        for i in range(steps):
            if i < gap:
                if i == gap - 1:
                    found = None
                    continue
                found = i
            else:
                found = 1 if found is None else found
            found = found + 1
            total += found
        return found, total

    program = jit.script(last)
    for case in ((0, 0), (1, 1), (5, 2), (6, 3), (3, 9)):
        assert program(*case) == last(*case)


def test_what_a_way_set_is_not_what_its_condition_told() -> None:
    def maybe(n: int) -> int | None:
        return n if n > 1 else None

    def program(n: int, start: int | None) -> tuple[int, int | None]:
        found = start
        for i in range(3):
            if found is None:
                found = maybe(n + i)
            else:
                continue
            if found is None:
                return i, found
        return 7, found

    compiled = jit.script(program)
    for case in ((0, None), (1, None), (3, None), (0, 5)):
        assert compiled(*case) == program(*case)


def test_what_is_known_while_nothing_has_exited() -> None:
    def program(n: int, flag: bool, given: int | None) -> int:
        total = 0
        for i in range(n):
            if flag:
                if i > 2:
                    given = None
                    break
            elif given is None:
                break
            if flag and given is None:
                given = i
            elif given is None:
                continue
            total += given * 2
        return total

    compiled = jit.script(program)
    for case in ((4, True, None), (5, True, 1), (4, False, None), (4, False, 3)):
        assert compiled(*case) == program(*case)
