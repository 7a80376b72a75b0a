"""Bodies of composites as C++, and what the generator says of those that it cannot translate."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from generator import generate

HEAD = '''from taedagen.opdef import *


@pointwise("twice(Tensor self) -> Tensor", not_differentiable=True)
def twice(self):
    """Doubled."""
    return self + self


@view("part(Tensor(a) self, int dim) -> Tensor(a)", shape="t")
def part(self, dim):
    """A view."""


@composite("made(Tensor self, Tensor? other=None, int n=1, str word='a', int[] list=[]) -> Tensor")
def made(self, other, n, word, list):
    """A composite."""
'''
FIRST = HEAD.count("\n") + 1


def translate(folder: Path, body: str) -> tuple[str, str]:
    """The C++ statements of ``made`` with that body, and the generator's complaint."""
    (folder / "ops").mkdir()
    (folder / "ops" / "bodies.py").write_text(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))
    run = generate(folder / "out", "--subset", "library", ops=folder / "ops")
    if run.returncode:
        return "", run.stderr
    text = (folder / "out" / "csrc" / "composite" / "ops" / "bodies.cpp").read_text()
    found = re.search(r"composite::made\(.*?\{\n(.*?)\n\}", text, re.S)
    assert found
    lines = [line[2:] for line in found[1].splitlines() if not line.startswith("  (void)")]
    return "\n".join(lines), ""


@pytest.mark.parametrize("body, made", [
    ("return self if other is None else op.twice(other)", "return !other.defined() ? self : ops::twice(other);"),
    ("if n > 1 and word == 'a':\n    return op.twice(self)\nreturn self",
     'if ((n > 1) && (word == "a")) return ops::twice(self);\nreturn self;'),
    ("sizes = [d * 2 for d in self.shape if d != n]\nreturn op.part(self, len(sizes))",
     "shape::Dims sizes;\nfor (int64_t d : self.sizes()) {\n  if (d != n) sizes.push_back(d * 2);\n}\n"
     "return ops::part(self, std::ssize(sizes));"),
    ("result = self\nfor _ in range(n):\n    result = op.twice(result)\nreturn result",
     "Tensor result = self;\nfor (int64_t _ = 0; _ < n; ++_) {\n  result = ops::twice(result);\n}\nreturn result;"),
    ("if other is None:\n    x = 1\nelse:\n    x = 2\nreturn op.part(self, x // n)",
     "int64_t x = 0;\nif (!other.defined()) {\n  x = 1;\n} else {\n  x = 2;\n}\n"
     "return ops::part(self, composite::floor_div(x, n));"),
    ("check(n >= 0, f'n must not be negative; got {n}', ValueError)\nreturn self",
     'TAEDA_CHECK_VALUE(n >= 0, "n must not be negative; got ", n);\nreturn self;'),
    ("self = op.twice(self)\nreturn self",
     "Tensor self_now = self;\nself_now = ops::twice(self_now);\nreturn self_now;"),
])  # fmt: skip
def test_statements(tmp_path: Path, body: str, made: str) -> None:
    assert translate(tmp_path, body) == (made, "")


@pytest.mark.parametrize("body, line, message", [
    ("x = op.twice(self)\nif x:\n    return x\nreturn self", 2, "is a tensor, whose elements are not known.*use where"),
    ("return op.no_such_op(self)", 1, "there is no op 'no_such_op'"),
    ("return op.twice(n)", None, ""),  # a number may stand for a tensor
    ("return op.part(self, word)", 1, r"no overload of 'part' takes \(Tensor, str\)"),
    ("x = n\nx = word\nreturn self", 2, "'x' is int and would become str"),
    ("self += 1\nreturn self", 1, "x = x \\+ y"),
    ("return n", 1, "it returns int, but the schema says Tensor"),
    ("try:\n    return self\nfinally:\n    pass", 1, "no 'try' statement"),
    ("return unknown(self)", 1, "the name 'unknown' is unknown"),
    ("return op.twice(self[0])", 1, "a part of a tensor is told by select"),
])  # fmt: skip
def test_mistakes_name_their_line(tmp_path: Path, body: str, line: int | None, message: str) -> None:
    _, said = translate(tmp_path, body)
    if line is None:
        assert said == ""
    else:
        assert f"bodies.py:{FIRST + line - 1}: error: made: " in said and re.search(message, said), said
