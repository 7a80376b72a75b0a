"""``inspect.signature`` and ``help`` of every public callable, natives included."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import taeda
from taeda import _C

_STUBS = Path(_C.__file__).parent / "_C"
NAMESPACES = [
    "", "Tensor", "linalg", "fft", "special", "nn.functional", "nn", "nn.init", "nn.utils", "optim", "autograd", "func",
    "utils.data", "distributions", "serialization", "random", "amp",
]  # fmt: skip


def _namespace(name: str) -> Any:
    import importlib

    return taeda.Tensor if name == "Tensor" else importlib.import_module(f"taeda.{name}".rstrip("."))


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_callable_has_a_signature(namespace: str) -> None:
    home = _namespace(namespace)
    without = []
    for name in dir(home):
        value = None if name.startswith("_") else getattr(home, name)
        if callable(value) and not (inspect.isclass(value) and issubclass(value, (Exception, _C.TensorBase))):
            try:
                inspect.signature(value)
            except ValueError:
                without.append(name)
    assert without == []


def _overloads() -> Iterator[tuple[str, str, ast.arguments]]:
    for stub in ("_functions", "_nn", "_linalg", "_fft", "_special", "_methods", "_functions"):
        for node in ast.walk(ast.parse((_STUBS / f"{stub}.pyi").read_text())):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                yield stub, node.name, node.args


def _binds(signature: inspect.Signature, arguments: ast.arguments) -> bool:
    required = len(arguments.args) - len(arguments.defaults) + bool(arguments.vararg)
    keywords = {a.arg: 0 for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults) if default is None}
    try:
        signature.bind(*range(required), **keywords)
    except TypeError:
        return False
    return True


def test_signatures_take_what_the_overloads_require() -> None:
    refused = set()
    for stub, name, arguments in _overloads():
        home = _C.TensorBase if stub == "_methods" else getattr(_C, stub)
        if not _binds(inspect.signature(getattr(home, name)), arguments):
            refused.add(name)
    assert refused == set()


@pytest.mark.parametrize(
    "function, wanted",
    [
        ("add", "(input, other, *, alpha=1, out=None)"),
        ("max", "(input, dim=None, keepdim=False, *, out=None)"),
        ("Tensor.sum", "(self, /, dim=None, keepdim=False, *, dtype=None, out=None)"),
        ("Tensor.view", "(self, /, *size)"),
        ("Tensor.item", "(self, /)"),
        ("nn.functional.prelu", "(input, weight)"),
        ("linalg.svd", "(A, full_matrices=True, *, driver=None, out=None)"),
        ("tensor", "(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)"),
        ("Tensor.random_", "(self, /, from_=None, to=None, *, generator=None)"),
    ],
)
def test_signature(function: str, wanted: str) -> None:
    path, _, name = function.rpartition(".")
    value = getattr(_namespace(path), name)
    assert str(inspect.signature(value)) == wanted
    assert value.__doc__ and "--" not in value.__doc__.splitlines()[0]
