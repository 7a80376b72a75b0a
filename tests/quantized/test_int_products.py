"""``_int_mm``: exact sums of products of bytes, whatever lies how in memory; ``out_dtype`` uses it."""

from __future__ import annotations

import pytest

import taeda
from taeda._higher_order_ops.out_dtype import out_dtype

aten = taeda.ops.aten


def draw(dtype: taeda.dtype, *sizes: int) -> taeda.Tensor:
    low, high = (0, 256) if dtype == taeda.uint8 else (-128, 128)
    return taeda.randint(low, high, sizes, dtype=dtype)


@pytest.mark.parametrize("dtype", [taeda.int8, taeda.uint8])
@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (3, 16, 8), (17, 65, 33), (2, 0, 3), (64, 3, 2)])
def test_products_are_exact(dtype, m, k, n):
    for a in (draw(dtype, m, k), draw(dtype, k, m).t()):
        for b in (draw(taeda.int8, k, n), draw(taeda.int8, n, k).t(), draw(taeda.int8, k, 2 * n)[:, ::2]):
            wanted = a.int() @ b.int()
            assert taeda.equal(taeda._int_mm(a, b), wanted)
            out = taeda.empty(n, m, dtype=taeda.int32).t()
            assert taeda.equal(taeda._int_mm(a, b, out=out), wanted) and taeda.equal(out, wanted)


def test_sums_do_not_saturate():
    least = taeda.full((4, 4096), -128, dtype=taeda.int8)
    assert (taeda._int_mm(least, least.t()) == 128 * 128 * 4096).all()
    most = taeda.full((4, 4096), 255, dtype=taeda.uint8)
    assert (taeda._int_mm(most, least.t()) == -128 * 255 * 4096).all()


def test_results_of_another_dtype():
    a, b = draw(taeda.int8, 3, 4), draw(taeda.int8, 4, 5)
    assert taeda.equal(out_dtype(aten.mm.default, taeda.int32, a, b), a.int() @ b.int())
    assert taeda.equal(taeda.ops.higher_order.out_dtype(aten.mul.Tensor, taeda.int32, a, a), a.int() * a.int())
    for op, dtype in ((aten.add.Tensor, taeda.int32), (taeda.add, taeda.int32), (aten.mm.default, "int32")):
        with pytest.raises(ValueError, match="out_dtype"):
            out_dtype(op, dtype, a, b)
