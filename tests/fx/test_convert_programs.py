"""Graphs of fx and of jit, each as the other."""

from __future__ import annotations

import pytest

import taeda
from taeda import export, nn
from taeda.fx.ir import from_ir, to_ir
from taeda.jit.ir import parse_ir


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        y, places = self.layer(x).max(1)
        return taeda.cat([taeda.relu(y).to(taeda.float64), y], 0), places.view(1, -1)


def test_there_and_back():
    module, x = Block(), taeda.randn(3, 4)
    program = export.export(module, (x,))
    graph = to_ir(program.graph_module)
    graph.lint()
    kinds = [node.kind() for node in graph.nodes() if node.kind() != "prim::Constant"]
    assert kinds[:2] == ["aten::linear", "aten::max"] and "prim::ListConstruct" in kinds
    assert str(parse_ir(str(graph))) == str(graph)
    again = from_ir(graph)
    for a, b in zip(again(module.layer.weight, module.layer.bias, x), module(x), strict=True):
        assert taeda.equal(a, b)


def test_a_scripted_module_without_branches():
    module, x = Block(), taeda.randn(3, 4)
    scripted = taeda.jit.script(module)
    made = from_ir(scripted.inlined_graph, scripted)
    assert "torch.ops.aten.linear" in made.code and set(dict(made.named_parameters())) == {"layer.weight", "layer.bias"}
    for a, b in zip(made(x), module(x), strict=True):
        assert taeda.equal(a, b)


def test_what_cannot_be_said():
    with pytest.raises(TypeError, match="prim::If"):
        from_ir(parse_ir("graph(%c : bool, %x : Tensor):\n  %y : Tensor = prim::If(%c)\n    block0():\n      -> (%x)\n"
                         "    block1():\n      -> (%x)\n  return (%y)\n"))  # fmt: skip
    with pytest.raises(TypeError, match="which is no op"):
        to_ir(taeda.fx.symbolic_trace(lambda x: taeda.relu(x)))
