"""Reductions beside PyTorch's: every layout, dims, dtype; NaN, ties, empty tensors; bits whatever the threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_elementwise import sample
from twin import check

import taeda

DTYPES = ("float32", "bfloat16", "float64", "int32", "uint8", "bool", "complex64")
LAYOUTS = {
    "contiguous": lambda T, d: sample(T, d, 5, 7, 6),
    "transposed": lambda T, d: sample(T, d, 5, 7, 6).transpose(0, 2),
    "strided": lambda T, d: sample(T, d, 10, 7, 12)[::2, :, ::3],
    "expanded": lambda T, d: sample(T, d, 4, 1, 5).expand(4, 3, 5),
    "tall": lambda T, d: sample(T, d, 300, 9),
    "wide": lambda T, d: sample(T, d, 3, 700),
    "long": lambda T, d: sample(T, d, 9001),
    "empty": lambda T, d: sample(T, d, 0, 3),
    "number": lambda T, d: sample(T, d),
}
CASES = {
    "sum": lambda x, dim, keep: x.sum(dim, keep),
    "mean": lambda x, dim, keep: x.mean(dim, keep),
    "amax": lambda x, dim, keep: x.amax(dim, keep),
    "argmin": lambda x, dim, keep: x.argmin(dim, keep),
    "any": lambda x, dim, keep: x.any(dim, keep),
    "all": lambda x, dim, keep: x.all(dim, keep),
    "prod": lambda x, dim, keep: (x / 4 if x.is_floating_point() else x).prod(dim, keep),
    "nansum": lambda x, dim, keep: x.nansum(dim, keep),
    "max": lambda x, dim, keep: tuple(x.max(dim, keep)),
    "var": lambda x, dim, keep: x.var(dim, keepdim=keep),
    "std": lambda x, dim, keep: x.std(dim, correction=0, keepdim=keep),
    "logsumexp": lambda x, dim, keep: x.logsumexp(dim, keep),
    "logcumsumexp": lambda x, dim, keep: (x / 100).logcumsumexp(dim),
    "norm": lambda x, dim, keep: x.norm(2, dim, keep),
    "count": lambda x, dim, keep: x.count_nonzero(dim),
}
TOLERANCE = {"bfloat16": 2e-2, "float32": 2e-5, "complex64": 2e-5}


# PyTorch refuses to order complex numbers only where there is one.
ALONG = [
    (name, layout, dtype)
    for name in CASES
    for layout in LAYOUTS
    for dtype in DTYPES
    if not (name in ("amax", "max") and layout == "empty" and dtype == "complex64")
]


@pytest.mark.parametrize("name, layout, dtype", ALONG)
def test_along_a_dim(name, layout, dtype):
    for dim, keep in ((0, False), (-1, True)):
        check(
            lambda T, dim=dim, keep=keep: CASES[name](LAYOUTS[layout](T, dtype), dim, keep),
            rtol=TOLERANCE.get(dtype, 1e-6),
        )


OF_ALL = ("sum", "mean", "amin", "max", "argmax", "any", "all", "count_nonzero")
# The product of the larger ones overflows.
WHOLE = [*((name, layout) for name in OF_ALL for layout in LAYOUTS), ("prod", "empty"), ("prod", "number")]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name, layout", WHOLE)
def test_of_everything(name, layout, dtype):
    check(lambda T: getattr(LAYOUTS[layout](T, dtype), name)(), rtol=TOLERANCE.get(dtype, 1e-6))


@pytest.mark.parametrize("dims", [(0, 1), (0, 2), (1, 2), (0, 1, 2), (-1, 0)])
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "strided", "expanded"])
def test_along_several_dims(layout, dims):
    check(lambda T: LAYOUTS[layout](T, "float32").sum(dims), rtol=1e-5)
    check(lambda T: LAYOUTS[layout](T, "float64").std(dims, keepdim=True))


@pytest.mark.parametrize(
    "case",
    [
        lambda T: T.tensor([1.0, float("nan"), 3.0, float("nan")]).max(0),
        lambda T: T.tensor([1.0, float("nan"), 3.0]).argmin(),
        lambda T: T.tensor([2.0, 5.0, 5.0, 1.0]).argmax(),
        lambda T: T.tensor([[1, 1], [1, 1]]).min(1),
        lambda T: T.ones(0).sum(),
        lambda T: T.ones(0).prod(),
        lambda T: T.ones(0).mean(),
        lambda T: T.ones(0).max(),
        lambda T: T.ones(3, 0).amax(1),
        lambda T: T.ones(2).sum((0, 0)),
        lambda T: T.ones(2).sum(1),
        lambda T: T.ones(2, dtype=T.int64).mean(),
        lambda T: T.ones(4, dtype=T.int8).sum(dtype=T.int8),
        lambda T: T.ones(4, dtype=T.bool).sum(),
        lambda T: T.full((4,), 30000.0).half().sum(),
        lambda T: T.var_mean(sample(T, "complex64", 3, 4), (0, 1), correction=0.5),
        lambda T: T.std_mean(sample(T, "complex128", 3, 4), 1, keepdim=True),
        lambda T: T.std_mean(sample(T, "complex128")),
        lambda T: T.var(sample(T, "float64", 3), correction=3),
        lambda T: T.tensor([1e3, 1e3 + 2]).logsumexp(0),
        lambda T: T.full((3,), -float("inf")).logsumexp(0),
        lambda T: T.tensor([float("inf"), 1]).logsumexp(0),
        lambda T: T.empty(0, 3).logsumexp(0),
        lambda T: T.tensor([-float("inf") + 0j, 1 + 3j, 0.5 - 1j, float("inf") + 2j]).logcumsumexp(0),
        lambda T: T.tensor([float("nan") + 0j, 1j]).logcumsumexp(0),
        lambda T: T.ones(3, dtype=T.int64).var(0),
        lambda T: T.ones(3).argmax(1),
        lambda T: T.ones(0).argmax(),
        lambda T: T.ones(2, 0).min(1),
        lambda T: T.ones(2, 0).aminmax(),
        lambda T: T.full((3,), 2**62).sum(),
        lambda T: T.full((70,), 2, dtype=T.int32).prod(),
        lambda T: T.sum(T.ones(3), out=T.ones((), dtype=T.int32)),
        lambda T: T.sum(T.ones(3), 0, out=T.ones((), dtype=T.int32)),
        lambda T: T.sum(T.ones(3), 0, dtype=T.float64, out=T.ones(())),
        lambda T: T.amax(T.ones(3), 0, out=T.ones((), dtype=T.float64)),
        lambda T: T.ones(3, dtype=T.complex64).sum(dtype=T.float32),
        lambda T: T.tensor([1.5, 2.7]).sum(dtype=T.int64),
        lambda T: T.tensor([1.5, -2.7]).prod(dtype=T.bool),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_edges(case):
    check(case)


@pytest.mark.parametrize("case", ["max(x,1,", "linalg.qr(x,", "sort(x,", "linalg.svd(x,"])
def test_outs_come_back_with_names(case):
    x = taeda.tensor([[1.0, 3.0], [2.0, 0.0]])
    name = case.split("(")[0]
    dtypes = {"linalg.qr": ["float32"] * 2, "linalg.svd": ["float32"] * 3}.get(name, ["float32", "int64"])
    outs = tuple(taeda.empty(0, dtype=getattr(taeda, dtype)) for dtype in dtypes)
    result = eval(f"taeda.{case} out=outs)", {"taeda": taeda, "x": x, "outs": outs})
    plain = eval(f"taeda.{case})", {"taeda": taeda, "x": x})
    assert type(result) is getattr(taeda.return_types, name.replace(".", "_") + "_out")
    assert result.__match_args__ == plain.__match_args__
    assert all(a is b for a, b in zip(result, outs, strict=True))
    assert all(a.equal(b) for a, b in zip(result, plain, strict=True))


COVARIANCES = [
    lambda T: T.cov(sample(T, "float64", 3, 5)),
    lambda T: T.cov(sample(T, "float32", 5), correction=0),
    lambda T: T.cov(sample(T, "complex128", 3, 5)),
    lambda T: T.cov(sample(T, "int64", 2, 4)),
    lambda T: T.cov(sample(T, "float64", 3, 3), fweights=T.tensor([1, 0, 4])),
    lambda T: T.cov(sample(T, "float64", 2, 3), aweights=T.tensor([0.5, 1.5, 1])),
    lambda T: T.cov(sample(T, "float64", 2, 3), correction=2, fweights=T.tensor([1, 2, 3]), aweights=T.ones(3) / 3),
    lambda T: T.cov(sample(T, "float64", 2, 3), correction=3),
    lambda T: T.cov(sample(T, "float64")),
    lambda T: T.cov(T.ones(2, 0)),
    lambda T: T.cov(T.ones(2, dtype=T.bool)),
    lambda T: T.cov(T.ones(2, 2, 2)),
    lambda T: T.cov(T.ones(2, 3), fweights=T.tensor([0, 0, 0])),
    lambda T: T.cov(T.ones(2, 3), fweights=T.tensor([1, -1, 1])),
    lambda T: T.cov(T.ones(2, 3), fweights=T.ones(3)),
    lambda T: T.cov(T.ones(2, 3), aweights=T.ones(2)),
    lambda T: T.corrcoef(sample(T, "float64", 3, 5)),
    lambda T: T.corrcoef(sample(T, "complex64", 3, 5)),
    lambda T: T.corrcoef(sample(T, "float32", 5)),
]


@pytest.mark.parametrize("case", COVARIANCES)
@pytest.mark.filterwarnings("ignore")
def test_covariances(case):
    check(case, rtol=1e-5, strides=False)


@pytest.mark.parametrize("dim", [None, 0, 1])
def test_bits_do_not_depend_on_threads(dim):
    x = taeda.linspace(-1, 1, 400_000).sin().reshape(4, 100_000)
    before, results = taeda.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            taeda.set_num_threads(threads)
            results.append((x.sum(dim), x.var(dim)))
    finally:
        taeda.set_num_threads(before)
    assert all(a.equal(c) and b.equal(d) for (a, b), (c, d) in zip(results, results[1:], strict=False))


@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
def test_too_large_a_correction_warns(name):
    with pytest.warns(UserWarning, match="degrees of freedom"):
        getattr(taeda, name)(taeda.ones(3), correction=3)


@pytest.mark.parametrize("name", ["sum", "amax", "argmax", "prod", "var", "any"])
@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 2), (1, 2), (0, 1)])
@pytest.mark.parametrize("repeated", [0, 1, 2])
def test_of_repeated_elements(name: str, dims: Any, repeated: int) -> None:
    if name in ("argmax", "prod"):
        dims = dims[0]
    sizes = [1 if d == repeated else n for d, n in enumerate((9, 70, 90))]
    x = taeda.linspace(0.9, 1.1, 70 * 90 * 9 // (9, 70, 90)[repeated]).view(sizes).expand(9, 70, 90)
    got, wanted = (getattr(y, name)(dims) for y in (x, x.contiguous()))
    assert got.shape == wanted.shape and taeda.allclose(got.double(), wanted.double(), rtol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "complex64"])
@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 16, 33, 130, 600])
def test_rows_reduced_together_give_what_each_gives(length: int, dtype: str) -> None:
    values = taeda.from_numpy(np.random.default_rng(0).integers(0, 90, (37, length)).astype(dtype))
    ops = [taeda.sum] if dtype == "complex64" else [taeda.sum, taeda.amax, taeda.argmax, taeda.aminmax]
    for op in ops:
        whole, rows = op(values, dim=1), [op(row, dim=0) for row in values]
        for i, part in enumerate(whole if isinstance(whole, tuple) else (whole,)):
            assert part.tolist() == [(row[i] if isinstance(whole, tuple) else row).item() for row in rows]
    assert np.array_equal(values.sum(1).numpy(), values.numpy().sum(1))


@pytest.mark.parametrize("shape, dim", [((3, 0), 1), ((0, 3), 1), ((2, 3, 0), 2), ((2, 0, 3), 0)])
def test_rows_without_elements(shape: tuple[int, ...], dim: int) -> None:
    assert taeda.zeros(shape).sum(dim).tolist() == np.zeros(shape).sum(dim).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_extrema_of_rows_pass_nan_on(dtype: str) -> None:
    for place in range(40):
        values = np.random.default_rng(place).normal(size=(19, 40)).astype(dtype)
        values[place % 19, place] = np.nan
        x = taeda.from_numpy(values)
        for ours, theirs in ((x.amax(1), values.max(1)), (x.amin(1), values.min(1)), (x.amax(), values.max())):
            assert np.array_equal(ours.numpy(), theirs, equal_nan=True)
