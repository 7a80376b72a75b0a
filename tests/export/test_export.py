"""``taeda.export``: what is recorded, what varies, what is refused."""

from __future__ import annotations

import copy
import io

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


def test_unflattened_programs_have_the_modules():
    module, example = MODULES["attention"]()
    program = export.export(module, example, dynamic_shapes=({0: Dim("b"), 1: Dim("t")},))
    tree = export.unflatten(program)
    assert set(dict(tree.named_parameters())) == set(dict(module.named_parameters()))
    x = taeda.randn(3, 7, 8)
    assert same(tree(x), module(x))


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x, scale, *, more=None):
        y = self.inner(x) * scale
        return {"y": y, "rest": [y + more["z"], x]}


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.pairs = Pairs()

    def forward(self, x):
        first = self.pairs(x, 2, more={"z": x})
        return first["rest"][0] + first["y"].sin()


def test_modules_are_called_as_the_originals_were():
    module = Outer()
    x = taeda.randn(2, 3)
    program = export.export(module, (x,), preserve_module_call_signature=("pairs",))
    assert [entry.fqn for entry in program.module_call_graph] == ["", "pairs", "pairs.inner"]
    stream = io.BytesIO()
    export.save(program, stream)
    stream.seek(0)
    for each in (program, export.load(stream)):
        tree = export.unflatten(each)
        graphs = [part.graph for part in tree.modules() if hasattr(part, "graph")]
        assert all("val" in n.meta for graph in graphs for n in graph.nodes if n.op != "output")
        assert same(tree(x), module(x))
        again = tree.pairs(x, 2, more={"z": x})
        assert same(again, module.pairs(x, 2, more={"z": x})) and list(again) == ["y", "rest"]
        with pytest.raises(ValueError, match="nested"):
            tree.pairs(x, 2, more={"y": x})
        tree.pairs = module.pairs
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
    with pytest.raises(UserError, match="must be a tuple"):
        export.export(module, taeda.ones(1, 2))
    with pytest.raises(ValueError, match="must be an nn.Module"):
        export.export(lambda x: x, (1,))
    two = (Dim("n", min=1), Dim("n", min=2))
    for shapes in ({"y": None}, ({2: Dim("n")},), ({0: 7},), ({0: Dim("n", max=3)},), (Dim("n"),), (two,)):
        with pytest.raises(UserError):
            export.export(module, (taeda.ones(4, 2),), dynamic_shapes=shapes)
    with pytest.raises(RuntimeError, match="is no function"):
        export.export(module, (taeda.ones(4, 2),))(taeda.ones(4, 2))


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5, 4)
        self.head = nn.Linear(4, 5, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, i):
        return self.head(self.embedding(i))


def test_a_tensor_that_is_held_twice_stays_one():
    module, stream = Tied(), io.BytesIO()
    program = export.export(module, (taeda.tensor([1, 2]),))
    assert set(program.state_dict) == set(module.state_dict())
    export.save(program, stream)
    stream.seek(0)
    for run in (program.module(), export.load(stream).module()):
        assert run.embedding.weight is run.head.weight and same(run(taeda.tensor([3, 0])), module(taeda.tensor([3, 0])))


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.ModuleDict({"self": nn.Sequential(nn.Linear(4, 4), nn.ReLU()), "a-b": nn.Linear(4, 4)})
        self.register_buffer("unused", taeda.zeros(2))
        self.register_buffer("left_out", taeda.ones(4), persistent=False)
        self.plain = taeda.ones(4)

    def forward(self, x):
        x = x * self.left_out + self.plain
        return self.inner["a-b"](self.inner["self"](self.inner["self"](x)) + x)


def test_unflattened_modules_that_are_called_twice_are_one():
    module, x = Shared(), taeda.randn(2, 4)
    tree = export.unflatten(export.export(module, (x,)))
    assert same(tree(x), module(x)) and set(tree.state_dict()) == set(module.state_dict())


class Checked(nn.Module):
    def forward(self, n, x):
        k = n.item()
        taeda._check(k >= 1)
        taeda._check(k <= x.shape[0])
        return x[:k] if k > 0 else x


