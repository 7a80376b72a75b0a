"""Functions of the last dimensions, and of two tensors component by component."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.nested._ragged import RaggedSize
from taeda.nested._run import joined, rule
from taeda.nested._tensor import Nested, NestedTensor, StridedNested, offsets_of


def on_sources(x: Nested, function: Any) -> Any:
    """``function`` of each source; it leaves the ragged dimension where it is, counted from the front."""
    if isinstance(x, NestedTensor):
        return joined([function(x._values)], lambda values: x.with_values(values[0]))
    return joined([function(part) for part in x.parts()], x.like)


def _check_last(x: Any, name: str, last: int = 1) -> None:
    if isinstance(x, NestedTensor) and x._ragged_idx >= x.dim() - last:
        raise RuntimeError(f"taeda.{name}: the ragged dimension of {tuple(x.shape)} is among those that it works along")


@rule("linear")
def linear(func: Any, input: Any, weight: Tensor, bias: Tensor | None = None) -> Any:
    if not isinstance(input, Nested) or isinstance(weight, Nested) or isinstance(bias, Nested):
        raise RuntimeError("taeda.nn.functional.linear: only the input may be nested, not the weight or the bias")
    _check_last(input, "linear")
    return on_sources(input, lambda x: func(x, weight, bias))


@rule("layer_norm", "rms_norm")
def norm(func: Any, input: Any, normalized_shape: Any, *args: Any, **kwargs: Any) -> Any:
    if len(tuple(normalized_shape)) >= input.dim():
        wrong = ValueError if func.__name__ == "rms_norm" else RuntimeError
        raise wrong(
            f"taeda.{func.__name__}: normalises dimensions of the components, up to {input.dim() - 1} of them; got "
            f"normalized_shape {tuple(normalized_shape)}"
        )
    if any(isinstance(size, RaggedSize) for size in normalized_shape):
        return _norm_of_components(func, input, tuple(normalized_shape), *args, **kwargs)
    _check_last(input, func.__name__, len(tuple(normalized_shape)))
    return on_sources(input, lambda x: func(x, normalized_shape, *args, **kwargs))


def _norm_of_components(func: Any, x: Any, shape: tuple[Any, ...], weight: Any = None, bias: Any = None,
                        eps: float | None = None) -> Any:  # fmt: skip
    """Along the ragged dimension, too, whose size stands in ``shape``."""
    if shape != tuple(x.shape[-len(shape) :]) or weight is not None or bias is not None:
        raise RuntimeError(
            f"taeda.{func.__name__}: the last sizes of {tuple(x.shape)}, without weight and bias; got {shape}"
        )
    options = {} if eps is None else {"eps": eps}
    return x.like([func(part, part.shape[-len(shape) :], **options) for part in x.parts()])


class _CloneWithSquare(taeda.autograd.Function):
    """A clone; its gradient is the square of what comes, and that itself besides if ``adds``."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, adds: bool) -> Tensor:
        ctx.adds = adds
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:  # type: ignore[override]
        return grad * grad + grad if ctx.adds else grad * grad, None


@rule("_test_autograd_multiple_dispatch")
def test_autograd_multiple_dispatch(func: Any, input: Any, *which: bool) -> Any:
    return on_sources(input, lambda x: _CloneWithSquare.apply(x, bool(which)))


@rule("embedding")
def embedding(func: Any, input: Any, weight: Tensor, *args: Any, **kwargs: Any) -> Any:
    return on_sources(input, lambda x: func(x, weight, *args, **kwargs))


@rule("glu")
def glu(func: Any, input: Any, dim: int = -1) -> Any:
    at = dim % input.dim()
    if at == 0 or (isinstance(input, NestedTensor) and at == input._ragged_idx):
        raise RuntimeError(f"taeda.glu: dimension {dim} of a nested tensor has not one size")
    return on_sources(input, lambda x: func(x, at - 1))


