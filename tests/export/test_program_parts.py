"""What passes over exported programs use: lookups, checks, bytes, updates, modules with state of their own."""

import pytest

import taeda
from taeda import export, nn
from taeda._dynamo import config
from taeda._export.serde.serialize import SerializedArtifact, SerializeError, deserialize, serialize
from taeda._export.utils import (
    get_buffer,
    get_lifted_tensor_constant,
    get_param,
    is_buffer,
    is_param,
    node_inline_,
    nodes_count,
    nodes_first,
    sequential_split,
)  # fmt: skip
from taeda._export.verifier import SpecViolationError, Verifier
from taeda.export.errors import UserError
from taeda.export.graph_signature import InputKind, InputSpec, TensorArgument
from taeda.fx import symbolic_trace
from taeda.fx.experimental.symbolic_shapes import ConstraintViolationError, GuardOnDataDependentSymNode


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.register_buffer("calls", taeda.zeros(1))
        self.shift = taeda.ones(3, requires_grad=True)

    def forward(self, x):
        self.calls.add_(1)
        return taeda.relu(self.layer(x)) * self.calls + self.shift


@pytest.fixture
def program():
    return export.export(Counting(), (taeda.ones(2, 3),))


def test_nodes_are_looked_up(program):
    placeholders = [n for n in program.graph.nodes if n.op == "placeholder"]
    assert [is_param(program, n) for n in placeholders] == [True, True, False, False, False]
    assert get_param(program, placeholders[0]) is program.state_dict["layer.weight"]
    assert [is_buffer(program, n) for n in placeholders].index(True) == 2
    assert get_buffer(program, placeholders[2]) is program.state_dict["calls"]
    assert get_lifted_tensor_constant(program, placeholders[3]) is program.constants["shift"]
    assert not program.constants["shift"].requires_grad
    assert nodes_count(program.graph.nodes, lambda n: n.op == "output") == 1


def test_graphs_are_split_and_joined(program):
    module = program.module(check_guards=False)
    x = taeda.randn(2, 3)
    split = sequential_split(module, lambda n: n.target is taeda.ops.aten.relu.default)
    calls = [n for n in split.graph.nodes if n.op == "call_module"]
    assert len(calls) == 2
    for call in calls:
        node_inline_(call)
    assert nodes_first(split.graph.nodes, lambda n: n.op == "call_module") is None
    split.recompile()
    before = module.calls.clone()
    wanted = module(x)
    module.calls.copy_(before)
    assert taeda.equal(split(x), wanted)


def test_programs_are_checked(program):
    program.validate()
    assert (program.dialect, program.run_decompositions().dialect) == ("TRAINING", "ATEN")
    with pytest.raises(SpecViolationError, match="writes to its arguments"):
        Verifier().check(program)
    with pytest.raises(SpecViolationError, match="call_module"):
        Verifier()._check_graph_module(symbolic_trace(nn.Sequential(nn.ReLU())))
    program.graph_signature.input_specs[0] = InputSpec(InputKind.PARAMETER, TensorArgument("p_layer_weight"), "gone")
    with pytest.raises(SpecViolationError, match="not in the state dict"):
        program.validate()


def test_programs_become_bytes(program):
    program.graph_module.meta["custom"] = {"mine": "kept"}
    artifact = serialize(program)
    again = deserialize(artifact)
    x = taeda.randn(2, 3)
    assert taeda.equal(again.module()(x), program.module()(x))
    assert again.graph_module.meta["custom"] == {"mine": "kept"}
    with pytest.raises(SerializeError):
        deserialize(SerializedArtifact(b"{}", b"", b"", b""))


def test_an_example_must_fit(program):
    program.example_inputs = ((taeda.zeros(4, 3),), {})
    for wrong in ((taeda.ones(2),), ((), {}), ((taeda.ones(2, 3),), {"y": 1})):
        with pytest.raises(ValueError):
            program.example_inputs = wrong
    with pytest.raises(ValueError, match="without a keyword"):
        program.module()(taeda.ones(2, 3), taeda.ones(2, 3))


def test_a_pass_gives_a_program(program):
    graph_module = program.graph_module
    graph_module.meta["custom"] = {"tag": 1}
    made = program._update(graph_module, program.graph_signature)
    assert made.graph_module.meta["custom"] == {"tag": 1} and made.graph is not program.graph
    assert not program.module().graph.eliminate_dead_code()


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = nn.Buffer(taeda.ones(1))

    def forward(self, x):
        return x + 1


class Middle(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return x * 2


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.middle = Middle()

    def forward(self, x):
        x = self.middle.inner(x + self.middle.inner.kept)
        self.middle.inner.kept.add_(1)
        return self.middle.inner(self.middle(x)) + self.middle.inner.kept


def test_modules_called_past_their_owners_unflatten():
    module, x = Outer(), taeda.ones(1)
    program = export.export(module, (x,))
    tree = export.unflatten(program)
    assert taeda.equal(tree(x), module(x))
    assert taeda.equal(program.state_dict["middle.inner.kept"], module.middle.inner.kept)
    assert tree.middle.inner.kept is not module.middle.inner.kept
    assert taeda.equal(tree.middle.inner.kept, module.middle.inner.kept)
    traced = symbolic_trace(export.unflatten(export.export(Middle(), (x,))))
    assert taeda.equal(traced(x), taeda.tensor([2.0]))


def test_a_module_of_nothing_but_state():
    class Alone(nn.Module):
        def __init__(self):
            super().__init__()
            self.x = taeda.ones(2)

        def forward(self):
            return self.x.clone()

    assert taeda.equal(export.export(Alone(), ()).module()(), taeda.ones(2))


def test_errors_are_of_the_kinds_that_programs_catch():
    class Branch(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.raises(GuardOnDataDependentSymNode) as caught:
        export.export(Branch(), (taeda.ones(1),))
    assert isinstance(caught.value, taeda._dynamo.exc.UserError) and caught.value.msg
    with pytest.raises(ConstraintViolationError):
        export.export(Middle(), (taeda.ones(3),), dynamic_shapes=({0: export.Dim("n", min=6)},))
    with pytest.raises(UserError, match="says 3 of it"):
        export.export(Middle(), ([taeda.ones(3)],), dynamic_shapes=([None, None, None],))


def test_settings_are_patched():
    with config.patch(verbose=True, recompile_limit=2):
        assert (config.verbose, config.recompile_limit) == (True, 2)
    assert (config.verbose, config.recompile_limit) == (False, 8)
    assert config.patch("verbose", True)(lambda: config.verbose)() and not config.verbose
    with pytest.raises(AttributeError, match="no setting nowhere"):
        config.patch(nowhere=1)
