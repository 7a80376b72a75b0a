"""Tensors whose components differ in size: a list of tensors that is one tensor.

What calculates are the parts of a strided one, the values of a jagged one. Every function that is called with a nested
tensor comes to ``_run``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import taeda
from taeda import Tensor
from taeda._composed import function as _function  # noqa: F401  (Functions of such tensors)
from taeda._composed.tensor import Composed
from taeda.nested._ragged import RaggedSize, size_of


class Nested(Composed):
    """What both layouts have in common."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from taeda.nested._run import run

        return run(func, args, kwargs or {})

    def parts(self) -> list[Tensor]:
        """The components, which share memory and gradients."""
        raise NotImplementedError

    def like(self, parts: Sequence[Tensor]) -> Tensor:
        """A nested tensor of this layout with other components."""
        raise NotImplementedError

    def values(self) -> Tensor:
        """The elements, component by component."""
        raise NotImplementedError

    @property
    def is_nested(self) -> bool:  # type: ignore[override]
        return True

    def numel(self) -> int:
        return sum(part.numel() for part in self.parts())

    nelement = numel

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        return self.numel() * self.element_size()

    def __len__(self) -> int:
        return len(self.parts())

    def __iter__(self) -> Any:
        return iter(self.parts())

    def item(self) -> Any:
        """The only element."""
        return self.values().item()

    def tolist(self) -> NoReturn:
        raise RuntimeError("taeda.Tensor.tolist: takes no nested tensor; [part.tolist() for part in x.unbind()]")

    def numpy(self, *, force: bool = False) -> NoReturn:
        raise RuntimeError("taeda.Tensor.numpy: takes no nested tensor; to_padded_tensor() or unbind() give plain ones")


class StridedNested(Nested):
    """Layout ``torch.strided``: any sizes, of one number of dimensions."""

    _parts: list[Tensor]

    @staticmethod
    def of(parts: Sequence[Tensor], dtype: taeda.dtype | None = None) -> StridedNested:
        """The nested tensor of these components, ``dtype`` if there are none. RuntimeError unless they agree in
        dimensions, dtype and device."""
        first = parts[0] if parts else taeda.empty((), dtype=dtype)
        for part in parts:
            if part.dim() != first.dim():
                raise RuntimeError(
                    "taeda.nested.nested_tensor: the components must have one number of dimensions; got "
                    f"{first.dim()} and {part.dim()}"
                )
        shape = [len(parts), *([max(sizes) for sizes in zip(*(part.shape for part in parts), strict=True)])]
        made: StridedNested = Tensor._make_wrapper_subclass(
            StridedNested, shape, dtype=first.dtype, device=first.device
        )
        made._parts = list(parts)
        return made

    def parts(self) -> list[Tensor]:
        return self._parts

    def sources(self) -> list[Tensor]:
        return self._parts

    def like(self, parts: Sequence[Tensor]) -> Tensor:
        return StridedNested.of(parts, self.dtype)

    def over(self, sources: Sequence[Tensor]) -> StridedNested:
        return StridedNested.of(sources, self.dtype)

    def size(self, dim: int | None = None) -> Any:  # type: ignore[override]
        if dim is None:
            raise RuntimeError(
                "taeda.Tensor.size: a nested tensor has no sizes; _nested_tensor_size() has a row for each"
            )
        at = dim + self.dim() if dim < 0 else dim
        if not 0 <= at < self.dim():
            raise IndexError(f"taeda.Tensor.size: there is no dimension {dim}; it has {self.dim()}")
        if at == 0:
            return len(self._parts)
        sizes = {part.shape[at - 1] for part in self._parts}
        if len(sizes) > 1:
            raise RuntimeError(f"taeda.Tensor.size: dimension {dim} is irregular: its sizes are {sorted(sizes)}")
        return sizes.pop() if sizes else 0

    @property
    def shape(self) -> Any:  # type: ignore[override]
        return self.size()

    def stride(self, dim: int | None = None) -> NoReturn:  # type: ignore[override]
        raise RuntimeError("taeda.Tensor.stride: a nested tensor has no strides; those of its components differ")

    def _nested_tensor_size(self) -> Tensor:
        return taeda.tensor([list(part.shape) for part in self._parts], dtype=taeda.int64)

    def _nested_tensor_strides(self) -> Tensor:
        return taeda.tensor([list(part.stride()) for part in self._parts], dtype=taeda.int64)

    def _nested_tensor_storage_offsets(self) -> Tensor:
        """Where each component begins among the elements, one component after another."""
        return offsets_of([part.numel() for part in self._parts])[:-1]

    def is_contiguous(self, memory_format: Any = taeda.contiguous_format) -> bool:
        return all(part.is_contiguous() for part in self._parts)

    def values(self) -> Tensor:
        """All elements, component by component, in one dimension."""
        return (
            taeda.cat([part.reshape(-1) for part in self._parts]) if self._parts else taeda.empty(0, dtype=self.dtype)
        )

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        texts = [repr(part.detach()).replace("\n", "\n  ") for part in self._parts]
        body = "".join(f"\n  {text}," for text in texts)[:-1] or "\n"
        history = f", grad_fn=<{self.grad_fn.name()}>" if self.grad_fn else ", requires_grad=True"
        return f"nested_tensor([{body}\n]{history if self.requires_grad else ''})"

    def __reduce_ex__(self, proto: Any) -> Any:
        from taeda._serialization.rebuild import nested_strided

        sizes = self._nested_tensor_size()
        whole = self.over([part.detach().contiguous() for part in self._parts])
        buffer = whole.values().requires_grad_(self.requires_grad)
        return nested_strided, (buffer, sizes, whole._nested_tensor_strides(), whole._nested_tensor_storage_offsets())


