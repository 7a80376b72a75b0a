"""Scripted modules: attributes, submodules, hooks, properties, marks, interfaces, copies, training."""

# ruff: noqa: UP006, UP035, UP045

import copy
import enum
import gc
import io
import weakref
from typing import Dict, List, NamedTuple, Optional, Tuple

import pytest

import taeda
from taeda import Tensor, jit, nn
from taeda.nn import functional as F

X = taeda.arange(6.0).reshape(3, 2)


class Mode(enum.Enum):
    SUM = 1
    MEAN = 2


class Out(NamedTuple):
    value: Tensor
    count: int


@jit.script
class Tally:
    def __init__(self, start: int):
        self.total = start

    def add(self, n: int) -> int:
        self.total += n
        return self.total


@jit.interface
class OneToOne(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Everything(nn.Module):
    __constants__ = ["size"]
    names: List[str]
    table: Dict[str, int]
    maybe: Optional[Tensor]
    limit: jit.Final[int]
    worker: OneToOne

    def __init__(self):
        super().__init__()
        self.size, self.limit, self.scale, self.flag, self.names, self.table = 2, 3, 1.5, True, [], {}
        self.maybe = None
        self.mode = Mode.MEAN
        self.dtype = taeda.float64
        self.pair = (1, "a")
        self.extra = jit.Attribute([1, 2], List[int])
        self.register_buffer("steps", taeda.zeros(()))
        self.weight = nn.Parameter(taeda.ones(2))
        self.blocks = nn.ModuleList([nn.Linear(2, 2), nn.Identity(), nn.Linear(2, 2)])
        self.heads = nn.ModuleDict({"a": nn.Linear(2, 3), "b": nn.Linear(2, 1)})
        self.worker = nn.Linear(2, 2)
        self.act = F.relu
        self.absent = None
        self.register_parameter("bias", None)
        self.seen = 0

    @property
    def doubled(self) -> int:
        return self.limit * 2

    def helper(self, x: Tensor, times: int = 2) -> Tensor:
        return x * times * self.scale

    def forward(self, x: Tensor, names: Optional[List[str]] = None) -> Tuple[Out, Dict[str, Tensor]]:
        self.steps += 1
        if names is not None:
            self.names = names
            self.table["n"] = len(names)
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i == 0:
                x = self.act(x)
        out: Dict[str, Tensor] = {}
        for name, head in self.heads.items():
            out[name] = head(x)
        if self.bias is not None:
            x = x + self.bias
        if self.maybe is not None:
            x = x + self.maybe
        if self.training:
            x = x * 2
        if self.mode == Mode.SUM:
            x = x.sum(0, keepdim=True)
        x = self.worker(self.helper(x)) + self.blocks[0](x) + self.heads["a"](x)[:, :2]
        x = x.to(self.dtype) * self.weight
        return Out(x, self.size + self.limit + self.doubled + self.pair[0] + len(self.extra)), out

    @jit.export
    def exported(self, n: int) -> int:
        tally = Tally(n)
        tally.add(1)
        return tally.total + self.ignored(n)

    @jit.ignore
    def ignored(self, n: int) -> int:
        self.seen += n
        return n * 100

    @jit.unused
    def unused(self, n: int) -> int:
        import os

        return len(os.environ)


def same(a, b):
    if isinstance(a, Tensor):
        return taeda.allclose(a, b)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return a == b


@pytest.fixture
def pair():
    net = Everything()
    return net, jit.script(copy.deepcopy(net))


def test_a_module_gives_what_it_gave(pair):
    net, scripted = pair
    for mode in (True, False):
        net.train(mode), scripted.train(mode)
        assert same(scripted(X), net(X)) and same(scripted(X, ["q"]), net(X, names=["q"]))
    assert scripted.names == ["q"] and scripted.table == {"n": 1} and scripted.steps == 4 == net.steps
    scripted.maybe, net.maybe = taeda.ones(2), taeda.ones(2)
    scripted.scale, net.scale = 3.0, 3.0
    scripted.mode, net.mode = Mode.SUM, Mode.SUM
    assert same(scripted(X), net(X))
    assert (scripted.size, scripted.doubled, scripted.pair, scripted.mode) == (2, 6, (1, "a"), Mode.SUM)
    assert list(scripted.state_dict()) == list(net.state_dict())
    assert [n for n, _ in scripted.named_parameters()] == [n for n, _ in net.named_parameters()]
    assert scripted.exported(3) == 304 and scripted.ignored(1) == 100 and len(scripted.blocks) == 3


def test_what_cannot_be_is_refused(pair):
    _, scripted = pair
    with pytest.raises(RuntimeError, match="constant"):
        scripted.size = 3
    with pytest.raises(Exception, match="scale"):
        scripted.scale = "a"
    with pytest.raises(RuntimeError, match="not pickled"):
        copy.copy(scripted).__reduce_ex__(4)
    with pytest.raises(AttributeError):
        _ = scripted.no_such


def test_copies_have_a_state_of_their_own(pair):
    _, scripted = pair
    for twin, shares in ((copy.deepcopy(scripted), False), (copy.copy(scripted), True)):
        assert (twin.weight.data_ptr() == scripted.weight.data_ptr()) is shares
        assert same(twin.eval()(X)[1], scripted.eval()(X)[1])
        twin.scale = 9.0
        assert scripted.scale != 9.0
    scripted.double()
    assert scripted.blocks[0].weight.dtype is taeda.float64


def test_gradients_are_eager_ones():
    net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))
    scripted = jit.script(copy.deepcopy(net))
    for module in (net, scripted):
        x = X.clone().requires_grad_()
        loss = (module(x) ** 2).sum()
        (grad,) = taeda.autograd.grad(loss, x, create_graph=True)
        (loss + (grad**2).sum()).backward()
    for mine, its in zip(scripted.parameters(), net.parameters(), strict=True):
        assert taeda.allclose(mine.grad, its.grad)
    optimizer = taeda.optim.SGD(scripted.parameters(), lr=0.1)
    before = [p.detach().clone() for p in scripted.parameters()]
    optimizer.step()
    after = list(scripted.parameters())  # a bias before a batch norm has a gradient of nothing but rounding
    moved = [not taeda.equal(a, b) for a, b in zip(before, after) if b.grad.abs().max() > 1e-4]
    assert len(moved) > 2 and all(moved)


