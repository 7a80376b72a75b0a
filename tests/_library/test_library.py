"""Op objects and registration: ``taeda.ops``, ``taeda.library``."""

from __future__ import annotations

import gc
import os
import pickle
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import taeda
from taeda import Tensor, ops
from taeda.autograd import Function
from taeda.library import Library, custom_op, opcheck
from taeda.utils import cpp_extension

aten = taeda.ops.aten


@pytest.fixture
def mine():
    """A namespace of the test's own."""
    library = Library("mine", "DEF")
    yield library
    library._destroy()
    vars(ops).pop("mine", None)


@pytest.fixture
def overrides():
    library = Library("aten", "IMPL")
    yield library
    library._destroy()


# --- op objects


def test_op_objects() -> None:
    op = taeda.ops.aten.add.Tensor
    assert op is ops.aten.add.Tensor and taeda._ops.OpOverload is type(op)
    assert (op.name(), op.__name__, op.namespace, str(op)) == (
        "aten::add.Tensor",
        "add.Tensor",
        "aten",
        "aten.add.Tensor",
    )
    assert repr(op) == "<OpOverload(op='aten.add', overload='Tensor')>"
    assert op.overloadpacket is ops.aten.add and {"Tensor", "Scalar", "out"} <= set(ops.aten.add.overloads())
    assert ops.aten.relu.default.name() == ops.aten.relu.default._name == "aten::relu"
    assert "add" in dir(ops.aten) and "aten" in dir(ops)
    assert pickle.loads(pickle.dumps(op)) is op


def test_calls() -> None:
    x = taeda.tensor([1.0, 2.0])
    assert aten.add.Tensor(x, x, alpha=2).tolist() == [3, 6]
    assert aten.add(x, 1).tolist() == [2, 3] and aten.add(x, x).tolist() == [2, 4]
    assert isinstance(aten.split.Tensor(x, 1), list)
    out = taeda.empty(2)
    assert aten.add.out(x, x, out=out) is out and out.tolist() == [2, 4]
    assert aten.add_.Tensor(x, x) is x and x.tolist() == [2, 4]


@pytest.mark.parametrize("call, error", [
    (lambda x: aten.add.Tensor(x), RuntimeError),
    (lambda x: aten.add.Tensor(x, "two"), RuntimeError),
    (lambda x: aten.add.Tensor(x, x, beta=1), RuntimeError),
    (lambda x: aten.add(x, "two"), RuntimeError),
    (lambda x: aten.no_such_op(x), AttributeError),
    (lambda x: aten.add.no_such_overload(x), AttributeError),
])  # fmt: skip
def test_wrong_calls(call, error) -> None:
    with pytest.raises(error):
        call(taeda.ones(2))


def test_unknown_ops_suggest() -> None:
    with pytest.raises(AttributeError, match="did you mean.*matmul"):
        ops.aten.matmull  # noqa: B018
    with pytest.raises(AttributeError, match="it has .*Tensor"):
        ops.aten.add.tensor  # noqa: B018


def test_schema() -> None:
    schema = aten.add.out._schema
    assert str(schema) == "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
    assert (schema.name, schema.overload_name, schema.is_mutable) == ("aten::add", "out", True)
    self, other, alpha, out = schema.arguments
    assert (alpha.name, str(alpha.type), alpha.default_value, alpha.kwarg_only) == ("alpha", "number", 1, True)
    assert self.alias_info is None and not self.has_default_value() and not self.kwarg_only
    assert out.alias_info.is_write and out.alias_info.before_set == {"a"} and out.is_out
    assert [str(r.type) for r in schema.returns] == ["Tensor"]


