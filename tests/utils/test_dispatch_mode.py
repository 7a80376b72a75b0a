"""``__torch_dispatch__``: modes and subclasses below autograd."""

from __future__ import annotations

import pytest
from fuzz.hostile_values import memoryless

import taeda
from taeda import Tensor
from taeda.overrides import enable_reentrant_dispatch
from taeda.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

aten = taeda.ops.aten


class Log(TorchDispatchMode):
    """Lets everything through and notes it."""

    def __init__(self):
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


class Wrapper(Tensor):
    """Holds another tensor; has no memory."""

    @staticmethod
    def __new__(cls, inner, requires_grad=False):
        return Tensor._make_wrapper_subclass(cls, inner.size(), strides=inner.stride(), dtype=inner.dtype,
                                             device=inner.device, requires_grad=requires_grad)  # fmt: skip

    def __init__(self, inner, requires_grad=False):
        self.inner = inner

    def __repr__(self):
        return f"Wrapper({self.inner})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def open_(x):
            return x.inner if isinstance(x, Wrapper) else [open_(i) for i in x] if isinstance(x, (list, tuple)) else x

        def close(x):
            return (
                Wrapper(x)
                if isinstance(x, Tensor)
                else type(x)(close(i) for i in x)
                if isinstance(x, (list, tuple))
                else x
            )

        cls.log.append(func)
        return close(func(*open_(args), **{k: open_(v) for k, v in (kwargs or {}).items()}))


@pytest.fixture(autouse=True)
def fresh_log():
    Wrapper.log = []


def test_mode_sees_ops() -> None:
    x = taeda.ones(2, 2)
    with Log() as log:
        y = x + x
        z = taeda.zeros(2)
        taeda.matmul(x, x)
    assert log.seen[0] is aten.add.Tensor and aten.zeros.default in log.seen
    assert aten.mm.default in log.seen and aten.matmul.default not in log.seen, "composites are taken apart above"
    assert y.tolist() == [[2, 2], [2, 2]] and z.tolist() == [0, 0]
    count = len(log.seen)
    assert (x + x).sum() == 8 and len(log.seen) == count


def test_mode_sees_backward_below_autograd() -> None:
    x = taeda.ones(2, requires_grad=True)
    with Log() as log:
        (x * x).sum().backward()
    names = [op.name() for op in log.seen]
    assert names[0] == "aten::mul.Tensor" and names.count("aten::mul.Tensor") >= 2 and x.grad.tolist() == [2, 2]


def test_modes_nest() -> None:
    class Add(TorchDispatchMode):
        def __init__(self, by):
            self.by = by

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            return result + self.by if func is aten.mul.Tensor else result

    x = taeda.ones(1)
    with Add(1), Log() as log, Add(10):
        assert (x * x).tolist() == [12]
    assert aten.mul.Tensor in log.seen and aten.add.Tensor in log.seen
    assert taeda._C._len_torch_dispatch_stack() == 0


def test_mode_arguments() -> None:
    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.last = (func, types, args, kwargs)
            return func(*args, **kwargs)

    x = taeda.ones(2)
    with Look() as look:
        taeda.add(x, x)
        assert look.last[1:] == ((), (x, x), {}), "defaults are left out"
        taeda.add(x, x, alpha=2)
        assert look.last[3] == {"alpha": 2}
        taeda.ones(2, dtype=taeda.int64)
        assert look.last[3]["dtype"] is taeda.int64


def test_errors_leave_the_modes_as_they_were() -> None:
    class Fail(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), Fail():
        taeda.ones(1)
    assert taeda._C._len_torch_dispatch_stack() == 0
    with Fail(), _disable_current_modes() as off:
        assert len(off) == 1 and taeda.ones(1).item() == 1
    with pytest.raises(RuntimeError):
        taeda._C._pop_torch_dispatch_mode()