def test_hooks():
    class Doubler(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.inner(x) + 1

    def before(self, inputs: Tuple[Tensor]):
        return (inputs[0] * 2,)

    def after(self, inputs: Tuple[Tensor], output: Tensor):
        return output - inputs[0]

    net = Doubler()
    net.inner.register_forward_pre_hook(before)
    net.inner.register_forward_hook(after)
    net.register_forward_hook(after)
    scripted = jit.script(net)
    assert taeda.allclose(scripted(X), net(X))
    fired = []
    scripted.register_forward_hook(lambda *_: fired.append(1))
    scripted(X)
    assert fired == [1]


def test_modules_that_hold_the_same_share_a_type():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 3, bias=False))
    scripted = jit.script(net)
    types = [scripted[i]._info.type for i in range(3)]
    assert types[0] is types[1] and types[0] is not types[2]


def test_methods_from_a_text():
    scripted = jit.script(nn.Linear(2, 2))
    scripted.define("def double(self, x: Tensor, n: int = 2):\n    return self.forward(x) * n")
    assert taeda.allclose(scripted.double(X), scripted(X) * 2)
    unit = jit.CompilationUnit("def f(x: int) -> int:\n  return g(x) + 1\ndef g(x: int) -> int:\n  return x * 2")
    assert unit.f(3) == 7 and unit.g(3) == 6
    with pytest.raises(AttributeError):
        _ = unit.h


def test_overloads():
    @jit._overload
    def pick(x: int) -> int: ...

    @jit._overload
    def pick(x: str) -> str:  # noqa: F811
        ...

    def pick(x):  # noqa: F811
        if isinstance(x, int):
            return x + 1
        return x + "!"

    @jit.script
    def both():
        return pick(1), pick("a")

    assert both() == (2, "a!")


def test_marks_of_functions():
    @jit.ignore
    def python_only(x: Tensor) -> Tensor:
        return x + len({1, 2})

    @jit.unused
    def left_out(x: Tensor) -> Tensor:
        try:
            return x
        finally:
            pass

    @jit.script
    def uses(x: Tensor, reach: bool) -> Tensor:
        if jit.is_scripting():
            x = python_only(x)
        else:
            x = x.numpy()
        if reach:
            x = left_out(x)
        return x

    assert taeda.equal(uses(X, False), X + 2)
    with pytest.raises(RuntimeError, match="left_out"):
        uses(X, True)


