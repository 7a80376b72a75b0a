"""A tensor's Python object: identity, subclasses and attributes while only C++ holds it, and its death."""

from __future__ import annotations

import copy
import gc
import threading
import weakref
from typing import Any

import pytest

import taeda
from taeda import Tensor


class Plain(Tensor):
    pass


class Slotted(Tensor):
    __slots__ = ("mark", "other")


class Greeting:
    def hello(self) -> str:
        return "hello"


class Mixed(Greeting, Plain):
    pass


class Meta(type(Tensor)):
    pass


class WithMeta(Tensor, metaclass=Meta):
    pass


CLASSES = [Tensor, Plain, Slotted, Mixed, WithMeta]


def make(cls: type = Tensor) -> Any:
    data = taeda.zeros(3)
    return data if cls is Tensor else Tensor._make_subclass(cls, data)


class Holder:
    """Keeps a tensor in C++ only: as the gradient of another."""

    def __init__(self, tensor: Tensor) -> None:
        self.leaf = taeda.zeros(3)
        self.leaf.grad = tensor

    def get(self) -> Any:
        return self.leaf.grad

    def drop(self) -> None:
        self.leaf.grad = None


@pytest.mark.parametrize("cls", CLASSES)
def test_attributes_and_class_survive_being_held_by_cpp(cls: type) -> None:
    tensor = make(cls)
    tensor.mark = ["kept"]
    holder = Holder(tensor)
    for _ in range(3):
        del tensor
        gc.collect()
        tensor = holder.get()
        assert type(tensor) is cls
        assert tensor.mark == ["kept"]
    assert holder.get() is tensor


def test_one_object_per_tensor() -> None:
    tensor = make()
    assert Holder(tensor).get() is tensor


def test_weak_reference_lives_as_long_as_cpp_holds_the_tensor() -> None:
    tensor = make()
    ref = weakref.ref(tensor)
    holder = Holder(tensor)
    del tensor
    assert ref() is not None
    assert ref() is holder.get()
    holder.drop()
    assert ref() is None


def test_weak_reference_callback_runs_once() -> None:
    calls: list[object] = []
    tensor = make(Plain)
    ref = weakref.ref(tensor, calls.append)
    del tensor
    assert calls == [ref]


def test_finaliser_runs_when_the_last_holder_goes() -> None:
    sizes: list[int] = []

    class Loud(Tensor):
        def __del__(self) -> None:
            sizes.append(self.numel())

    tensor = make(Loud)
    holder = Holder(tensor)
    del tensor
    gc.collect()
    assert sizes == []
    holder.drop()
    assert sizes == [3]


def test_finaliser_may_keep_the_tensor() -> None:
    saved: list[Tensor] = []

    class Undying(Tensor):
        def __del__(self) -> None:
            saved.append(self)

    holder = Holder(make(Undying))
    holder.drop()
    assert type(saved[0]) is Undying
    assert saved[0].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("cls", CLASSES)
def test_cycles_are_collected(cls: type) -> None:
    tensor = make(cls)
    tensor.other = tensor
    ref = weakref.ref(tensor)
    del tensor
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize("cls", CLASSES)
def test_a_cycle_that_cpp_holds_is_left_alone(cls: type) -> None:
    tensor = make(cls)
    tensor.other, tensor.mark = tensor, 1
    holder = Holder(tensor)
    del tensor
    gc.collect()
    assert holder.get().other.mark == 1


def test_a_class_dies_with_its_last_instance() -> None:
    class Local(Tensor):
        pass

    Local.instance = make(Local)
    ref = weakref.ref(Local)
    del Local
    gc.collect()
    assert ref() is None


def test_long_chains_do_not_overflow_the_stack() -> None:
    for cls in (Tensor, Slotted):
        chain = None
        for _ in range(50_000):
            link = make(cls)
            link.other = chain
            chain = link
        del chain, link


def test_class_can_be_assigned() -> None:
    tensor = make()
    tensor.__class__ = Plain
    assert type(tensor) is Plain
    with pytest.raises(TypeError):
        tensor.__class__ = Slotted


def test_isinstance_and_mixins() -> None:
    assert isinstance(make(), Tensor)
    assert isinstance(make(Mixed), Plain)
    assert make(Mixed).hello() == "hello"
    assert not isinstance(1, Tensor)


def test_threads_may_drop_tensors() -> None:
    failures: list[int] = []

    def work() -> None:
        for i in range(300):
            tensor = make(Plain)
            tensor.mark = i
            holder = Holder(tensor)
            del tensor
            if holder.get().mark != i:
                failures.append(i)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_make_subclass_shares_memory_and_sets_requires_grad() -> None:
    data = taeda.zeros(3)
    tensor = Tensor._make_subclass(Plain, data, True)
    assert tensor.requires_grad
    assert tensor.data_ptr() == data.data_ptr()
    with pytest.raises(RuntimeError):
        Tensor._make_subclass(Plain, taeda.tensor(1), True)
    with pytest.raises(TypeError):
        Tensor._make_subclass(int, data)


