"""dtype, device, layout, memory_format, Size, Generator, finfo and iinfo."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import taeda
from taeda import Size, device

# name, bytes, floating, complex, signed
DTYPES = [
    ("float16", 2, True, False, True), ("bfloat16", 2, True, False, True), ("float32", 4, True, False, True),
    ("float64", 8, True, False, True), ("complex64", 8, False, True, True), ("complex128", 16, False, True, True),
    ("bool", 1, False, False, False), ("uint8", 1, False, False, False), ("int8", 1, False, False, True),
    ("int16", 2, False, False, True), ("int32", 4, False, False, True), ("int64", 8, False, False, True),
    ("uint16", 2, False, False, False), ("uint32", 4, False, False, False), ("uint64", 8, False, False, False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "size", "floating", "is_complex", "signed"), DTYPES)
def test_dtype_facts(name: str, size: int, floating: bool, is_complex: bool, signed: bool) -> None:
    dtype = getattr(taeda, name)
    facts = (dtype.itemsize, dtype.is_floating_point, dtype.is_complex, dtype.is_signed)
    assert facts == (size, floating, is_complex, signed)
    assert repr(dtype) == f"torch.{name}"
    assert copy.deepcopy(dtype) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype


def test_dtype_aliases_and_parts() -> None:
    pairs = {"float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32"}
    for alias, name in pairs.items():
        assert getattr(taeda, alias) is getattr(taeda, name)
    assert taeda.float64.to_complex() is taeda.complex128
    assert taeda.complex64.to_real() is taeda.float32
    assert taeda.int8.to_real() is taeda.int8
    with pytest.raises(RuntimeError):
        taeda.int32.to_complex()
    with pytest.raises(TypeError):
        taeda.dtype()


DEVICES = [
    (("cpu",), "cpu", None), (("cpu", 0), "cpu", 0), (("cuda:1",), "cuda", 1), (("meta",), "meta", None),
    ((device("cuda", 3),), "cuda", 3),
]  # fmt: skip


@pytest.mark.parametrize(("args", "kind", "index"), DEVICES)
def test_device(args: tuple[Any, ...], kind: str, index: int | None) -> None:
    made = device(*args)
    assert (made.type, made.index) == (kind, index)
    assert str(made) == (kind if index is None else f"{kind}:{index}")
    assert repr(made) == (f"device(type='{kind}')" if index is None else f"device(type='{kind}', index={index})")
    assert made == device(str(made)) and hash(made) == hash(device(str(made)))
    assert made != device("cpu", 7) and made != str(made)
    assert pickle.loads(pickle.dumps(made)) == made


BAD_DEVICES = [
    (("foo",), RuntimeError), (("cpu:",), RuntimeError), (("cpu:-1",), RuntimeError), (("cpu", -1), RuntimeError),
    (("cpu:0", 1), RuntimeError), ((None,), TypeError), ((), TypeError), (("cpu", "a"), TypeError), ((1.5,), TypeError),
]  # fmt: skip


@pytest.mark.parametrize(("args", "error"), BAD_DEVICES)
def test_device_errors(args: tuple[Any, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        device(*args)


def test_device_as_a_context() -> None:
    with device("meta"):
        assert taeda.empty(2).device == device("meta")
        with device("cpu"):
            assert taeda.empty(2).device == device("cpu")
        assert taeda.empty(2).is_meta
    assert taeda.empty(2).is_cpu


def test_layouts_and_formats() -> None:
    assert repr(taeda.strided) == "torch.strided"
    assert repr(taeda.channels_last) == "torch.channels_last"
    assert isinstance(taeda.sparse_coo, taeda.layout)
    assert isinstance(taeda.contiguous_format, taeda.memory_format)
    assert taeda.strided != taeda.sparse_coo


SIZE = Size((2, 3))
SIZES: list[tuple[Any, Any, type]] = [
    (SIZE + (1,), (2, 3, 1), Size), ((1,) + SIZE, (1, 2, 3), Size), (SIZE[1:], (3,), Size),
    (SIZE * 2, (2, 3, 2, 3), Size),
    (2 * SIZE, (2, 3, 2, 3), Size), (Size(), (), Size), (Size(range(3)), (0, 1, 2), Size), (SIZE[0], 2, int),
    (Size([True]), (1,), Size), (SIZE.numel(), 6, int), (Size().numel(), 1, int), (tuple(SIZE), (2, 3), tuple),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected", "kind"), SIZES)
def test_size(value: Any, expected: Any, kind: type) -> None:
    assert value == expected
    assert type(value) is kind


def test_size_is_a_tuple() -> None:
    assert repr(SIZE) == "torch.Size([2, 3])"
    assert hash(SIZE) == hash((2, 3))
    assert {SIZE: 1}[(2, 3)] == 1
    assert pickle.loads(pickle.dumps(SIZE)) == SIZE and type(copy.copy(SIZE)) is Size
    rows, columns = taeda.zeros(4, 5).shape
    assert (rows, columns) == (4, 5)


@pytest.mark.parametrize("bad", [[1.5], ["a"], 3, [None]])
def test_size_errors(bad: Any) -> None:
    with pytest.raises(TypeError):
        Size(bad)
    with pytest.raises(TypeError):
        SIZE + [1]


def test_size_survives_reuse_of_its_memory() -> None:
    kept = [taeda.zeros(i, 2).shape for i in range(100)]
    for i in range(1000):
        taeda.zeros(1, i).shape  # noqa: B018
    assert kept == [(i, 2) for i in range(100)]


def test_generator() -> None:
    g = taeda.Generator().manual_seed(3)
    assert g.initial_seed() == 3 and g.device == device("cpu")
    state = g.get_state()
    first = taeda.rand(4, generator=g)
    twin = g.clone_state()
    assert taeda.equal(taeda.rand(2, generator=g), taeda.rand(2, generator=twin))
    g.set_state(state)
    assert taeda.equal(taeda.rand(4, generator=g), first)
    restored = pickle.loads(pickle.dumps(g))
    assert taeda.equal(taeda.rand(2, generator=g), taeda.rand(2, generator=restored))
    assert 0 <= g.seed() < 2**64
    assert taeda.Generator().manual_seed(-1).initial_seed() == 2**64 - 1


@pytest.mark.parametrize(("seed", "error"), [(2**64, ValueError), (-(2**63) - 1, ValueError), (1.5, RuntimeError)])
def test_generator_seeds(seed: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        taeda.Generator().manual_seed(seed)


def test_generator_state_must_be_bytes() -> None:
    with pytest.raises(TypeError):
        taeda.Generator().set_state(taeda.zeros(5056))


FLOATS = [
    ("float16", 16, 2.0**-10, 65504.0, 2.0**-14, 1e-3), ("bfloat16", 16, 2.0**-7, 2.0**128 - 2.0**120, 2.0**-126, 1e-2),
    ("float32", 32, 2.0**-23, 2.0**128 - 2.0**104, 2.0**-126, 1e-6),
    ("float64", 64, 2.0**-52, 1.7976931348623157e308, 2.0**-1022, 1e-15),
]  # fmt: skip


@pytest.mark.parametrize(("name", "bits", "eps", "largest", "tiny", "resolution"), FLOATS)
def test_finfo(name: str, bits: int, eps: float, largest: float, tiny: float, resolution: float) -> None:
    facts = taeda.finfo(getattr(taeda, name))
    assert (facts.bits, facts.eps, facts.max, facts.min) == (bits, eps, largest, -largest)
    assert (facts.tiny, facts.smallest_normal, facts.resolution, facts.dtype) == (tiny, tiny, resolution, name)


def test_finfo_of_others() -> None:
    assert taeda.finfo() == taeda.finfo(taeda.complex64) == taeda.finfo(taeda.float32)
    assert repr(taeda.finfo(taeda.float16)).startswith("finfo(resolution=0.001, min=-65504, max=65504, ")
    with pytest.raises(TypeError):
        taeda.finfo(taeda.int8)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("int8", -128, 127), ("uint8", 0, 255), ("int64", -(2**63), 2**63 - 1), ("uint64", 0, 2**64 - 1)],
)
def test_iinfo(name: str, low: int, high: int) -> None:
    facts = taeda.iinfo(getattr(taeda, name))
    assert (facts.min, facts.max, facts.dtype, facts.bits) == (low, high, name, (high - low).bit_length())


@pytest.mark.parametrize("name", ["float32", "bool", "complex64"])
def test_iinfo_errors(name: str) -> None:
    with pytest.raises(TypeError):
        taeda.iinfo(getattr(taeda, name))
    assert repr(taeda.iinfo(taeda.int8)) == "iinfo(min=-128, max=127, dtype=int8)"
