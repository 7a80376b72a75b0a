"""Types as a user's type checker sees them: the programs say beside each line what mypy should."""

from __future__ import annotations

import enum
import inspect
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest

import taeda
from taeda import _C
from taeda._stand_in.stubs import write_stubs

pytest.importorskip("mypy")

HERE, ROOT = Path(__file__).parent, Path(taeda.__file__).parents[1]
PROGRAMS = ["program.py", "stand_in.py"]
_SAID = re.compile(r"(\w+\.py):(\d+): (error|note): (.*?)(?:  \[([\w-]+)\])?$", re.M)
Said = dict[tuple[str, int], list[str]]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Said:
    """By file and line: the types that were revealed and the kinds of errors."""
    torch = tmp_path_factory.mktemp("stubs")
    write_stubs(torch)
    cache = Path(tempfile.gettempdir()) / "taeda-mypy"  # a second run takes a third of the first one's time
    command = [sys.executable, "-m", "mypy", "--config-file", "", "--cache-dir", str(cache), "--check-untyped-defs"]
    environment = {**os.environ, "MYPYPATH": f"{torch}{os.pathsep}{ROOT}"}
    run = subprocess.run([*command, *PROGRAMS], cwd=HERE, env=environment, capture_output=True, text=True)
    assert run.returncode == 1 and not run.stderr, run.stdout + run.stderr
    found: Said = defaultdict(list)
    for name, line, kind, text, code in _SAID.findall(run.stdout):
        if kind == "error":
            found[name, int(line)].append(f"error: {code}")
        elif text.startswith("Revealed type is"):
            found[name, int(line)].append(_short(text.split('"')[1]))
    return found


def _short(type_: str) -> str:
    """``Tensor`` for ``taeda._tensor.Tensor``, a named tuple by its name."""
    named = re.search(r"fallback=([\w.]+)", type_)
    return re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", named[1] if named else type_)


@pytest.mark.parametrize("program", PROGRAMS)
def test_types(said: Said, program: str) -> None:
    wanted = {}
    for number, line in enumerate((HERE / program).read_text().splitlines(), 1):
        code, _, comment = line.partition("  # ")
        if code.lstrip().startswith("reveal_type") or comment.startswith("error: "):
            wanted[number] = comment
    got = {line: ", ".join(dict.fromkeys(texts)) for (name, line), texts in said.items() if name == program}
    assert got == wanted


def _typed(path: Path, *classes: str) -> set[str]:
    """The names that a stub declares, in itself or in some of its classes."""
    import ast

    tree = ast.parse(path.read_text())
    bodies = [tree.body] if not classes else [n.body for n in tree.body if getattr(n, "name", "") in classes]
    found: set[str] = set()
    for node in (node for body in bodies for node in body):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.ImportFrom(names=names):
                found |= {alias.asname or alias.name for alias in names}
            case ast.Assign(targets=[ast.Name(id=name)]):
                found.add(name)
    return found


STUBS = Path(taeda.__file__).parent


@pytest.mark.filterwarnings("ignore:taeda.has_")
def test_every_public_name_is_typed() -> None:
    typed = _typed(STUBS / "__init__.pyi")
    there = {n for n in dir(taeda) if not n.startswith("_")} - {"annotations"}
    assert there - typed == set()
    assert {n for n in typed if not n.startswith("_") and not hasattr(taeda, n)} == set()


@pytest.mark.parametrize("room", ["fft", "linalg", "special"])
def test_every_name_of_a_module_of_natives_is_typed(room: str) -> None:
    module = getattr(taeda, room)
    assert set(module.__all__) <= _typed(STUBS / f"{room}.pyi")


def test_every_member_of_tensor_is_typed() -> None:
    own = _typed(STUBS / "_C" / "__init__.pyi", "TensorBase")
    typed = own | _typed(STUBS / "_C" / "_methods.pyi", "TensorMethods", "TensorOperators")
    there = {n for n in vars(_C.TensorBase) if not n.startswith("__")}
    assert there - typed == set()
    assert {n for n in typed if not hasattr(_C.TensorBase, n)} == set()


@pytest.mark.parametrize("name", ["", "_autograd"])
def test_what_is_bound_by_hand_is_typed(name: str) -> None:
    module = getattr(_C, name) if name else _C
    stub = STUBS / "_C" / f"{name or '__init__'}.pyi"
    in_python = inspect.getclosurevars(module.__getattr__).nonlocals["modules"]  # those that were asked for are there
    assert {n for n in vars(module) if not n.startswith("__")} - _typed(stub) - set(in_python) == set()
    for cls in {v for v in vars(module).values() if inspect.isclass(v)} - {_C.TensorBase}:
        if issubclass(cls, enum.Enum) or any(map(inspect.isfunction, vars(cls).values())):
            continue  # written in Python, and there because another test asked for it
        bases = [b.__name__ for b in cls.__mro__]
        typed = _typed(stub, *bases) | _typed(STUBS / "_C" / "_autograd.pyi", "Node")
        assert {n for n in vars(cls) if not n.startswith("__")} - typed == set(), cls
