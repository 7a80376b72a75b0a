"""``taeda.export``: what is recorded, what varies, what is refused."""

from __future__ import annotations

import copy
import io
import zipfile

import pytest
from export.programs import modules

import taeda
from taeda import export, nn
from taeda._higher_order_ops import map as map_
from taeda._higher_order_ops import scan, while_loop
from taeda.export import Dim
from taeda.export.errors import UserError
from taeda.utils import _pytree as pytree

MODULES = modules(taeda)


def same(a, b, exactly=True):
    pairs = list(zip(pytree.tree_leaves(a), pytree.tree_leaves(b), strict=True))
    return all(x == y if not isinstance(x, taeda.Tensor) else taeda.equal(x, y) if exactly
               else taeda.allclose(x, y, atol=1e-5) for x, y in pairs)  # fmt: skip


def targets(program):
    return [str(n.target) for n in program.graph.nodes if n.op == "call_function"]


@pytest.mark.parametrize("name", MODULES)
def test_programs_compute_what_modules_do(name):
    module, example = MODULES[name]()
    twin = copy.deepcopy(module)
    before = copy.deepcopy(module.state_dict())
    program = export.export(module, example)
    assert same(list(before.values()), list(module.state_dict().values())), "the module stays as it was"
    functional = program.run_decompositions()
    expected = twin(*copy.deepcopy(example))
    assert same(copy.deepcopy(program).module()(*example), expected)
    module.load_state_dict(before)
    assert same(functional.module()(*example), expected, exactly=False)
    assert same(list(twin.state_dict().values()), list(module.state_dict().values()), exactly=False)
    program.validate()
    functional.validate()
    assert functional.dialect == "ATEN"


@pytest.mark.torch
def test_the_ops_are_pytorchs():
    name = "residual"
    torch = pytest.importorskip("torch")
    module, example = MODULES[name]()
    ours = targets(export.export(module, example))
    module, example = modules(torch)[name]()
    theirs = [str(n.target) for n in torch.export.export(module, example).graph.nodes if n.op == "call_function"]
    assert [t for t in ours if "getitem" not in t] == [t for t in theirs if "getitem" not in t]


