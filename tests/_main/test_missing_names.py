"""A name that is not there: why, or what was meant."""

from __future__ import annotations

import copy
import importlib
import pickle

import pytest

import taeda


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sofmax", "module 'taeda' has no attribute 'sofmax'. Did you mean 'softmax'"),
        ("nn.Conv2D", "Did you mean 'Conv2d'"),
        ("nn.functional.cross_entrpy", "Did you mean 'cross_entropy'?"),
        ("optim.Adamm", "Did you mean 'Adam'"),
        ("utils.data.Dataloader", "Did you mean 'DataLoader'?"),
        ("linalg.svdd", "module 'taeda.linalg' has no attribute 'svdd'. Did you mean 'svd'?"),
        ("cudnn_convolution", "of another library or device (docs/coverage.md)"),
        ("zzzz", "module 'taeda' has no attribute 'zzzz'"),
    ],
)
def test_messages(name: str, message: str) -> None:
    path, _, last = f"taeda.{name}".rpartition(".")
    module = importlib.import_module(path)
    with pytest.raises(AttributeError) as caught:
        getattr(module, last)
    assert message in str(caught.value) and not hasattr(module, last)
    for twin in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert type(twin) is AttributeError and str(twin) == str(caught.value)


def test_asking_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs ask for many names that may be missing: what is near is found when somebody reads the message."""
    from taeda._main import absent

    monkeypatch.setattr(absent, "close_names", None)
    assert not hasattr(taeda, "sofmax")
