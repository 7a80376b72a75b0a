"""Names that few programs need: op tags, pinned kernels, rules for one op, redispatch, small modes, swapped state."""

import pytest

import taeda
import taeda.nn.functional as F
from taeda.library import _scoped_library, custom_op, get_kernel, register_torch_dispatch
from taeda.overrides import handle_torch_function, has_torch_function, redispatch_function
from taeda.utils._python_dispatch import TorchDispatchMode


def test_tags_of_built_in_ops():
    Tag = taeda.Tag
    assert Tag.pointwise in taeda.ops.aten.sin.default.tags and Tag.reduction in taeda.ops.aten.amax.default.tags
    assert Tag.inplace in taeda.ops.aten.add_.Tensor.tags and Tag.out in taeda.ops.aten.add.out.tags
    assert Tag.nondeterministic_seeded in taeda.ops.aten.bernoulli.default.tags
    assert all(Tag.pt2_compliant_tag in op.tags for op in (taeda.ops.aten.mm.default, taeda.ops.aten.relu.default))
    assert repr(Tag.core) == "<Tag.core: 0>" and int(Tag(3)) == 3


def test_tags_that_a_program_gives():
    Tag = taeda.Tag
    taeda.library.define("small_names::tagged", "(Tensor x) -> Tensor", tags=(Tag.pointwise, Tag.core))
    assert taeda.ops.small_names.tagged.default.tags == [Tag.pointwise, Tag.core]
    taeda.library.define("small_names::one_tag", "(Tensor x) -> Tensor", tags=Tag.core)
    assert taeda.ops.small_names.one_tag.default.tags == [Tag.core]
    with pytest.raises(TypeError, match="Tag"):
        taeda.library.define("small_names::wrong", "(Tensor x) -> Tensor", tags=["core"])


def test_a_kernel_outlives_its_replacement():
    before = get_kernel("aten::sin", "CPU")

    def sin(keys, x):
        return before.call_boxed(keys, x) if bool((x < 0).any()) else taeda.zeros_like(x)

    with _scoped_library("aten", "IMPL") as library:
        library.impl("sin", sin, "CPU", with_keyset=True, allow_override=True)
        mine = get_kernel(taeda.ops.aten.sin.default, taeda._C.DispatchKey.CPU)
        assert taeda.sin(taeda.ones(1)).item() == 0
        assert taeda.sin(-taeda.ones(1)).item() == pytest.approx(-0.841471)
    assert taeda.sin(taeda.ones(1)).item() == pytest.approx(0.841471)
    assert mine.call_boxed(taeda._C.DispatchKeySet("CPU"), taeda.ones(1)).item() == 0


def test_get_kernel_errors():
    for op, key, error in (
        ("aten::nosuch", "CPU", RuntimeError),
        ("aten::sin", "NoKey", ValueError),
        ("aten::sin", "SparseCPU", RuntimeError),
        (3, "CPU", ValueError),
    ):
        with pytest.raises(error):
            get_kernel(op, key)


class Through(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Derived(Through):
    pass


def test_a_rule_for_one_op_and_class():
    @custom_op("small_names::same", mutates_args=())
    def same(x: taeda.Tensor) -> taeda.Tensor:
        return x.clone()

    @register_torch_dispatch("small_names::same", Through)
    def plus_one(mode, func, types, args, kwargs):
        assert isinstance(mode, Through) and func is taeda.ops.small_names.same.default
        return args[0] + 1

    x = taeda.zeros(2)
    assert same(x).tolist() == [0, 0]
    with Through():
        assert same(x).tolist() == [1, 1]
    with Derived():
        assert same(x).tolist() == [0, 0]
    with pytest.raises(ValueError, match="__torch_dispatch__"):
        register_torch_dispatch("small_names::same", int, plus_one)


class Logged(taeda.Tensor):
    calls: list = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__)
        return redispatch_function(func, types, args, kwargs)


def scaled_product(a, b):
    if has_torch_function((a, b)):
        return handle_torch_function(scaled_product, (a, b), a, b)
    return a * b + 1


