"""Numbers from elsewhere, differences on grids, histograms of points and approximate factors."""

from __future__ import annotations

import array
import warnings
from typing import Any

import numpy as np
import pytest
from twin import check

import taeda


def grid(T: Any, *sizes: int, dtype: str = "float64") -> Any:
    values = np.sin(np.arange(np.prod(sizes)) * 1.7) * 3
    return T.tensor(values.reshape(sizes).tolist(), dtype=getattr(T, dtype))


GRADIENTS = [
    lambda T, e: T.gradient(grid(T, 5), edge_order=e),
    lambda T, e: T.gradient(grid(T, 4, 5), edge_order=e),
    lambda T, e: T.gradient(grid(T, 4, 5), dim=1, spacing=0.5, edge_order=e),
    lambda T, e: T.gradient(grid(T, 4, 5), dim=(0, -1), spacing=[2.0, 3.0], edge_order=e),
    lambda T, e: T.gradient(
        grid(T, 3, 5),
        spacing=(T.tensor([0.0, 1, 3]).double(), T.tensor([0.0, 0.5, 1, 2, 5]).double()),
        edge_order=e,
    ),
    lambda T, e: T.gradient(T.arange(6), edge_order=e),
    lambda T, e: T.gradient(grid(T, 2), edge_order=e),
    lambda T, e: T.gradient(grid(T, 4, dtype="float32"), edge_order=e),
    lambda T, e: T.gradient(T.complex(grid(T, 4), grid(T, 4) * 2), edge_order=e),
    lambda T, e: T.gradient(grid(T, 4, 5), dim=(0, 0), edge_order=e),
    lambda T, e: T.gradient(grid(T, 4, 5), dim=3, edge_order=e),
    lambda T, e: T.gradient(grid(T, 4, 5), spacing=[1.0], edge_order=e),
]


@pytest.mark.torch
@pytest.mark.parametrize("edge_order", [1, 2, 3])
@pytest.mark.parametrize("case", GRADIENTS)
def test_gradient(case, edge_order):
    check(lambda T: case(T, edge_order), strides=False)


HISTOGRAMS = [
    lambda T, d: T.histogramdd(grid(T, 20, 2, dtype=d), 4),
    lambda T, d: T.histogramdd(grid(T, 20, 2, dtype=d), [3, 4]),
    lambda T, d: T.histogramdd(grid(T, 20, 2, dtype=d), [3, 4], range=[-1, 1, -2, 2.0], density=True),
    lambda T, d: T.histogramdd(grid(T, 4, 5, 3, dtype=d), 2, weight=grid(T, 4, 5, dtype=d)),
    lambda T, d: T.histogramdd(grid(T, 20, 2, dtype=d), [grid(T, 4, dtype=d).sort()[0], grid(T, 2, dtype=d)]),
    lambda T, d: T.histogramdd(grid(T, 20, dtype=d), 4),
    lambda T, d: T.histogramdd(grid(T, 20, 2, dtype=d), [4]),
    lambda T, d: T.histogramdd(grid(T, 20, 2, dtype=d), 4, range=[1.0, 2]),
    lambda T, d: T.histogramdd(grid(T, 20, 2, dtype=d), 4, weight=grid(T, 3, dtype=d)),
    lambda T, d: T.histogramdd(T.ones(3, 2), 2),
    lambda T, d: T.histogramdd(T.ones(0, 2), 2),
    lambda T, d: T.histogramdd(T.ones(5, 0), 2),
    lambda T, d: T.histogramdd(T.ones(3, 2, dtype=T.int64), 2),
]


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", HISTOGRAMS)
def test_histogramdd(case, dtype):
    check(lambda T: case(T, dtype), rtol=1e-5)


