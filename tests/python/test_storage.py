"""UntypedStorage: the bytes beneath tensors."""

from __future__ import annotations

import gc
import os
import pickle
import weakref
from pathlib import Path
from typing import Any

import pytest

import taeda
from taeda import UntypedStorage


def test_a_storage_is_one_object() -> None:
    tensor = taeda.arange(6.0)
    storage = tensor.untyped_storage()
    assert tensor.view(2, 3).untyped_storage() is storage
    assert storage.data_ptr() == tensor.data_ptr()
    assert storage.nbytes() == storage.size() == len(storage) == 24


def test_weak_references_last_as_long_as_the_bytes() -> None:
    ended: list[Any] = []
    tensor = taeda.arange(3.0)
    known = weakref.ref(tensor.untyped_storage(), ended.append)
    gc.collect()
    again = known()
    assert again is tensor.untyped_storage() and again is not None and again.nbytes() == 12
    del again
    view = tensor[1:]
    del tensor
    assert known() is view.untyped_storage() and not ended
    kept = known()
    del view
    assert known() is kept and kept is not None and taeda.empty(0).set_(kept).tolist() == [0, 1, 2]
    del kept
    assert known() is None and ended == [known]


def test_construction() -> None:
    assert UntypedStorage().nbytes() == 0
    assert UntypedStorage(10).nbytes() == 10
    assert UntypedStorage([1, 2, 3]).tolist() == [1, 2, 3]
    assert UntypedStorage(5, device="meta").device == taeda.device("meta")
    with pytest.raises((TypeError, RuntimeError)):
        UntypedStorage(-1)


def test_elements() -> None:
    storage = UntypedStorage(range(10))
    assert (storage[0], storage[-1], list(storage)[:3]) == (0, 9, [0, 1, 2])
    storage[1], storage[2:4], storage[4] = 300, 7, -1
    assert storage.tolist()[:5] == [0, 44, 7, 7, 255]
    with pytest.raises(IndexError):
        storage[10]
    with pytest.raises(RuntimeError):
        storage[0:4:2]


def test_a_slice_is_a_window() -> None:
    storage = UntypedStorage(range(10))
    window = storage[2:5]
    window.fill_(9)
    assert storage.tolist() == [0, 1, 9, 9, 9, 5, 6, 7, 8, 9]
    del storage
    assert window.tolist() == [9, 9, 9]


def test_copies() -> None:
    storage = UntypedStorage([1, 2, 3])
    clone = storage.clone()
    clone.copy_(UntypedStorage([4, 5, 6]))
    assert (storage.tolist(), clone.tolist()) == ([1, 2, 3], [4, 5, 6])
    assert storage.cpu() is storage
    with pytest.raises(RuntimeError):
        clone.copy_(UntypedStorage(5))
    assert pickle.loads(pickle.dumps(storage)).tolist() == [1, 2, 3]


def test_resize_keeps_the_first_bytes() -> None:
    storage = UntypedStorage([1, 2, 3])
    assert storage.resize_(5).tolist()[:3] == [1, 2, 3]
    assert storage.resize_(2).tolist() == [1, 2]


def test_views_outlive_a_shorter_storage() -> None:
    t = taeda.ones(1 << 20)
    t.untyped_storage().resize_(8)
    assert t.untyped_storage().nbytes() == 8 and t[:2].sum() == 2 and t.sum() == 2
    t.untyped_storage().resize_(0)
    assert t.untyped_storage().data_ptr() == 0 and t.share_memory_().add_(1).sum() == 1 << 20


def test_what_shows_the_same_elements_is_a_view_of_an_emptied_storage_too() -> None:
    t = taeda.arange(6.0)
    t.untyped_storage().resize_(0)
    same = [t.view(2, 3), t.detach(), taeda.ops.aten.alias(t), t.reshape(3, 2)]
    for cut in (lambda: t[1], lambda: t[1:], lambda: t.expand(2, 6), lambda: t.as_strided((2,), (1,))):
        with pytest.raises(RuntimeError, match="storage"):
            cut()
    t.untyped_storage().resize_(24)
    t.copy_(taeda.arange(6.0))
    assert [view.flatten().tolist() for view in same] == [[0, 1, 2, 3, 4, 5]] * 4


SetOf = tuple[tuple[int, ...], tuple[int, ...], int]
OUTSIDE: list[SetOf] = [((2,), (2**62,), 0), ((2,), (1,), 2**62), ((2,), (2**63 - 1,), 1), ((2,), (1,), -1)]


