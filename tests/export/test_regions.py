"""Parts of a program without gradients or under autocast: graphs of their own until the program is decomposed."""

import io
import operator

import pytest

import taeda
from taeda import export, nn


def ops(graph):
    return [getattr(n.target, "__name__", str(n.target)) for n in graph.nodes if n.op == "call_function"]


class Modes(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        with taeda.no_grad():
            y = self.inner(x).relu()
            with taeda.autocast("cpu", dtype=taeda.bfloat16):
                z = y @ y
            rows = x.shape[0]
        with taeda.autocast("cpu", dtype=taeda.bfloat16):
            w = self.outer(y)
        return self.outer(y) * rows, z, w.softmax(0)


@pytest.fixture
def program():
    return export.export(Modes(), (taeda.randn(3, 3),))


def test_each_region_is_a_graph(program):
    regions = [n for n in program.graph.nodes if getattr(n.target, "namespace", "") == "higher_order"]
    assert [n.target.name() for n in regions] == ["wrap_with_set_grad_enabled", "wrap_with_autocast"]
    assert regions[0].args[0] is False and regions[1].args[:3] == ("cpu", taeda.bfloat16, True)
    part = program.graph_module.get_submodule(regions[0].args[1].target)
    assert ops(part.graph)[:2] == ["linear.default", "relu.default"]
    (within,) = [n for n in part.graph.nodes if getattr(n.target, "namespace", "") == "higher_order"]
    assert within.target.name() == "wrap_with_autocast"
    assert [n.target for n in regions[0].users] == [operator.getitem] * 2
    program.graph.lint()


def test_results_and_gradients_are_those_of_the_module(program):
    x = taeda.randn(3, 3)
    module = program.module()
    module.load_state_dict(program.state_dict)
    runs = {"module": module, "decomposed": program.run_decompositions().module(), "tree": export.unflatten(program)}
    model = Modes()
    model.load_state_dict(program.state_dict)
    runs["again"] = export.export(module, (x,)).module()
    wanted = model(x)
    wanted[0].sum().backward()
    for name, run in runs.items():
        run.zero_grad()
        got = run(x)
        assert all(taeda.equal(a, b) for a, b in zip(got, wanted)), name
        got[0].sum().backward()
        gradients = {key: p.grad for key, p in run.named_parameters()}
        assert gradients["inner.weight"] is None and taeda.equal(gradients["outer.weight"], model.outer.weight.grad)


def test_decomposed_programs_have_none(program):
    names = ops(program.run_decompositions().graph)
    assert not any(name.startswith("wrap_with") for name in names)
    assert "_to_copy.default" in names


def test_the_mode_around_the_export_is_not_one_of_the_program():
    with taeda.no_grad():
        assert ops(export.export(nn.Linear(3, 2), (taeda.ones(1, 3),)).graph) == ["linear.default"]
        program = export.export(Asking(), (taeda.ones(2),))
    (region,) = [n for n in program.graph.nodes if getattr(n.target, "namespace", "") == "higher_order"]
    assert region.args[0] is True


class Asking(nn.Module):
    def forward(self, x):
        with taeda.enable_grad():
            x = x.sin()
        return x.cos()


class Writing(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", taeda.zeros(2))

    def forward(self, x, flag):
        with taeda.no_grad():
            self.total.add_(x)
            y = taeda.cond(flag, lambda a: a.sin(), lambda a: a.cos(), (x,))
        return y + 1


def test_writes_and_branches_within():
    program = export.export(Writing(), (taeda.ones(2), taeda.tensor(True)))
    module, x = program.module(), taeda.randn(2)
    assert taeda.equal(module(x, taeda.tensor(False)), x.cos() + 1) and taeda.equal(module.total, x)
    small = program.run_decompositions()
    assert list(small.graph_signature.buffers_to_mutate.values()) == ["total"]
    assert taeda.equal(small.module()(x, taeda.tensor(True)), x.sin() + 1)


class OnlyWriting(nn.Module):
    def forward(self, x):
        with taeda.no_grad():
            x.add_(1)
        return ()


def test_a_region_that_only_writes_stays():
    program = export.export(OnlyWriting(), (taeda.ones(2),))
    program.graph.eliminate_dead_code()
    x = taeda.zeros(2)
    program.module()(x)
    assert x.tolist() == [1, 1]


class Sized(nn.Module):
    def forward(self, x):
        with taeda.no_grad():
            n = x.shape[0] * 2
            y = x.repeat(2, 1)
        return y.reshape(n, -1) + n


def test_sizes_go_in_and_out():
    program = export.export(Sized(), (taeda.ones(3, 2),), dynamic_shapes=({0: export.Dim("n")},))
    x = taeda.randn(5, 2)
    stream = io.BytesIO()
    export.save(program, stream)
    stream.seek(0)
    for run in (program, export.load(stream), program.run_decompositions()):
        assert taeda.equal(run.module()(x), Sized()(x))


@pytest.mark.torch
def test_files_with_regions_go_both_ways(tmp_path):
    torch = pytest.importorskip("torch")

    class Theirs(torch.nn.Module):
        def forward(self, x):
            with torch.no_grad():
                y = x.sin()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                z = x @ x
            return y + 1, z, z.float().softmax(0)

    torch.manual_seed(0)  # sums in another order may round to another bfloat16
    x = torch.randn(3, 3)
    torch.export.save(torch.export.export(Theirs(), (x,)), tmp_path / "theirs.pt2")
    program, wanted = export.load(tmp_path / "theirs.pt2"), Theirs()(x)
    for run in (program.module(), program.run_decompositions().module()):
        got = run(taeda.tensor(x.tolist()))
        assert all(taeda.allclose(a.float(), taeda.tensor(b.float().tolist())) for a, b in zip(got, wanted))
    export.save(program, tmp_path / "ours.pt2")
    back = torch.export.load(tmp_path / "ours.pt2").module()(x)
    assert all(torch.equal(a, b) for a, b in zip(back, wanted))
