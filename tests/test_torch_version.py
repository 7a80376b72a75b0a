"""Versions compare as versions, with texts and tuples; PyTorch's own class agrees."""

from __future__ import annotations

import operator

import pytest

from taeda.torch_version import TorchVersion

ORDERED = ["1.10.0", "2.9", "2.12.9", "2.13.0.dev20250101", "2.13.0a0", "2.13.0a0+git123", "2.13.0rc1", "2.13.0",
           "2.13.0+cpu", "2.13.0.post1", "2.14"]  # fmt: skip
OTHERS = [*ORDERED, "2.13", "v2.13.0", "parrot", (2, 13), (2, 9, 1), ("2", "13", "0"), None, 3]
OPERATIONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


@pytest.mark.parametrize("k", range(len(ORDERED)))
def test_order(k):
    version = TorchVersion(ORDERED[k])
    assert all(version > earlier for earlier in ORDERED[:k]) and all(version < later for later in ORDERED[k + 1 :])
    assert version == ORDERED[k] and hash(version) == hash(ORDERED[k]) and isinstance(version, str)


def test_tuples_and_what_is_no_version():
    version = TorchVersion("2.13.0")
    assert version == (2, 13) and version == "2.13" and (2, 9, 1) < version < (2, 13, 1) and version >= ("2", "13")
    assert version != "parrot" and version < "parrot" and TorchVersion("parrot") > "2.13" and version != 3
    for wrong in (3, None):
        with pytest.raises(TypeError):
            _ = version < wrong
    assert version.split(".") == ["2", "13", "0"] and f"{version}" == "2.13.0"


def outcome(call):
    try:
        return call()
    except TypeError:
        return TypeError


@pytest.mark.torch
@pytest.mark.parametrize("text", [other for other in OTHERS if isinstance(other, str)])
def test_pytorchs_class_agrees(text):
    theirs = pytest.importorskip("torch.torch_version").TorchVersion(text)
    mine = TorchVersion(text)
    for other in OTHERS:
        for operation in OPERATIONS:
            assert outcome(lambda: operation(mine, other)) == outcome(lambda: operation(theirs, other)), (  # noqa: B023
                operation.__name__, other
            )  # fmt: skip
