"""Tensors and parameters that a program makes while it is exported."""

import pytest

import taeda
from taeda import export, nn
from taeda.export import Dim


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.weight = nn.Parameter(taeda.arange(3.0))

    def forward(self, x):
        return self.function(self, x)


def drawn(_, x):
    taeda.manual_seed(3)
    return nn.Linear(3, 2)(x) + taeda.empty(2).normal_(1.0, 2.0) + taeda.empty(2).exponential_()


CASES = {
    "a parameter": lambda m, x: x + nn.Parameter(taeda.ones(3)),
    "a parameter of a parameter": lambda m, x: x + nn.Parameter(m.weight * 2),
    "a parameter of the input": lambda m, x: nn.Parameter(x * 2).sum(),
    "a size": lambda m, x: x.sum() * taeda.tensor(x.shape[0]),
    "sizes": lambda m, x: taeda.tensor([[x.shape[0], 2], [3, x.shape[1]]]),
    "sizes as another dtype": lambda m, x: taeda.as_tensor((x.shape[0], 1), dtype=taeda.int32),
    "a number out of a tensor": lambda m, x: x + taeda.tensor([x.sum().item(), 1.0, 2.0]),
    "whether": lambda m, x: taeda.tensor(x.sum().item() > 0),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_a_value_of_the_graph(name):
    module = Call(CASES[name])
    program = export.export(module, (taeda.ones(4, 3),), dynamic_shapes=({0: Dim("n")},))
    x = taeda.full((5, 3), 2.0)
    for run in (program.module(), program.run_decompositions().module()):
        taeda.testing.assert_close(run(x), module(x))


def test_random_fillings_have_a_form_that_does_not_write():
    module, x = Call(drawn), taeda.ones(2, 3)
    program = export.export(module, (x,)).run_decompositions()
    ops = [node.target._opname for node in program.graph.nodes if hasattr(node.target, "_opname")]
    assert [op for op in ops if op in ("uniform", "normal_functional", "exponential")] == [
        "uniform", "uniform", "normal_functional", "exponential",
    ]  # fmt: skip
    taeda.manual_seed(3)
    taeda.testing.assert_close(program.module()(x), module(x))
