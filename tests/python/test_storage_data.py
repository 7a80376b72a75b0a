"""Tensors of storages' elements, and numbers that stand before the tensors they scale."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import taeda
from taeda import Tensor


@pytest.mark.parametrize("dtype", ["float32", "int8", "bfloat16", "complex64", "bool"])
def test_a_storage_is_data(dtype: str) -> None:
    kind = getattr(taeda, dtype)
    source = taeda.tensor([1, 0, 1]).to(kind)
    over = taeda.tensor(source.untyped_storage(), dtype=kind)
    assert over.equal(source) and over.data_ptr() == source.data_ptr()  # as in PyTorch, where it is no copy
    typed = source.storage()
    assert (
        taeda.tensor(typed).dtype == kind and taeda.tensor([], dtype=kind).set_(typed).data_ptr() == source.data_ptr()
    )
    other = taeda.int64 if dtype == "int8" else taeda.int8
    for call in (lambda: taeda.tensor(typed, dtype=other), lambda: taeda.tensor([], dtype=other).set_(typed)):
        with pytest.raises(RuntimeError, match="holds"):
            call()


def test_data_may_hold_arrays_without_dimensions() -> None:
    import numpy as np

    assert taeda.tensor(((7, np.array(5)), (np.array(9), 5.0))).tolist() == [[7, 5], [9, 5]]
    assert taeda.tensor([2**70, 0], dtype=taeda.bool).tolist() == [True, False]

    class Broken:
        def __len__(self) -> int:
            return 2

        def __getitem__(self, at: int) -> float:
            raise TypeError

    with pytest.raises(ValueError, match="cannot be read"):
        taeda.tensor(Broken())


M, B, V = taeda.ones(2, 2), taeda.ones(2, 2, 2), taeda.ones(2)
OLD: list[tuple[Callable[[], Tensor], Callable[[], Tensor]]] = [
    (lambda: taeda.addmm(3, M, 2, M, M), lambda: taeda.addmm(M, M, M, beta=3, alpha=2)),
    (lambda: taeda.addmm(3, M, M, M), lambda: taeda.addmm(M, M, M, beta=3)),
    (lambda: M.addmm(3, 2, M, M), lambda: M.addmm(M, M, beta=3, alpha=2)),
    (lambda: M.clone().addmm_(3, M, M), lambda: M.addmm(M, M, beta=3)),
    (lambda: taeda.addbmm(3, M, 2, B, B), lambda: taeda.addbmm(M, B, B, beta=3, alpha=2)),
    (lambda: taeda.baddbmm(3, B, 2, B, B), lambda: taeda.baddbmm(B, B, B, beta=3, alpha=2)),
    (lambda: taeda.addmv(3, V, 2, M, V), lambda: taeda.addmv(V, M, V, beta=3, alpha=2)),
    (lambda: taeda.addr(3, M, 2, V, V), lambda: taeda.addr(M, V, V, beta=3, alpha=2)),
]


@pytest.mark.parametrize("number", range(len(OLD)))
def test_numbers_before_tensors(number: int) -> None:
    old, new = OLD[number]
    with pytest.warns(UserWarning, match="deprecated"):
        found = old()
    assert found.equal(new())


def test_too_many_numbers_are_refused() -> None:
    with pytest.raises(TypeError):
        M.addmm(1, 2, 3, M, M)
    with pytest.raises(RuntimeError, match="integers"):
        taeda.addr(M.int(), V.int(), V.int(), beta=1.5)