def test_checks_of_numbers_are_assertions_and_decide_what_follows_from_them():
    program = export.export(Checked(), (taeda.tensor(2), taeda.ones(5)))
    assert targets(program).count("aten._assert_scalar.default") == 2
    assert program.module()(taeda.tensor(3), taeda.ones(5)).shape == (3,)
    with pytest.raises(RuntimeError, match=">= 1 is True"):
        program.module()(taeda.tensor(0), taeda.ones(5))


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone, self.head = nn.Linear(3, 3), nn.Linear(3, 1)

    def forward(self, x):
        with taeda.no_grad():
            x = self.backbone(x)
            self.backbone.bias.add_(1)
        return self.head(x), x


def test_what_runs_without_gradients_has_none_in_the_program():
    module = Frozen()
    for program in (export.export(module, (taeda.randn(2, 3),)), export.export(module.eval(), (taeda.ones(1, 3),))):
        run = program.module()
        before = module.backbone.bias.detach().clone()
        result, inner = run(taeda.ones(program.example_inputs[0][0].shape))
        result.sum().backward()
        assert not inner.requires_grad and run.backbone.weight.grad is None and run.head.weight.grad is not None
        assert taeda.equal(module.backbone.bias, before + 1)
    with taeda.no_grad():
        assert "aten.detach.default" not in targets(export.export(nn.Linear(3, 2), (taeda.ones(1, 3),)))


class Number(nn.Module):
    def forward(self, x, n, flag):
        return x * n if flag and x.shape[0] > 2 else x


def test_numbers_of_the_example_are_checked_and_conditions_narrow_ranges():
    program = export.export(Number(), (taeda.ones(4), 3, True), dynamic_shapes=({0: Dim.AUTO}, None, None))
    (limits,) = program.range_constraints.values()
    assert limits.lower == 3 and program.module()(taeda.ones(3), 3, True).tolist() == [3, 3, 3]
    for wrong in ((taeda.ones(4), 4, True), (taeda.ones(4), 3, False), (taeda.ones(2), 3, True)):
        with pytest.raises(AssertionError, match="Guard failed"):
            program.module()(*wrong)


def test_the_fix_of_dimensions_is_suggested_and_taken():
    from taeda.export.dynamic_shapes import refine_dynamic_shapes_from_suggested_fixes as refine

    class Sum(nn.Module):
        def forward(self, x, y, z):
            return x + y, z + taeda.ones(2)

    example = taeda.ones(3), taeda.ones(3), taeda.ones(2)
    a, b, c = export.dims("a", "b", "c")
    for asked, wanted in (([{0: a}, {0: b}, None], "b = a"), ([{0: a}, {0: a}, {0: c}], "c = 2")):
        with pytest.raises(UserError, match=wanted) as error:
            export.export(Sum(), example, dynamic_shapes=asked)
        export.export(Sum(), example, dynamic_shapes=refine(str(error.value), asked))
    with pytest.raises(ValueError, match="suggests no"):
        refine("nothing", None)


def test_automatic_sizes_vary_as_far_as_the_program_allows():
    convolution = nn.Conv2d(3, 4, 3)
    shapes = ({d: Dim.AUTO for d in range(4)},)
    program = export.export(convolution, (taeda.randn(1, 3, 8, 8),), dynamic_shapes=shapes)
    assert [size.dim for size in program.sizes] == [0, 2, 3]

    class Parts(nn.Module):
        def forward(self, x):
            return x.unbind(0), x.unbind(1)

    assert not export.export(Parts(), (taeda.ones(2, 3),), dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},)).sizes
    with pytest.raises(UserError, match="gives 2 tensors"):
        export.export(Parts(), (taeda.ones(2, 3),), dynamic_shapes=({0: Dim("n")},))


def test_a_program_moves_to_another_device():
    from taeda.export.passes import move_to_device_pass

    program = move_to_device_pass(export.export(Tied(), (taeda.tensor([1]),)), {"cpu": "meta"})
    assert program.module()(taeda.zeros(1, dtype=taeda.int64, device="meta")).shape == (1, 5)
    assert {v.device.type for v in program.state_dict.values()} == {"meta"}


def test_keys_that_no_argument_has_are_refused():
    class Net(nn.Module):
        def forward(self, x):
            return x["a"]["b"] + 1

    example, n = ({"a": {"b": taeda.ones(4)}},), Dim("n")
    export.export(Net(), example, dynamic_shapes=({"a": {"b": {0: n}}},))
    with pytest.raises(UserError, match=r"names 'B' of x\['a'\], which has 'b'"):
        export.export(Net(), example, dynamic_shapes=({"a": {"B": {0: n}}},))