def test_fork_and_wait():
    def work(x: Tensor, n: int) -> Tensor:
        return x * n

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            futures = [jit.fork(work, x, i) for i in range(3)]
            module = jit.fork(self.a, x)
            own: jit.Future[Tensor] = jit.fork(lambda y: y + x, x)
            return jit.wait(futures[0]) + futures[2].wait() + jit.wait(module) + jit.wait(own)

    net = Net()
    assert taeda.allclose(jit.script(net)(X), net(X))


def test_objects_go_in_and_out():
    @jit.script
    def grow(tally: Tally, n: int) -> Tally:
        tally.add(n)
        return tally

    found = grow(Tally(2), 3)
    assert found.total == 5 and found.add(1) == 6 and isinstance(found, taeda.ScriptObject)
    assert grow(found, 1).total == 7 and found.total == 7


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def f(x: int):\n    return x + 'a'", "no form of aten::add.*\n(.*\n)*.*return x \\+ 'a'\n +~+ <--- HERE"),
        ("def f(x: Optional[int]):\n    return x + 1", "may be None|wants int"),
        ("def f(x: int):\n    if x:\n        y = 1\n    return y", "only the first branch of the 'if' gives 'y'"),
        ("def f(x: int):\n    return unknown(x)", "the name 'unknown' is not known here"),
        ("def f(x: int) -> str:\n    return x", "must be a str; got a int"),
        ("def f(x: int):\n    try:\n        return x\n    except ValueError:\n        return 0", "try cannot be part"),
        ("def f(x: Tensor):\n    return x.no_such()", "Tensor has no attribute or method 'no_such'"),
        ("def f(x: int):\n    if x > 1:\n        x = 'a'\n    return x", "declared as a int"),
        ("def f(x: List[int]):\n    for i in x:\n        pass\n    return i", "in the loop only"),
        ("def f(x: Nothing):\n    return x", "the type 'Nothing' is not known"),
        ("def f(x: int):\n    return g(x)\ndef g(x: str):\n    return x", "the argument 'x' must be a str; got a int"),
        ("def f(x: Tuple[int, str], i: int):\n    return x[i]", "must be known while"),
        ("def f(n: int):\n    return f(n - 1)", "calls itself"),
        ("def f(:\n    pass", "not Python"),
    ],
)
def test_errors_show_the_place_and_what_is_wanted(text, says):
    with pytest.raises(RuntimeError, match=says):
        jit.CompilationUnit(text)


def test_an_error_at_run_time_shows_the_users_lines():
    def inner(x: Tensor) -> Tensor:
        return x.view(7)

    def outer(x: Tensor) -> Tensor:
        return inner(x) + 1

    with pytest.raises(RuntimeError) as raised:
        jit.script(outer)(X)
    assert "return x.view(7)" in str(raised.value) and "return inner(x) + 1" in str(raised.value)


def test_arguments_without_annotation_take_the_first_calls_types():
    def scaled(x, n, mask=None):
        if mask is not None:
            x = x * mask
        return x * n

    scripted = jit.script(scaled)
    assert taeda.equal(scripted(X, 3), X * 3) and scripted(2, 4) == 8 and scripted(1.5, 2) == 3.0
    assert taeda.equal(scripted(X, 2, taeda.zeros(2)), X * 0)


def test_a_function_shows_itself():
    def small(x: Tensor, n: int = 2) -> Tensor:
        """x by n."""
        return x * n

    scripted = jit.script(small)
    assert str(scripted.schema) == "small(Tensor x, int n=2) -> Tensor" and scripted.__doc__ == "x by n."
    assert str(scripted.graph).startswith("graph(%x : Tensor,\n      %n : int):\n  %2 : Tensor = aten::mul(%x, %n)")
    assert jit.script(small) is scripted and scripted.name == "small"


class Layout(str, enum.Enum):  # noqa: UP042
    FIRST = "first"
    LAST = "last"


