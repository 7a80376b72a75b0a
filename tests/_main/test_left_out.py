"""What a build of selected ops says of the others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import taeda
from taeda._main import left_out


@pytest.fixture
def selected(monkeypatch: pytest.MonkeyPatch) -> type:
    """A class such as Tensor is in a build without cos."""
    monkeypatch.setattr(left_out, "names", lambda: frozenset({"cos"}))
    made = type("Tensor", (), {})
    left_out.explain_on(made)
    return made


def test_methods(selected: type) -> None:
    x = selected()
    with pytest.raises(AttributeError, match="leaves out 'cos'; add it to the file of --select-ops"):
        x.cos()
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'nothing'"):
        _ = x.nothing
    assert not hasattr(x, "sin")


def test_a_whole_build_has_no_such_hook() -> None:
    assert left_out.names() == frozenset() and "__getattr__" not in vars(taeda.Tensor)


WITHOUT_ANY = """
import glob, importlib.util, sys, types
spec = importlib.util.spec_from_file_location("taeda._C", glob.glob("taeda/_C.*.so")[0])
native = importlib.util.module_from_spec(spec)
sys.modules["taeda._C"] = native
spec.loader.exec_module(native)
gone = set()
for room in [native._functions, native._nn, native._linalg, native._fft, native._special]:
    for name in [n for n in vars(room) if not n.startswith("__")]:
        gone.add(name)
        delattr(room, name)
import taeda
from taeda._main import left_out
left_out.names = lambda: gone
import taeda.nn.functional, taeda.optim, taeda.utils.data, taeda.linalg, taeda.fft, taeda.special
assert not hasattr(taeda, "cos") and not hasattr(native._functions, "no_such_function")
try:
    taeda.nn.functional.prelu(1, 2)
except RuntimeError as error:
    assert "this build leaves out 'prelu'; add it to" in str(error)
else:
    assert False
"""


def test_the_package_needs_no_function_to_be_imported() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_ANY], cwd=Path(taeda.__file__).parents[1], check=True)
