"""`run_decompositions`: programs end at PyTorch's core ops, compute the same, and take other sizes."""

import pytest

import taeda
from taeda import export, nn
from taeda._decompositions.core import ENDS
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


LSTM_STEP = "add split_with_sizes sigmoid sigmoid sigmoid mul tanh mul add tanh mul"
MORE = {
    "batch norm": (nn.BatchNorm2d(3).eval(), (randn(5, 3, 2, 2),), "_native_batch_norm_legit_no_training"),
    "batch norm of the batch": (
        nn.BatchNorm1d(3, track_running_stats=False),
        (randn(5, 3),),
        "_native_batch_norm_legit",
    ),
    "instance norm": (
        nn.InstanceNorm1d(3, affine=True),
        (randn(5, 3, 4),),
        "repeat repeat view _native_batch_norm_legit view",
    ),
    "rms norm": (nn.RMSNorm(3), (randn(5, 3),), "pow mean add rsqrt mul mul"),
    "no dropout": (nn.Dropout().eval(), (randn(5),), "clone"),
    "a mean of images": (nn.AdaptiveAvgPool2d(1), (randn(5, 1, 4, 4),), "mean"),
    "means of images": (nn.AdaptiveAvgPool2d(2), (randn(5, 1, 4, 4),), "_adaptive_avg_pool2d"),
    "means of rows": (nn.AdaptiveAvgPool1d(2), (randn(5, 1, 4),), "unsqueeze _adaptive_avg_pool2d squeeze"),
    "pooled rows": (nn.AvgPool1d(2), (randn(5, 1, 4),), "unsqueeze avg_pool2d squeeze"),
    "attention": (
        Call(F.scaled_dot_product_attention),
        (randn(5, 2, 3, 4),) * 3,
        "mul mul permute expand view expand clone view bmm view _softmax expand view expand view bmm view",
    ),
    "masked attention": (
        Call(lambda x: F.scaled_dot_product_attention(x, x, x, taeda.ones(3, 3).tril() > 0)),
        (randn(5, 3, 4),),
        None,
    ),
    "causal attention": (
        Call(lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True)),
        (randn(5, 3, 4),),
        None,
    ),
    "shared heads": (
        Call(lambda q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True)),
        (randn(5, 4, 3, 4), randn(5, 2, 3, 4)),
        None,
    ),
    "heads": (nn.MultiheadAttention(4, 2, batch_first=True).eval(), (randn(5, 3, 4),) * 3, None),
    "einsum": (Call(lambda x, y: taeda.einsum("bij,bkj->bik", x, y)), (randn(5, 2, 3), randn(5, 4, 3)), None),
    "einsum of three": (
        Call(lambda x, y, z: taeda.einsum("bi,ij,jb->bj", x, y, z)),
        (randn(5, 2), randn(2, 3), randn(3, 5)),
        None,
    ),
    "einsum of one": (Call(lambda x: taeda.einsum("bij->ji", x)), (randn(5, 2, 3),), "sum permute"),
    "tensordot": (Call(lambda x, y: taeda.tensordot(x, y, 1)), (randn(5, 3), randn(3, 4)), None),
    "product of a vector": (Call(lambda x, y: x[0] @ y), (randn(5, 3), randn(3, 4)), None),
    "product of other ranks": (Call(taeda.matmul), (randn(2, 3), randn(5, 3, 4)), None),
    "split": (Call(lambda x: x.split(2, 1)), (randn(5, 3),), "split_with_sizes"),
    "chunks": (Call(lambda x: x.chunk(2, 1)), (randn(5, 3),), "split_with_sizes"),
    "one by one": (Call(lambda x: x.unbind(1)), (randn(5, 2),), "slice slice squeeze squeeze"),
    "rolled": (Call(lambda x: x.roll((1, -1), (0, 1))), (randn(5, 3),), "slice slice cat slice slice cat"),
    "rolled flat": (Call(lambda x: x.roll(2)), (randn(5, 3),), "view slice slice cat view"),
    "padded": (Call(lambda x: F.pad(x, (1, 2), value=3.0)), (randn(5, 3),), "constant_pad_nd"),
    "padded in a circle": (Call(lambda x: F.pad(x, (1, 2), mode="circular")), (randn(5, 2, 3),), "slice slice cat"),
    "pixels": (Call(lambda x: F.pixel_shuffle(x, 2)), (randn(5, 4, 2, 3),), "view permute clone view"),
    "pixels back": (Call(lambda x: F.pixel_unshuffle(x, 2)), (randn(5, 1, 4, 6),), "view permute clone view"),
    "channels": (Call(lambda x: F.channel_shuffle(x, 2)), (randn(5, 4, 3),), "view permute clone view"),
    "filled": (
        Call(lambda x: (x.new_zeros(2), taeda.ones_like(x), taeda.zeros(2))),
        (randn(5),),
        "full full_like full",
    ),
    "chosen": (Call(lambda x: x.masked_fill(x > 0, 0.5)), (randn(5),), "gt scalar_tensor where"),
    "chosen numbers": (Call(lambda x: taeda.where(x > 0, x, 1.0)), (randn(5),), "gt scalar_tensor where"),
    "triangles": (Call(lambda x: (x.tril(1), x.triu(-1))), (randn(5, 4),), None),
    "diagonal": (Call(lambda x: (taeda.eye(3), x.diag_embed())), (randn(5, 3),), None),
    "bent": (
        Call(
            lambda x: (
                F.softplus(x, 2),
                F.mish(x),
                F.hardswish(x),
                F.hardsigmoid(x),
                F.selu(x),
                F.celu(x, 2.0),
                F.relu6(x),
                F.logsigmoid(x),
                F.glu(x),
                F.prelu(x, x[0, :1]),
            )
        ),
        (randn(5, 4),),
        None,
    ),
    "arithmetic": (
        Call(
            lambda x: (
                taeda.addcmul(x, x, x, value=2),
                taeda.addcdiv(x, x, x),
                taeda.lerp(x, x + 1, 0.7),
                x // 2,
                1 - x,
                x.frac(),
                x.isfinite(),
                x.float_power(2),
                x.nan_to_num(),
                x.clamp_min(0),
                x.square(),
            )
        ),
        (randn(5, 4),),
        None,
    ),
    "reductions": (
        Call(
            lambda x: (
                x.all(),
                (x > 0).all(1),
                x.logsumexp(1),
                x.std(),
                x.std(0),
                x.var(),
                x.sum(),
                x.count_nonzero(),
                x.aminmax(),
                x.isposinf().sum(1),
            )
        ),
        (randn(5, 4),),
        None,
    ),
    "lstm": (
        nn.LSTM(3, 4),
        (randn(1, 5, 3),),
        f"full full slice squeeze slice squeeze permute view addmm view slice squeeze permute addmm {LSTM_STEP} cat "
        "view cat view cat view",
    ),
    "lstm both ways": (nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True), (randn(5, 2, 3),), None),
    "gru": (nn.GRU(3, 4, 2, bias=False), (randn(2, 5, 3),), None),
    "rnn": (nn.RNN(3, 4, nonlinearity="relu"), (randn(2, 5, 3),), None),
    "moved": (
        Call(lambda x: x.to("cpu") + x.to(taeda.float32) + x.to("cpu", taeda.float64) + x.to(x)),
        (randn(5),),
        "add add _to_copy add",
    ),
    "weight norm": (nn.utils.parametrizations.weight_norm(nn.Linear(3, 4)), (randn(5, 3),), None),
    "labels": (Call(lambda x: F.nll_loss(x, LABELS)), (randn(3, 3),), None),
}
CASES.update(MORE)