@pytest.mark.torch
@pytest.mark.parametrize(
    "name", ["add.Tensor", "add.out", "mm.default", "transpose.int", "sum.dim_IntList", "relu_.default"]
)
def test_schema_as_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch")
    packet, _, overload = name.partition(".")
    theirs, ours = (getattr(getattr(o.aten, packet), overload)._schema for o in (torch.ops, taeda.ops))
    assert [a.name for a in ours.arguments] == [a.name for a in theirs.arguments]
    for a, b in zip(ours.arguments, theirs.arguments):
        assert (a.kwarg_only, a.has_default_value(), a.alias_info is None) == (
            b.kwarg_only,
            b.has_default_value(),
            b.alias_info is None,
        )
        assert str(a.type) == str(b.type) and a.default_value == b.default_value


def test_return_types() -> None:
    result = taeda.max(taeda.tensor([[1.0, 3.0]]), 1)
    assert isinstance(result, taeda.return_types.max) and result.indices.item() == 1
    assert repr(result) == "torch.return_types.max(\nvalues=tensor([3.]),\nindices=tensor([1]))"
    with pytest.raises(AttributeError):
        taeda.return_types.add  # noqa: B018


# --- Library


def test_define_and_implement(mine: Library) -> None:
    assert mine.define("scale(Tensor x, float by=2.0, *, int? power=None) -> Tensor") == "scale"
    seen = []

    def scale(*args, **kwargs):
        seen.append((len(args), kwargs))
        return args[0] * (args[1] if len(args) > 1 else 2.0)

    mine.impl("scale", scale, "CPU")
    x = taeda.ones(2)
    assert ops.mine.scale(x).tolist() == [2, 2] and ops.mine.scale(x, 3, power=1).tolist() == [3, 3]
    assert ops.mine.scale(x=x, by=2.0).tolist() == [2, 2]
    assert seen == [(1, {}), (2, {"power": 1}), (1, {})], "what stands at its default is left out"
    with pytest.raises(NotImplementedError, match="no kernel for meta.*it has one for: cpu"):
        ops.mine.scale(taeda.ones(2, device="meta"))


@pytest.mark.parametrize(
    "schema, value, kind",
    [
        ("int[2] v", [1, 2], list),
        ("bool[] v", [True, False], list),
        ("float[] v", [1.0], list),
        ("str v", "text", str),
        ("ScalarType v", taeda.int32, taeda.dtype),
        ("Device v", taeda.device("cpu"), taeda.device),
        ("Scalar v", 2j, complex),
        ("bool v", True, bool),
        ("Tensor[] v", [taeda.ones(1)], list),
        ("Tensor? v", None, type(None)),
        ("MemoryFormat v", taeda.channels_last, taeda.memory_format),
        ("Layout v", taeda.strided, taeda.layout),
    ],
)
def test_values_go_through(mine: Library, schema: str, value, kind) -> None:
    mine.define(f"look(Tensor x, {schema}) -> Tensor")
    seen = []
    mine.impl("look", lambda x, v: seen.append(v) or x.clone(), "CPU")
    ops.mine.look(taeda.ones(1), value)
    assert type(seen[0]) is kind
    assert seen[0] == value if kind is not list or not isinstance(value[0], Tensor) else seen[0][0] is value[0]


@pytest.mark.parametrize("returns, result", [
    ("Tensor", taeda.ones(1)), ("(Tensor, Tensor)", (taeda.ones(1), taeda.zeros(1))), ("Tensor[]", [taeda.ones(1)] * 2),
    ("int", 3), ("float", 1.5), ("bool", True), ("()", None), ("Scalar", 2),
])  # fmt: skip
def test_results_come_back(mine: Library, returns: str, result) -> None:
    mine.define(f"give(Tensor x) -> {returns}")
    mine.impl("give", lambda x: result, "CPU")
    back = ops.mine.give(taeda.ones(1))
    if isinstance(result, (tuple, list)):
        assert type(back) is type(result) and all(a is b for a, b in zip(back, result))
    else:
        assert back is result if isinstance(result, Tensor) else back == result


