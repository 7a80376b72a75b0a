"""Sparse tensors: products, conversions, a step of a graph network, beside the better of PyTorch and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from time import sleep
from typing import Any

from benchmarks.timing import Budget, Row, calls_in, loop, pause_between

SPARSE = "sparse tensors"
BUDGETS = {SPARSE: Budget(0.8, 1.2)}
Timed = Callable[[], Any]


def _matrix(n: int, density: float) -> Any:
    import numpy as np
    import scipy.sparse

    return scipy.sparse.random(n, n, density, format="csr", dtype=np.float32, random_state=0)


def _csr(T: Any, a: Any) -> Any:
    parts = (T.from_numpy(part.astype("int64")) for part in (a.indptr, a.indices))
    return T.sparse_csr_tensor(*parts, T.from_numpy(a.data), a.shape)


def _best(calls: list[Timed], rounds: int) -> list[float]:
    """Seconds per call of each, in turn: the minimum of the rounds."""
    import taeda

    best = [float("inf")] * len(calls)
    counts = [calls_in(call, 0.002) for call in calls]
    pause = pause_between(taeda.get_num_threads())
    for _ in range(rounds):
        for k, call in enumerate(calls):
            sleep(pause)
            best[k] = min(best[k], loop(call, counts[k]))
    return best


def _row(name: str, rounds: int, ours: Timed, torch: Timed, scipy: Timed | None = None) -> Row:
    mine, *others = _best([ours, torch, *([scipy] if scipy else [])], rounds)
    return Row(SPARSE, name, mine * 1e3, min(others) * 1e3, "ms", BUDGETS[SPARSE].worst)


def rows(quick: bool) -> list[Row]:
    """What programs do with sparse matrices, with one thread and with two."""
    import torch

    import taeda

    before = taeda.get_num_threads(), torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            for T in (taeda, torch):
                T.set_num_threads(threads)
            found += _products(quick, threads) + (_others(quick) if threads == 1 else [])
    finally:
        taeda.set_num_threads(before[0])
        torch.set_num_threads(before[1])
    return found


def _products(quick: bool, threads: int) -> list[Row]:
    found = []
    for density in (0.01, 0.1, 0.3):
        a = _matrix(1000, density)
        for width in (1, 256) if quick else (1, 8, 32, 256):
            found.append(_product(f"CSR x dense, {density}, {width} columns, {threads} threads", a, width, "csr"))
        if threads == 1:
            found.append(_product(f"COO x dense, {density}, 32 columns", a, 32, "coo"))
    return found


def _product(name: str, a: Any, width: int, layout: str) -> Row:
    import numpy as np
    import torch

    import taeda

    x = np.ones((1000, width), np.float32)
    y, z = taeda.from_numpy(x), torch.from_numpy(x)
    mine, theirs, other = _csr(taeda, a), _csr(torch, a), a
    if layout == "coo":
        mine, theirs, other = mine.to_sparse_coo(), theirs.to_sparse_coo(), a.tocoo()
    return _row(name, 20, lambda: mine @ y, lambda: theirs @ z, lambda: other @ x)


def _others(quick: bool) -> list[Row]:
    found = [row for density in (0.01, 0.1) for row in _whole(density)]
    return [*found, _coalesce(50_000 if quick else 500_000), _row("step of a graph network", 10, *_steps())]


def _whole(density: float) -> list[Row]:
    """Conversions of a matrix, and its square."""
    import scipy.sparse
    import torch

    import taeda

    a = _matrix(1000, density)
    dense, mine, theirs = a.toarray(), _csr(taeda, a), _csr(torch, a)
    y, z = taeda.from_numpy(dense), torch.from_numpy(dense)
    to_csr = lambda: scipy.sparse.csr_matrix(dense)
    return [
        _row(f"to_sparse, {density}", 20, y.to_sparse, z.to_sparse, lambda: scipy.sparse.coo_matrix(dense)),
        _row(f"to_sparse_csr, {density}", 20, y.to_sparse_csr, z.to_sparse_csr, to_csr),
        _row(f"CSR x CSR, {density}", 7, lambda: mine @ mine, lambda: theirs @ theirs, lambda: a @ a),
    ]


def _coalesce(count: int) -> Row:
    import numpy as np
    import scipy.sparse
    import torch

    import taeda

    rng = np.random.default_rng(0)
    places, values = rng.integers(0, 3000, (2, count)), rng.standard_normal(count).astype(np.float32)

    def timed(T: Any) -> Timed:
        i, v = T.from_numpy(places), T.from_numpy(values)
        return lambda: T.sparse_coo_tensor(i, v, (3000, 3000), check_invariants=False).coalesce()

    other = lambda: scipy.sparse.coo_matrix((values, places), (3000, 3000)).tocsr()
    return _row(f"coalesce, {count // 1000} K", 7, timed(taeda), timed(torch), other)


def _steps() -> list[Timed]:
    import torch

    import taeda

    return [_step(taeda), _step(torch)]


def _step(T: Any) -> Timed:
    """Forward and backward through two layers of a graph convolution over 3000 nodes."""
    a, x = _csr(T, _matrix(3000, 0.003)), T.ones(3000, 64)
    first, second, target = T.nn.Linear(64, 64), T.nn.Linear(64, 8), T.zeros(3000, dtype=T.int64)

    def step() -> None:
        T.nn.functional.cross_entropy(a @ second((a @ first(x)).relu()), target).backward()

    return step