SHARED = [
    lambda T, **k: T.asarray(np.arange(3.0), **k),
    lambda T, **k: T.asarray(np.array(3.0), **k),
    lambda T, **k: T.asarray(array.array("f", [1, 2]), **k),
    lambda T, **k: T.asarray(bytearray(b"\1\2\3\4"), dtype=T.int16, **k),
    lambda T, **k: T.asarray(T.arange(3), **k),
    lambda T, **k: T.asarray(T.utils.dlpack.to_dlpack(T.arange(3)), **k) if k.get("copy") is not False else 0,
    lambda T, **k: T.asarray(1.5, **k),
    lambda T, **k: T.asarray([[1, 2], [3, 4]], **k),
    lambda T, **k: T.asarray((True, 2.0), **k),
    lambda T, **k: T.asarray([[1, 2], [3]], **k),
    lambda T, **k: T.asarray("ab", **k),
    lambda T, **k: T.asarray(np.arange(3), dtype=T.int32, **k),
    lambda T, **k: T.asarray(bytearray(b"\1\2\3"), dtype=T.int16, **k),
    lambda T, **k: T.asarray([1], requires_grad=True, **k),
    lambda T, **k: T.asarray([1.0], requires_grad=True, **k).requires_grad,
]


@pytest.mark.torch
@pytest.mark.parametrize("copy", [None, True, False])
@pytest.mark.parametrize("case", SHARED)
def test_asarray(case, copy):
    check(lambda T: case(T, copy=copy))


def test_asarray_shares_memory_unless_told_not_to():
    numbers = np.zeros(3)
    shared, own = taeda.asarray(numbers), taeda.asarray(numbers, copy=True)
    numbers[0] = 7
    assert (shared[0].item(), own[0].item()) == (7, 0)


def test_asarray_of_a_recorded_tensor():
    x = taeda.ones(2, requires_grad=True)
    assert taeda.asarray(x) is x and taeda.asarray(x, copy=True).grad_fn is not None
    assert not taeda.asarray(x, requires_grad=False).requires_grad and x.requires_grad


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("wide", [False, True])
def test_low_rank(dtype, wide):
    kind = getattr(taeda, dtype)
    A = taeda.randn(2, 20, 3, dtype=kind) @ taeda.randn(3, 8, dtype=kind)
    A = A.mT if wide else A
    for (U, S, V), whole in (
        (taeda.svd_lowrank(A, 4), A),
        (taeda.svd_lowrank(A, 5, M=A[:1]), A - A[:1]),
        (taeda.pca_lowrank(A, 4), A - A.mean(-2, keepdim=True)),
    ):
        assert U.shape[-1] == S.shape[-1] == V.shape[-1]
        taeda.testing.assert_close(U @ taeda.diag_embed(S).to(kind) @ V.mH, whole)


@pytest.mark.parametrize("q", [-1, 9])
def test_low_rank_refuses(q):
    with pytest.raises(ValueError, match="q must be"):
        taeda.svd_lowrank(taeda.ones(20, 8), q)
    with pytest.raises(ValueError, match="q must be"):
        taeda.pca_lowrank(taeda.ones(20, 8), q)


@pytest.mark.torch
@pytest.mark.parametrize("infos", [False, True])
def test_lu(infos):
    check(lambda T: tuple(T.lu(grid(T, 2, 3, 3), get_infos=infos)), strides=False)
    check(lambda T: tuple(grid(T, 3, 3).lu(get_infos=infos)), strides=False)


FRESH = {
    "zeros": lambda T, x: T.zeros(3),
    "ones": lambda T, x: T.ones(3),
    "full": lambda T, x: T.full((3,), 2.0),
    "rand": lambda T, x: T.rand(3),
    "randn": lambda T, x: T.randn(3),
    "randint": lambda T, x: T.randint(5, (3,)),
    "randperm": lambda T, x: T.randperm(4),
    "eye": lambda T, x: T.eye(3),
    "zeros_like": lambda T, x: T.zeros_like(x),
    "ones_like": lambda T, x: T.ones_like(x),
    "full_like": lambda T, x: T.full_like(x, 2),
    "rand_like": lambda T, x: T.rand_like(x),
    "randint_like": lambda T, x: T.randint_like(x, 3),
    "new_zeros": lambda T, x: x.new_zeros(3),
    "new_full": lambda T, x: x.new_full((3,), 2.0),
    "tensor": lambda T, x: T.tensor([1.0]),
    "scalar_tensor": lambda T, x: T.scalar_tensor(2),
    "bernoulli": lambda T, x: T.bernoulli(x),
    "hann_window": lambda T, x: T.hann_window(5),
    "written once": lambda T, x: T.zeros(3).fill_(2),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", FRESH)
def test_a_new_tensor_was_never_written(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(lambda T: FRESH[name](T, T.ones(3))._version)
