"""Freezing: attributes become constants, unless the program changes them."""

import copy
import gc
import io

import pytest

import taeda
from taeda import jit, nn
from taeda.jit import _recursive


class Net(nn.Module):
    seen: list[int]

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.5))
        self.scale = 2.0
        self.names = ["a", "b"]
        self.seen = [0]
        self.register_buffer("count", taeda.zeros(()))

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        self.count += 1
        self.seen.append(len(self.names))
        return self.body(x) * self.scale

    @jit.export
    def version(self) -> int:
        return len(self.seen) * 10


@pytest.fixture
def net() -> nn.Module:
    taeda.manual_seed(0)
    net = Net()
    net(taeda.randn(8, 3, 6, 6))  # statistics that are not the first ones
    return net.eval()


def kinds(module) -> list[str]:
    return [node.kind() for node in module.graph.all_nodes() if node.kind() != "prim::Constant"]


def test_one_graph_of_constants(net):
    frozen = jit.freeze(jit.script(net))
    assert "aten::batch_norm" not in kinds(frozen) and "prim::CallMethod" not in kinds(frozen)
    assert not list(frozen.parameters()) and not hasattr(frozen, "body")
    x = taeda.randn(2, 3, 6, 6)
    taeda.testing.assert_close(frozen(x), net(x), atol=1e-5, rtol=1e-5)


def test_results_are_the_same_bits_without_numerics(net):
    frozen = jit.freeze(jit.script(net), optimize_numerics=False)
    assert "aten::batch_norm" in kinds(frozen)
    x = taeda.randn(2, 3, 6, 6)
    assert taeda.equal(frozen(x), net(x))
    jit.run_frozen_optimizations(frozen)
    assert "aten::batch_norm" not in kinds(frozen)
    taeda.testing.assert_close(frozen(x), net(x), atol=1e-5, rtol=1e-5)


def test_what_the_program_changes_stays(net):
    frozen = jit.freeze(jit.script(net), ["version", "scale"])
    x = taeda.ones(1, 3, 6, 6)
    before, count = frozen.version(), frozen.count.item()
    frozen(x)
    frozen(x)
    assert frozen.version() == before + 20
    assert frozen.count.item() == count + 2
    frozen.scale = 0.0
    assert not frozen(x).any()
    assert not frozen._c.hasattr("names")


def test_an_interface_is_seen_through():
    @jit.interface
    class Step(nn.Module):
        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            pass

    class Twice(nn.Module):
        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            return x * 2

    class Owner(nn.Module):
        step: Step

        def __init__(self) -> None:
            super().__init__()
            self.step = Twice()

        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            return self.step.forward(x)

    frozen = jit.freeze(jit.script(Owner().eval()))
    assert kinds(frozen) == ["aten::mul"]
    assert frozen(taeda.ones(1)).item() == 2


def test_mistakes(net):
    with pytest.raises(RuntimeError, match="eval mode"):
        jit.freeze(jit.script(net.train()))
    with pytest.raises(RuntimeError, match="wants what"):
        jit.freeze(net)
    with pytest.raises(RuntimeError, match="'nothing'"):
        jit.freeze(jit.script(net.eval()), ["nothing"])


def test_inference_and_names_of_ops(net):
    fast = jit.optimize_for_inference(jit.script(net))
    assert "aten::batch_norm" not in kinds(fast)
    names = jit.export_opnames(jit.script(net))
    assert "aten::conv2d" in names and names == sorted(names)


def in_use() -> int:
    gc.collect()
    return taeda.cpu.memory_stats()["allocated"]


@pytest.mark.parametrize("way", ["called", "saved", "loaded", "held by another"])
def test_weights_of_frozen_modules_end_with_them(way: str) -> None:
    def use() -> None:
        module = jit.freeze(jit.script(nn.Sequential(nn.Linear(256, 256), nn.ReLU()).eval()))
        if way == "saved" or way == "loaded":
            file = io.BytesIO()
            jit.save(module, file)
            file.seek(0)
            module = jit.load(file) if way == "loaded" else module
        elif way == "held by another":
            module = jit.script(nn.Sequential(module, nn.Tanh()))
        module(taeda.ones(1, 256))

    use()
    use()
    before = in_use()
    for _ in range(6):
        use()
    assert in_use() - before < 3 * 256 * 256 * 4  # one may be kept


def test_parts_of_frozen_modules_outlive_the_whole() -> None:
    holder = jit.script(nn.Sequential(jit.freeze(jit.script(nn.Linear(3, 2).eval()))))
    x = taeda.ones(1, 3)
    expected = holder(x)
    part = holder[0]
    twin = part.copy()
    del holder
    gc.collect()
    assert taeda.equal(part(x), expected)
    del part
    gc.collect()
    assert taeda.equal(twin(x), expected)


@pytest.mark.parametrize("way", ["frozen", "loaded", "held by another"])
def test_objects_alone_keep_their_methods(way: str) -> None:
    module = jit.freeze(jit.script(nn.Linear(3, 2).eval()))
    x = taeda.ones(1, 3)
    expected = module(x)
    if way == "loaded":
        file = io.BytesIO()
        jit.save(module, file)
        file.seek(0)
        module = jit.load(file)
    elif way == "held by another":
        module = jit.script(nn.Sequential(module))
    alone = module._c
    del module
    gc.collect()
    assert taeda.equal(_recursive.wrap_cpp_module(alone)(x), expected)
    assert taeda.equal(alone.forward(x), expected)


class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.count, self.step = 0, 2

    def forward(self, x):
        self.count += self.step
        return x + self.count


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = self.again = Counted()
        self.other = Counted()

    def forward(self, x):
        return self.other(self.first(x)) - self.again.count


@pytest.mark.parametrize("kept", [[], ["other.step"], ["first"]])
def test_parts_keep_what_is_used(kept):
    model = jit.script(Two().eval())
    frozen = jit.freeze(model, kept)._c
    assert frozen.other.hasattr("count") and frozen.hasattr("first")
    assert frozen.other.hasattr("step") == frozen.first.hasattr("step") == bool(kept)  # they stay of one class
    x = taeda.ones(1)
    assert [frozen.forward(x).item() for _ in range(2)] == [model(x).item() for _ in range(2)]


def test_parts_of_an_object_alone_keep_their_classes():
    frozen = jit.freeze(jit.script(Two().eval()))._c
    gc.collect()
    assert frozen.first.hasattr("count") and frozen.other.hasattr("count")


def test_lists_that_the_program_changes_are_those_of_the_module() -> None:
    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.seen, self.by_name, self.fixed = [1, 2], {"a": [3]}, [7]

        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            self.seen.append(3)
            self.by_name["a"].append(4)
            return x * len(self.seen) + len(self.by_name["a"]) + self.fixed[0]

    program = jit.script(Counts().eval())
    frozen, twin = jit.freeze(program), copy.copy(program)
    assert [float(each(taeda.ones(()))) for each in (frozen, program, twin, copy.deepcopy(frozen))] == [12, 14, 16, 12]
    assert program.seen == frozen.seen == twin.seen == [1, 2, 3, 3, 3] and program.by_name == {"a": [3, 4, 4, 4]}
    assert not hasattr(frozen, "fixed")
