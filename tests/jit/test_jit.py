"""TorchScript's names on eager programs; what needs compiled code says so."""

# ruff: noqa: UP006, UP007, UP035, UP045  (programs write types in the old way, too)

from __future__ import annotations

import copy
import dataclasses
import enum
import pickle
from typing import Any, Dict, List, Optional, Tuple, Union

import pytest

import taeda
from taeda import jit, nn


class Net(nn.Module):
    scale: jit.Final[int]

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 3)
        self.register_buffer("shift", taeda.ones(3))
        self.scale = 2
        self.note = "the program's own"
        self.calls = 0

    def forward(self, x: taeda.Tensor, offset: float = 0.0) -> taeda.Tensor:
        self.calls += 1
        return self.layer(x) * self.scale + self.shift + offset

    @jit.export
    def double(self, x):
        return 2 * x

    @jit.ignore
    def ignored(self):
        return "ignored"

    @jit.unused
    def unused(self):
        return "unused"


@jit.script
def scripted(x: taeda.Tensor, n: int = 2) -> taeda.Tensor:
    """x by n."""
    return x * n


X = taeda.ones(1, 2)
TWINS = {"script": lambda net: jit.script(net), "trace": lambda net: jit.trace(net, X),
         "trace_module": lambda net: jit.trace_module(net, {"forward": X, "double": X})}  # fmt: skip


@pytest.fixture(params=list(TWINS))
def pair(request):
    net = Net()
    return net, TWINS[request.param](net)


def test_a_module_behaves_as_before(pair):
    net, twin = pair
    assert taeda.equal(twin(X), net(X))
    assert isinstance(twin, jit.ScriptModule) and isinstance(twin, nn.Module) and twin.original_name == "Net"
    assert list(twin.state_dict()) == list(net.state_dict()) == ["shift", "layer.weight", "layer.bias"]
    assert twin.layer.weight is net.layer.weight and list(twin.parameters())[0] is net.layer.weight
    if not isinstance(twin, jit.TracedModule):  # which has what was traced
        assert taeda.equal(twin(X, offset=1.0), net(X) + 1)
        assert (twin.double(3), twin.ignored(), twin.unused(), twin.note, twin.scale) == (
            6, "ignored", "unused", net.note, 2
        )  # fmt: skip
    assert "original_name=Net" in repr(twin)
    assert jit.script(twin) is twin and jit.trace(twin, X) is twin


def test_a_module_has_a_state_of_its_own(pair):
    net, twin = pair
    fired = []
    twin.register_forward_hook(lambda *_: fired.append(1))
    before = net.calls
    twin(X)
    assert fired == [1] and net.calls == before
    twin.eval()
    assert net.training and not twin.training
    twin.shift = taeda.zeros(3)
    assert net.shift.sum() == 3 and twin.state_dict()["shift"].sum() == 0


def test_a_module_trains(pair):
    net, twin = pair
    optimizer = taeda.optim.SGD(twin.parameters(), lr=0.1)
    before = net.layer.weight.clone()
    twin(X).sum().backward()
    optimizer.step()
    assert not taeda.equal(net.layer.weight, before)
    twin.load_state_dict({name: taeda.zeros_like(value) for name, value in twin.state_dict().items()})
    assert twin(X).sum() == 0 and net.layer.bias.sum() == 0


def test_a_module_can_be_copied(pair):
    _, twin = pair
    other = copy.deepcopy(twin)
    assert isinstance(other, jit.ScriptModule) and other.layer.weight is not twin.layer.weight
    assert taeda.equal(other(X), twin(X))


