"""What a build of selected ops says of the others."""

from __future__ import annotations

import pytest

import taeda
from taeda import _left_out


@pytest.fixture
def selected(monkeypatch: pytest.MonkeyPatch) -> type:
    """A class such as Tensor is in a build without cos."""
    monkeypatch.setattr(_left_out, "names", lambda: frozenset({"cos"}))
    made = type("Tensor", (), {})
    _left_out.explain_on(made)
    return made


def test_methods(selected: type) -> None:
    x = selected()
    with pytest.raises(AttributeError, match="leaves out 'cos'; add it to the file of --select-ops"):
        x.cos()
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'nothing'"):
        _ = x.nothing
    assert not hasattr(x, "sin")


def test_a_whole_build_has_no_such_hook() -> None:
    assert _left_out.names() == frozenset() and "__getattr__" not in vars(taeda.Tensor)