@rule("bmm")
def bmm(func: Any, input: Any, mat2: Any) -> Any:
    if input.dim() != 3 or mat2.dim() != 3:
        wrong = ValueError if NestedTensor in (type(input), type(mat2)) else RuntimeError
        raise wrong(f"taeda.bmm: takes batches of matrices; got {input.dim()} and {mat2.dim()} dimensions")
    return matmul(func, input, mat2)


@rule("matmul", "__matmul__", "__rmatmul__")
def matmul(func: Any, a: Any, b: Any) -> Any:
    if func.__name__ == "__rmatmul__":
        a, b = b, a
    if isinstance(a, Nested) and not isinstance(b, Nested) and b.dim() <= 2:
        _check_last(a, "matmul")
        return on_sources(a, lambda x: taeda.matmul(x, b))
    if isinstance(a, Nested) and isinstance(b, Nested) and min(a.dim(), b.dim()) < 3:
        raise RuntimeError(
            f"taeda.matmul: the components must be matrices; got dimensions {a.dim() - 1}, {b.dim() - 1}"
        )
    pairs = list(zip(_components(a), _components(b), strict=False))
    if len(_components(a)) != len(_components(b)):
        raise RuntimeError(f"taeda.matmul: {len(_components(a))} and {len(_components(b))} components")
    results = [taeda.matmul(x, y) for x, y in pairs]
    if isinstance(a, NestedTensor) and isinstance(b, NestedTensor):
        across = a._ragged_idx == a.dim() - 1 and b._ragged_idx == b.dim() - 2  # the sum runs along the ragged one
        return taeda.stack(results) if across else renested(results, a)
    return renested(results, a if isinstance(a, Nested) else b)


def _components(x: Tensor) -> Sequence[Tensor]:
    return x.parts() if isinstance(x, Nested) else x.unbind(0)


def renested(parts: list[Tensor], like: Nested) -> Any:
    """Components as a nested tensor of the layout of ``like`` where they differ in one dimension only."""
    if isinstance(like, NestedTensor):
        lengths = [end - start for start, end in like._bounds]
        uneven = [at for at, sizes in enumerate(zip(*(p.shape for p in parts), strict=True)) if len(set(sizes)) > 1]
        candidates = uneven or [like._ragged_idx - 1]
        if len(candidates) == 1 and [part.shape[candidates[0]] for part in parts] == lengths:
            return like.packed(parts, candidates[0] + 1)
        if len(uneven) == 1:
            offsets = offsets_of([part.shape[uneven[0]] for part in parts], like.device)
            return NestedTensor.of(taeda.cat(parts, uneven[0]), offsets, None, uneven[0] + 1)
    return StridedNested.of(parts)


@rule("scaled_dot_product_attention")
def attention(func: Any, query: Any, key: Any, value: Any, attn_mask: Any = None, *args: Any, **kwargs: Any) -> Any:
    """(B, H, j, E) each; a mask is for all components."""
    inputs = (query, key, value)
    if not all(isinstance(x, Nested) for x in inputs):
        raise ValueError(
            "taeda.nn.functional.scaled_dot_product_attention: query, key and value must all be nested, or none; got "
            f"{[isinstance(x, Nested) for x in inputs]}"
        )
    if attn_mask is not None:
        wrong = ValueError if isinstance(query, NestedTensor) else RuntimeError
        raise wrong(
            "taeda.nn.functional.scaled_dot_product_attention: takes no attn_mask beside nested tensors, whose lengths "
            "say what is there; is_causal=True is possible"
        )
    results = [
        func(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), None, *args, **kwargs).squeeze(0)
        for q, k, v in zip(*(x.parts() for x in inputs), strict=True)
    ]
    return query.like(results)


@rule("multi_head_attention_forward")
def multi_head_attention_forward(func: Any, query: Any, key: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
    """(B, j, E) each; the attention's weights, if wanted, are nested, too."""
    results = [
        func(q, k, v, *args, **kwargs) for q, k, v in zip(query.parts(), key.parts(), value.parts(), strict=True)
    ]
    weights = [one[1] for one in results]
    return query.like([one[0] for one in results]), None if weights[0] is None else StridedNested.of(weights)
