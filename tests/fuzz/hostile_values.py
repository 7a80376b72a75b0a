"""Values made to mislead whoever takes them for a tensor, a number or a list. Each call makes a fresh one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import taeda


class Raises:
    """Every question put to it ends in an exception that is not one of ours."""

    def fail(self, *args: Any) -> Any:
        raise KeyError("hostile")

    __index__ = __int__ = __float__ = __complex__ = __bool__ = __len__ = __iter__ = __getitem__ = fail
    __array__ = __dlpack__ = __repr__ = __contains__ = __radd__ = __buffer__ = fail
    __hash__ = object.__hash__


class Lies:
    """Its protocols answer with the wrong types."""

    def __index__(self) -> Any:
        return "1"

    def __float__(self) -> Any:
        return None

    def __len__(self) -> int:
        return 3

    def __getitem__(self, place: Any) -> Any:
        return self

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return [1, 2]

    def __dlpack__(self, **kwargs: Any) -> Any:
        return object()

    def __dlpack_device__(self) -> Any:
        return "cpu"


class Overrides:
    """``__torch_function__`` raises or answers with junk."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __torch_function__(self, *args: Any) -> Any:
        if self.answer is None:
            raise KeyError("hostile")
        return self.answer


class NotCallable:
    __torch_function__ = 3


class NoLength(list[Any]):
    def __len__(self) -> int:
        raise KeyError("hostile")


class Longer(list[Any]):
    def __len__(self) -> int:
        return 2**40

    def __iter__(self) -> Iterator[Any]:
        return iter([1, 2])


class Tuple(tuple[Any, ...]):
    def __getitem__(self, place: Any) -> Any:
        raise KeyError("hostile")

    __iter__ = __getitem__  # type: ignore[assignment]


class Int(int):
    pass


class IntRaises(int):
    def __index__(self) -> int:
        raise KeyError("hostile")

    __int__ = __float__ = __eq__ = __index__  # type: ignore[assignment]
    __hash__ = int.__hash__


class Float(float):
    pass


class Text(str):
    pass


class Clears:
    """A number that empties the list it stands in while it is asked for its value."""

    def __init__(self, home: list[Any]) -> None:
        self.home = home

    def __index__(self) -> int:
        self.home.clear()
        return 1

    def __float__(self) -> float:
        self.home.clear()
        return 1.0

    def __len__(self) -> int:
        self.home.clear()
        return 2


class ClearsByOverride(Clears):
    @property
    def __torch_function__(self) -> Any:
        self.home.clear()
        raise AttributeError


class Sub(taeda.Tensor):
    pass


class SubRaises(taeda.Tensor):
    @classmethod
    def __torch_function__(cls, *args: Any) -> Any:
        raise KeyError("hostile")


