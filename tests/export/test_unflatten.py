"""Unflattened programs have a module for each call that does something else, and modules may be swapped."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import taeda
from taeda import nn


def module_of(torch: Any) -> Any:
    """The same module of either library."""

    class Part(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)
            self.register_buffer("shift", torch.ones(3))

        def forward(self, x: Any, flag: bool = False) -> Any:
            y = self.linear(x) + self.shift
            return y.sin() if flag else y

    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.part, self.other = Part(), Part()
            self.row = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh())

        def forward(self, x: Any) -> Any:
            y = self.part(self.part(x))
            y = self.part(self.part(self.part(self.other(y)), True), True)
            y = self.row(self.row(y))
            return self.part(self.row[0](y)) + self.other(x)

    return Net()


class Replaced(nn.Module):
    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        return x * 3


def program(torch: Any, state: Any = None) -> Any:
    net = module_of(torch)
    if state is not None:
        net.load_state_dict({k: torch.tensor(v.tolist()) for k, v in state.items()})
    export = import_module(f"{torch.__name__}.export")
    return net, export.export(net, (torch.ones(2, 3),))


def test_neighbouring_calls_are_calls() -> None:
    net, exported = program(taeda)
    tree = taeda.export.unflatten(exported)
    calls = [str(node.target) for node in tree.graph.nodes if node.op == "call_module"]
    parts = ["part", "part", "other", "part", "part@3", "part@3", "row", "row", "row.0", "part", "other"]
    assert calls == parts
    x = taeda.randn(2, 3)
    assert taeda.allclose(tree(x), net(x), atol=1e-6)


SWAPPED = ("part", "part@3", "part.linear", "part@3.linear", "other", "row.0", "other.linear", "row.1")


@pytest.mark.torch
def test_pytorch_has_the_same_modules_and_swaps_the_same() -> None:
    torch = pytest.importorskip("torch")
    net, exported = program(taeda)
    _, theirs = program(torch, net.state_dict())
    stack = lambda p: [list(n.meta["nn_module_stack"].items()) for n in p.graph.nodes if n.op == "call_function"]
    strip = lambda found: [[(key, path) for key, (path, *_) in entry] for entry in found]
    assert strip(stack(exported)) == strip(stack(theirs))
    x, y = taeda.ones(2, 3), torch.ones(2, 3)
    unflatten = torch.export.unflatten

    class Other(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x * 3

    for path in SWAPPED:
        tree, other = taeda.export.unflatten(exported), unflatten(theirs)
        before = tree(x)
        names = [str(node.target) for node in other.graph.nodes if node.op == "call_module"]
        assert [str(node.target) for node in tree.graph.nodes if node.op == "call_module"] == names
        outer, _, name = path.rpartition(".")
        setattr(tree.get_submodule(outer), name, Replaced())
        setattr(other.get_submodule(outer), name, Other())
        found = tree(x)
        assert taeda.allclose(found, taeda.tensor(other(y).tolist()), atol=1e-5), path
        assert not taeda.allclose(found, before), path
