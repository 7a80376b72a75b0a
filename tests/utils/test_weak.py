"""Weak dictionaries by identity."""

from __future__ import annotations

import copy
import gc

import pytest

import taeda
from taeda.utils.weak import TensorWeakRef, WeakIdRef, WeakTensorKeyDictionary


def test_entries_are_told_apart_by_identity_and_end_with_their_keys() -> None:
    a, b = taeda.ones(2), taeda.ones(2)
    d = WeakTensorKeyDictionary({a: 1})
    d[b] = 2
    d[a] += 2
    assert (d[a], d[b], len(d)) == (3, 2, 2) and a in d and taeda.ones(2) not in d and 3 not in d
    assert [key is other for key, other in zip(d, (a, b))] == [True, True] and d.pop(b) == 2 and d.get(b) is None
    joined = {b: 5} | d
    assert type(joined) is WeakTensorKeyDictionary and len(joined) == 2 and (d | {b: 6})[b] == 6
    deep = copy.deepcopy(WeakTensorKeyDictionary({a: [1]}))
    assert deep[a] == [1] and len(copy.copy(d)) == 1 == len(d.keyrefs())
    d |= {b: 4}
    del a
    gc.collect()
    assert len(d) == 1 and list(d.values()) == [4] and len(joined) == 1
    with pytest.raises(KeyError):
        del d[taeda.ones(2)]


def test_references() -> None:
    x = taeda.ones(1)
    one, two, of_tensor = WeakIdRef(x), WeakIdRef(x), TensorWeakRef(x)
    assert one == two and hash(one) == hash(two) and one != WeakIdRef(taeda.ones(1)) and of_tensor() is x
    del x
    gc.collect()
    assert one() is None and of_tensor() is None and one == one and one != two
    with pytest.raises(TypeError, match="a tensor is wanted"):
        TensorWeakRef(3)  # type: ignore[arg-type]
