"""What a build of selected ops says of the others."""

from __future__ import annotations

import pytest

import taeda
from taeda import _left_out


@pytest.fixture
def selected(monkeypatch: pytest.MonkeyPatch) -> type:
    """A class such as Tensor is in a build without cos and sub."""
    monkeypatch.setattr(_left_out, "names", lambda: frozenset({"cos", "sub", "neg"}))
    made = type("Tensor", (), {})
    _left_out.explain_on(made)
    return made


def test_names_methods_and_operators(selected: type) -> None:
    x = selected()
    with pytest.raises(AttributeError, match="leaves out 'cos'; add it to the file of --select-ops"):
        x.cos()
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'nothing'"):
        _ = x.nothing
    assert not hasattr(x, "sin")
    for call, name in ((lambda: x - 1, "sub"), (lambda: -x, "neg")):
        with pytest.raises(NotImplementedError, match=f"taeda.{name}: this build leaves out '{name}'"):
            call()


def test_a_whole_build_has_no_such_hook() -> None:
    assert _left_out.names() == frozenset() and "__getattr__" not in vars(taeda.Tensor)
