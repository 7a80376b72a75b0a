"""Unsigned integers wider than a byte: what is computed with them."""

from __future__ import annotations

import pytest

import taeda


@pytest.mark.parametrize("dtype, top", [("uint16", 2**16 - 1), ("uint32", 2**32 - 1), ("uint64", 2**64 - 1)])
def test_wide_unsigned(dtype, top):
    kind = getattr(taeda, dtype)
    a, b = taeda.tensor([1, top, 6], dtype=kind), taeda.tensor([1, 2, 3], dtype=kind)
    assert (a == b).tolist() == [True, False, False] and (a != b).tolist() == [False, True, True]
    assert (a * b).tolist() == [1, (top * 2) % (top + 1), 18]
    assert (a & b).tolist() == [1, 2, 2] and (a | b).tolist() == [1, top, 7] and (a ^ b).tolist() == [0, top - 2, 5]
    assert a.isfinite().all() and not a.isnan().any()
    assert taeda.where(a == b, a, b).dtype == kind
    assert taeda.equal(a, a.clone()) and taeda.allclose(a, a)


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target, wanted", [
    ("int32", [-(2**31)] * 5 + [70000]), ("int16", [0] * 5 + [4464]), ("int8", [0] * 5 + [112]),
    ("uint8", [0] * 5 + [112]),
])  # fmt: skip
def test_numbers_beyond_an_integer(source, target, wanted):
    values = [3e9, float("nan"), float("inf"), -3e9, 1e20, 70000]
    x = taeda.tensor(values, dtype=getattr(taeda, source))
    assert x.to(getattr(taeda, target)).tolist() == wanted