@pytest.mark.parametrize(
    ("make", "inputs"),
    [
        (lambda: nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), (taeda.ones(3, 2),)),
        (lambda: nn.LSTM(2, 3, 2), (taeda.ones(4, 1, 2),)),
        (lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), (taeda.ones(2, 1, 4),)),
        (lambda: nn.MultiheadAttention(4, 2), (taeda.ones(2, 1, 4),) * 3),
    ],
)
def test_the_librarys_modules(make, inputs):
    module = make().eval()
    wanted = module(*inputs)
    for twin in (jit.script(module), jit.trace(module, inputs)):
        found = twin(*inputs)
        pairs = zip(found, wanted) if isinstance(wanted, tuple) else [(found, wanted)]
        assert all(taeda.equal(a, b) for a, b in pairs if isinstance(a, taeda.Tensor))


def test_a_function_behaves_as_before():
    assert taeda.equal(scripted(X), 2 * X) and taeda.equal(scripted(X, n=5), 5 * X)
    assert isinstance(scripted, jit.ScriptFunction) and jit.script(scripted) is scripted
    assert (scripted.__name__, scripted.__doc__, scripted.name) == ("scripted", "x by n.", "scripted")
    assert copy.deepcopy(scripted) is scripted and pickle.loads(pickle.dumps(scripted)) is scripted
    with pytest.raises(AttributeError, match="no_such"):
        _ = scripted.no_such


def test_what_is_not_there(pair):
    _, twin = pair
    with pytest.raises(AttributeError, match="no_such"):
        _ = twin.no_such
    with pytest.raises(AttributeError, match="no_such"):
        _ = scripted.no_such


def test_other_things_to_script():
    class Color(enum.Enum):
        RED = 1

    class Plain:
        pass

    for same in (Color, Plain):
        assert jit.script(same) is same
    for wrong, error in ((3, TypeError), (len, TypeError), (nn.Linear, RuntimeError)):
        with pytest.raises(error, match="jit.script"):
            jit.script(wrong)


def test_a_class_of_script_modules():
    class Old(jit.ScriptModule):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(taeda.ones(2))

        @jit.script_method
        def forward(self, x):
            return x * self.weight

    assert Old()(X).tolist() == [[1, 1]] and list(Old().state_dict()) == ["weight"]
    assert "aten::mul" in str(Old().forward.graph)


def test_tracing():
    seen = []

    def function(*args, **kwargs):
        seen.append((len(args), sorted(kwargs), jit.is_tracing(), jit.is_scripting()))
        return X

    jit.trace(function, X, check_trace=False)(X)
    jit.trace(function, [X, (X, {"a": X})], check_trace=False)
    jit.trace(function, {"a": X}, check_trace=False)
    jit.trace(function, example_kwarg_inputs={"k": X}, check_trace=False)
    assert seen == [(1, [], True, False), (2, [], True, False), (1, [], True, False), (0, ["k"], True, False)]
    for wrong in (3, "a"):
        with pytest.raises(RuntimeError if wrong == "a" else TypeError):
            jit.trace(function, wrong)
    with pytest.raises(RuntimeError, match="tensors"):
        jit.trace(function, (X, 3))
    with pytest.raises(ZeroDivisionError):
        jit.trace(lambda x: 1 / 0, X)
    assert not jit.is_tracing()
    for arguments in ((3, {}), (Net(), [X]), (Net(), {"no_such": X})):
        with pytest.raises(AttributeError):
            jit.trace_module(*arguments)
    jit.trace_module(Net(), {"forward": {"x": X}}, example_inputs_is_kwarg=True)


@pytest.mark.parametrize(
    ("value", "kind", "wanted"),
    [
        (1, int, True), (1, (str, int), True), (None, Optional[int], True), (1, Optional[int], True),
        ((1, 2), Tuple[int, int], True),
        ("a", Optional[int], False), ([], list[int], True), ([1], List[int], True), ([1, "a"], list[int], False),
        ([[1]], List[List[int]], True), ((1,), list[int], False), ({"a": X}, Dict[str, taeda.Tensor], True),
        ({1: X}, dict[str, taeda.Tensor], False), ((1, "a"), tuple[int, str], True), ((1,), tuple[int, str], False),
        (1, Union[str, int], True), (1.0, Union[str, int], False), (1, str | int, True), ([1], list[int], True),
        ([1], (str, list[int]), True), (None, None, True),
    ],
)  # fmt: skip
def test_isinstance(value, kind, wanted):
    assert jit.isinstance(value, kind) is wanted


