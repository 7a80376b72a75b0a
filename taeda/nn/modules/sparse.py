"""Look-up tables."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.nn import init
from taeda.nn.modules.module import Module
from taeda.nn.parameter import Parameter
from taeda.types import Device, _dtype

__all__ = ["Embedding", "EmbeddingBag"]


def _check_padding_idx(name: str, padding_idx: int | None, rows: int) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"taeda.nn.{name}: padding_idx {padding_idx} is outside a table of {rows} rows")
    return padding_idx % rows


class _Table(Module):
    """A weight of (num_embeddings, embedding_dim), normally distributed; the row ``padding_idx`` is zero."""

    weight: Any
    padding_idx: int | None

    def _make_weight(
        self, num_embeddings: int, embedding_dim: int, given: Tensor | None, trainable: bool, device: Any, dtype: Any
    ) -> None:
        name = type(self).__name__
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _check_padding_idx(name, self.padding_idx, num_embeddings)
        if given is None:
            empty = taeda.empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(empty, requires_grad=trainable)
            self.reset_parameters()
            return
        if list(given.shape) != [num_embeddings, embedding_dim]:
            raise AssertionError(
                f"taeda.nn.{name}: the given weight must be {(num_embeddings, embedding_dim)}; got {tuple(given.shape)}"
            )
        self.weight = Parameter(given, requires_grad=trainable)

    def reset_parameters(self) -> None:
        """Draws a new table."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with taeda.no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Table):
    """The rows of a learnt table: integers of any shape to (*shape, embedding_dim).

    Args:
        padding_idx: a row that starts at zero and gets no gradient.
        max_norm: rows that are looked up and have a larger ``norm_type``-norm are scaled down, in place.
        scale_grad_by_freq: divide each row's gradient by how often it was looked up.
        sparse: the weight's gradient is sparse.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self._make_weight(num_embeddings, embedding_dim, _weight, not _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return text + ", sparse=True" if self.sparse is not False else text

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """A module whose table is ``embeddings``, (rows, width); not trained if ``freeze``."""
        _check_matrix(cls.__name__, embeddings)
        rows, width = embeddings.shape
        return cls(
            num_embeddings=rows,
            embedding_dim=width,
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


def _check_matrix(name: str, embeddings: Tensor) -> None:
    if embeddings.dim() != 2:
        raise AssertionError(f"taeda.nn.{name}.from_pretrained: expected a matrix; got {tuple(embeddings.shape)}")


class EmbeddingBag(_Table):
    """The sum, mean or maximum of the rows of each bag of indices, without making the rows: (bags, embedding_dim).

    The arguments are those of `Embedding`; ``include_last_offset`` says that the offsets end with the total length.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        self.padding_idx = padding_idx
        self._make_weight(num_embeddings, embedding_dim, _weight, True, device, dtype)

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """``input`` is (bags, indices), or (indices) with ``offsets`` saying where each bag starts."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        text += f", mode={self.mode!r}"
        return text if self.padding_idx is None else f"{text}, padding_idx={self.padding_idx}"

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """A module whose table is ``embeddings``, (rows, width); not trained if ``freeze``."""
        _check_matrix(cls.__name__, embeddings)
        rows, width = embeddings.shape
        module = cls(
            num_embeddings=rows,
            embedding_dim=width,
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        module.weight.requires_grad = not freeze
        return module
