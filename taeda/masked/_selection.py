"""``where`` for sparse tensors: what a sparse mask selects."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda.masked._sparse import _keys


def _where(mask: Tensor, input: Tensor, fill_value: Tensor) -> Tensor:
    """``input`` where ``mask`` is true; elsewhere ``fill_value``, of which a sparse result specifies nothing.

    Args:
        mask: bools of the shape and layout of ``input``: strided, COO or CSR.
        input: of a sparse one, what is selected and not specified counts as 0.
        fill_value: one element. Where elements of a COO tensor are tensors in turn, what of them is not selected
            becomes it.

    Raises:
        ValueError: the layout is another, or the layouts differ.
    """
    if mask.layout != input.layout or mask.layout not in (taeda.strided, taeda.sparse_coo, taeda.sparse_csr):
        raise ValueError(
            "taeda.masked._where: mask and input must both be strided, COO or CSR; got "
            f"{mask.layout} and {input.layout}"
        )
    if mask.layout == taeda.strided:
        return taeda.where(mask, input, fill_value)
    if mask.layout == taeda.sparse_csr:
        return _of_coo(mask.to_sparse_coo(), input.to_sparse_coo(), fill_value).to_sparse_csr()
    return _of_coo(mask, input, fill_value)


def _of_coo(mask: Tensor, input: Tensor, fill_value: Tensor) -> Tensor:
    mask, input = mask.coalesce(), input.coalesce()
    selects = mask.values()
    kept = selects if selects.dim() == 1 else selects.flatten(1).any(1)
    places, selects = mask.indices()[:, kept], selects[kept]
    wanted, there = (_keys(indices, tuple(input.shape)) for indices in (places, input.indices()))
    values = input.values().new_zeros((wanted.numel(), *input.values().shape[1:]))
    if there.numel():
        at = taeda.searchsorted(there, wanted).clamp(max=there.numel() - 1)
        found = there[at] == wanted
        values[found] = input.values()[at[found]]
    return taeda.sparse_coo_tensor(places, taeda.where(selects, values, fill_value), input.shape, is_coalesced=True)