@pytest.mark.parametrize("call", [
    (lambda a: scaled_product(a, a), ["scaled_product", "mul"]),
    (lambda a: taeda.einsum("i,i->i", a, a), ["einsum"]),
    (lambda a: a.split(1)[0], ["split", "split"]),
    (lambda a: F.layer_norm(a, (2,)), ["layer_norm"]),
])  # fmt: skip
def test_redispatch(call):
    function, wanted = call
    Logged.calls = []
    result = function(taeda.ones(2).as_subclass(Logged))
    assert Logged.calls == wanted and type(result) is taeda.Tensor
    assert type(taeda.ones(2).as_subclass(Logged) + 1) is taeda.Tensor and Logged.calls[-1] == "add"


def test_gradients_may_lie_as_they_come():
    def strides(enforced):
        p = taeda.empty(2, 3, 4).permute(2, 0, 1).requires_grad_()
        with taeda.autograd.enforce_grad_layout_policy(enforced):
            p.backward(taeda.ones(4, 2, 3) * 2)
        return p.grad.stride()

    assert strides(True) == (1, 12, 4)
    with taeda.autograd.set_multithreading_enabled(False):
        assert strides(True) == (1, 12, 4)


def test_modes_are_switches_and_decorators():
    read = taeda.autograd.enforce_grad_layout_policy._read

    @taeda.autograd.enforce_grad_layout_policy(False)
    def inside():
        return read()

    assert read() and not inside() and read()
    switch = taeda.autograd.enforce_grad_layout_policy(False)
    assert not read()
    with switch:
        assert not read()
    assert read()


def test_swapped_parameters_and_state():
    own = [taeda.nn.Parameter(taeda.ones(2)) for _ in range(2)]
    optimizer = taeda.optim.Adam(own, lr=0.1)
    other = {"a": taeda.zeros(2, requires_grad=True), "b": taeda.nn.Parameter(taeda.zeros(2))}
    swap = taeda.optim.swap_in_optimizer_params_and_state
    with pytest.raises(RuntimeError, match="no state"), swap(optimizer, other, optimizer.state_dict()):
        pass
    sum((p * p).sum() for p in own).backward()
    optimizer.step()
    state = optimizer.state_dict()
    state["param_groups"][0]["lr"] = 0.5
    for p in other.values():
        p.grad = taeda.ones(2)
    before = [p.tolist() for p in own]
    with swap(optimizer, other, state):
        assert [id(p) for p in optimizer.param_groups[0]["params"]] == [id(p) for p in other.values()]
        optimizer.step()
    assert optimizer.param_groups[0]["lr"] == 0.1 and optimizer.param_groups[0]["params"][0] is own[0]
    assert [p.tolist() for p in own] == before and other["a"].tolist() != [0, 0]
    assert state["state"][0]["step"].item() == 2
    with pytest.raises(RuntimeError, match="wanted 2 parameters"), swap(optimizer, {"a": taeda.zeros(2)}, state):
        pass


@pytest.mark.parametrize("rowwise", [False, True])
@pytest.mark.parametrize("dtype", [taeda.bfloat16, taeda.float32, None])
def test_scaled_mm(rowwise, dtype):
    a = taeda.arange(-32.0, 32).reshape(4, 16).div(8).to(taeda.float8_e4m3fn)
    b = taeda.arange(48.0).reshape(3, 16).div(16).to(taeda.float8_e4m3fn).t()
    recipe = F.ScalingType.RowWise if rowwise else F.ScalingType.TensorWise
    scales = (taeda.rand(4, 1) + 0.5, taeda.rand(1, 3) + 0.5) if rowwise else (taeda.tensor(2.0), taeda.tensor(0.5))
    result = F.scaled_mm(a, b, scales[0], recipe, [scales[1]], [recipe], bias=taeda.ones(3), output_dtype=dtype)
    wanted = (a.float() @ b.float()) * scales[0] * scales[1] + 1
    assert result.dtype == (dtype or taeda.float8_e4m3fn)
    taeda.testing.assert_close(result.float(), wanted.to(result.dtype).float())


