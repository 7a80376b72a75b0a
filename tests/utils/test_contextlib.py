"""Context managers of programs that decorate functions."""

from __future__ import annotations

import contextlib

import pytest

from taeda.utils._contextlib import _DecoratorContextManager, _NoParamDecoratorContextManager, context_decorator

EVENTS: list[str] = []


class Noting(_DecoratorContextManager):
    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        EVENTS.append(f"+{self.name}")

    def __exit__(self, *error: object) -> None:
        EVENTS.append(f"-{self.name}")

    def clone(self) -> Noting:
        return Noting(self.name)


class Bare(_NoParamDecoratorContextManager):
    def __enter__(self) -> None:
        EVENTS.append("+")

    def __exit__(self, *error: object) -> None:
        EVENTS.append("-")


@contextlib.contextmanager
def made():
    EVENTS.append("+made")
    yield
    EVENTS.append("-made")


def events(call) -> list[str]:
    EVENTS.clear()
    call()
    return list(EVENTS)


def test_functions_and_generators_run_within() -> None:
    @Noting("a")
    def nested(depth: int = 1) -> None:
        EVENTS.append("in")
        if depth:
            nested(depth - 1)

    @Bare
    def bare() -> None:
        """Documented."""

    @Noting("g")
    def numbers():
        yield 1
        yield 2

    assert events(nested) == ["+a", "in", "+a", "in", "-a", "-a"]
    assert events(bare) == ["+", "-"] and bare.__doc__ == "Documented."
    generated = events(lambda: [EVENTS.append(str(number)) for number in numbers()])
    assert generated[-6:] == ["1", "+g", "-g", "2", "+g", "-g"] and generated[-8:-6] == ["+g", "-g"]
    with Bare():
        pass
    for kind in (_DecoratorContextManager, _NoParamDecoratorContextManager):
        with pytest.raises(NotImplementedError, match="has no __enter__"):
            kind().__enter__()


def test_contexts_made_for_each_call() -> None:
    function = context_decorator(made, lambda: EVENTS.append("in"))
    for _ in range(2):
        assert events(function) == ["+made", "in", "-made"]
    once = context_decorator(contextlib.nullcontext(), lambda: EVENTS.append("in"))
    assert events(once) == events(once) == ["in"]
    with pytest.raises(AssertionError, match="makes contexts and is one"):
        context_decorator(Noting("a"), print)
