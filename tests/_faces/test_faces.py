"""PyTorch's private modules: they are found by its names, hold what is there, and what earlier files name."""

from __future__ import annotations

import importlib
import pickle
import types
from pathlib import Path

import pytest

import taeda
from taeda import nn

FOLDER = Path(taeda.__file__).parent / "_faces"
FACES = sorted(
    ".".join(part for part in path.relative_to(FOLDER).with_suffix("").parts if part != "__init__")
    for path in FOLDER.rglob("*.py")
    if path.parent != FOLDER or path.stem != "__init__"
)
# What a face holds besides: for pickles, and to say what it says.
OURS = {
    "_dynamo": {"_compile"},
    "_dynamo._trace_wrapped_higher_order_op": {"nullcontext"},
    "_functorch": {
        "Any",
        "ModuleType",
        "functionalize",
        "_CONTENTS",
        "_MODULES",
        "_TRANSFORMS",
        "_contents",
        "_of_graphs",
    },
    "_ops": {"OpNamespace", "find_overload"},
    "_utils": {"REBUILDERS", "rebuild_tensor", "rebuild_with_state"},
}


@pytest.mark.parametrize("name", FACES)
def test_a_face_has_pytorchs_name(name: str) -> None:
    module = importlib.import_module(f"taeda.{name}")
    assert module.__name__ == f"taeda.{name}" and module.__doc__


@pytest.mark.torch
@pytest.mark.parametrize("name", FACES)
def test_a_face_holds_what_pytorch_has_there(name: str) -> None:
    pytest.importorskip("torch")
    theirs, ours = importlib.import_module(f"torch.{name}"), importlib.import_module(f"taeda.{name}")
    names = {n for n, value in vars(ours).items() if not n.startswith("__") and not isinstance(value, types.ModuleType)}
    missing = {n for n in names - {"annotations", "_name"} if not hasattr(theirs, n)}
    assert missing - OURS.get(name, set()) == set()


def test_functions_of_functions_have_modules_too() -> None:
    from taeda._higher_order_ops.scan import scan

    assert scan is taeda._higher_order_ops.scan and taeda.cond is taeda._higher_order_ops.cond


@pytest.mark.parametrize("made", [lambda: taeda.arange(3.0), lambda: nn.Parameter(taeda.ones(2))])
def test_earlier_pickles_of_tensors(made) -> None:
    earlier = pickle.dumps(made(), 0).replace(b"taeda._serialization.plain_pickle", b"taeda._utils")
    assert b"taeda._utils" in earlier and b"plain_pickle" not in earlier
    assert taeda.equal(pickle.loads(earlier), made())


def test_earlier_pickles_of_ops() -> None:
    op = taeda.ops.aten.add.Tensor
    earlier = pickle.dumps(op, 0).replace(b"taeda._library.ops", b"taeda._ops")
    assert b"taeda._ops\nfind_overload" in earlier and pickle.loads(earlier) is op


def test_products_of_the_algorithms():
    from taeda import _linalg_utils as utils

    s, a = taeda.arange(6.0).view(3, 2), taeda.eye(3) * 2
    assert taeda.equal(utils.qform(a, s), s.mT @ a @ s) and utils.matmul(None, s) is s
    assert taeda.equal(utils.matmul(a.to_sparse(), s), a @ s) and utils.get_floating_dtype(taeda.ones(1).long())
    values, vectors = utils.symeig(taeda.diag(taeda.tensor([1.0, 3.0, 2.0])), largest=True)
    assert values.tolist() == [3.0, 2.0, 1.0] and vectors.abs().argmax(0).tolist() == [1, 2, 0]
    taeda.testing.assert_close(utils.basis(s).mT @ utils.basis(s), taeda.eye(2))
