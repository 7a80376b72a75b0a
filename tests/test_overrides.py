"""__torch_function__ for Python functions, modes, and what the module says can be overridden."""

import copy
import inspect
import operator
import pickle
import weakref

import pytest

import taeda
from taeda import overrides
from taeda.overrides import (
    TorchFunctionMode,
    handle_torch_function,
    has_torch_function,
    redispatch_function,
    wrap_torch_function,
)
from taeda.utils._mode_utils import all_same_mode, no_dispatch
from taeda.utils._python_dispatch import TorchDispatchMode, _disable_current_modes


class Named:
    """Not a tensor; answers for every function."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return cls.__name__, func, [t.__name__ for t in types], args, kwargs or {}


class Child(Named):
    pass


class Declines:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Sub(taeda.Tensor):
    pass


class Log(TorchFunctionMode):
    def __init__(self, name="", log=None):
        super().__init__()
        self.name, self.log = name, [] if log is None else log

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.log.append(self.name + getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))


@wrap_torch_function(lambda a, b=None: (a, b))
def distance(a, b=None):
    return (a - b).abs().sum()


def test_who_overrides():
    x = taeda.ones(1)
    assert not has_torch_function((x, 3, None)) and not has_torch_function((taeda.nn.Parameter(x),))
    assert has_torch_function((x, Named())) and has_torch_function((x.as_subclass(Sub),))
    assert overrides.has_torch_function_unary(Named()) and overrides.has_torch_function_variadic(1, Named())
    assert [overrides.is_tensor_like(v) for v in (x, Named(), 3, [x])] == [True, True, False, False]
    with taeda._C.DisableTorchFunctionSubclass():
        assert not has_torch_function((Named(),))


@pytest.mark.parametrize(
    ("args", "who", "types"),
    [
        ((Named(), taeda.ones(1)), "Named", ["Named"]),
        ((Named(), Child()), "Child", ["Child", "Named"]),
        ((Child(), Named()), "Child", ["Child", "Named"]),
        ((Declines(), Named()), "Named", ["Declines", "Named"]),
        ((Named(), Named()), "Named", ["Named"]),
    ],
)
def test_handling(args, who, types):
    name, func, seen, got, kwargs = distance(*args)
    assert (name, func, seen, got, kwargs) == (who, distance, types, args, {})
    assert handle_torch_function(distance, args, *args, k=1)[4] == {"k": 1}


def test_nobody_takes_it():
    with pytest.raises(TypeError, match="Declines"):
        distance(Declines())
    with pytest.raises(TypeError, match="taeda|torch"):
        handle_torch_function(taeda.add, (Declines(),), 1)


def test_wrapped_functions_still_work():
    assert distance(taeda.ones(2), taeda.zeros(2)) == 2 and distance.__name__ == "distance"


def test_function_modes():
    log = []
    x = taeda.ones(2)
    with Log("outer ", log), Log("inner ", log) as inner:
        taeda.sin(x)
        assert inner.log is log
        assert log == ["inner sin", "outer sin"]
        log.clear()
        distance(x, x)
        assert log[:2] == ["inner distance", "outer distance"]
    log.clear()
    taeda.sin(x)
    assert log == []
    with pytest.raises(NotImplementedError, match="__torch_function__"), TorchFunctionMode():
        taeda.sin(x)
    assert isinstance(Log.push("a"), Log)


def test_modes_that_are_on():
    assert overrides._get_current_function_mode() is None
    with Log() as outer, Log() as inner:
        assert overrides._get_current_function_mode_stack() == [outer, inner]
        with overrides._pop_mode_temporarily() as mode:
            assert mode is inner and overrides._get_current_function_mode() is outer
        assert overrides._get_current_function_mode() is inner
    assert all_same_mode([outer, outer]) and not all_same_mode([outer, inner])


def test_classes_that_answer_ops_leave_functions_alone():
    class Answers(taeda.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            with no_dispatch():
                return func(*args, **(kwargs or {}))

    class Both(Answers):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "a function"

    x = taeda.Tensor._make_subclass(Answers, taeda.ones(2))
    assert type(x + 1) is taeda.Tensor and type(taeda.zeros_like(x)) is taeda.Tensor
    assert taeda.Tensor._make_subclass(Both, taeda.ones(2)) + 1 == "a function"


def test_a_guard_is_on_until_it_dies_or_with_ends_it():
    class Answers(taeda.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(str(func))
            with no_dispatch():
                return func(*args, **(kwargs or {}))

    seen: list[str] = []
    x = taeda.Tensor._make_subclass(Answers, taeda.ones(2))
    guard = taeda._C._DisableTorchDispatch()
    x.sin()
    del guard
    x.cos()
    with taeda._C._DisableTorchDispatch() as kept:
        x.sin()
    x.exp()
    del kept
    x.tan()
    assert seen == ["aten.cos.default", "aten.exp.default", "aten.tan.default"]


def test_a_mode_is_off_after_an_exception():
    with pytest.raises(KeyError), Log() as mode:
        raise KeyError
    taeda.ones(1)
    assert mode.log == []
    with overrides.BaseTorchFunctionMode():
        assert taeda.ones(1).sum() == 1


def test_dispatch_modes():
    class Ops(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.seen = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x = taeda.ones(2, 2, requires_grad=True)
    with Ops() as ops:
        (x @ x).sum().backward()
        with _disable_current_modes() as modes:
            x.detach() + 1
        assert modes == [ops]
    assert ops.seen[:2] == ["aten.mm.default", "aten.sum.default"] and ops.seen.count("aten.mm.default") == 3
    count = len(ops.seen)
    x.detach() + 1
    assert len(ops.seen) == count and not TorchDispatchMode.is_infra_mode()


def test_what_can_be_overridden():
    table = overrides.get_overridable_functions()
    assert taeda.add in table[taeda] and taeda.nn.functional.linear in table[taeda.nn.functional]
    assert taeda.Tensor.add in table[taeda.Tensor] and taeda.Tensor.shape.__get__ in table[taeda.Tensor]
    assert taeda.ones not in table[taeda] and taeda.manual_seed in overrides.get_ignored_functions()
    stand_in = overrides.get_testing_overrides()[taeda.nn.functional.dropout]
    assert stand_in(1) == -1


@pytest.mark.parametrize(
    ("get", "name"),
    [
        (lambda: taeda.add, "torch.add"),
        (lambda: taeda.nn.functional.linear, "torch.nn.functional.linear"),
        (lambda: taeda.linalg.norm, "torch.linalg.norm"),
        (lambda: taeda.Tensor.add_, "torch.Tensor.add_"),
        (lambda: taeda.Tensor.grad.__get__, "torch.Tensor.grad.__get__"),
        (lambda: print, None),
        (lambda: [], None),
    ],
)
def test_names(get, name):
    assert overrides.resolve_name(get()) == name


def test_methods_and_properties():
    assert overrides.is_tensor_method_or_property(taeda.Tensor.add)
    assert overrides.is_tensor_method_or_property(taeda.Tensor.shape.__get__)
    assert not overrides.is_tensor_method_or_property(taeda.add)


def test_what_operators_and_renamed_functions_are_called():
    class Named(taeda.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            called.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    called: list = []
    x = taeda.ones(2).as_subclass(Named)
    assert (1 - x).tolist() == [0, 0]
    assert taeda.nn.functional.logsigmoid(x).shape == (2,)
    assert x.new_tensor([1.0, 2.0]).shape == (2,)
    assert called[0].__name__ == "__rsub__" and taeda.nn.functional.logsigmoid in called
    assert taeda.Tensor.new_tensor in called


F = taeda.nn.functional


@pytest.mark.parametrize(
    ("function", "call", "args", "names"),
    [
        (F.relu, lambda t: F.relu(t), 1, {"inplace"}),
        (F.softmin, lambda t: F.softmin(t, 0), 1, {"dim", "_stacklevel", "dtype"}),
        (F.group_norm, lambda t: F.group_norm(taeda.ones(1, 2), 1, t), 2, {"weight", "bias", "eps"}),
        (taeda.tensordot, lambda t: taeda.tensordot(taeda.ones(2), t), 2, {"dims", "out"}),
        (taeda.block_diag, lambda t: taeda.block_diag(taeda.ones(1), t), 2, set()),
        (taeda.meshgrid, lambda t: taeda.meshgrid([t, t]), 1, {"indexing"}),
        (taeda.einsum, lambda t: taeda.einsum("i,i->", [taeda.ones(1), t]), 3, set()),
        (taeda.norm, lambda t: taeda.norm(input=t, p=1), 1, {"p", "dim", "keepdim", "out", "dtype"}),
        (taeda.Tensor.split, lambda t: taeda.ones(2).split(t), 2, {"dim"}),
    ],
)
def test_functions_written_in_python_are_taken_over_whole(function, call, args, names):
    who, seen, types, positional, named = call(Named())
    assert (who, seen, types, len(positional), set(named)) == ("Named", function, ["Named"], args, names)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.cross_entropy(x, taeda.tensor([0, 1]), label_smoothing=0.1),
        lambda x: F.interpolate(x[None], scale_factor=2),
        lambda x: taeda.tensordot(x, x, 2),
        lambda x: taeda.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist"),
        lambda x: taeda.cartesian_prod(x[0], x[1]),
        lambda x: taeda.norm(x, dim=0),
        lambda x: x.unique(return_counts=True)[0],
        lambda x: f"{x.sum():.3f}",
    ],
)
def test_a_mode_that_calls_what_it_sees_changes_nothing(call):
    x = taeda.arange(6.0).view(2, 3)
    with Log() as log:
        seen = call(x)
    assert log.log and (seen == call(x) if isinstance(seen, str) else taeda.equal(seen, call(x)))


def test_wrong_arguments_under_a_mode_name_the_function():
    x = taeda.ones(1)
    with Log() as log, pytest.raises(TypeError, match="tensordot"):
        taeda.tensordot(x)
    assert not log.log


def test_an_overridable_function_looks_like_a_function():
    assert inspect.isfunction(F.relu) and F.relu.__module__ == "taeda.nn.functional" and F.relu.__name__ == "relu"
    assert inspect.getsource(F.relu).startswith("def relu(") and "input" in inspect.signature(F.relu).parameters
    assert pickle.loads(pickle.dumps(F.relu)) is copy.deepcopy(F.relu) is weakref.ref(F.relu)() is F.relu
    assert F.relu.__doc__ == F.relu.__wrapped__.__doc__ and "function relu" in repr(F.relu)
    F.relu.note = 1
    assert F.relu.__dict__.pop("note") == 1
    with pytest.raises(AttributeError):
        F.relu.note  # noqa: B018
    with pytest.raises(TypeError, match="relu"):
        F.relu(taeda.ones(1), nothing=1)
    with pytest.raises(TypeError):
        taeda._C._overridable(len)


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


def test_the_protocol_can_be_switched_on_again():
    class Sub(taeda.Tensor):
        pass

    x = Sub(taeda.ones(2))
    assert not taeda._C._is_torch_function_all_disabled()
    with taeda._C.DisableTorchFunctionSubclass():
        held = taeda._C._EnableTorchFunction()
        assert type(x.sum()) is Sub
        del held
        assert type(x.sum()) is taeda.Tensor
    with taeda._C.DisableTorchFunction():
        assert taeda._C._is_torch_function_all_disabled()
        with overrides._enable_torch_function():
            assert type(x.sum()) is Sub
        assert type(x.sum()) is taeda.Tensor
    assert type(x.sum()) is Sub


class Plain:
    """Asked on the object, as the protocol's first form had it."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return self, func


