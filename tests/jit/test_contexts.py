"""``with`` over objects of compiled classes."""

import warnings
from pathlib import Path
from typing import Any

import pytest

from taeda import jit


@jit.script
class Lines:
    def __init__(self):
        self.lines = jit.annotate(list[str], [])


@jit.script
class Named:
    def __init__(self, name: str, to: Lines):
        self.name = name
        self.to = to

    def __enter__(self):
        self.to.lines.append("enter " + self.name)

    def __exit__(self, kind: Any, value: Any, traceback: Any):
        self.to.lines.append("exit " + self.name)
        if self.name == "fails":
            raise KeyError(self.name)


def test_an_exception_leaves_what_was_entered():
    def inner(to: Lines, n: int, name: str):
        with Named(name, to):
            if n > 1:
                raise ValueError("too many")
        return n

    def outer(to: Lines, n: int, name: str):
        with Named("a", to), Named("b", to):
            with Named("done", to):
                pass
            return inner(to, n, name)

    run = jit.script(outer)
    expected = ["enter a", "enter b", "enter done", "exit done", "enter c", "exit c", "exit b", "exit a"]
    for n in (1, 2):
        to = make_lines()
        if n == 1:
            assert run(to, n, "c") == 1
        else:
            with pytest.raises(ValueError, match="too many"):
                run(to, n, "c")
        assert to.lines == expected
    to = make_lines()
    with pytest.raises(KeyError):  # what __exit__ raises takes its place
        run(to, 2, "fails")
    assert to.lines[-3:] == ["exit fails", "exit b", "exit a"]


@jit.script
def make_lines() -> Lines:
    return Lines()


def test_a_warning_is_given_where_the_program_stands(tmp_path: Path) -> None:
    def warns() -> None:
        warnings.warn("said", stacklevel=2)

    def other() -> None:
        warnings.warn("said", stacklevel=2)

    def both(n: int) -> None:
        for _ in range(n):
            warns()
            other()

    program, lines = jit.script(both), [f.__code__.co_firstlineno + 1 for f in (warns, other)]
    for _ in range(2):  # each run says it anew, but a loop once
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("default")
            program(3)
        assert [(w.filename, w.lineno, str(w.message)) for w in said] == [(__file__, n, "said") for n in lines]
    jit.save(program, tmp_path / "warns.pt")
    with pytest.warns(UserWarning, match="said") as known:
        jit.load(tmp_path / "warns.pt")(1)
    assert {w.filename for w in known} == {__file__}
    with warnings.catch_warnings(), pytest.raises(UserWarning, match="said"):
        warnings.simplefilter("error")
        program(1)