class NestedTensor(Nested):
    """Layout ``torch.jagged``: one dimension, the ragged one, has a length for each component.

    ``values`` has the components one after another along that dimension; ``offsets``, (B + 1), says where they begin,
    ``lengths``, (B), how long they are, where that is not as far as the next. ``ragged`` counts from the outer shape.
    """

    _values: Tensor  # type: ignore[assignment]
    _offsets: Tensor
    _lengths: Tensor | None
    _ragged_idx: int
    _bounds: list[tuple[int, int]]
    _limits: tuple[int | None, int | None]
    _viewed: Tensor | None = None  # the values, of which it was made as a view

    def __new__(
        cls, values: Tensor, offsets: Tensor, *, lengths: Tensor | None = None, _ragged_idx: int = 1, **more: Any
    ) -> NestedTensor:
        """``of``, as programs call the class."""
        if not 1 <= _ragged_idx <= values.dim():
            raise RuntimeError(f"taeda.nested: the ragged dimension is one from 1 to {values.dim()}; got {_ragged_idx}")
        return NestedTensor.of(values, offsets, lengths, _ragged_idx)

    @staticmethod
    def of(values: Tensor, offsets: Tensor, lengths: Tensor | None = None, ragged: int = 1,
           limits: tuple[int | None, int | None] = (None, None)) -> NestedTensor:  # fmt: skip
        """Requires: a ragged dimension of ``values``. RuntimeError for offsets that do not fit it."""
        starts = offsets.tolist()
        ends = starts[1:] if lengths is None else [a + n for a, n in zip(starts, lengths.tolist(), strict=False)]
        bounds = list(zip(starts, ends, strict=False))
        rows = values.shape[ragged - 1]
        if any(not 0 <= start <= end <= rows for start, end in bounds):
            raise RuntimeError(
                f"taeda.nested: offsets {starts} reach outside of the {rows} rows of values of shape "
                f"{tuple(values.shape)}, or fall"
            )
        return NestedTensor._made(values, offsets, lengths, ragged, limits, bounds)

    @staticmethod
    def _made(
        values: Tensor, offsets: Tensor, lengths: Tensor | None, ragged: int, limits: Any, bounds: list[tuple[int, int]]
    ) -> NestedTensor:
        outer = [len(bounds), *values.shape]
        outer[ragged] = max((end - start for start, end in bounds), default=0)
        made: NestedTensor = Tensor._make_wrapper_subclass(
            NestedTensor, outer, dtype=values.dtype, device=values.device
        )
        made._values, made._offsets, made._lengths = values, offsets, lengths
        made._ragged_idx, made._bounds, made._limits = ragged, bounds, limits
        return made

    @property
    def layout(self) -> Any:  # type: ignore[override]
        return taeda.jagged

    def with_values(self, values: Tensor, ragged: int | None = None) -> NestedTensor:
        """The same lengths over other values, whose ragged dimension may stand elsewhere."""
        at = ragged or self._ragged_idx
        return NestedTensor._made(values, self._offsets, self._lengths, at, self._limits, self._bounds)

    def parts(self) -> list[Tensor]:
        dim = self._ragged_idx - 1
        return [self._values.narrow(dim, start, end - start) for start, end in self._bounds]

    def sources(self) -> list[Tensor]:
        return [self._values]

    def over(self, sources: Sequence[Tensor]) -> NestedTensor:
        return self.with_values(sources[0])

    def like(self, parts: Sequence[Tensor]) -> Tensor:
        return self.packed(parts, self._ragged_idx)

    def packed(self, parts: Sequence[Tensor], ragged: int) -> NestedTensor:
        """Components of the same lengths along ``ragged``, without gaps."""
        whole = self._lengths is None
        offsets = self._offsets if whole else offsets_of([part.shape[ragged - 1] for part in parts], self.device)
        return NestedTensor.of(taeda.cat(list(parts), ragged - 1), offsets, None, ragged, self._limits)

    def gapless(self) -> NestedTensor:
        """Itself, or a copy where its components do not follow one another from the first row to the last."""
        rows = self._values.shape[self._ragged_idx - 1]
        follows = all(a[1] == b[0] for a, b in zip(self._bounds, self._bounds[1:], strict=False))
        if self._bounds and follows and self._bounds[0][0] == 0 and self._bounds[-1][1] == rows:
            return self
        parts = self.parts()
        offsets = offsets_of([part.shape[self._ragged_idx - 1] for part in parts], self.device)
        return NestedTensor.of(taeda.cat(parts, self._ragged_idx - 1), offsets, None, self._ragged_idx, self._limits)

    @property
    def shape(self) -> Any:  # type: ignore[override]
        sizes: list[Any] = [len(self._bounds), *self._values.shape]
        sizes[self._ragged_idx] = self.ragged_size()
        return taeda.Size(sizes)

    def ragged_size(self) -> RaggedSize:
        owner = self._offsets if self._lengths is None else self._lengths
        return size_of(owner, sum(end - start for start, end in self._bounds))

    def size(self, dim: int | None = None) -> Any:  # type: ignore[override]
        return self.shape if dim is None else self.shape[dim]

    def stride(self, dim: int | None = None) -> Any:  # type: ignore[override]
        inner = list(self._values.stride())
        first = max(inner, default=1) * self._values.shape[inner.index(max(inner))] if inner else 1
        ragged_outermost = inner and inner.index(max(inner)) == self._ragged_idx - 1
        outer: Any = self.ragged_size() * max(inner) if ragged_outermost else first
        strides = (outer, *inner)
        return strides if dim is None else strides[dim]

    def values(self) -> Tensor:
        """The components one after another."""
        return self._values

    def offsets(self) -> Tensor:
        """Where each component begins, and where the last ends: (B + 1)."""
        return self._offsets

    def lengths(self) -> Tensor | None:
        """How long each component is, where the offsets do not say so."""
        return self._lengths

    def _is_view(self) -> bool:
        """Whether it was made over values that there were before."""
        return self._viewed is not None

    @property
    def _base(self) -> Tensor | None:  # type: ignore[override]
        """The tensor whose memory it shows."""
        viewed = self._viewed
        return viewed._base if viewed is not None and viewed._is_view() else viewed

    def _view_func(self, new_base: Tensor) -> NestedTensor:
        """The same view of another tensor."""
        old = self._values
        values = new_base.as_strided(old.shape, old.stride(), old.storage_offset()) if old._is_view() else new_base
        made = self.with_values(values)
        made._viewed = values
        return made

    @property
    def _metadata_cache(self) -> dict[str, int]:
        """The least and the greatest length, where they are known."""
        named = zip(("min_seqlen", "max_seqlen"), self._limits, strict=True)
        return {name: limit for name, limit in named if limit is not None}

    @property
    def _max_seqlen(self) -> int:
        return self._limits[1] if self._limits[1] is not None else max((e - s for s, e in self._bounds), default=0)

    @property
    def _min_seqlen(self) -> int:
        return self._limits[0] if self._limits[0] is not None else min((e - s for s, e in self._bounds), default=0)

    def is_contiguous(self, memory_format: Any = taeda.contiguous_format) -> bool:
        return self._values.is_contiguous(memory_format=memory_format) and self._lengths is None

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        sizes = ", ".join(str(size) for size in self.shape)
        history = f", grad_fn={self.grad_fn}" if self.grad_fn else ", requires_grad=True" if self.requires_grad else ""
        return f"NestedTensor(size=({sizes}), offsets={self._offsets}{history}, contiguous={self.is_contiguous()})"

    def __reduce_ex__(self, proto: Any) -> Any:
        from taeda._serialization.rebuild import nested_jagged

        limits = {name: taeda.empty(limit, 0) for name, limit in self._metadata_cache.items()}
        parts = {"values": self._values.detach(), "offsets": self._offsets, "lengths": self._lengths,
                 "_ragged_idx": self._ragged_idx, "_metadata_cache": limits,
                 "requires_grad": self.requires_grad}  # fmt: skip
        return nested_jagged, (parts,)

    def __setstate__(self, state: Any) -> None:
        """Nothing: its attributes are the parts of which a file has made it."""


def offsets_of(lengths: Sequence[int], device: Any = None) -> Tensor:
    """Where components of these lengths begin, and where the last ends."""
    return taeda.cat([taeda.zeros(1, dtype=taeda.int64), taeda.tensor(list(lengths), dtype=taeda.int64).cumsum(0)]).to(
        device or "cpu"
    )
