"""Memory shared with NumPy, DLPack and other buffers."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
import pytest

import taeda
from taeda import Tensor

FLOATING = ["float16", "float32", "float64", "complex64", "complex128"]
INTEGRAL = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
SHARED = [*FLOATING, "bool", *INTEGRAL]


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
def test_every_dtype_goes_both_ways(name: str, shape: tuple[int, ...]) -> None:
    array = np.ones(shape, name)
    tensor = taeda.from_numpy(array)
    assert (tensor.shape, repr(tensor.dtype)) == (shape, f"torch.{name}")
    back = tensor.numpy()
    assert back.dtype == array.dtype and back.shape == shape and back.flags.writeable
    assert back.tolist() == array.tolist() == tensor.tolist()
    if array.size:
        assert tensor.data_ptr() == back.__array_interface__["data"][0] == array.__array_interface__["data"][0]


def test_writes_are_seen_on_both_sides() -> None:
    array = np.zeros((2, 3), np.float32)
    tensor = taeda.from_numpy(array)
    array[0, 1] = 5
    tensor.fill_(2) if tensor[0, 1].item() == 5 else pytest.fail("the write to the array was not seen")
    assert (array == 2).all()


def test_strides_are_kept() -> None:
    array = np.arange(24.0).reshape(4, 6)[::2, 1::3].T
    tensor = taeda.from_numpy(array)
    assert tensor.tolist() == array.tolist()
    assert tensor.stride() == tuple(s // 8 for s in array.strides)
    assert tensor.t().numpy().tolist() == array.T.tolist()
    assert taeda.zeros(1, 3).expand(2, 3).numpy().strides == (0, 4)


def test_memory_outlives_its_first_owner() -> None:
    tensor = taeda.from_numpy(np.full(1000, 3.0))
    array = taeda.ones(1000).numpy()
    gc.collect()
    assert tensor.sum().item() == 3000 and array.sum() == 1000


def test_an_exported_tensor_cannot_move() -> None:
    tensor = taeda.ones(4)
    array = tensor.numpy()
    with pytest.raises(RuntimeError):
        tensor.resize_(1000)
    assert array.tolist() == [1.0] * 4


def read_only() -> Any:
    array = np.arange(3)
    array.flags.writeable = False
    return array


REFUSED = [
    (np.arange(4)[::-1], ValueError), (np.array([1], ">i4"), ValueError), (np.array(["a"]), TypeError),
    (np.array([object()]), TypeError), (np.zeros(3, np.longdouble), TypeError), (np.zeros(3, "M8[s]"), TypeError),
    (np.zeros(4, [("a", np.int8), ("b", np.float32)])["b"], ValueError), (3, TypeError), (np.float32(3), TypeError),
]  # fmt: skip


@pytest.mark.parametrize(("array", "error"), REFUSED)
def test_from_numpy_errors(array: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        taeda.from_numpy(array)


@pytest.mark.filterwarnings("always")
def test_read_only_arrays_warn() -> None:
    with pytest.warns(UserWarning):
        taeda.from_numpy(read_only())


def test_numpy_errors() -> None:
    leaf = taeda.ones(2, requires_grad=True)
    for tensor, error in (
        (leaf, RuntimeError),
        (taeda.empty(2, device="meta"), TypeError),
        (taeda.ones(2, dtype=taeda.bfloat16), TypeError),
    ):
        with pytest.raises(error):
            tensor.numpy()
    with taeda.no_grad():
        assert leaf.numpy().tolist() == np.asarray(leaf).tolist() == [1.0, 1.0]
    assert leaf.numpy(force=True).tolist() == leaf.detach().numpy().tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError):
        np.array(leaf)
    with pytest.raises(TypeError):
        taeda.ones(2).numpy(True)


def test_numpy_functions_take_tensors() -> None:
    tensor = taeda.arange(4)
    assert np.asarray(tensor).__array_interface__["data"][0] == tensor.data_ptr()
    assert np.array(tensor, dtype=np.float64).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert tensor.__array__(np.float32).dtype == np.float32


@pytest.mark.parametrize("op", ["+", "-", "*", "//", "%", "**", "@", "&", "<<"])
def test_arrays_stand_on_the_right(op: str) -> None:
    """``tensor op array`` is what NumPy makes of it; ``array op tensor`` a TypeError, as in PyTorch."""
    left, right = taeda.arange(1, 5).reshape(2, 2), np.arange(1, 5).reshape(2, 2)
    operate = eval(f"lambda a, b: a {op} b")
    result = operate(left, right)
    assert isinstance(result, Tensor) and result.tolist() == operate(left.numpy(), right).tolist()
    with pytest.raises(TypeError):
        operate(right, left)


def test_an_array_is_divided_by_a_tensor() -> None:
    leaf = taeda.tensor([2.0, 4.0], requires_grad=True)
    quotient = np.array([1.0, 2.0], "float32") / leaf.detach()
    assert isinstance(quotient, Tensor) and quotient.tolist() == [0.5, 0.5]
    with pytest.raises(TypeError):
        np.array(["a", "b"]) / leaf.detach()


def test_a_subclass_may_define_its_array() -> None:
    class Doubled(Tensor):
        def __array__(self, dtype: Any = None) -> Any:
            return 2 * Tensor.__array__(self)

    tensor = Tensor._make_subclass(Doubled, taeda.ones(2))
    assert np.asarray(tensor).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("name", [n for n in SHARED if n != "bool"])
def test_dlpack_both_ways(name: str) -> None:
    array = np.arange(6).astype(name).reshape(2, 3)
    tensor = taeda.from_dlpack(array)
    assert tensor.data_ptr() == array.__array_interface__["data"][0]
    assert tensor.tolist() == array.tolist()
    assert np.from_dlpack(tensor.t()).tolist() == array.T.tolist()


@pytest.mark.parametrize("options", [{}, {"max_version": (1, 0)}, {"max_version": (0, 8)}, {"stream": None}])
def test_dlpack_capsules(options: dict[str, Any]) -> None:
    tensor = taeda.arange(5.0)
    capsule = tensor.__dlpack__(**options)
    versioned = options.get("max_version") == (1, 0)
    assert ('"dltensor_versioned"' in repr(capsule)) is versioned
    twin = taeda.from_dlpack(capsule)
    assert twin.data_ptr() == tensor.data_ptr()
    with pytest.raises(RuntimeError):
        taeda.from_dlpack(capsule)


def test_dlpack_copies_on_request() -> None:
    tensor = taeda.arange(5.0)
    assert taeda.from_dlpack(tensor.__dlpack__(copy=True)).data_ptr() != tensor.data_ptr()
    assert tuple(tensor.__dlpack_device__()) == (1, 0)


def test_unused_capsules_free_their_tensor() -> None:
    tensor = taeda.arange(5.0)
    for _ in range(100):
        tensor.__dlpack__()
        tensor.__dlpack__(max_version=(1, 0))
    assert tensor.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_dlpack_errors() -> None:
    with pytest.raises(BufferError):
        taeda.ones(2, requires_grad=True).__dlpack__()
    with pytest.raises(BufferError):
        taeda.empty(2, device="meta").__dlpack__()
    with pytest.raises(AssertionError):
        taeda.ones(2).__dlpack__(stream=1)
    with pytest.raises(TypeError, match="stream"):
        taeda.ones(2).__dlpack__(stream=object())
    with pytest.raises(RuntimeError):
        taeda.from_dlpack(3)


def test_frombuffer() -> None:
    data = bytearray(b"\x01\x00\x02\x00\x03\x00")
    tensor = taeda.frombuffer(data, dtype=taeda.int16)
    assert tensor.tolist() == [1, 2, 3]
    data[0] = 9
    assert tensor[0].item() == 9
    assert taeda.frombuffer(data, dtype=taeda.int16, count=1, offset=2).tolist() == [2]
    assert taeda.frombuffer(bytearray(8), dtype=taeda.float32, requires_grad=True).requires_grad


FRAMES: list[tuple[Any, dict[str, Any], type[Exception]]] = [
    (b"abcde", {"dtype": taeda.int16}, ValueError),
    (b"", {"dtype": taeda.int16}, ValueError),
    (b"abcd", {"dtype": taeda.int16, "offset": 9}, ValueError),
    (b"abcd", {"dtype": taeda.int16, "offset": -1}, ValueError),
    (b"abcd", {"dtype": taeda.int16, "count": 9}, ValueError),
    (b"abcd", {"dtype": taeda.int16, "count": 0}, ValueError),
    (b"abcd", {"dtype": taeda.int16, "requires_grad": True}, RuntimeError),
    (b"abcd", {}, TypeError),
    (3, {"dtype": taeda.int8}, ValueError),
]


@pytest.mark.parametrize(("data", "options", "error"), FRAMES)
def test_frombuffer_errors(data: Any, options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        taeda.frombuffer(bytearray(data) if isinstance(data, bytes) else data, **options)


# PyBUF_SIMPLE, ND, STRIDES, C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS
@pytest.mark.parametrize(
    ("tensor", "granted"),
    [
        (taeda.ones(3, 4), [True, True, True, True, False, True]),
        (taeda.ones(3, 4).t(), [False, False, True, False, True, True]),
        (taeda.arange(8.0).as_strided((3, 4), (1, 1)), [False, False, True, False, False, False]),
        (taeda.ones(3, 4)[:, :2], [False, False, True, False, False, False]),
        (taeda.ones(6)[::2], [False, False, True, False, False, False]),
        (taeda.ones(0, 4).t(), [True] * 6),
    ],
)
def test_buffers_are_as_contiguous_as_was_asked(tensor: taeda.Tensor, granted: list[bool]) -> None:
    view = (ctypes.c_char * 256)()
    object = ctypes.py_object(tensor)
    for flags, wanted in zip((0, 0x8, 0x18, 0x38, 0x58, 0x98), granted, strict=True):
        if wanted:
            ctypes.pythonapi.PyObject_GetBuffer(object, view, flags)
            ctypes.pythonapi.PyBuffer_Release(view)
        else:
            with pytest.raises(BufferError, match="not contiguous"):
                ctypes.pythonapi.PyObject_GetBuffer(object, view, flags)


def test_memoryview() -> None:
    tensor = taeda.arange(6, dtype=taeda.int32).view(2, 3)
    view = memoryview(tensor)
    assert (view.shape, view.strides, view.format, view.readonly) == ((2, 3), (12, 4), "i", False)
    assert view.tolist() == tensor.tolist()
    with pytest.raises((BufferError, TypeError)):
        memoryview(taeda.ones(2, requires_grad=True))