def test_scaled_mm_errors():
    a, one = taeda.ones(16, 16).to(taeda.float8_e4m3fn), taeda.tensor(1.0)
    whole, rows = F.ScalingType.TensorWise, F.ScalingType.RowWise
    for arguments in (
        (a, a, one, rows, one, whole),
        (a, a, taeda.ones(16), rows, taeda.ones(16), rows),
        (a.float(), a, one, whole, one, whole),
        (a, a, one.double(), whole, one, whole),
        (a, a, [one, one], [whole, whole], one, whole),
    ):
        with pytest.raises(ValueError):
            F.scaled_mm(*arguments)


def test_boolean_dispatch_and_pairs():
    chosen = F.boolean_dispatch("flag", 1, False, lambda x, flag: ("on", x), lambda x, flag=False: ("off", x), "m", "n")
    assert chosen(1) == ("off", 1) and chosen(1, True) == ("on", 1) and chosen(1, flag=True) == ("on", 1)
    F.assert_int_or_pair([1, 2], "size", "{} is wrong")
    with pytest.raises(AssertionError, match="size is wrong"):
        F.assert_int_or_pair([1, 2, 3], "size", "{} is wrong")
    assert F.has_torch_function is taeda.overrides.has_torch_function


def test_versions_compare():
    from types import SimpleNamespace

    newer = taeda.serialization.check_module_version_greater_or_equal
    module = SimpleNamespace(__name__="module", __version__="1.10.2")
    assert newer(module, (1, 2)) and newer(module, (1, 10, 2)) and not newer(module, (2,))
    module.__version__ = "1.x"
    with pytest.raises(RuntimeError, match="1.x"):
        newer(module, (1, 2))
    with pytest.warns(UserWarning, match="new enough"):
        assert newer(module, (1, 2), error_if_malformed=False)


REARRANGED = [
    ("b c h w -> b h w c", {}, lambda x: x.permute(0, 2, 3, 1)),
    ("b c h w -> (b h) w c", {}, lambda x: x.permute(0, 2, 3, 1).reshape(8, 5, 3)),
    ("b c (h p) w -> (b p) h w c", {"p": 2}, lambda x: x.reshape(2, 3, 2, 2, 5).permute(0, 3, 2, 4, 1).flatten(0, 1)),
    ("b ... -> ... b", {}, lambda x: x.permute(1, 2, 3, 0)),
    ("b ... w -> b (...) w", {}, lambda x: x.flatten(1, 2)),
    ("... -> (...) 1", {}, lambda x: x.reshape(-1, 1)),
    ("b c h w -> b 1 c (h w) ()", {}, lambda x: x.reshape(2, 1, 3, 20, 1)),
]


@pytest.mark.parametrize("pattern, lengths, wanted", REARRANGED)
def test_rearrange(pattern, lengths, wanted):
    x = taeda.arange(120).reshape(2, 3, 4, 5)
    result = taeda.func.rearrange(x, pattern, **lengths)
    assert result.shape == wanted(x).shape and result.tolist() == wanted(x).tolist()


def test_rearrange_stacks():
    parts = [taeda.ones(2, 3), taeda.zeros(2, 3)]
    assert taeda.func.rearrange(parts, "n a b -> a (n b)").tolist() == [[1, 1, 1, 0, 0, 0]] * 2


@pytest.mark.parametrize("pattern, lengths", [
    ("a b c d", {}), ("a b c -> a b c", {}), ("a a c d -> a c d", {}), ("a b c d -> a b c", {}),
    ("a b (c e) d -> a b c d e", {}), ("a b (c e) d -> a b c d e", {"c": 3}), ("a b c d -> a b c d", {"q": 1}),
    ("a (b c d -> a", {}), ("(...) a -> a", {}), ("a b c d -> a ((b c) d)", {}), ("a b c d_ -> a b c d_", {}),
    ("2 b c d -> b c d", {}), ("a b c d -> ... a b c d", {}), ("a b c . d -> a", {}), ("a ... b ... -> a b", {}),
])  # fmt: skip
def test_rearrange_errors(pattern, lengths):
    with pytest.raises(ValueError, match="rearrange"):
        taeda.func.rearrange(taeda.zeros(2, 3, 4, 5), pattern, **lengths)