@pytest.mark.parametrize("result", ["text", None, (1, 2), taeda.ones(1)])
def test_wrong_results(mine: Library, result) -> None:
    mine.define("pair(Tensor x) -> (Tensor, int)")
    mine.impl("pair", lambda x: result, "CPU")
    with pytest.raises(TypeError, match="pair"):
        ops.mine.pair(taeda.ones(1))


def test_errors_come_through_unchanged(mine: Library) -> None:
    class Own(Exception):
        pass

    mistake = Own("mine")

    def fail(x):
        raise mistake

    mine.define("fail(Tensor x) -> Tensor")
    mine.impl("fail", fail, "CPU")
    with pytest.raises(Own) as caught:
        ops.mine.fail(taeda.ones(1))
    assert caught.value is mistake and caught.traceback[-1].name == "fail"


def test_subclasses_and_attributes_survive(mine: Library) -> None:
    parameter = taeda.nn.Parameter(taeda.ones(1))
    parameter.note = "kept"
    mine.define("same(Tensor x) -> bool")
    mine.impl("same", lambda x: x is parameter and x.note == "kept", "CPU")
    assert ops.mine.same(parameter)


def test_override_a_built_in_kernel_and_take_it_back(overrides: Library) -> None:
    x = taeda.tensor([-1.0, 1.0])
    overrides.impl("relu", lambda x: x * 0 + 7, "CPU")
    assert taeda.relu(x).tolist() == [7, 7] and x.relu().tolist() == [7, 7]
    assert taeda.nn.functional.relu(x).tolist() == [7, 7], "Python code over the op sees it"
    overrides._destroy()
    assert taeda.relu(x).tolist() == [0, 1]


def test_composites_and_autograd_see_an_override(overrides: Library) -> None:
    calls = []

    def mm(a, b):
        calls.append((tuple(a.shape), a.requires_grad))
        return taeda.from_numpy(a.detach().numpy() @ b.detach().numpy())

    overrides.impl("mm", mm, "CPU")
    a, b = taeda.randn(2, 3, requires_grad=True), taeda.randn(3, 4)
    (a @ b).sum().backward()
    assert calls[0][0] == (2, 3) and len(calls) == 2, "forward through matmul, backward through the derivative"
    np.testing.assert_allclose(a.grad.numpy(), np.ones((2, 4)) @ b.numpy().T, rtol=1e-6)


def test_a_kernel_may_come_before_its_op(mine: Library, overrides: Library) -> None:
    early = Library("mine", "IMPL")
    early.impl("late", lambda x: x + 1, "CPU")
    Library("mine", "IMPL").impl("late", lambda x: x + 2, "Meta")  # is gone before the op comes
    mine.define("late(Tensor x) -> Tensor")
    assert ops.mine.late(taeda.ones(1)).item() == 2
    with pytest.raises(NotImplementedError, match="it has one for: cpu"):
        ops.mine.late(taeda.ones(1, device="meta"))


def test_an_op_without_tensors_chooses_its_backend(mine: Library) -> None:
    mine.define("five(int n) -> Tensor")
    mine.impl("five", lambda n: taeda.full((n,), 5), "BackendSelect")
    assert ops.mine.five(2).tolist() == [5, 5]


