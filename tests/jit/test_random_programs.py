"""Random programs of arithmetic, control flow and containers: scripted, they do what Python does."""

from __future__ import annotations

import typing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taeda
from taeda import jit

NAMES = {"int": ["a", "b", "n"], "float": ["x", "y"], "list": ["p", "q"], "bool": ["f"]}


class Writer:
    """Writes a function, statement by statement, by what ``draw`` chooses."""

    def __init__(self, draw) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.loops = 0

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    def expression(self, kind: str, depth: int = 2) -> str:
        if depth == 0:
            simple = {"int": str(self.draw(st.integers(-5, 9))), "float": self.pick("0.5", "-1.25", "3.0"),
                      "list": "[1, 2]", "bool": self.pick("True", "False")}[kind]  # fmt: skip
            return self.pick(simple, *NAMES[kind])
        one = lambda k: self.expression(k, depth - 1)
        forms = {
            "int": lambda: self.pick(
                f"({one('int')} {self.pick('+', '-', '*', '//', '%', '&', '|', '^')} {one('int')}) % 997",
                f"len({one('list')})", f"sum({one('list')})", f"({one('list')})[{one('int')}]", f"int({one('float')})",
                f"({one('int')} if {one('bool')} else {one('int')})", f"abs({one('int')})", f"min({one('int')}, 7)",
            ),
            "float": lambda: self.pick(
                f"({one('float')} {self.pick('+', '-', '*', '/')} {one('float')})", f"float({one('int')})",
                f"({one('int')} / {one('int')})", f"({one('float')} if {one('bool')} else {one('float')})",
                f"max({one('float')}, 0.25)",
            ),
            "list": lambda: self.pick(
                f"({one('list')} + {one('list')})[:6]", f"[i * {one('int')} % 97 for i in range(3)]",
                f"sorted({one('list')})", f"{one('list')}[1:]", f"[{one('int')}, {one('int')}]",
            ),
            "bool": lambda: self.pick(
                f"({one('int')} {self.pick('<', '<=', '==', '!=', '>')} {one('int')})", f"(not {one('bool')})",
                f"({one('bool')} {self.pick('and', 'or')} {one('bool')})", f"({one('int')} in {one('list')})",
                f"({one('float')} < {one('float')} < 9.0)",
            ),
        }  # fmt: skip
        return forms[kind]()

    def statement(self, indent: str, depth: int) -> None:
        kinds = ["set", "set", "grow", "narrow"] + (["if", "for", "while", "exit"] if depth else ["exit"])
        kind = self.pick(*kinds)
        add = lambda text: self.lines.append(indent + text)
        if kind == "set":
            type = self.pick(*NAMES)
            name = self.pick(*NAMES[type])
            operator = self.pick("=", "+=", "-=") if type in ("int", "float") else "="
            add(f"{name} {operator} {self.expression(type)}" + (" % 1009" if type == "int" else ""))
        elif kind == "grow":
            add(f"{self.pick('p', 'q')}.append({self.expression('int')} % 1009)")
        elif kind == "narrow":
            self.narrow(add)
        elif kind == "if":
            add(f"if {self.expression('bool')}:")
            self.body(indent, depth)
            if self.pick(True, False):
                add("else:")
                self.body(indent, depth)
        elif kind == "for":
            add(f"for i in range({self.pick('2', '4', 'n % 5')}):")
            self.loop(indent, depth)
        elif kind == "while":
            add("n = 0")
            add("while n < 4:")
            self.lines.append(f"{indent}    n += 1")
            self.loop(indent, depth)
        elif self.loops and self.pick(True, False):
            add(f"if {self.expression('bool')}:")
            self.lines.append(f"{indent}    {self.pick('break', 'continue')}")
        else:
            add(f"if {self.expression('bool')}:")
            self.lines.append(f"{indent}    return {RESULT}")

    def narrow(self, add) -> None:
        """Ways of which those that go on have a number in ``o``; then what needs one."""
        leave = self.pick("break", "continue") if self.loops and self.pick(True, False) else f"return {RESULT}"
        number = f"o = {self.expression('int', 1)}"
        add(f"if {self.expression('bool', 1)}:")
        inner = f"if {self.pick(self.expression('bool', 1), 'o is None')}:"
        forms = [[inner, "    o = None", f"    {leave}", number], [inner, f"    {number}", "else:", f"    {leave}"],
                 ["o = None", leave], [number]]  # fmt: skip
        for line in self.pick(*forms):
            add(f"    {line}")
        if self.pick(True, False):
            add("else:")
            add(f"    {number}")
        else:
            add("elif o is None:")
            add(f"    {leave}")
        add(f"a = (a + {self.pick('o', 'o * 2')}) % 1009")

    def loop(self, indent: str, depth: int) -> None:
        self.loops += 1
        self.body(indent, depth)
        self.loops -= 1
        if self.pick(True, False):
            self.lines.append(f"{indent}else:")
            self.body(indent, depth)

    def body(self, indent: str, depth: int) -> None:
        for _ in range(self.draw(st.integers(1, 3))):
            self.statement(indent + "    ", depth - 1)


