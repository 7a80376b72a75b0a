"""What tensors say about their memory, tensors over files, and tensors that trade places."""

import struct
import weakref

import pytest
from twin import check

import taeda


def nhwc(T, *sizes):
    return T.zeros(sizes).contiguous(memory_format=T.channels_last)


LAYOUTS = {
    "contiguous": lambda T: T.zeros(2, 3, 5, 7),
    "transposed": lambda T: T.zeros(2, 3, 5, 7).transpose(1, 2),
    "channels last": lambda T: nhwc(T, 2, 3, 5, 7),
    "one sample": lambda T: nhwc(T, 1, 3, 4, 4),
    "both": lambda T: T.zeros(2, 3, 1, 1),
    "size 1": lambda T: T.zeros(1, 2, 3, 4),
    "expanded": lambda T: T.zeros(3, 1).expand(3, 4),
    "overlapping": lambda T: T.zeros(9).as_strided((2, 3), (1, 1)),
    "empty": lambda T: T.zeros(2, 0, 3),
    "a number": lambda T: T.zeros(()),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", LAYOUTS)
def test_dim_order(name):
    for checked in (False, True, [], ["contiguous_format"], ["channels_last"], ["contiguous_format", "channels_last"]):

        def ask(T, checked=checked):
            formats = [getattr(T, f) for f in checked] if isinstance(checked, list) else checked
            return LAYOUTS[name](T).dim_order(ambiguity_check=formats)

        check(ask)


def test_dim_order_takes_bools_and_formats():
    for other in (None, 1, (taeda.channels_last,), [1]):
        with pytest.raises(TypeError, match="ambiguity_check"):
            taeda.zeros(2).dim_order(ambiguity_check=other)


def test_a_file_is_the_memory(tmp_path):
    path = str(tmp_path / "numbers")
    (tmp_path / "numbers").write_bytes(struct.pack("4f", 1, 2, 3, 4))
    private = taeda.from_file(path, size=2)
    private[0] = 9
    shared = taeda.from_file(path, shared=True, size=4, dtype=taeda.float32)
    assert shared.tolist() == [1, 2, 3, 4] and private.tolist() == [9, 2]
    assert shared.untyped_storage().filename == path and private.untyped_storage().filename is None
    shared[3] = 7
    assert struct.unpack("4f", (tmp_path / "numbers").read_bytes())[3] == 7
    assert taeda.from_file(path).shape == (0,)


def test_a_shared_file_is_made(tmp_path):
    made = taeda.from_file(str(tmp_path / "new"), shared=True, size=5, dtype=taeda.int16)
    assert made.tolist() == [0] * 5 and (tmp_path / "new").stat().st_size == 10


def test_files_that_cannot_be_mapped(tmp_path):
    (tmp_path / "short").write_bytes(b"abc")
    for path, options in (
        ("short", {"size": 2}), ("absent", {"size": 2}), ("short", {"size": -1}),
        ("short", {"device": "meta"}), ("short", {"pin_memory": True}),
    ):  # fmt: skip
        with pytest.raises(RuntimeError):
            taeda.from_file(str(tmp_path / path), **options)


def test_small_numbers_flushed_to_zero():
    small = taeda.full((200_000,), 1e-310, dtype=taeda.float64)
    threads = taeda.get_num_threads()
    try:
        for count in (1, 2):
            taeda.set_num_threads(count)
            assert (small * 1).view(taeda.int64).count_nonzero() == small.numel()
            assert taeda.set_flush_denormal(True)
            assert (small * 1).view(taeda.int64).count_nonzero() == 0
            assert taeda.set_flush_denormal(False)
    finally:
        taeda.set_flush_denormal(False)
        taeda.set_num_threads(threads)
    with pytest.raises(RuntimeError, match="bool"):
        taeda.set_flush_denormal(1)


def test_swapped_tensors():
    a, b = taeda.nn.Parameter(taeda.ones(2)), taeda.zeros(3, dtype=taeda.int64)
    a.note, first, second = "here", id(a), id(b)
    taeda.utils.swap_tensors(a, b)
    assert (id(a), id(b)) == (first, second) and type(a) is taeda.Tensor and type(b) is taeda.nn.Parameter
    assert a.tolist() == [0, 0, 0] and b.tolist() == [1, 1] and b.requires_grad and b.note == "here"
    assert not hasattr(a, "note")
    (b * 2).sum().backward()
    assert b.grad.tolist() == [2, 2]


def test_tensors_that_others_know_stay():
    a, b = taeda.ones(2), taeda.ones(2)
    known = weakref.ref(a)
    with pytest.raises(RuntimeError, match="weak"):
        taeda.utils.swap_tensors(a, b)
    del known
    seen = a[:1]
    with pytest.raises(RuntimeError, match="view"):
        taeda.utils.swap_tensors(b, a)
    del seen
    taeda.utils.swap_tensors(a, b)
    with pytest.raises(TypeError, match="two tensors"):
        taeda.utils.swap_tensors(a, 1)


def test_module_load_gives_a_new_tensor():
    mine, other = taeda.zeros(2), taeda.nn.Parameter(taeda.ones(2))
    loaded = mine.module_load(other)
    assert loaded is not mine and loaded.data_ptr() == mine.data_ptr() and mine.tolist() == [1, 1]
    assigned = mine.module_load(other, assign=True)
    assert assigned.data_ptr() == other.data_ptr() and not assigned.requires_grad


def test_slice_inverse_shows_what_was_cut():
    base = taeda.arange(10.0)
    whole = taeda.slice_inverse(base[2:8:2], base, 0, 2, 8, 2)
    assert whole.tolist() == base.tolist() and whole.data_ptr() == base.data_ptr()
    with pytest.raises(RuntimeError):
        taeda.slice_inverse(taeda.ones(4), base, 0, 2, 6, 1)