def test_make_wrapper_subclass() -> None:
    class Wrapper(Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise AssertionError("geometry needs no dispatch")

    tensor = Tensor._make_wrapper_subclass(Wrapper, (2, 3), dtype=taeda.float64, strides=(1, 2), requires_grad=True)
    assert tensor.shape == (2, 3)
    assert tensor.stride() == (1, 2)
    assert tensor.dtype == taeda.float64
    assert tensor.requires_grad
    with pytest.raises(TypeError):
        Tensor._make_wrapper_subclass(Plain, (2, 3))


def test_as_subclass_keeps_the_graph() -> None:
    leaf = taeda.ones(3, requires_grad=True)
    view = leaf.as_subclass(Plain)
    assert type(view) is Plain
    view.sum().backward()
    assert leaf.grad.tolist() == [1.0, 1.0, 1.0]


def test_attributes_are_copied_by_deepcopy() -> None:
    tensor = make()
    tensor.mark = [1]
    twin = copy.deepcopy(tensor)
    assert twin.mark == [1]
    assert twin.mark is not tensor.mark


GEOMETRY = [((), ()), ((0,), (1,)), ((4,), (1,)), ((2, 3), (3, 1)), ((2, 3, 4, 5, 6, 7), (2520, 840, 210, 42, 7, 1))]


@pytest.mark.parametrize(("shape", "strides"), GEOMETRY)
def test_geometry(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    tensor = taeda.zeros(shape)
    assert tensor.shape == tensor.size() == shape
    assert tensor.stride() == strides
    assert tensor.dim() == tensor.ndim == tensor.ndimension() == len(shape)
    assert tensor.numel() == tensor.nelement() == tensor.shape.numel()
    assert tensor.nbytes == tensor.numel() * tensor.itemsize == tensor.numel() * 4
    assert [tensor.size(i - len(shape)) for i in range(len(shape))] == list(shape)
    assert [tensor.stride(dim=i) for i in range(len(shape))] == list(strides)


@pytest.mark.parametrize("call", ["size(2)", "size(-3)", "stride(2)"])
def test_dimensions_out_of_range(call: str) -> None:
    with pytest.raises(IndexError):
        eval(f"t.{call}", {"t": taeda.zeros(2, 3)})


def test_a_scalar_has_no_dimension() -> None:
    with pytest.raises(IndexError):
        taeda.tensor(1).size(0)
    with pytest.raises(TypeError):
        len(taeda.tensor(1))


def test_facts() -> None:
    tensor = taeda.zeros(2, 3, dtype=taeda.complex64)
    assert tensor.is_complex() and not tensor.is_floating_point() and tensor.is_signed()
    assert tensor.is_cpu and not tensor.is_cuda and not tensor.is_meta and not tensor.is_sparse
    assert tensor.layout == taeda.strided
    assert tensor.get_device() == -1
    assert not tensor.is_pinned() and not tensor.is_conj() and not tensor.is_neg()
    assert tensor.is_contiguous() and not tensor.is_contiguous(memory_format=taeda.channels_last)
    assert taeda.zeros(1, 2, 3, 4).transpose(1, 3).is_contiguous() is False


NUMBERS = [
    (True, bool), (3, int), (-(2**62), int), (2.5, float), (1 + 2j, complex),
]  # fmt: skip


@pytest.mark.parametrize(("value", "kind"), NUMBERS)
def test_item_and_tolist(value: Any, kind: type) -> None:
    tensor = taeda.tensor([[value]])
    assert tensor.item() == value and type(tensor.item()) is kind
    assert tensor.tolist() == [[value]]
    assert bool(tensor) is True
    assert complex(tensor) == value


REAL = ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16"]


@pytest.mark.parametrize("name", REAL)
def test_tolist_of_every_dtype(name: str) -> None:
    values = [[0, 1, 2], [3, 4, 5]]
    tensor = taeda.tensor(values, dtype=getattr(taeda, name))
    assert tensor.tolist() == values
    assert tensor.t().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert tensor[1, 2].item() == 5
    assert taeda.zeros(2, 0, dtype=tensor.dtype).tolist() == [[], []]


FAILURES = [
    ("t.item()", RuntimeError), ("bool(t)", RuntimeError), ("bool(t[:0])", RuntimeError), ("int(t)", ValueError),
    ("float(t)", ValueError), ("t.__index__()", TypeError), ("t[0].__index__()", TypeError),
    ("int(t[0] / 0)", OverflowError), ("int(t[0] * 0 / 0)", ValueError), ("t.is_contiguous(1)", TypeError),
    ("t.size('a')", TypeError), ("t.size(1.0)", TypeError), ("t.size(0, 1)", TypeError), ("t.dim(1)", TypeError),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "error"), FAILURES)
def test_conversion_errors(expression: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        eval(expression, {"t": taeda.ones(3), "int": int})


def test_conversions() -> None:
    assert int(taeda.tensor(2.75)) == 2
    assert int(taeda.tensor(1e30)) == int(taeda.tensor(1e30).item())
    assert float(taeda.tensor(1 + 0j)) == 1.0
    assert [10, 20, 30][taeda.tensor(1)] == 20
    assert bytes(taeda.tensor([1, 2, 3])) == b"\x01\x02\x03"
    with pytest.raises(RuntimeError):
        float(taeda.tensor(1j))


def test_copies_of_a_wrapper():
    class Wrapper(taeda.Tensor):
        __slots__ = ("inner",)

        @staticmethod
        def __new__(cls, inner):
            made = taeda.Tensor._make_subclass(cls, inner.to("meta"))
            made.inner = inner
            return made

        def clone(self):
            return type(self)(self.inner.clone())

    x = Wrapper(taeda.ones(2))
    x.note = ["kept"]
    y = copy.deepcopy(x)
    assert type(y) is Wrapper and y.inner.tolist() == [1.0, 1.0] and y.inner is not x.inner
    assert y.note == x.note and y.note is not x.note


def test_a_wrapper_described_by_position():
    class Wrapper(taeda.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise NotImplementedError

    x = Tensor._make_wrapper_subclass(
        Wrapper, (2, 3), (1, 2), 0, None, taeda.float16, taeda.strided, taeda.device("cpu"), False, True, "sizes"
    )
    assert (x.shape, x.stride(), x.dtype, x.requires_grad) == ((2, 3), (1, 2), taeda.float16, True)
