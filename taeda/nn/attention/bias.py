"""Causal masks that know what they are: attention need not read them."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import taeda
from taeda import Tensor
from taeda._C import _nn

if TYPE_CHECKING:
    from taeda.types import Device

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(enum.IntEnum):
    """Which corner of the scores the diagonal passes through, where queries and keys differ in number."""

    UPPER_LEFT = enum.auto()
    LOWER_RIGHT = enum.auto()


class CausalBias(Tensor):
    """A causal mask of the scores (seq_len_q, seq_len_kv), for ``scaled_dot_product_attention``."""

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
        return Tensor._make_subclass(cls, taeda.empty(0), False)

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"taeda.nn.attention.bias: expected a CausalVariant; got {variant!r}")
        self.variant = variant
        self.seq_len_q = seq_len_q
        self.seq_len_kv = seq_len_kv
        if seq_len_q > seq_len_kv and variant is CausalVariant.LOWER_RIGHT:
            import warnings

            warnings.warn("with more queries than keys the first rows of a lower right mask attend to nothing: NaN",
                          stacklevel=2)  # fmt: skip

    def _materialize(self, device: Device = None) -> Tensor:
        """The mask as booleans, true where a query may attend to a key."""
        shift = self.seq_len_kv - self.seq_len_q if self.variant is CausalVariant.LOWER_RIGHT else 0
        return taeda.ones(self.seq_len_q, self.seq_len_kv, dtype=taeda.bool, device=device).tril(shift)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func is not _nn.scaled_dot_product_attention:
            return super().__torch_function__(func, types, args, kwargs)  # type: ignore[misc]
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = {**dict(zip(names, args)), **kwargs}
        mask = given.pop("attn_mask")
        if given.pop("is_causal", False):
            raise ValueError("taeda.nn.attention.bias: is_causal does not go with a CausalBias")
        whole = mask.variant is CausalVariant.UPPER_LEFT or mask.seq_len_q == mask.seq_len_kv
        if whole:
            return func(**given, is_causal=True)
        return func(**given, attn_mask=mask._materialize(given["query"].device))

    def __repr__(self) -> str:  # type: ignore[override]
        return repr(self._materialize())


def causal_upper_left(*size: int) -> CausalBias:
    """The mask that lets query i attend to keys 0 to i."""
    seq_len_q, seq_len_kv = _two(size)
    return CausalBias(CausalVariant.UPPER_LEFT, seq_len_q, seq_len_kv)


def causal_lower_right(*size: int) -> CausalBias:
    """The mask that lets the last query attend to all keys, the one before to all but the last, and so on."""
    seq_len_q, seq_len_kv = _two(size)
    return CausalBias(CausalVariant.LOWER_RIGHT, seq_len_q, seq_len_kv)


def _two(size: tuple[int, ...]) -> tuple[int, int]:
    if len(size) != 2:
        raise AssertionError(f"taeda.nn.attention.bias: a mask has 2 sizes; got {size}")
    return size[0], size[1]