RESULT = "a, b, n, x, y, p, q, f, o"
HEAD = "def program(a: int, b: int, n: int, x: float, y: float, p: List[int], q: List[int], f: bool):"


@st.composite
def programs(draw) -> str:
    writer = Writer(draw)
    writer.lines += [HEAD, "    o: Optional[int] = None"]
    for _ in range(draw(st.integers(2, 5))):
        writer.statement("    ", 2)
    writer.lines.append(f"    return {RESULT}")
    return "\n".join(writer.lines)


def outcome(function):
    try:
        return function(3, -2, 7, 0.5, 2.0, [1, 5, 2], [], True)
    except (ZeroDivisionError, IndexError, OverflowError, ValueError) as error:
        return next(cls for cls in (ZeroDivisionError, IndexError, OverflowError, ValueError) if isinstance(error, cls))


@settings(max_examples=40)
@given(programs())
def test_scripted_programs_do_what_python_does(text):
    scope: dict[str, typing.Any] = {"List": list, "Optional": typing.Optional}
    exec(text, scope)
    wanted = outcome(scope["program"])
    scripted = jit.CompilationUnit(text).program
    scripted.graph.lint()
    found = outcome(scripted)
    assert repr(found) == repr(wanted), f"{text}\n{scripted.graph}"


@settings(max_examples=40)
@given(st.lists(st.sampled_from([
    "t = t + x", "t = t * 2 - 1", "t = t.relu()", "t = t @ t.t()", "t = t[:, :1] + t", "t = t.sum(0, keepdim=True) + t",
    "t[0] = x", "t += 1", "if t.sum() > 3:\n        t = -t", "for i in range(2):\n        t = t / (i + 1)",
    "t = torch.cat([t, t])[:2]", "t = torch.where(t > 0, t, t * 0.5)", "u = t.max(1)\n    t = t - u.values[:, None]",
]), min_size=1, max_size=6))  # fmt: skip
def test_scripted_tensors_are_pythons(statements):
    body = "\n    ".join(statements)
    text = f"def program(t: Tensor, x: float):\n    {body}\n    return t"
    scope: dict[str, typing.Any] = {"torch": taeda, "Tensor": taeda.Tensor}
    exec(text, scope)
    start = taeda.tensor([[1.0, -2.0], [0.5, 3.0]])
    wanted = scope["program"](start.clone(), 1.5)
    assert taeda.equal(jit.CompilationUnit(text).program(start.clone(), 1.5), wanted), text


def test_a_random_program_is_a_program():
    with pytest.raises(ZeroDivisionError):
        jit.CompilationUnit("def program(a: int):\n    return a % 0").program(1)
