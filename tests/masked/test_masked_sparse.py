"""Masked reductions of sparse tensors: PyTorch's elements, in its layout, and gradients of what is stored."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import taeda

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NAMES = ["sum", "prod", "amax", "amin"]
DIMS: list[Any] = [None, 0, 1, (0, 1), (1, 2)]


def drawn(library: Any) -> tuple[Any, Any]:
    """A tensor with zeros and a mask, the same in both libraries."""
    numbers = torch.randn(4, 3, 2, generator=torch.Generator().manual_seed(1))
    mask = torch.arange(24).reshape(4, 3, 2) % 5 != 0
    return library.tensor((numbers * (numbers > -0.5)).tolist()), library.tensor(mask.tolist())


def seen(library: Any, name: str, dim: Any, keepdim: bool, sparse: bool) -> tuple[Any, ...]:
    x, mask = drawn(library)
    given = x.to_sparse()
    made = getattr(library.masked, name)(given, dim, keepdim=keepdim, mask=mask.to_sparse() if sparse else mask)
    made = made.coalesce()
    return tuple(made.shape), made.sparse_dim(), made.indices().tolist(), made.values().tolist()


@pytest.mark.parametrize("name", NAMES)
def test_coordinates(name: str) -> None:
    for dim, keepdim, sparse in itertools.product(DIMS, (False, True), (False, True)):
        ours, theirs = (seen(library, name, dim, keepdim, sparse) for library in (taeda, torch))
        assert ours[:3] == theirs[:3] and ours[3] == pytest.approx(theirs[3]), (dim, keepdim, sparse)


@pytest.mark.parametrize("name", [*NAMES, "mean"])
def test_rows_of_compressed_matrices(name: str) -> None:
    found = []
    for library in (taeda, torch):
        x, mask = drawn(library)
        csr = x[:, :, 0].to_sparse_csr()
        made = getattr(library.masked, name)(csr, 1, keepdim=True, mask=mask[:, :, 0].to_sparse_csr())
        assert made.layout == library.sparse_csr
        found.append(made.to_dense().nan_to_num(7.0).tolist())
    assert found[0] == [pytest.approx(row) for row in found[1]]
    with pytest.raises(ValueError, match="keepdim"):
        getattr(taeda.masked, name)(taeda.eye(3).to_sparse_csr(), 1)


def test_gradients_go_to_what_is_kept() -> None:
    x, mask = drawn(taeda)
    s = x.to_sparse().requires_grad_()
    taeda.masked.amax(s, (0, 1, 2), mask=mask).to_dense().backward()
    grad = s.grad.to_dense()
    assert grad.count_nonzero() == 1 and x[grad != 0].item() == x[mask].max().item()


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr"])
def test_a_mask_at_fewer_places(layout):
    x = taeda.tensor([[1.0, -2], [3, 4]])
    masked = taeda.masked.masked_tensor(*(part.to_sparse(layout=getattr(taeda, layout)) for part in (x, x > 0)))
    assert masked.get_data().to_dense().tolist() == [[1, 0], [3, 4]]


def test_is_any_true():
    x = taeda.masked.masked_tensor(taeda.tensor([True, False]), taeda.tensor([False, True]))
    assert not x._is_any_true().get_data() and x._is_any_true().get_mask()
    with pytest.raises(ValueError, match="bools"):
        taeda.masked.masked_tensor(taeda.ones(2), taeda.tensor([False, True]))._is_any_true()


def test_is_contiguous_as_the_data():
    x = taeda.arange(4.0).reshape(2, 2).t()
    masked = taeda.masked.masked_tensor(x, x > 1)
    assert not masked.is_contiguous() and masked.contiguous().is_contiguous()
    assert masked.contiguous().get_mask().is_contiguous()
    sparse = taeda.masked.masked_tensor(x.to_sparse(), (x > 1).to_sparse())
    for call in (sparse.is_contiguous, sparse.contiguous):
        with pytest.raises(ValueError, match="strided data"):
            call()
