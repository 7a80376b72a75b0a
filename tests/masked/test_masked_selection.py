"""`torch.masked._where`: a sparse result has what the mask selects, and nothing else."""

from __future__ import annotations

import pytest

import taeda as torch
from taeda.masked import _where


def sparse(dense, layout, dims):
    return dense if layout == "strided" else dense.to_sparse_csr() if layout == "csr" else dense.to_sparse(dims)


@pytest.mark.parametrize(("layout", "dims"), [("strided", 0), ("coo", 1), ("coo", 2), ("csr", 0)])
@pytest.mark.parametrize("fill", [0.0, 7.0])
def test_what_is_selected(layout, dims, fill):
    torch.manual_seed(0)
    mask = torch.rand(6, 5) > 0.5
    mask[1] = False
    dense = torch.randn(6, 5) * (torch.rand(6, 5) > 0.4)
    dense[2] = 0
    result = _where(sparse(mask, layout, dims), sparse(dense, layout, dims), torch.tensor(fill))
    wanted = torch.where(mask, dense, fill)
    assert result.layout == sparse(dense, layout, dims).layout
    if layout == "strided":
        assert torch.equal(result, wanted)
        return
    result = result.to_sparse_coo()
    rows = mask if dims != 1 else mask.any(1)
    assert torch.equal(result.indices(), rows.nonzero().T)
    assert torch.equal(result.values(), wanted[rows])


def test_nothing_selected_and_nothing_stored():
    none, some = torch.zeros(2, 3, dtype=torch.bool).to_sparse(), torch.ones(2, 3, dtype=torch.bool).to_sparse()
    assert _where(none, torch.ones(2, 3).to_sparse(), torch.tensor(1.0))._nnz() == 0
    assert torch.equal(_where(some, torch.zeros(2, 3).to_sparse(), torch.tensor(1.0)).values(), torch.zeros(6))


def test_layouts_must_agree():
    mask = torch.ones(2, 2, dtype=torch.bool)
    for pair in ((mask.to_sparse(), torch.ones(2, 2)), (mask.to_sparse_csc(), torch.ones(2, 2).to_sparse_csc())):
        with pytest.raises(ValueError, match="masked._where"):
            _where(*pair, torch.tensor(0.0))
