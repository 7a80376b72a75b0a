"""A tensor some of whose elements are left out: by every function that is called with it, and by gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, TypeGuard

import taeda
from taeda import Tensor
from taeda._composed.tensor import Composed


def is_masked_tensor(obj: Any, /) -> TypeGuard[MaskedTensor]:
    """Whether ``obj`` is a `MaskedTensor`."""
    return isinstance(obj, MaskedTensor)


class MaskedTensor(Composed):
    """``data`` where ``mask``, bool and of the same shape, is True; what stands elsewhere counts for nothing.

    Gradients flow to ``data``; ``grad`` is a masked tensor. Made by `masked_tensor` and `as_masked_tensor`.

    Raises:
        TypeError: ``data`` or ``mask`` is no plain tensor, or the mask is not bool.
        ValueError: their shapes differ.
    """

    _masked_data: Tensor
    _masked_mask: Tensor

    def __new__(cls, data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
        made = cls.of(_checked(data, mask), mask)
        return made.requires_grad_() if requires_grad else made

    @classmethod
    def of(cls, data: Tensor, mask: Tensor) -> MaskedTensor:
        """Requires: tensors of one shape, the mask bool."""
        made: MaskedTensor = Tensor._make_wrapper_subclass(cls, data.shape, dtype=data.dtype, device=data.device)
        made._masked_data, made._masked_mask = data, mask
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from taeda.masked.maskedtensor._run import run

        return run(func, args, kwargs or {})

    def sources(self) -> list[Tensor]:
        return [self._masked_data]

    def over(self, sources: Sequence[Tensor]) -> MaskedTensor:
        return MaskedTensor.of(sources[0], self._masked_mask)

    def get_data(self) -> Tensor:
        """What the mask is laid over; its elements that are left out are whatever they are."""
        return self._masked_data

    def get_mask(self) -> Tensor:
        """Bool: True where an element counts."""
        return self._masked_mask

    def to_tensor(self, value: float) -> Tensor:
        """A plain tensor with ``value`` where elements are left out."""
        return self._masked_data.masked_fill(~self._masked_mask, value)

    def is_sparse_coo(self) -> bool:
        """Whether the data are in coordinates."""
        return self._masked_data.layout == taeda.sparse_coo

    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        """Whether the data are in compressed rows."""
        return self._masked_data.layout == taeda.sparse_csr

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        return self.is_sparse_coo() or self.is_sparse_csr()

    @property
    def layout(self) -> Any:  # type: ignore[override]
        return self._masked_data.layout

    def tolist(self) -> NoReturn:
        raise RuntimeError("taeda.Tensor.tolist: takes no MaskedTensor; to_tensor(value).tolist() fills the gaps")

    def numpy(self, *, force: bool = False) -> NoReturn:
        raise RuntimeError("taeda.Tensor.numpy: takes no MaskedTensor; to_tensor(value).numpy() fills the gaps")

    def item(self) -> Any:
        """The only element; RuntimeError where it is left out."""
        if self._masked_data.numel() == 1 and not bool(self._masked_mask):
            raise RuntimeError("taeda.Tensor.item: the element is left out")
        return self._masked_data.item()

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        dense = self._masked_data.detach(), self._masked_mask
        data, mask = (x if x.layout == taeda.strided else x.to_dense() for x in dense)
        text = _text(data, mask)
        if self.dim() == 0:
            return f"MaskedTensor({text}, {bool(mask)})"
        return "MaskedTensor(\n" + "\n".join(f"  {line}" for line in text.split("\n")) + "\n)"

    def __reduce_ex__(self, proto: Any) -> Any:
        return MaskedTensor, (self._masked_data.detach(), self._masked_mask, self.requires_grad)


def _tensors_match(a: Any, b: Any, exact: bool = True, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """Whether both have one layout, shape and dtype, and equal elements, or near ones unless ``exact``."""
    if isinstance(a, MaskedTensor) or isinstance(b, MaskedTensor):
        raise ValueError("taeda.masked: takes plain tensors; get_data() gives one")
    if a.layout != b.layout:
        raise ValueError(f"taeda.masked: both need one layout; got {a.layout} and {b.layout}")
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.layout != taeda.strided:
        a, b = a.to_dense(), b.to_dense()
    return taeda.equal(a, b) if exact else taeda.allclose(a, b, rtol, atol)


def _masks_match(a: Any, b: Any) -> bool:
    """Whether two tensors leave out the same elements; a plain one leaves out what any does."""
    if not isinstance(a, MaskedTensor) or not isinstance(b, MaskedTensor):
        return True
    return _tensors_match(a.get_mask(), b.get_mask())


def _checked(data: Any, mask: Any) -> Tensor:
    for name, value in (("data", data), ("mask", mask)):
        if not isinstance(value, Tensor) or isinstance(value, MaskedTensor):
            raise TypeError(f"taeda.masked.masked_tensor: {name} must be a plain tensor; got {type(value).__name__}")
    if mask.dtype != taeda.bool:
        raise TypeError(f"taeda.masked.masked_tensor: mask must be bool; got {mask.dtype}")
    if data.shape != mask.shape:
        raise ValueError(
            "taeda.masked.masked_tensor: data and mask must have one shape; got "
            f"{tuple(data.shape)} and {tuple(mask.shape)}"
        )
    return _fitted(data, mask)


def _fitted(data: Tensor, mask: Tensor) -> Tensor:
    """Data with elements where the mask has them, which may be at fewer places."""
    if data.layout != mask.layout or data.layout not in (taeda.strided, taeda.sparse_coo, taeda.sparse_csr):
        raise TypeError(
            "taeda.masked.masked_tensor: data and mask must be of one layout, strided, sparse_coo or sparse_csr; got "
            f"{data.layout} and {mask.layout}"
        )
    if data.layout == taeda.strided:
        return data
    if data._nnz() != mask._nnz():
        return data.sparse_mask(mask)
    if data.layout == taeda.sparse_coo:
        pairs = [(data.coalesce().indices(), mask.coalesce().indices())]
    else:
        pairs = [(data.crow_indices(), mask.crow_indices()), (data.col_indices(), mask.col_indices())]
    if not all(a.shape == b.shape and taeda.equal(a, b) for a, b in pairs):
        raise ValueError("taeda.masked.masked_tensor: data and mask must have elements at the same positions")
    return data


def _number(value: Any, counts: bool) -> str:
    if not counts:
        return "--".rjust(8)
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _text(data: Tensor, mask: Tensor) -> str:
    """Numbers and ``--`` in brackets, a row a line."""
    if data.dim() == 0:
        return _number(data.item(), bool(mask)) if bool(mask) else "--"
    if data.dim() == 1:
        return "[" + ", ".join(map(_number, data.tolist(), mask.tolist())) + "]"
    rows = [_text(row, counts).replace("\n", "\n  ") for row, counts in zip(data, mask, strict=True)]
    return "[\n  " + ",\n  ".join(rows) + "\n]"
