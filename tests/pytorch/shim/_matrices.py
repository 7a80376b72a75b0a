"""Random matrices with known properties."""

import math
import random

import numpy as np
import torch


def _randn(*shape, dtype, device="cpu"):
    return torch.randn(*shape, dtype=dtype, device=device)


def _h(x):
    return x.transpose(-2, -1).conj() if x.is_complex() else x.transpose(-2, -1)


def random_hermitian_matrix(n, *batch, dtype, device):
    a = _randn(*batch, n, n, dtype=dtype, device=device)
    return (a + _h(a)).div_(2)


def random_symmetric_matrix(n, *batch, **k):
    dtype, device = k.get("dtype", torch.double), k.get("device", "cpu")
    a = _randn(*batch, n, n, dtype=dtype, device=device)
    return (a + a.transpose(-2, -1)).div_(2)


def random_hermitian_psd_matrix(n, *batch, dtype, device):
    a = _randn(*batch, n, n, dtype=dtype, device=device)
    return a @ _h(a)


def random_symmetric_psd_matrix(n, *batch, **k):
    a = _randn(*batch, n, n, dtype=k.get("dtype", torch.double), device=k.get("device", "cpu"))
    return a @ a.transpose(-2, -1)


def random_hermitian_pd_matrix(n, *batch, dtype, device):
    return random_hermitian_psd_matrix(n, *batch, dtype=dtype, device=device) + torch.eye(n, dtype=dtype, device=device)


def random_symmetric_pd_matrix(n, *batch, **k):
    dtype, device = k.get("dtype", torch.double), k.get("device", "cpu")
    return (
        random_symmetric_psd_matrix(n, *batch, dtype=dtype, device=device)
        + torch.eye(n, dtype=dtype, device=device) * 0.1
    )


def _orthonormal(m, n, *batch, dtype, device):
    u, _, vh = torch.linalg.svd(_randn(*batch, m, n, dtype=dtype, device=device), full_matrices=False)
    return u, vh


def make_fullrank_matrices_with_distinct_singular_values(*shape, device, dtype, requires_grad=False):
    m, n = shape[-2:]
    k = min(m, n)
    u, vh = _orthonormal(m, n, *shape[:-2], dtype=dtype, device=device)
    real = {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(dtype, dtype)
    s = (
        torch.linspace(1, 2, k, dtype=real, device=device).to(dtype)
        if k
        else torch.empty(0, dtype=dtype, device=device)
    )
    return ((u * s) @ vh).contiguous().requires_grad_(requires_grad)


def random_fullrank_matrix_distinct_singular_value(n, *batch, dtype, device):
    return make_fullrank_matrices_with_distinct_singular_values(*batch, n, n, dtype=dtype, device=device)


def random_square_matrix_of_rank(n, rank, dtype=None, device="cpu"):
    dtype = dtype or torch.double
    u, vh = _orthonormal(n, n, dtype=dtype, device=device)
    s = torch.ones(n, dtype=dtype, device=device)
    s[rank:] = 0
    return (u * s) @ vh


def random_well_conditioned_matrix(*shape, dtype, device, mean=1.0, sigma=0.001):
    m, n = shape[-2:]
    u, vh = _orthonormal(m, n, *shape[:-2], dtype=dtype, device=device)
    real = {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(dtype, dtype)
    s = (
        (torch.randn(*shape[:-2], min(m, n), dtype=real, device=device) * sigma + mean)
        .sort(-1, descending=True)
        .values.to(dtype)
    )
    return (u * s.unsqueeze(-2)) @ vh


def random_lowrank_matrix(rank, rows, cols, *batch, **k):
    d, v = k.get("dtype", torch.double), k.get("device", "cpu")
    return _randn(*batch, rows, rank, dtype=d, device=v) @ _randn(*batch, rank, cols, dtype=d, device=v)


def random_sparse_matrix(rows, cols, density=0.01, **k):
    d, v = k.get("dtype", torch.double), k.get("device", "cpu")
    nnz = max(min(rows, cols), int(rows * cols * density))
    r = [i % rows for i in range(nnz)]
    c = [i % cols for i in range(nnz)]
    random.shuffle(r)
    random.shuffle(c)
    t = torch.sparse_coo_tensor(torch.tensor([r, c]), torch.randn(nnz, dtype=d), (rows, cols), device=v)
    return t.coalesce()


def random_sparse_pd_matrix(n, density=0.01, **k):
    d, v = k.get("dtype", torch.double), k.get("device", "cpu")
    a = np.diag(np.arange(1, n + 1) / n)
    for _ in range(int(n * n * density)):  # random plane rotations keep the spectrum
        i, j = np.random.randint(n, size=2)
        if i != j:
            t = np.random.uniform(0, 2 * math.pi)
            g = np.eye(n)
            g[i, i] = g[j, j] = math.cos(t)
            g[i, j], g[j, i] = -math.sin(t), math.sin(t)
            a = g @ a @ g.T
    i, j = np.nonzero(a)
    return torch.sparse_coo_tensor(
        torch.from_numpy(np.stack([i, j])), torch.from_numpy(a[i, j]).to(d), (n, n), device=v
    )