def test_registering_twice_names_both_places(mine: Library, overrides: Library) -> None:
    mine.define("one(Tensor x) -> Tensor")
    mine.impl("one", lambda x: x, "CPU")
    with pytest.raises(RuntimeError, match=r"test_library\.py:\d+ and would get another from .*test_library\.py:\d+"):
        mine.impl("one", lambda x: x, "CPU", allow_override=False)
    with pytest.raises(RuntimeError, match=r"defined at .*test_library\.py:\d+ and again at .*test_library\.py"):
        mine.define("one(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="FRAGMENT"):
        Library("mine", "DEF")
    with pytest.warns(UserWarning, match=r"test_library\.py:\d+ and would get another.*it has the other now"):
        mine.impl("one", lambda x: x + 1, "CPU")  # as a notebook's cell that is run again
    assert ops.mine.one(taeda.ones(1)).item() == 2


@pytest.mark.parametrize("make, error", [
    (lambda: Library("mine", "SOME"), ValueError),
    (lambda: Library("x", "IMPL").define("f(Tensor x) -> Tensor"), RuntimeError),
    (lambda: Library("aten", "IMPL").impl("add.Tensor", lambda: 0, "Abacus"), RuntimeError),
    (lambda: Library("aten", "IMPL").impl("add.Tensor", 3, "CPU"), TypeError),
    (lambda: Library("aten", "FRAGMENT").define("f(Tenser x) -> Tensor"), RuntimeError),
])  # fmt: skip
def test_wrong_registrations(make, error) -> None:
    with pytest.raises(error):
        make()


def test_all_ends_with_the_library() -> None:
    library = Library("brief", "DEF")
    library.define("one(Tensor x) -> Tensor")
    packet = ops.brief.one
    del library
    gc.collect()
    assert packet.overloads() == []
    Library("brief", "DEF")._destroy()


def test_keys(mine: Library) -> None:
    mine.define("who(Tensor x) -> str")
    mine.impl("who", lambda x: "meta", "Meta")
    mine.impl("who", lambda x: "any", "CompositeExplicitAutograd")
    assert ops.mine.who(taeda.ones(1)) == "any" and ops.mine.who(taeda.ones(1, device="meta")) == "meta"
    mine.impl(
        "who",
        lambda keys, x: "layer:" + ops.mine.who.default.redispatch(keys & taeda._C._after_autograd_keyset, x),
        "Autograd",
        with_keyset=True,
    )
    assert ops.mine.who(taeda.ones(1)) == "layer:any"
    mine.impl("who", taeda.library.fallthrough_kernel, "AutogradCPU")
    assert ops.mine.who(taeda.ones(1)) == "any"


def test_composite_implicit_records(mine: Library) -> None:
    mine.define("square(Tensor x) -> Tensor")
    mine.impl("square", lambda x: x * x)
    x = taeda.tensor(3.0, requires_grad=True)
    ops.mine.square(x).backward()
    assert x.grad.item() == 6


def test_autograd_kernel(mine: Library) -> None:
    class Triple(Function):
        @staticmethod
        def forward(ctx, x):
            with taeda._C._AutoDispatchBelowAutograd():
                return ops.mine.triple(x)

        @staticmethod
        def backward(ctx, grad):
            return 3 * grad

    mine.define("triple(Tensor x) -> Tensor")
    mine.impl("triple", lambda x: taeda.from_numpy(3 * x.detach().numpy()), "CPU")
    mine.impl("triple", Triple.apply, "Autograd")
    x = taeda.ones(2, requires_grad=True)
    ops.mine.triple(x).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_in_place_schema(mine: Library) -> None:
    mine.define("double_(Tensor(a!) x) -> Tensor(a!)")
    mine.impl("double_", lambda x: x.mul_(2), "CPU")
    x = taeda.ones(2)
    assert ops.mine.double_(x) is x and x.tolist() == [2, 2]


def test_kernels_run_from_other_threads(mine: Library) -> None:
    mine.define("thread(Tensor x) -> int")
    mine.impl("thread", lambda x: threading.get_ident(), "CPU")
    seen: list[int] = []
    worker = threading.Thread(target=lambda: seen.append(ops.mine.thread(taeda.ones(1))))
    worker.start()
    worker.join()
    assert seen and seen[0] != threading.get_ident()


def test_key_sets() -> None:
    keys = taeda._C._dispatch_keys(taeda.ones(1))
    assert keys.has("CPU") and keys.has("AutogradCPU") and not keys.has("Meta") and not keys.has("Python")
    assert (keys & taeda._C._after_autograd_keyset).has("CPU") and not (keys & taeda._C._after_autograd_keyset).has(
        "Autograd"
    )
    assert keys.remove("AutocastCPU").highestPriorityTypeId() == "AutogradCPU"
    assert "CPU" in repr(keys) and keys == taeda._C._dispatch_keys(taeda.zeros(3))


def test_keys_as_an_enumeration() -> None:
    Key, KeySet = taeda._C.DispatchKey, taeda._C.DispatchKeySet
    assert Key is taeda._C.DispatchKey and str(Key.AutocastCPU) == "DispatchKey.AutocastCPU" and Key.CPU == "CPU"
    keys = taeda._C._dispatch_keys(taeda.ones(1))
    assert (
        keys.has(Key.AutogradCPU) and not keys.has(Key.Meta) and not keys.remove(Key.AutogradCPU).has(Key.AutogradCPU)
    )
    assert KeySet(Key.AutocastCPU) | KeySet(Key.CPU) == KeySet("AutocastCPU") | KeySet("CPU")
    with taeda.autocast("cpu"), taeda._C._ExcludeDispatchKeyGuard(KeySet(Key.AutocastCPU)):
        assert (taeda.ones(1, 1) @ taeda.ones(1, 1)).dtype == taeda.float32
    for name in ("Nonsense", "StartOfDenseBackends"):
        with pytest.raises(AttributeError):
            getattr(Key, name)
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = taeda._C.Nonsense


# --- custom_op


@pytest.fixture
def numpy_sin():
    @custom_op("mine::numpy_sin", mutates_args=())
    def numpy_sin(x: Tensor) -> Tensor:
        return taeda.from_numpy(np.sin(x.detach().numpy()))

    yield numpy_sin
    numpy_sin._forget_previous()


def test_custom_op(numpy_sin) -> None:
    x = taeda.tensor([0.5, 1.0])
    np.testing.assert_allclose(numpy_sin(x).numpy(), np.sin(x.numpy()))
    np.testing.assert_allclose(ops.mine.numpy_sin(x).numpy(), np.sin(x.numpy()))
    assert str(ops.mine.numpy_sin.default._schema) == "mine::numpy_sin(Tensor x) -> Tensor"


def test_custom_op_without_derivative_raises(numpy_sin) -> None:
    y = numpy_sin(taeda.ones(2, requires_grad=True))
    assert y.requires_grad
    with pytest.raises(RuntimeError, match="register_autograd"):
        y.sum().backward()


def test_custom_op_with_derivative(numpy_sin) -> None:
    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    numpy_sin.register_autograd(lambda ctx, grad: grad * ctx.saved_tensors[0].cos(), setup_context=setup)
    x = taeda.tensor([0.5, 1.0], dtype=taeda.float64, requires_grad=True)
    assert taeda.autograd.gradcheck(numpy_sin, (x,))
    with taeda.no_grad():
        assert not numpy_sin(x).requires_grad


def test_custom_op_fake(numpy_sin) -> None:
    x = taeda.ones(2, 3, device="meta")
    with pytest.raises(NotImplementedError, match="register_fake"):
        numpy_sin(x)
    numpy_sin.register_fake(lambda x: taeda.empty_like(x))
    assert numpy_sin(x).shape == (2, 3) and numpy_sin(x).device.type == "meta"
    with pytest.raises(RuntimeError, match="register_fake"):
        taeda.library.get_ctx()


def test_custom_op_kernel_per_device(numpy_sin) -> None:
    @numpy_sin.register_kernel("cpu")
    def _(x):
        return taeda.zeros_like(x)

    assert numpy_sin(taeda.ones(1)).item() == 0
    with numpy_sin.set_kernel_enabled("cpu", False):
        assert numpy_sin(taeda.ones(1)).item() != 0


def test_custom_op_that_writes() -> None:
    @custom_op("mine::fill_one", mutates_args={"x"})
    def fill_one(x: Tensor, scale: float = 1.0) -> None:
        x.fill_(scale)

    x = taeda.zeros(2)
    before = x._version
    assert fill_one(x) is None and x.tolist() == [1, 1] and x._version > before
    with pytest.raises(RuntimeError, match="writes to"):
        fill_one.register_autograd(lambda ctx: None)
    fill_one._forget_previous()


def test_custom_op_must_not_return_its_input() -> None:
    @custom_op("mine::identity", mutates_args=())
    def identity(x: Tensor) -> Tensor:
        return x

    with pytest.raises(RuntimeError, match="clone"):
        identity(taeda.ones(2))
    identity._forget_previous()


def test_custom_op_with_a_list() -> None:
    @custom_op("mine::total", mutates_args=())
    def total(xs: list[Tensor]) -> Tensor:
        return taeda.from_numpy(sum(x.detach().numpy() for x in xs))

    xs = [taeda.ones(2, requires_grad=True) for _ in range(3)]
    total.register_autograd(lambda ctx, grad: [2 * grad] * len(ctx.needs_input_grad[0]))
    total(xs).sum().backward()
    assert all(x.grad.tolist() == [2, 2] for x in xs)
    total._forget_previous()


_CPU = taeda.device("cpu")


def test_custom_op_fills_in_defaults() -> None:
    seen: list[Any] = []

    @custom_op("mine::scale", mutates_args=())
    def scale(
        x: Tensor, n: float = 2.0, *, where: taeda.device = _CPU, dtype: taeda.dtype = taeda.half, k: int = 1
    ) -> Tensor:
        seen.append((where, dtype))
        return x * n

    def setup(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
        ctx.n = inputs[1]
        seen.append((len(inputs), keyword_only_inputs["k"]))

    scale.register_autograd(lambda ctx, grad: (grad * ctx.n, None), setup_context=setup)
    for args, keywords, wanted, k in [((), {}, 2, 1), ((3.0,), {}, 3, 1), ((), {"n": 3.0}, 3, 1), ((), {"k": 5}, 2, 5)]:
        x = taeda.ones(2, requires_grad=True)
        scale(x, *args, **keywords).sum().backward()
        assert x.grad.tolist() == [wanted] * 2
        assert seen == [(_CPU, taeda.half), (2, k)]
        seen.clear()
    scale._forget_previous()


@pytest.mark.parametrize("hints, schema", [
    ("x: Tensor, n: int = 2", "(Tensor x, SymInt n=2)"),
    ("x: Tensor | None, *, flag: bool = True", "(Tensor? x, *, bool flag=True)"),
    ("xs: list[Tensor], w: Sequence[float]", "(Tensor[] xs, float[] w)"),
    ("x: Tensor, mode: str = 'a', d: taeda.dtype | None = None", '(Tensor x, str mode="a", ScalarType? d=None)'),
    ("x: Tensor, s: int | float | bool = 1", "(Tensor x, Scalar s=1)"),
])  # fmt: skip
def test_infer_schema(hints: str, schema: str) -> None:
    scope: dict = {}
    exec(
        f"from collections.abc import Sequence\nimport taeda\nfrom taeda import Tensor\ndef f({hints}) -> Tensor: ...",
        scope,
    )
    assert taeda.library.infer_schema(scope["f"], mutates_args=()) == f"{schema} -> Tensor"


@pytest.mark.parametrize("function", [lambda x: x, lambda *x: x])
def test_infer_schema_needs_hints(function) -> None:
    with pytest.raises(ValueError, match="hint"):
        taeda.library.infer_schema(function, mutates_args=())


def test_opcheck(numpy_sin) -> None:
    x = taeda.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="test_faketensor"):
        opcheck(numpy_sin, (x,))
    numpy_sin.register_fake(lambda x: x.new_empty(3))
    assert "shape" in opcheck(numpy_sin, (x,), raise_exception=False)["test_faketensor"]
    numpy_sin.register_fake(lambda x: taeda.empty_like(x))
    assert set(opcheck(numpy_sin, (x,)).values()) == {"SUCCESS"}


def test_module_level_functions() -> None:
    taeda.library.define("loose::plus", "(Tensor x, Tensor y) -> Tensor")

    @taeda.library.impl("loose::plus", "cpu")
    def _(x, y):
        return taeda.from_numpy(x.detach().numpy() + y.detach().numpy())

    @taeda.library.register_fake("loose::plus")
    def _(x, y):
        return taeda.empty_like(x)

    taeda.library.register_autograd("loose::plus", lambda ctx, grad: (grad, grad))
    x = taeda.ones(2, requires_grad=True)
    ops.loose.plus(x, x).sum().backward()
    assert x.grad.tolist() == [2, 2] and ops.loose.plus(x.to("meta"), x.to("meta")).shape == (2,)


def test_a_shape_rule_may_come_before_its_op() -> None:
    @taeda.library.register_fake("early::twice")
    def _(x):
        return x.new_empty(x.shape[0] * 2)

    assert not hasattr(ops.early, "twice")
    taeda.library.define("early::twice", "(Tensor x) -> Tensor")
    assert ops.early.twice(taeda.ones(3, device="meta")).shape == (6,)


# --- devices and C++


def test_own_device_example() -> None:
    path = Path(__file__).parents[2] / "examples" / "own_device.py"
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=path.parents[1],
                         env=os.environ | {"PYTHONPATH": str(path.parents[1])})  # fmt: skip
    assert run.returncode == 0, run.stderr
    losses = [float(line.split()[-1]) for line in run.stdout.splitlines() if line.startswith("step")]
    assert losses[-1] < losses[0] / 2
    assert "on toy:0" in run.stdout and "linear" in run.stdout.split("kernels of the device:")[1]