def test_signature():
    module, example = MODULES["counter"]()
    b = 2 * Dim("half", min=1)
    program = export.export(module, example, dynamic_shapes={"x": {0: b}, "more": {"a": {0: b}}})
    signature = program.graph_signature
    assert signature.parameters == ("norm.weight", "norm.bias")
    assert signature.buffers == ("calls", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked")
    assert signature.lifted_tensor_constants[0] == "scale" and signature.user_inputs == ("x", "more_a")
    assert signature.buffers_to_mutate == {} and program.dialect == "TRAINING"
    functional = program.run_decompositions({}).graph_signature
    assert sorted(functional.buffers_to_mutate.values()) == sorted(signature.buffers)
    assert [n.name for n in program.graph.nodes][:2] == ["p_norm_weight", "p_norm_bias"]
    run = program.module()
    other = taeda.randn(6, 4), {"a": taeda.randn(6, 4)}
    assert run(*other)["rest"][1] == 6
    with pytest.raises(AssertionError, match=r"must be 2\*half"):
        run(taeda.randn(7, 4), {"a": taeda.randn(7, 4)})
    with pytest.raises(AssertionError, match=r"x.size\(1\) == 4"):
        run(taeda.randn(6, 5), {"a": taeda.randn(6, 4)})
    with pytest.raises(ValueError, match="nested"):
        run(taeda.randn(6, 4), {"b": taeda.randn(6, 4)})


def test_an_input_that_is_written_to():
    class Write(nn.Module):
        def forward(self, x):
            x[:, 1].mul_(2)
            return x.t().sum(0)

    program = export.export(Write(), (taeda.ones(2, 3),)).run_decompositions({})
    assert list(program.graph_signature.user_inputs_to_mutate.values()) == ["x"]
    x = taeda.ones(2, 3)
    assert program.module()(x).tolist() == [4, 4] and x.tolist() == [[1, 2, 1]] * 2


@pytest.mark.parametrize("size", [1, 2, 5])
def test_sizes_vary_from_any_example(size):
    module, _ = MODULES["attention"]()
    program = export.export(module, (taeda.randn(size, size, 8),), dynamic_shapes=({0: Dim("b"), 1: Dim.DYNAMIC},))
    for shape in ((3, 4, 8), (1, 7, 8), (2, 1, 8)):
        x = taeda.randn(shape)
        assert same(program.module()(x), module(x))
        assert same(program.run_decompositions().module()(x), module(x), exactly=False)


class Branch(nn.Module):
    def forward(self, x):
        if x.shape[0] == 4:  # the line that errors name
            return x
        return -x


def test_a_branch_on_a_size():
    x = (taeda.ones(4),)
    with pytest.raises(UserError, match=r"x.size\(0\) == 4") as error:
        export.export(Branch(), x, dynamic_shapes=({0: Dim("n")},))
    assert "the line that errors name" in str(error.value)
    fixed = export.export(Branch(), x, dynamic_shapes=({0: Dim.AUTO},))
    assert fixed.range_constraints == {}
    free = export.export(Branch(), (taeda.ones(3),), dynamic_shapes=({0: Dim("n")},)).module()
    assert free(taeda.ones(7)).tolist() == [-1] * 7
    with pytest.raises(AssertionError, match="took this way"):
        free(taeda.ones(4))


class Decide(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x


def test_a_branch_on_values_is_refused_with_line_and_remedy():
    with pytest.raises(UserError, match="torch.cond") as error:
        export.export(Decide(), (taeda.ones(3),))
    assert "if x.sum() > 0" in str(error.value)
    report = export.draft_export(Decide(), (taeda.ones(3),))._report
    assert not report.successful() and "if x.sum() > 0" in str(report)


class Loops(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(taeda.ones(2))

    def forward(self, x, y):
        _, x = while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * y + self.p), (taeda.tensor(0), x))
        z = map_(lambda a, b: a + b * self.p, x, y)
        state, rows = scan(lambda c, a: (c + a, c * a), x[0], z)
        return taeda.cond(z.sum() > 0, lambda a: a.sin() + self.p, lambda a: a.cos(), (z,)), state, rows


def test_control_flow():
    module = Loops()
    program = export.export(module, (taeda.randn(3, 2), taeda.randn(2)), dynamic_shapes=({0: Dim("n")}, None))
    assert {"cond", "while_loop", "map_impl", "scan"} <= set(targets(program))
    stream = io.BytesIO()
    export.save(program, stream)
    stream.seek(0)
    for run in (program.module(), export.load(stream).module()):
        for sign in (1, -1):
            given = sign * taeda.rand(4, 2), taeda.rand(2)
            assert same(run(*given), module(*given))


class Values(nn.Module):
    def forward(self, x):
        n = x.max().item()
        return taeda.zeros(n), x[:n], x + n


def test_numbers_out_of_tensors_are_values():
    run = export.export(Values(), (taeda.tensor([1, 2, 3]),)).module()
    x = taeda.tensor([0, 2, 1])
    assert same(run(x), Values()(x))


def test_files(tmp_path):
    module, example = MODULES["counter"]()
    b = 2 * Dim("half", min=1)
    program = export.export(module, example, dynamic_shapes={"x": {0: b}, "more": {"a": {0: b}}})
    export.save(program, tmp_path / "a.pt2", extra_files={"note": "kept"})
    extra = {"note": ""}
    loaded = export.load(tmp_path / "a.pt2", extra_files=extra)
    assert extra == {"note": "kept"} and loaded.range_constraints == program.range_constraints
    assert str(loaded.graph_signature) == str(program.graph_signature) and targets(loaded) == targets(program)
    other = taeda.randn(6, 4), {"a": taeda.randn(6, 4)}
    assert same(loaded.module()(*other), program.module()(*other))
    assert same(loaded.run_decompositions().module()(*other), program.module()(*other), exactly=False)
    (tmp_path / "b.pt2").write_bytes(b"no archive")
    with pytest.raises(RuntimeError, match="is no exported program"):
        export.load(tmp_path / "b.pt2")
    with zipfile.ZipFile(tmp_path / "a.pt2") as archive:
        text = archive.read("program.json").decode()
    assert "cos.system" not in text and "\n" not in text[:10]


def test_unflattened_programs_have_the_modules():
    module, example = MODULES["attention"]()
    program = export.export(module, example, dynamic_shapes=({0: Dim("b"), 1: Dim("t")},))
    tree = export.unflatten(program)
    assert set(dict(tree.named_parameters())) == set(dict(module.named_parameters()))
    x = taeda.randn(3, 7, 8)
    assert same(tree(x), module(x))


def test_programs_train():
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    run = export.export(module, (taeda.randn(2, 3),)).module()
    run(taeda.ones(2, 3)).sum().backward()
    gradients = [p.grad for p in run.parameters()]
    module.zero_grad()
    module(taeda.ones(2, 3)).sum().backward()
    assert same(gradients, [p.grad for p in module.parameters()])


def test_what_an_example_must_be():
    module = nn.Linear(2, 3)
    with pytest.raises(TypeError, match="must be a tuple"):
        export.export(module, taeda.ones(1, 2))
    with pytest.raises(TypeError, match="must be an nn.Module"):
        export.export(lambda x: x, (1,))
    for shapes in ({"y": None}, ({2: Dim("n")},), ({0: 7},), ({0: Dim("n", max=3)},)):
        with pytest.raises(UserError):
            export.export(module, (taeda.ones(4, 2),), dynamic_shapes=shapes)
    with pytest.raises(RuntimeError, match="is no function"):
        export.export(module, (taeda.ones(4, 2),))(taeda.ones(4, 2))