def test_plain_methods_are_called_with_their_object():
    plain = Plain()
    with pytest.warns(DeprecationWarning, match="classmethod"):
        assert taeda.nn.functional.dropout(plain)[0] is plain
    with pytest.warns(UserWarning, match="classmethod"):
        assert taeda.abs(plain) == (plain, taeda.abs)


def test_modes_are_told_of_subclasses_that_override_nothing():
    class Sub(taeda.Tensor):
        pass

    class Picky(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append([t.__name__ for t in types])
            return NotImplemented if types else func(*args, **(kwargs or {}))

    class ByClass(TorchFunctionMode):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(*args)

    seen: list[list[str]] = []
    with Picky():
        for call in (taeda.neg, lambda x: distance(x, x)):
            assert type(call(Sub(taeda.ones(2)))) is Sub
            assert [["Sub"], []] in [seen[i : i + 2] for i in range(len(seen))]
            seen.clear()
    with pytest.raises(RuntimeError, match="plain method"), ByClass():
        taeda.ones(1) + 1


@pytest.mark.parametrize("call", [
    lambda x: taeda.nn.init.constant_(x, 1.0), lambda x: taeda.nn.init.kaiming_uniform_(x), taeda.sym_not,
    lambda x: taeda.sym_sum([x, x]), lambda x: taeda.einsum("i->", x), taeda.get_device, taeda.is_distributed,
    lambda x: taeda.autograd.grad(x, x), lambda x: taeda.sym_max(x, x), taeda.sym_int, taeda.sym_float,
    taeda._C._nn._parse_to,
])  # fmt: skip
def test_what_else_is_taken_over(call):
    assert call(Named())[0] == "Named"


def test_truth_must_be_a_bool():
    class Odd(taeda.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return 3

    with pytest.raises(TypeError, match="bool"):
        bool(Odd(taeda.ones(1)))


def test_unrelated_subclasses_decline():
    class One(taeda.Tensor):
        pass

    class Other(taeda.Tensor):
        pass

    class Both(One, Other):
        pass

    one, other, both = (taeda.ones(2).as_subclass(cls) for cls in (One, Other, Both))
    with pytest.raises(TypeError):
        one + other
    with pytest.raises(TypeError):
        taeda.stack([taeda.ones(2), other, one])
    for several in ([one, both, other], [other, one, both]):
        assert type(taeda.stack(several)) is Both


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "and", "or", "xor"]
)
def test_the_right_operand_is_asked_for_its_own_operator(name):
    class Left(taeda.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class Right(Left):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return (args[0] is right, args[1] is left) if func.__name__ == f"__r{name}__" else NotImplemented

    left, right = Left(), Right()
    call = getattr(operator, f"{name}_" if name in ("and", "or") else name)
    assert call(left, right) == (True, True)
    with pytest.raises(TypeError):
        call(left, Left())


@pytest.mark.parametrize("call", [
    lambda: taeda.sparse_coo_tensor(1, 1, 1),
    lambda: taeda.sparse_csr_tensor(1, 1, 1, (1, 1), check_invariants=False),
    lambda: taeda.smm(1, 2),
    lambda: taeda.pca_lowrank(1),
    lambda: taeda.indices_copy(1),
])  # fmt: skip
def test_modes_are_asked_before_arguments_are_read(call):
    class Mode(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return -1

    with Mode():
        assert call() == -1


def test_types_without_end_are_refused_at_the_first() -> None:
    class Endless:
        def __getitem__(self, place: int) -> object:
            return self

    for types, args in ((Endless(), ()), ((taeda.Tensor,), Endless())):
        with pytest.raises(TypeError):
            taeda.Tensor.__torch_function__(taeda.relu, types, args)


@pytest.mark.parametrize(
    "method",
    [
        taeda.Tensor.__torch_function__,
        taeda.Tensor.__torch_dispatch__,
        taeda._C._disabled_torch_function_impl,
        taeda._C._skip_one_hop_torch_function,
    ],
)
def test_what_a_protocol_is_given_is_looked_at(method):
    two = (taeda.ones(2), taeda.ones(2))
    for args, kwargs in ((two, None), (list(two), {})):
        assert method(taeda.ops.aten.add.Tensor, (), args, kwargs).tolist() == [2, 2]
    for args, kwargs, wrong in ((two, 3, "kwargs"), (two, [("alpha", 1)], "kwargs"), (3, {}, "args")):
        with pytest.raises(TypeError, match=f" {wrong} must be a"):
            method(taeda.ops.aten.add.Tensor, (), args, kwargs)


@pytest.mark.skipif("distributed" not in dir(taeda), reason="built without taeda.distributed")
@pytest.mark.parametrize("name, args", [
    ("all_reduce", "t"), ("broadcast", "t0"), ("reduce", "t0"), ("all_gather", "lt"), ("all_gather_into_tensor", "tt"),
    ("gather", "t"), ("scatter", "t"), ("reduce_scatter", "tl"), ("reduce_scatter_tensor", "tt"), ("all_to_all", "ll"),
    ("all_to_all_single", "tt"), ("all_reduce_coalesced", "l"), ("all_gather_coalesced", "ll"), ("isend", "t0"),
    ("irecv", "t"), ("send", "t0"), ("recv", "t"),
])  # fmt: skip
def test_collectives_ask(name, args):
    class Remote:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func, types

    given = {"t": Remote(), "l": [Remote()], "0": 0}
    function = getattr(taeda.distributed, name)
    assert function(*(given[kind] for kind in args)) == (function, (Remote,))
    assert function in overrides.get_testing_overrides()
    with pytest.raises(TypeError, match=name.removesuffix("_single")):
        function(*({"t": 1, "l": 1}.get(kind, kind) for kind in args))