EXTENSION = """
#include "taeda/ops.h"
#include "taeda/dispatch/library.h"
using namespace taeda;
TAEDA_LIBRARY(inc, m) {
  m.def("scale(Tensor x, float by=2.0) -> Tensor");
  m.impl("scale", DeviceType::CPU, +[](const Tensor& x, double by) { return ops::mul(x, by); });
}
"""


def test_load_library(tmp_path: Path) -> None:
    build = Path(taeda._C.__file__).resolve().parent
    compiler = shutil.which(cpp_extension.get_cxx_compiler())
    folders = [Path(__file__).resolve().parents[2] / "include", build / "generated" / "include"]
    if compiler is None or not all(folder.exists() for folder in folders):
        pytest.skip("compiles: there is no C++ compiler, or the package is installed without its generated headers")
    (tmp_path / "inc.cpp").write_text(EXTENSION)
    headers = [f"-I{folder}" for folder in folders]
    subprocess.run(
        [
            compiler,
            "-std=c++20",
            "-O0",
            "-shared",
            "-fPIC",
            *headers,
            str(tmp_path / "inc.cpp"),
            f"-L{build}",
            "-ltaeda",
            "-o",
            str(tmp_path / "libinc.so"),
        ],
        check=True,
    )
    ops.load_library(str(tmp_path / "libinc.so"))
    assert ops.inc.scale(taeda.ones(2), by=3).tolist() == [3, 3]
    assert ops.inc.scale.default._where == f"{tmp_path / 'inc.cpp'}:5"
    with pytest.raises(NotImplementedError, match="one for: cpu"):
        ops.inc.scale(taeda.ones(2, device="meta"))