def ops_of(program):
    return [n.target._opname for n in program.graph.nodes if hasattr(n.target, "_opname")]


@pytest.mark.parametrize("name", CASES)
def test_programs_end_at_core_ops(name):
    module, args, wanted = CASES[name]
    program = export.export(module, args).run_decompositions()
    found = [op for op in ops_of(program) if not op.startswith("sym_")]
    assert wanted is None or sorted(found) == sorted(wanted.split())
    full = {n.target.name().removeprefix("aten::") for n in program.graph.nodes if hasattr(n.target, "_opname")}
    assert full <= ENDS
    taeda.testing.assert_close(program.module()(*args), module(*args))


@pytest.mark.parametrize("name", [n for n, (_, args, _) in CASES.items() if any(5 in x.shape for x in args)])
def test_sizes_vary_behind_it(name):
    module, args, _ = CASES[name]
    shapes = tuple({x.shape.index(5): Dim("n", min=2)} if 5 in x.shape else None for x in args)
    shapes = (shapes,) if isinstance(module, Call) else shapes
    program = export.export(module, args, dynamic_shapes=shapes).run_decompositions()
    others = tuple(taeda.cat([x, x + 1], x.shape.index(5)) if 5 in x.shape else x for x in args)
    taeda.testing.assert_close(program.module()(*others), module(*others), equal_nan=True)


