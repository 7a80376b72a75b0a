"""Functions that run on each component, and those that ask for the memory below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.nested._rows import on_sources, renested
from taeda.nested._run import elementwise, first_nested, inner_dim, joined, rule
from taeda.nested._tensor import Nested, NestedTensor
from taeda.nested._views import index_put

# By name: which argument after the tensor is the dimension, what it is called, and its default.
_ALONG: dict[str, tuple[int, str, int | None]] = {
    "cosine_similarity": (1, "dim", 1), "cross": (1, "dim", -1), "diff": (1, "dim", -1), "gather": (0, "dim", None),
    "index_add": (0, "dim", None), "index_fill": (0, "dim", None), "index_select": (0, "dim", None),
    "kthvalue": (1, "dim", -1), "linalg_cross": (1, "dim", -1), "repeat_interleave": (1, "dim", None),
    "roll": (1, "dims", None), "scatter": (0, "dim", None), "scatter_add": (0, "dim", None), "topk": (1, "dim", -1),
    "unfold": (0, "dimension", None),
}  # fmt: skip


def by_component(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function`` of each component, where nested arguments give one of theirs each."""
    like = first_nested((args, kwargs))
    flatten, unflatten = taeda.utils._pytree.tree_flatten, taeda.utils._pytree.tree_unflatten
    leaves, spec = flatten((args, kwargs))
    columns = [leaf.parts() if isinstance(leaf, Nested) else [leaf] * len(like) for leaf in leaves]
    if len({len(column) for column in columns}) > 1:
        raise RuntimeError(f"taeda.nested: nested tensors of {sorted({len(column) for column in columns})} components")
    results = []
    for row in zip(*columns, strict=True):
        given, named = unflatten(list(row), spec)
        results.append(function(*given, **named))
    return joined(results, lambda parts: renested(parts, like))


@rule(*_ALONG)
def along(func: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """A function along one dimension, counted in the components from one less."""
    at, called, default = _ALONG[func.__name__]
    given = list(args)
    dim = given[at] if len(given) > at else kwargs.get(called, default)
    if not isinstance(dim, int):
        raise RuntimeError(f"taeda.{func.__name__}: a nested tensor wants one dimension {called!r}; got {dim!r}")
    inner = inner_dim(input, dim, func.__name__) - 1
    if len(given) > at:
        given[at] = inner
    else:
        kwargs = {**kwargs, called: inner}
    return by_component(func, input, *given, **kwargs)


@rule("tril", "triu", "tril_", "triu_", "pad", "one_hot")
def inner(func: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of the last dimensions."""
    return by_component(func, input, *args, **kwargs)


@rule("prelu")
def prelu(func: Any, input: Any, weight: Tensor) -> Any:
    if weight.numel() != 1:
        raise RuntimeError(f"taeda.prelu: one weight beside a nested tensor; got {weight.numel()}")
    return on_sources(input, lambda x: func(x, weight))


@rule("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "kl_div", "poisson_nll_loss",
      "binary_cross_entropy", "binary_cross_entropy_with_logits")  # fmt: skip
def loss(func: Any, input: Any, target: Any, *args: Any, reduction: str = "mean", **kwargs: Any) -> Any:
    """Of all elements; with ``reduction="none"`` nested."""
    if not (isinstance(input, Nested) and isinstance(target, Nested)):
        raise RuntimeError(f"taeda.{func.__name__}: both the input and the target must be nested")
    if reduction == "none":
        return by_component(func, input, target, *args, reduction=reduction, **kwargs)
    pairs = list(zip(input.parts(), target.parts(), strict=True))
    if any(a.shape != b.shape for a, b in pairs):
        raise RuntimeError(f"taeda.{func.__name__}: the components of input and target differ in shape")
    flat = [taeda.cat([part.reshape(-1) for part in column]) for column in zip(*pairs, strict=True)]
    return func(*flat, *args, reduction=reduction, **kwargs)


@rule("apply_", "map_")
def apply_(func: Any, input: Any, *args: Any) -> Any:
    """Writes to the elements; the graph does not see it."""
    for source, *others in zip(input.sources(), *(x.sources() for x in args if isinstance(x, Nested)), strict=True):
        func(source.detach(), *others, *(x for x in args if not isinstance(x, Nested)))
    return input


@rule("__setitem__")
def setitem(func: Any, input: Any, index: Any, value: Any) -> None:
    """The first index is of components, the others are of each of them."""
    first, *rest = index if isinstance(index, tuple) else (index,)
    if rest and all(isinstance(x, Tensor) for x in (first, *rest)):
        put = value if isinstance(value, Tensor) else taeda.tensor(value, dtype=input.dtype, device=input.device)
        index_put(taeda.Tensor.index_put_, input, (first, *rest), put)
        return
    if isinstance(first, slice) or first is Ellipsis:
        chosen = input.parts() if first is Ellipsis else input.parts()[first]
        rest = [Ellipsis, *rest] if first is Ellipsis else rest
    elif isinstance(first, int) and -len(input) <= first < len(input):
        chosen = [input.parts()[first]]
        value = value if not isinstance(value, Nested) else value.parts()[0]
    else:
        raise IndexError(
            f"taeda.Tensor.__setitem__: the first index of a nested tensor of {len(input)} components is the number "
            f"of one or a slice; got {first!r}"
        )
    values = value.parts() if isinstance(value, Nested) else [value] * len(chosen)
    for part, one in zip(chosen, values, strict=True):
        part[tuple(rest) or Ellipsis] = one


# --- the memory below
@rule("contiguous")
def contiguous(func: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """Without gaps."""
    gaps = isinstance(input, NestedTensor) and input._lengths is not None
    return elementwise(func, input.gapless() if gaps else input, *args, **kwargs)


@rule("data_ptr", "untyped_storage", "is_pinned", "is_shared", "new_tensor", "new_zeros", "new_ones", "new_empty",
      "new_full")  # fmt: skip
def of_first(func: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """What the first of the sources says."""
    sources = input.sources() or [taeda.empty(0, dtype=input.dtype, device=input.device)]
    return func(sources[0], *args, **kwargs)


@rule("share_memory_")
def share_memory_(func: Any, input: Any) -> Any:
    for source in input.sources():
        func(source)
    return input