def test_mode_that_answers_itself() -> None:
    class Zero(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return taeda.zeros(3)

    with Zero():
        assert (taeda.ones(2) + 1).tolist() == [0, 0, 0]


def test_wrapper_subclass() -> None:
    w = Wrapper(taeda.tensor([1.0, 2.0]))
    y = (w + 1) * w
    assert type(y) is Wrapper and y.inner.tolist() == [2, 6]
    assert [op.name() for op in Wrapper.log] == ["aten::add.Tensor", "aten::mul.Tensor"]
    assert repr(w) == "Wrapper(tensor([1., 2.]))" and w.shape == (2,) and w.dtype is taeda.float32
    a, b = taeda.split(w, 1)
    assert type(a) is Wrapper and b.inner.tolist() == [2]
    assert type(taeda.cat([w, w])) is Wrapper


def test_wrapper_subclass_under_autograd() -> None:
    w = Wrapper(taeda.tensor([1.0, 2.0]), requires_grad=True)
    (w * w).sum().backward()
    assert type(w.grad) is Wrapper and w.grad.inner.tolist() == [2, 4]


def test_in_place_and_views() -> None:
    w = Wrapper(taeda.ones(2, 2))
    inner = w.inner
    assert w.add_(1) is w and inner.tolist() == [[2, 2], [2, 2]]
    assert type(w.t()) is Wrapper and w.view(4).inner.shape == (4,)


def test_mode_before_subclass() -> None:
    w = Wrapper(taeda.ones(2))
    with Log() as log:
        w + w
    assert log.seen[0] is aten.add.Tensor is Wrapper.log[0]


def test_make_subclass_with_super() -> None:
    class Counted(Tensor):
        count = 0

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            cls.count += 1
            return super().__torch_dispatch__(func, types, args, kwargs or {})

    x = Tensor._make_subclass(Counted, taeda.ones(2))
    assert (x + x).tolist() == [2, 2] and Counted.count == 1


def test_not_implemented() -> None:
    class Shy(Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match="Shy"):
        Tensor._make_subclass(Shy, taeda.ones(2)) + 1


def test_subclasses_are_asked_first() -> None:
    class Inner(Wrapper):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return taeda.tensor(float(types[0] is Inner))

    assert (Wrapper(taeda.ones(1)) + Inner(taeda.ones(1))).item() == 1


def test_wrapper_needs_the_method() -> None:
    class Plain(Tensor):
        pass

    class OptedOut(Tensor):
        __torch_dispatch__ = taeda._C._disabled_torch_dispatch_impl

    for cls in (Plain, OptedOut):
        with pytest.raises(TypeError, match="__torch_dispatch__"):
            Tensor._make_wrapper_subclass(cls, (2,))


def test_reentrant_dispatch() -> None:
    class Grads(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is aten.mul.Tensor:
                x = taeda.ones(1, requires_grad=True)
                self.below = (x * 2).requires_grad
                with enable_reentrant_dispatch():
                    self.above = (x * 2).requires_grad
            return func(*args, **(kwargs or {}))

    with Grads() as mode:
        taeda.ones(1) * taeda.ones(1)
    assert (mode.below, mode.above) == (False, True)
    with pytest.raises(RuntimeError), enable_reentrant_dispatch():
        pass


def test_switches_of_torch_function() -> None:
    class Function(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "mine"

    x = taeda.ones(1).as_subclass(Function)
    assert x + 1 == "mine"
    for switch in (taeda._C.DisableTorchFunction, taeda._C.DisableTorchFunctionSubclass):
        with switch():
            assert not isinstance(taeda.add(x, 1), str) and not taeda._C._is_torch_function_enabled()
    assert taeda.add(x, 1) == "mine" and aten.add.Tensor(x, x) == "mine"


def test_without_memory_nothing_is_computed():
    plain = memoryless()
    assert plain.shape == (2, 3)
    for call in (
        lambda: plain + 1, lambda: plain + taeda.ones(2, 3), lambda: taeda.ones(2, 3) @ plain.t(), plain.sum,
        lambda: plain[0, 0].item(), plain.tolist, plain.numpy, lambda: plain.fill_(1), plain.clone,
        lambda: taeda.ones(2, 3).copy_(plain), lambda: taeda.cat([plain, plain]), lambda: plain.view(3, 2).exp(),
        lambda: bool(plain[0, 0]), lambda: repr(plain), lambda: taeda.kron(taeda.ones(3), taeda.ones(3), out=plain),
        lambda: plain.__dlpack__(), lambda: plain.to(taeda.float64), lambda: plain.requires_grad_().mul(2),
    ):  # fmt: skip
        with pytest.raises((RuntimeError, TypeError, BufferError)):
            call()


def test_autograd_through_wrappers():
    for function in (taeda.exp, lambda x: x.softmax(0) * 3, lambda x: x * x, lambda x: x.sigmoid() + x):
        inner = taeda.tensor([1.0, 2.0, 3.0])
        leaf, plain = Wrapper(inner, requires_grad=True), inner.clone().requires_grad_()
        (first,) = taeda.autograd.grad(function(leaf).sum(), leaf, create_graph=True)
        (wanted,) = taeda.autograd.grad(function(plain).sum(), plain, create_graph=True)
        assert isinstance(first, Wrapper) and first.inner.tolist() == wanted.tolist()
        if wanted.requires_grad:
            (second,) = taeda.autograd.grad(first.sum(), leaf)
            assert second.inner.tolist() == taeda.autograd.grad(wanted.sum(), plain)[0].tolist()
    leaf.sum().backward()
    assert isinstance(leaf.grad, Wrapper) and isinstance(leaf.data, Wrapper)


def test_numbers_of_wrappers():
    number = Wrapper(taeda.tensor(2.5))
    assert (number.item(), float(number), bool(number), int(Wrapper(taeda.tensor(3)))) == (2.5, 2.5, True, 3)
    assert taeda.equal(number, Wrapper(taeda.tensor(2.5))) and not taeda.allclose(number, number + 1)
    assert taeda.ops.aten._local_scalar_dense.default in Wrapper.log
