"""`run_decompositions`: programs end at PyTorch's core ops, compute the same, and take other sizes."""

import pytest

import taeda
from taeda import export, nn
from taeda.export import Dim
from taeda.nn import functional as F


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def randn(*shape):
    return taeda.randn(shape, generator=taeda.Generator().manual_seed(sum(shape)))


LABELS = taeda.tensor([1, -100, 2])
CASES = {
    "linear": (nn.Linear(3, 4), (randn(5, 3),), "permute addmm"),
    "linear of rows": (nn.Linear(3, 4), (randn(5, 2, 3),), "view permute addmm view"),
    "linear without bias": (nn.Linear(3, 4, bias=False), (randn(5, 2, 3),), "permute view mm view"),
    "product": (Call(taeda.matmul), (randn(5, 3), randn(3, 4)), "mm"),
    "product with a vector": (Call(taeda.matmul), (randn(5, 3), randn(3)), "mul sum"),
    "product of rows": (Call(taeda.matmul), (randn(5, 2, 3), randn(3, 4)), "view mm view"),
    "products": (Call(taeda.matmul), (randn(5, 2, 3), randn(5, 3, 4)), "expand view expand view bmm view"),
    "products with one": (
        Call(taeda.matmul), (randn(5, 2, 2, 3), randn(5, 1, 3, 4)), "expand view expand clone view bmm view",
    ),
    "turned": (Call(lambda x: x.t() + x.transpose(-1, -2)), (randn(5, 3),), "permute permute add"),
    "reshaped": (Call(lambda x: x.t().reshape(-1)), (randn(5, 3),), "permute clone view"),
    "layer norm": (nn.LayerNorm(4), (randn(5, 3, 4),), "native_layer_norm"),
    "group norm": (nn.GroupNorm(2, 4), (randn(5, 4, 3),), "native_group_norm"),
    "silu": (nn.SiLU(), (randn(5),), "sigmoid mul"),
    "squares": (Call(F.mse_loss), (randn(5, 3), randn(5, 2 + 1) + 1), "sub pow mean"),
    "stacked": (Call(lambda x: taeda.stack([x, x], 1)), (randn(5, 3),), "cat view"),
    "stacked last": (Call(lambda x: taeda.stack([x, x], -1)), (randn(5, 3),), "unsqueeze unsqueeze cat"),
    "as another dtype": (Call(lambda x: x.to(taeda.float64).sum()), (randn(5, 3),), "_to_copy sum"),
    "logits": (
        Call(F.binary_cross_entropy_with_logits), (randn(5, 3), taeda.ones(5, 3)),
        "abs add exp full log1p mean minimum mul neg neg sub sub",
    ),
    "classes": (
        Call(F.cross_entropy), (randn(3, 3), LABELS),
        "_log_softmax _to_copy div gather ne neg scalar_tensor scalar_tensor squeeze sum sum unsqueeze where where",
    ),
}  # fmt: skip


def ops_of(program):
    return [n.target._opname for n in program.graph.nodes if hasattr(n.target, "_opname")]


@pytest.mark.parametrize("name", CASES)
def test_programs_end_at_core_ops(name):
    module, args, wanted = CASES[name]
    program = export.export(module, args).run_decompositions()
    found = [op for op in ops_of(program) if not op.startswith("sym_")]
    assert (found == wanted.split()) or sorted(found) == sorted(wanted.split())
    taeda.testing.assert_close(program.module()(*args), module(*args))


@pytest.mark.parametrize("name", [n for n, (_, args, _) in CASES.items() if n != "classes"])
def test_sizes_vary_behind_it(name):
    module, args, _ = CASES[name]
    shapes = tuple({0: Dim("n", min=2)} if x.shape[0] == 5 else None for x in args)
    shapes = (shapes,) if isinstance(module, Call) else shapes
    program = export.export(module, args, dynamic_shapes=shapes).run_decompositions()
    others = tuple(taeda.cat([x, x + 1]) if x.shape[0] == 5 else x for x in args)
    taeda.testing.assert_close(program.module()(*others), module(*others))


def test_an_op_that_is_taken_out_stays():
    table = export.default_decompositions()
    del table[taeda.ops.aten.linear.default]
    program = export.export(nn.Linear(3, 4), (randn(5, 3),)).run_decompositions(table)
    assert ops_of(program) == ["linear"]