def test_load_library_of_a_missing_file() -> None:
    with pytest.raises(OSError):
        ops.load_library("/nowhere/libnone.so")


def test_register_vmap() -> None:
    import numpy as np

    @taeda.library.custom_op("mylib::numpy_scale", mutates_args=())
    def numpy_scale(x: taeda.Tensor, y: taeda.Tensor) -> taeda.Tensor:
        return taeda.from_numpy(np.multiply(x.numpy(), y.numpy()))

    x, y = taeda.arange(12.0).reshape(4, 3), taeda.arange(4.0)
    wanted = x * y[:, None]
    assert taeda.vmap(numpy_scale)(x, y).equal(wanted)  # one after the other
    calls = []

    @taeda.library.register_vmap("mylib::numpy_scale")
    def rule(info, in_dims, x, y):
        calls.append((info.batch_size, info.randomness, in_dims))
        return numpy_scale(x.movedim(0, -1), y).movedim(-1, 1), 1

    assert taeda.vmap(numpy_scale)(x, y).equal(wanted)
    assert taeda.vmap(numpy_scale, in_dims=(1, 0), out_dims=1)(x.t(), y).equal(wanted.t())
    assert calls == [(4, "error", (0, 0))] * 2


def test_ops_without_a_derivative_warn_in_backward(mine: Library) -> None:
    mine.define("plain(Tensor x, Tensor y) -> (Tensor, Tensor[])")
    mine.define("first(Tensor?[] xs, Tensor? y) -> Tensor")
    mine.impl("first", lambda xs, y: xs[1].detach() * 2, "CPU")
    mine.impl("plain", lambda x, y: (x.detach() * 2, [x.detach().int(), x, x * y]), "CPU")
    x = taeda.ones(3, requires_grad=True)
    assert (
        taeda.ops.mine.first([None, x], None).requires_grad
        and taeda.ops.mine.first([None, x.detach()], x).requires_grad
    )
    assert not taeda.ops.mine.first([None, x.detach()], None).requires_grad
    first, (number, same, recorded) = taeda.ops.mine.plain(x, x.detach())
    assert first.grad_fn.name() == "WarnNotImplemented" and not number.requires_grad and same is x
    recorded.sum().backward()
    with pytest.warns(UserWarning, match="mine::plain has no kernel under Autograd"):
        (first + x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    with taeda.no_grad():
        assert not taeda.ops.mine.plain(x, x)[0].requires_grad
    try:
        taeda._C._set_autograd_fallback_mode("error")
        with pytest.raises(RuntimeError, match="mine::plain has no kernel under Autograd, and"):
            taeda.ops.mine.plain(x, x)
        taeda._C._set_autograd_fallback_mode("nothing")
        assert not taeda.ops.mine.plain(x, x)[0].requires_grad
        with pytest.raises(RuntimeError, match="takes nothing, warn or error"):
            taeda._C._set_autograd_fallback_mode("loudly")
    finally:
        taeda._C._set_autograd_fallback_mode("warn")


def test_what_programs_ask_about_ops() -> None:
    C: Any = taeda._C
    assert str(C._get_schema("aten::add", "Tensor")).startswith("aten::add.Tensor(Tensor self, Tensor other")
    assert [s.overload_name for s in C._jit_get_schemas_for_operator("aten::relu")] == ["", "out"]
    assert not C._jit_get_schemas_for_operator("aten::nope") and len(C._jit_get_all_schemas()) > 2000
    assert C._dispatch_has_kernel("aten::add.Tensor") and not C._dispatch_has_kernel("aten::add.nope")
    assert C._dispatch_has_kernel_for_dispatch_key("aten::relu", "CPU")
    for wrong in (
        lambda: C._get_schema("aten::nope", ""),
        lambda: C._dispatch_has_kernel_for_dispatch_key("a::b", "CPU"),
    ):
        with pytest.raises(RuntimeError, match="there is no op"):
            wrong()
    assert isinstance(taeda.ones(1), C._TensorBase) and C._VariableFunctions.add is C._functions.add
    C._set_grad_enabled(False)
    assert not taeda.is_grad_enabled()
    C._set_grad_enabled(True)
    assert C._get_accelerator().type == "cpu" and not C._has_cuda