def test_pinned_memory():
    x = taeda.ones(2, requires_grad=True)
    assert not x.is_pinned() and taeda.equal(x.pin_memory(), x)
    x.pin_memory().sum().backward()
    assert x.grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="on the CPU"):
        taeda.ones(2, device="meta").pin_memory()


def test_a_subclass_answers_for_pinned_memory():
    class Both(taeda.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func is taeda.ops.aten.is_pinned.default or args[0]

    seen, both = [], taeda.Tensor._make_wrapper_subclass(Both, (2,))
    assert both.pin_memory() is both and seen == ["aten.is_pinned.default"]


def test_a_sparse_product_by_name():
    a, b, c = (taeda.randn(3, 3, dtype=taeda.float64, requires_grad=True) for _ in range(3))
    product = taeda.ops.aten._sparse_addmm
    assert taeda.equal(product(a, b, c, beta=2, alpha=3), taeda.addmm(a, b, c, beta=2, alpha=3))
    assert taeda.autograd.gradcheck(lambda *abc: product(*abc, beta=2, alpha=3), (a, b, c))


def test_rows_by_number_and_by_beginning():
    numbers, begins = taeda.tensor([0, 0, 1, 3, 3]), taeda.tensor([0, 2, 3, 3, 5, 5])
    columns = taeda.tensor([1, 2, 0, 1, 3])
    to_csr, to_coo = taeda._convert_indices_from_coo_to_csr, taeda._convert_indices_from_csr_to_coo
    assert taeda.equal(to_csr(numbers, 5), begins) and to_csr(numbers[:0], 2).tolist() == [0, 0, 0]
    assert taeda.equal(to_coo(begins, columns), taeda.stack([numbers, columns]))
    assert taeda.equal(to_coo(begins, columns, transpose=True), taeda.stack([columns, numbers]))
    assert to_csr(numbers, 5, out_int32=True).dtype == to_coo(begins, columns, out_int32=True).dtype == taeda.int32
    for call in (
        lambda: to_csr(numbers[None], 5),
        lambda: to_coo(begins[:0], columns),
        lambda: to_coo(begins, begins[None]),
    ):
        with pytest.raises(RuntimeError, match="dimension|empty"):
            call()


def test_dense_tensors():
    x = taeda.ones(2, 3, requires_grad=True)
    assert x.to_dense() is x and x.to_dense(taeda.float64).dtype == taeda.float64
    assert (x.sparse_dim(), x.dense_dim()) == (0, 2)


def test_switches_of_a_compiler():
    for name in ("_jit_set_profiling_executor", "_jit_set_profiling_mode"):
        switch = getattr(taeda._C, name)
        assert [switch(False), switch(True), switch(True)] == [True, False, True]
    for turn, ask in (
        ("_jit_override_can_fuse_on_cpu", "_jit_can_fuse_on_cpu"),
        ("_jit_override_can_fuse_on_gpu", "_jit_can_fuse_on_gpu"),
        ("_jit_set_texpr_fuser_enabled", "_jit_texpr_fuser_enabled"),
    ):
        before = getattr(taeda._C, ask)()
        assert getattr(taeda._C, turn)(not before) is None and getattr(taeda._C, ask)() is not before
        getattr(taeda._C, turn)(before)
    assert taeda._C._is_tracing() is False and taeda.Future is taeda.futures.Future


def test_classes_of_extensions_there_are_none():
    with pytest.raises(RuntimeError, match=r"'some\.Class'"):
        taeda.classes.some.Class  # noqa: B018
    assert not hasattr(taeda.classes, "__wrapped__") and not hasattr(taeda.classes.some, "__wrapped__")


def test_functions_of_the_first_years():
    class Double(taeda.autograd.function.InplaceFunction):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad

    x = taeda.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2] and Double(inplace=True).inplace and not Double().inplace