@pytest.mark.parametrize(("size", "stride", "offset"), OUTSIDE)
def test_a_geometry_beyond_64_bits_is_refused(size: Any, stride: Any, offset: int) -> None:
    for call in (
        lambda: taeda.empty(0).set_(taeda.ones(8), offset, size, stride),
        lambda: taeda.empty(0).set_(taeda.ones(8).untyped_storage(), offset, size, stride),
        lambda: taeda.ones(8).as_strided_(size, stride, offset),
    ):
        with pytest.raises(RuntimeError):
            call()


BUFFERS: list[tuple[dict[str, Any], list[int]]] = [
    ({"dtype": taeda.uint8}, [1, 2, 3, 4]), ({"dtype": taeda.uint8, "count": 2, "offset": 1}, [2, 3]),
    ({"dtype": taeda.int16, "byte_order": "big"}, [2, 1, 4, 3]),
    ({"dtype": taeda.int16, "byte_order": "little"}, [1, 2, 3, 4]),
]  # fmt: skip


@pytest.mark.parametrize(("options", "expected"), BUFFERS)
def test_from_buffer(options: dict[str, Any], expected: list[int]) -> None:
    assert UntypedStorage.from_buffer(b"\x01\x02\x03\x04", **options).tolist() == expected


def test_from_buffer_errors() -> None:
    with pytest.raises(ValueError):
        UntypedStorage.from_buffer(b"abcde", dtype=taeda.int16, byte_order="native")
    with pytest.raises(ValueError):
        UntypedStorage.from_buffer(b"abcd", dtype=taeda.uint8, count=9)


def test_shared_memory_is_seen_by_a_child() -> None:
    tensor = taeda.zeros(4)
    assert not tensor.is_shared()
    assert tensor.share_memory_() is tensor and tensor.is_shared()
    child = os.fork()
    if child == 0:
        tensor.untyped_storage()[0:16] = 1
        os._exit(0)
    os.waitpid(child, 0)
    assert set(tensor.untyped_storage().tolist()) == {1}


def test_sharing_keeps_values_and_storage() -> None:
    tensor = taeda.arange(5.0)
    storage = tensor.untyped_storage()
    tensor.share_memory_()
    assert tensor.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert tensor.untyped_storage() is storage


def test_shared_by_descriptor() -> None:
    storage = UntypedStorage([1, 2, 3])
    descriptor, nbytes = storage._share_fd_cpu_()[:2]
    twin = UntypedStorage._new_shared_fd_cpu(descriptor, nbytes)
    os.close(descriptor)
    twin[0] = 9
    assert storage.tolist() == [9, 2, 3]


def test_mapped_files(tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(8)))
    private = UntypedStorage.from_file(str(path), False, 8)
    private.fill_(7)
    assert path.read_bytes() == bytes(range(8))
    shared = UntypedStorage.from_file(str(path), True, 8)
    assert shared.tolist() == list(range(8)) and shared.filename == str(path)
    shared.fill_(7)
    assert path.read_bytes() == bytes([7] * 8)
    with pytest.raises(RuntimeError):
        UntypedStorage.from_file(str(tmp_path / "absent"), False, 8)


def test_is_storage() -> None:
    x = taeda.ones(2)
    for storage in (x.storage(), x.untyped_storage(), taeda.FloatStorage(2), UntypedStorage(2)):
        assert taeda.is_storage(storage)
    assert not taeda.is_storage(x) and not taeda.is_storage([1.0])


def test_typed_storage() -> None:
    storage = taeda.arange(4.0).storage()
    assert storage.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert (len(storage), storage.dtype, storage[2]) == (4, taeda.float32, 2.0)
    storage[1] = 9
    assert storage.int().tolist() == [0, 9, 2, 3]


def test_bytes_as_numbers():
    for name, dtype in (("float", taeda.float32), ("half", taeda.half), ("complex_double", taeda.complex128)):
        made = getattr(UntypedStorage([1, 200]), name)()
        assert (made.dtype, made.tolist()) == (dtype, [1.0, 200.0])
    assert not isinstance(taeda.ones(1).storage(), taeda.cuda.FloatStorage)


def test_sizes_of_numpys_types() -> None:
    numpy = pytest.importorskip("numpy")
    for size in (numpy.int16(3), numpy.uint8(3), 3):
        assert taeda.FloatStorage(size).size() == taeda.UntypedStorage(size).size() == 3
    with pytest.raises(TypeError, match="size"):
        taeda.FloatStorage(numpy.float32(3))