def test_an_op_that_is_taken_out_stays():
    table = export.default_decompositions()
    del table[taeda.ops.aten.linear.default]
    program = export.export(nn.Linear(3, 4), (randn(5, 3),)).run_decompositions(table)
    assert ops_of(program) == ["linear"]


def test_a_tensor_given_twice_varies_twice():
    x = randn(5, 3)
    program = export.export(Call(taeda.add), (x, x), dynamic_shapes=(({0: Dim.AUTO}, {0: Dim.AUTO}),))
    assert taeda.equal(program.module()(x[:2], x[:2]), x[:2] * 2)


def test_writes_through_views_are_saved(tmp_path):
    program = export.export(Call(lambda x: F.relu(x.flatten(1), inplace=True) @ taeda.ones(6, 1)), (randn(5, 2, 3),),
                            dynamic_shapes=(({0: Dim("n")},),))  # fmt: skip
    export.save(program.run_decompositions(), tmp_path / "program.pt2")
    x = randn(4, 2, 3)
    wanted = F.relu(x.flatten(1)).sum(1, keepdim=True)
    taeda.testing.assert_close(export.load(tmp_path / "program.pt2").module()(x), wanted)


def test_the_set_is_tagged():
    aten = taeda.ops.aten
    assert taeda.Tag.core in aten.addmm.default.tags
    assert taeda.Tag.core in aten.sum.dim_IntList.tags and taeda.Tag.core not in aten.sum.default.tags


def test_ops_of_programs_are_taken_apart():
    with taeda.library._scoped_library("core_ops_test", "FRAGMENT") as library:
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x.sin() * 2, "CompositeImplicitAutograd")
        op = taeda.ops.core_ops_test.twice.default
        program = export.export(Call(op), (randn(5),))
        assert ops_of(program) == ["twice"] and ops_of(program.run_decompositions()) == ["sin", "mul"]
        table = export.default_decompositions()
        del table[op]
        assert ops_of(program.run_decompositions(table)) == ["twice"]
    assert op not in export.default_decompositions()


class Turned(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.linear = nn.Conv2d(4, 4, 3, padding=1), nn.Linear(4, 2)

    def forward(self, x):
        rows, columns = 3, 2
        x = self.conv(x.transpose(1, 2).view(2, 4, rows, columns)).flatten(2).transpose(1, 2)
        return self.linear(nn.functional.gelu(x))


def test_views_stay_views_where_later_nodes_count_on_their_strides():
    module, x = Turned(), taeda.randn(2, 6, 4)
    small = export.export(module, (x,)).run_decompositions()
    assert taeda.allclose(small.module()(x), module(x), atol=1e-6)
    assert not any("clone" in str(node.target) for node in small.graph.nodes)
