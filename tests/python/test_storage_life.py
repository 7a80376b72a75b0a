"""A storage's Python object: its attributes, subclasses, and that it outlives Python while C++ holds the storage."""

from __future__ import annotations

import gc
import weakref

import pytest

import taeda


class Tracker:
    """Says in ``gone`` that it died."""

    def __init__(self, gone):
        self.gone = gone

    def __del__(self):
        self.gone.append(True)


class Named(taeda.UntypedStorage):
    pass


@pytest.mark.parametrize("cls", [taeda.UntypedStorage, Named])
def test_attributes_outlive_python(cls):
    gone: list[bool] = []
    storage = cls(8)
    storage.tracker = Tracker(gone)
    x = taeda.tensor(storage, dtype=taeda.uint8)
    del storage
    gc.collect()
    assert not gone
    again = x.untyped_storage()
    assert type(again) is cls and isinstance(again.tracker, Tracker)
    del x, again
    assert gone


def test_cycles_are_collected():
    gone: list[bool] = []
    a, b = taeda.UntypedStorage(2), taeda.UntypedStorage(2)
    a.other, b.other, a.tracker = b, a, Tracker(gone)
    del a, b
    gc.collect()
    assert gone


def test_slots_die_with_it():
    class Slotted(taeda._C.StorageBase):
        __slots__ = ("tracker",)

    gone: list[bool] = []
    storage = Slotted(2)
    storage.tracker = Tracker(gone)
    del storage
    assert gone


def test_weak_reference():
    storage = taeda.UntypedStorage(2)
    x = taeda.tensor(storage, dtype=taeda.uint8)
    weak = weakref.ref(storage)
    del storage
    back = weak()
    del x
    assert back is weak() and back.nbytes() == 2


def test_base():
    with pytest.raises(RuntimeError, match="not for direct use"):
        taeda._C.StorageBase()
    assert issubclass(taeda.UntypedStorage, taeda._C.StorageBase)
    assert taeda.UntypedStorage([1, 2], device="meta").nbytes() == 2


@pytest.mark.parametrize("arguments, options, error", [
    ((0, 0), {}, RuntimeError), (("text",), {}, TypeError), ((taeda.ones(1),), {}, TypeError),
    ((), {"device": "cpu"}, RuntimeError), ((), {"dtype": taeda.float32}, RuntimeError),
    ((0,), {"wrap_storage": taeda.UntypedStorage(4)}, RuntimeError), ((), {"wrap_storage": 3}, TypeError),
])  # fmt: skip
def test_arguments_that_do_not_go_together(arguments, options, error):
    with pytest.raises(error):
        taeda.FloatStorage(*arguments, **options)