class Unanswered(taeda.Tensor):
    """Hands its ops on without a tensor that has elements."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with taeda._C._DisableTorchDispatch():
            return func(*args, **(kwargs or {}))


def memoryless() -> taeda.Tensor:
    return taeda.Tensor._make_wrapper_subclass(Unanswered, (2, 3))


def itself(nested: bool = False) -> list[Any]:
    found: list[Any] = [1]
    found.append([found] if nested else found)
    return found


def deep(depth: int) -> Any:
    found: Any = 1
    for _ in range(depth):
        found = [found]
    return found


def clearing(kind: type[Clears], tensors: bool) -> list[Any]:
    found: list[Any] = []
    other = [taeda.ones(2), taeda.ones(2)] if tensors else [1, 2]
    found += [kind(found), *other, kind(found), *other]
    return found


def released() -> memoryview:
    view = memoryview(bytearray(8))
    view.release()
    return view


def generator() -> Iterator[int]:
    yield 1
    raise KeyError("hostile")


def readonly() -> Any:
    array = np.arange(6.0)
    array.flags.writeable = False
    return array


def freed() -> taeda.Tensor:
    """Its storage is shorter than its view."""
    found = taeda.ones(6)
    found.untyped_storage().resize_(0)
    return found


def overlapping() -> taeda.Tensor:
    return taeda.arange(8.0).as_strided((3, 4), (1, 1))


def grown_leaf() -> taeda.Tensor:
    return (taeda.ones(3, requires_grad=True) * 2).expand(4, 3)


def lazy_parameter() -> Any:
    return taeda.nn.parameter.UninitializedParameter()


MAKERS: tuple[Callable[[], Any], ...] = (
    Raises, Lies, NotCallable, lambda: Overrides(None), lambda: Overrides(3), lambda: Overrides("x"),
    lambda: NoLength([1, 2]), lambda: Longer([1, 2]), lambda: Tuple((1, 2)), lambda: Int(2), lambda: IntRaises(2),
    lambda: Float("nan"), lambda: Text("sum"), lambda: taeda.ones(2, 3).as_subclass(Sub),
    lambda: taeda.ones(2, 3).as_subclass(SubRaises), lambda: taeda.Tensor.__new__(Sub), itself, lambda: itself(True),
    lambda: deep(70), lambda: deep(5000), lambda: clearing(Clears, False), lambda: clearing(Clears, True),
    lambda: clearing(ClearsByOverride, False), lambda: clearing(ClearsByOverride, True), released, generator, readonly,
    freed, overlapping, grown_leaf, lazy_parameter, memoryless,
    lambda: taeda.ones(2, 3, dtype=taeda.float8_e5m2),
    lambda: np.float32(2.5), lambda: np.int64(-3), lambda: np.bool_(True), lambda: np.uint8(200),
    lambda: np.complex64(1j),
    lambda: np.array([None, "x", 3], dtype=object), lambda: np.zeros(2, dtype=[("a", "i4"), ("b", "f8")]),
    lambda: np.arange(6.0)[::-2], lambda: np.array("text"), lambda: np.array(3), lambda: np.datetime64("2020-01-01"),
    lambda: np.arange(3, dtype=">i4"), lambda: np.zeros((0, 2**40), dtype="f4"), lambda: np.longdouble(1),
    lambda: "\ud800", lambda: "a\0b", lambda: "x" * 100_000, lambda: "cpu:99", lambda: "meta", lambda: b"\0" * 8,
    lambda: bytearray(8), lambda: memoryview(b"12345678"), lambda: range(5), lambda: range(2**62), lambda: {1, 2},
    lambda: {"a": taeda.ones(1)}, lambda: iter([1, 2]), lambda: Ellipsis, lambda: NotImplemented, lambda: Exception,
    lambda: int, lambda: taeda.Tensor, lambda: taeda, lambda: print, lambda: lambda *a: a, lambda: [1] * 20_000,
    lambda: [taeda.ones(1)] * 300, lambda: [None, taeda.ones(1), 3, "x"], lambda: [1, 2.5, None], lambda: [True, 2**70],
    lambda: [[1, 2], [3]], lambda: [[], [[]]], lambda: taeda.ones([1] * 64), lambda: taeda.ones([1] * 63 + [0]),
    lambda: taeda.ones(2, 3).conj(), lambda: taeda.ones(2, dtype=taeda.complex64).conj(),
    lambda: taeda.ones(2, dtype=taeda.complex64).conj().imag, lambda: taeda.ones(2, device="meta"),
    lambda: taeda.empty(2**40, device="meta"), lambda: taeda.empty((2**30, 2**30), device="meta"),
    lambda: taeda.ones(1).expand(2**40), lambda: taeda.ones(1).expand(2**31, 2**31), lambda: taeda.empty(0, 2**40),
    lambda: taeda.full((2, 3), float("nan")), lambda: taeda.full((2, 2), float("inf")), lambda: taeda.Size([2, 3]),
    lambda: taeda.tensor(2**62), lambda: taeda.tensor([-(2**63), 2**63 - 1]), lambda: taeda.tensor(float("nan")),
    lambda: taeda.finfo(taeda.float32), lambda: taeda.Generator(), lambda: taeda.device("meta"),
    lambda: slice(None, 2**70),
    lambda: slice("a", None), lambda: complex("nan+infj"), lambda: 10**400, lambda: -(10**400), lambda: 1e-320,
)  # fmt: skip
MORE_DTYPES = (
    taeda.float16, taeda.int8, taeda.int16, taeda.uint16, taeda.uint32, taeda.uint64, taeda.complex128, taeda.bool,
    taeda.float8_e4m3fn,
)  # fmt: skip


def hostile(rng: random.Random) -> Any:
    return rng.choice(MAKERS)()