class Lists(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.layout = Layout.LAST

    @jit._overload_method
    def join(self, x: Tensor) -> Tensor:
        pass

    @jit._overload_method
    def join(self, x: List[Tensor]) -> Tensor:  # noqa: F811
        pass

    def join(self, x):  # noqa: F811
        parts = [x] if isinstance(x, Tensor) else x
        return taeda.cat(parts, 1)

    def forward(self, x: Tensor) -> Tuple[Tensor, int, List[str], bool]:
        for child in self.children():
            x = child(x)
        total = 0
        names = [name for name, _ in self.named_parameters()]
        for weight in self.parameters():
            total += weight.numel()
        x = self.join(x) + self.join([x])
        if self.layout != Layout.FIRST:
            x = x + 1
        return x, total, names, self.layout == Layout.LAST


def test_what_a_module_holds_is_listed():
    net = Lists()
    assert same(jit.script(net)(X), net(X))


class Packs(nn.Module):
    def __init__(self, kind: type) -> None:
        super().__init__()
        self.layer = kind(5, 4)

    def forward(self, x: taeda.Tensor, lengths: taeda.Tensor):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
        out, state = self.layer(packed)
        padded, lengths = nn.utils.rnn.pad_packed_sequence(out)
        return padded, lengths, self.layer(x)[0]


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_packed_sequences(kind):
    module, x, lengths = Packs(kind), taeda.randn(4, 3, 5), taeda.tensor([2, 4, 1])
    scripted = jit.script(module)
    buffer = io.BytesIO()
    jit.save(scripted, buffer)
    buffer.seek(0)
    for program in (scripted, jit.load(buffer)):
        for got, expected in zip(program(x, lengths), module(x, lengths), strict=True):
            assert taeda.allclose(got, expected)


def test_interpolation_by_names_that_a_call_gives():
    def resized(x: taeda.Tensor, mode: str, antialias: bool) -> taeda.Tensor:
        return F.interpolate(x, scale_factor=0.5, mode=mode, antialias=antialias)

    program, x = jit.script(resized), taeda.randn(1, 2, 6, 6)
    for mode, antialias in (("nearest", False), ("bilinear", True), ("bicubic", False)):
        assert taeda.equal(program(x, mode, antialias), resized(x, mode, antialias))
    sample = jit.script(sampled)
    assert taeda.equal(sample(x, taeda.zeros(1, 2, 2, 2)), sampled(x, taeda.zeros(1, 2, 2, 2)))


def test_interpolation_by_what_may_be_none():
    def resized(x: taeda.Tensor, size: Optional[int], factor: Optional[float], again: Optional[bool]) -> taeda.Tensor:
        return F.interpolate(x, size, factor, mode="bilinear", recompute_scale_factor=again, align_corners=False)

    program, x = jit.script(resized), taeda.randn(1, 2, 6, 6)
    for args in ((3, None, None), (None, 0.5, True), (None, 1.6, None)):
        assert taeda.equal(program(x, *args), resized(x, *args))
    for args in ((3, 0.5, None), (None, None, False), (3, None, True)):
        with pytest.raises(jit.Error):
            program(x, *args)


def sampled(x: taeda.Tensor, grid: taeda.Tensor, corners: Optional[bool] = None) -> taeda.Tensor:
    return F.grid_sample(x, grid, align_corners=corners)


class Untyped(nn.Sequential):
    def forward(self, x) -> List[Tensor]:
        for module in self:
            x = module(x)
        return x


class OfLists(nn.Module):
    def forward(self, x: List[Tensor]) -> List[Tensor]:
        return [item + 1 for item in x]


def untyped(x):
    return x[0]


def test_calls_say_the_types_of_arguments():
    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = Untyped(OfLists(), OfLists())

        def pick(self, x, n=1):
            return x[0] * n

        def forward(self, x: Tensor) -> Tensor:
            listed = self.parts([x])
            return self.pick(listed) + self.pick((x, 3)) + self.pick(x) + untyped(x) + untyped(listed)

    module, x = Whole(), taeda.ones(2)
    assert taeda.equal(jit.script(module)(x), module(x))


def test_types_do_not_keep_modules():
    class Passing(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.note = nn.Linear(2, 2), {"a": [1]}
            self.inner.register_forward_hook(lambda part, args, result: result * 2)

        def forward(self, x):
            return self.inner(x) if hasattr(self, "note") else x

    model = Passing()
    kept, x = weakref.ref(model), taeda.ones(2)
    assert taeda.equal(jit.script(model)(x), model(x))
    del model
    gc.collect()
    assert kept() is None
    again = Passing()
    assert taeda.equal(jit.script(again)(x), again(x))


def test_what_has_no_shape_yet_is_refused():
    with pytest.raises(RuntimeError, match="forward pass"):
        jit.script(nn.Sequential(nn.LazyLinear(3)))