@pytest.mark.parametrize("kind", [list, dict, tuple, List, Dict, Tuple])
def test_isinstance_of_what(kind):
    with pytest.raises(RuntimeError, match="isinstance"):
        jit.isinstance([1], kind)


def test_marks():
    def function():
        return 1

    for mark in (jit.export, jit.unused, jit.ignore, jit.ignore(), jit.script_method, jit._overload_method):
        assert mark(function) is function
    with pytest.warns(FutureWarning, match="drop"):
        assert jit.ignore(drop=True)(function) is function
    with pytest.raises(RuntimeError, match="drop"):
        jit.ignore(drop=3)
    assert jit.script_if_tracing(function)() == 1
    assert jit.interface(Net) is Net and jit.annotate(List[int], [1]) == [1]
    with pytest.raises(RuntimeError, match="class"):
        jit.interface(function)
    assert jit.Attribute(1, int).type is int
    assert jit.annotations.BroadcastingList2[int] == List[int]
    assert jit.annotations.Any is Any


def test_freezing():
    twin = jit.script(Net())
    with pytest.raises(RuntimeError, match="eval"):
        jit.freeze(twin.train())
    for function in (jit.optimize_for_inference, jit.freeze):  # the first puts it into eval mode
        assert taeda.equal(function(twin.eval())(X), twin(X))
        with pytest.raises(RuntimeError, match="script"):
            function(Net())


def test_settings():
    before = jit.set_fusion_strategy([("STATIC", 1)])
    assert jit.set_fusion_strategy(before) == [("STATIC", 1)]
    with pytest.raises(ValueError, match="STATIC"):
        jit.set_fusion_strategy([("OTHER", 1)])
    assert not jit.onednn_fusion_enabled()
    jit.enable_onednn_fusion(True)
    assert jit.onednn_fusion_enabled()
    jit.enable_onednn_fusion(False)
    with jit.optimized_execution(False), jit.fuser("fuser1"):
        pass
    with pytest.raises(Exception, match="fuser9"), jit.fuser("fuser9"):
        pass
    with pytest.warns(UserWarning, match="scripted"), jit.strict_fusion():
        pass


def test_fork():
    future = jit.fork(lambda a, b: a - b, 5, b=3)
    assert future.done() and jit.wait(future) == 2
    with pytest.raises(ZeroDivisionError):
        jit.fork(lambda: 1 / 0)
    for function in (jit.fork, jit.wait):
        with pytest.raises(TypeError):
            function(3)


def test_every_name_is_there():
    assert all(hasattr(jit, name) for name in jit.__all__)


def test_tracing_state():
    seen = []
    taeda.jit.trace(lambda x: seen.append(bool(taeda._C._get_tracing_state())) or x, taeda.ones(1), check_trace=False)
    assert seen == [True] and taeda._C._get_tracing_state() is None


def test_ranges_are_lists_for_calls():
    total = jit.CompilationUnit("def f(x: List[int], y: List[float]): return sum(x) + sum(y)").f
    assert total(range(4), [0.5]) == 6.5 and total(range(0), []) == 0


@dataclasses.dataclass
class Box:
    side: int
    scale: dataclasses.InitVar[int]
    height: float = 2.0
    extra: dataclasses.InitVar[float] = 0.5
    volume: float = dataclasses.field(init=False)

    def __post_init__(self, scale: int, extra: float):
        self.volume = self.side * scale * self.height + extra


def test_dataclasses_with_what_only_post_init_gets():
    def volumes(n: int):
        x, y = Box(n, 3), Box(n, scale=2, height=1.0, extra=1.5)
        return x.volume, y.volume, x.side, x == y

    assert jit.script(volumes)(4) == volumes(4) == (24.5, 9.5, 4, False)
