"""What is no program although Python runs it, and what Python does not say either."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, NamedTuple, Optional, Tuple  # noqa: UP035 programs spell types so

import pytest

import taeda as torch
from taeda import jit, nn

TEXTS = {
    "def f(x):\n    a = x * 2\n    if bool(x.sum() > 0):\n        del a\n    return a": "'a' was deleted",
    "def f(x):\n    del b\n    return x": "the name 'b' is not known",
    "def f(x):\n    *b, = (x, x)\n    return b": "stands among others",
    "def f():\n    a, *b, *c = [1, 2, 3]\n    return a": "one starred name",
    "def f(x: List[int]):\n    for _ in zip():\n        pass": "zip takes",
    "def f(x: List[int]):\n    return x[slice(1, stop=2)]": "slice takes its bounds by position",
    "def f(x: Any):\n    return torch.jit.isinstance(x, List)": "does not say of what",
    "def f(x: Any):\n    return torch.jit.isinstance(x, (int, Optional))": "does not say of what",
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts(text: str) -> None:
    with pytest.raises(RuntimeError, match=TEXTS[text]):
        jit.CompilationUnit(text)


def list_default(x: List[int] = []):  # noqa: B006, UP006
    return x


def nested_default(x: Tuple[int, List[int]] = (1, [])):  # noqa: UP006
    return x


def none_default(x: Dict[str, int] = None):  # noqa: UP006
    return x


def float_default(x: int = 0.5):
    return x


@pytest.mark.parametrize("function", [list_default, nested_default, none_default, float_default])
def test_defaults(function: Any) -> None:
    with pytest.raises(RuntimeError, match="the default of 'x'"):
        jit.script(function)


@dataclass
class Made:
    x: List[int] = field(default_factory=list)  # noqa: UP006


class Bare:
    def __init__(self):
        self.x = [1]

    def __bool__(self):
        return 1, 2


def remove():
    made = Bare()
    del made[0]


def ask():
    return 1 if Bare() else 2


def test_classes() -> None:
    with pytest.raises(NotImplementedError, match="default_factory"):
        jit.script(Made)
    with pytest.raises(RuntimeError, match="no __delitem__"):
        jit.script(remove)
    with pytest.raises(RuntimeError, match="is no condition"):
        jit.script(ask)
    with pytest.raises(RuntimeError, match="a tuple of types"):
        jit.isinstance(2, [int])


class Doubled(nn.Module):
    def forward(self, x):
        return x * 2

    def other(self, x):
        return x


def test_traces() -> None:
    x = torch.ones(2)
    for given in (lambda: [1, 5], lambda: [[x], [x]]):
        with pytest.raises(RuntimeError, match="must be made of tensors"):
            jit.trace(given, [])
    with pytest.raises(RuntimeError, match="must be made of tensors"):
        jit.trace(lambda k: {"a": (k, 1)}, (x,), strict=False)
    with pytest.raises(AttributeError, match="trace_module"):
        jit.trace(Doubled().other, (x,))
    hooked = Doubled()
    hooked.register_full_backward_hook(lambda *given: None)
    with pytest.raises(ValueError, match="backward hooks"):
        jit.trace(hooked, (x,))


def test_constants_stay() -> None:
    class Held(nn.Module):
        __constants__ = ["n"]

        def __init__(self):
            super().__init__()
            self.n = 5

        def forward(self) -> Optional[int]:  # noqa: UP045
            return self.n

    with pytest.raises(RuntimeError, match="constant"):
        jit.script(Held()).n = 6


# Exceptions that PyTorch raises are RuntimeError for some of these and ValueError for others.
TYPES = ["frozenset[int]", "int[2]", "Tensor[Tensor]", "Tuple[Tensor, Tensor][Tensor]", "3", "Dict[str, nn.Module]"]


@pytest.mark.parametrize("text", TYPES)
def test_annotations_that_are_no_types(text: str) -> None:
    source = f"def f(x: {text}):\n    return 1\n"
    for kind in (RuntimeError, ValueError):
        with pytest.raises(kind, match=r"is no type|class of modules"):
            jit.CompilationUnit(source)


class Bag(NamedTuple):
    field: Absent  # type: ignore[name-defined] # noqa: F821
    other: "int"  # noqa: UP037


def test_a_field_of_a_named_tuple_without_type() -> None:
    def takes(bag: Bag) -> int:
        return 1

    with pytest.raises(ValueError, match=r"'Absent' of Bag is not known(.|\n)*def takes"):
        jit.script(takes)
