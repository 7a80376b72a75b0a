"""What a function does with masked tensors: it is looked up by name, and runs on data and masks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor, masked
from taeda._composed.elementwise import is_elementwise, is_inplace
from taeda._composed.tensor import grad
from taeda.masked._sparse import coalesced, is_sparse
from taeda.masked.maskedtensor.core import MaskedTensor
from taeda.sparse._parts import values_of, with_values
from taeda.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

Rule = Callable[..., Any]
# What only moves elements does so with the mask, too.
_MOVES = frozenset([
    "__getitem__", "broadcast_to", "cat", "chunk", "concat", "concatenate", "diag", "diagonal", "dsplit", "expand",
    "expand_as", "flatten", "flip", "gather", "hsplit", "hstack", "index_select", "movedim", "narrow", "permute",
    "repeat", "repeat_interleave", "reshape", "reshape_as", "roll", "select", "split", "split_with_sizes",
    "squeeze", "stack", "swapaxes", "swapdims", "t", "take_along_dim", "tensor_split", "tile", "to_dense",
    "to_sparse", "to_sparse_coo", "to_sparse_csr", "transpose", "tril", "triu", "unbind", "unflatten", "unfold",
    "unsqueeze", "view", "view_as", "vsplit", "vstack",
])  # fmt: skip
_OF_THE_WHOLE = frozenset(["dim", "ndimension", "numel", "nelement", "size", "element_size", "get_device",
                           "is_complex", "is_floating_point", "is_signed", "type", "__len__",
                           "stride"])  # fmt: skip
_REDUCTIONS = frozenset([
    "amax", "amin", "argmax", "argmin", "logsumexp", "mean", "median", "norm", "prod", "std", "sum", "var",
])  # fmt: skip
_ALONG = frozenset(["softmax", "log_softmax", "softmin", "cumsum", "cumprod", "normalize"])


def run(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The result of ``func``, of which some argument is masked.

    Raises:
        ValueError: two masks differ.
        TypeError: there is no rule for it.
    """
    name = name_of(func)
    if name in ("__get__", "__set__", "__delete__") or name in _OF_THE_WHOLE:
        with taeda._C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs)
    if found := _RULES.get(name):
        return found(func, *args, **kwargs)
    if name in _MOVES:
        return _moved(func, args, kwargs)
    if name in _REDUCTIONS and not any(isinstance(x, MaskedTensor) for x in args[1:]):
        return _reduced(getattr(masked, name), *args, **kwargs)
    if name in _ALONG:
        x, rest = args[0], args[1:]
        made = getattr(masked, name)(x._masked_data, *rest, mask=x._masked_mask, **_known(kwargs))
        return MaskedTensor.of(made, x._masked_mask)
    if is_elementwise(name):
        return _elementwise(func, args, kwargs)
    if (body := getattr(func, "__wrapped__", None)) is not None:
        return body(*args, **kwargs)  # Python, whose own calls come here
    raise TypeError(f"taeda.{name}: takes no MaskedTensor; get_data(), get_mask() and to_tensor(value) give plain ones")


def name_of(func: Any) -> str:
    """Without the overload that the name of an op ends in."""
    return func.__name__.partition(".")[0]  # type: ignore[no-any-return]


def _known(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kwargs.items() if value is not None and name != "_stacklevel"}


def _masks(values: Any) -> list[Tensor]:
    return [leaf._masked_mask for leaf in tree_leaves(values) if isinstance(leaf, MaskedTensor)]


def _data(values: Any) -> Any:
    return tree_map(lambda x: x._masked_data if isinstance(x, MaskedTensor) else x, values)


def _elementwise(func: Any, args: Any, kwargs: Any) -> Any:
    """On the data; the masks must be one."""
    masks = _masks((args, kwargs))
    if any(mask is not masks[0] and not taeda.equal(mask, masks[0]) for mask in masks[1:]):
        raise ValueError(
            f"taeda.{name_of(func)}: the masks of the operands differ; where() or to_tensor() make them one"
        )
    given = _data((args, kwargs))
    if is_inplace(name_of(func)):
        func(*given[0], **given[1])
        return args[0]
    mask = masks[0].clone() if name_of(func) == "clone" else masks[0]
    tensors = [x for x in tree_leaves(given) if isinstance(x, Tensor)]
    if all(is_sparse(x) and x.layout == tensors[0].layout for x in tensors):
        return _stored(func, given, coalesced(tensors[0]), coalesced(mask))
    made = func(*given[0], **given[1])
    return tree_map(lambda x: MaskedTensor.of(x, mask.expand(x.shape)) if isinstance(x, Tensor) else x, made)


def _stored(func: Any, given: Any, like: Tensor, mask: Tensor) -> Any:
    """On the values of sparse tensors that store the same places: what is not stored is masked."""
    args, kwargs = tree_map(lambda x: values_of(coalesced(x)) if isinstance(x, Tensor) else x, given)
    made = func(*args, **kwargs)
    return tree_map(lambda x: MaskedTensor.of(with_values(like, x), mask) if isinstance(x, Tensor) else x, made)


def _moved(func: Any, args: Any, kwargs: Any) -> Any:
    """The same of data and masks; plain tensors among those that are joined count whole."""
    joins = args and isinstance(args[0], (list, tuple))

    def whole(x: Any) -> Any:
        if isinstance(x, MaskedTensor):
            return x._masked_mask
        return taeda.ones_like(x, dtype=taeda.bool) if joins and isinstance(x, Tensor) else x

    data, spec = tree_flatten(func(*_data(args), **_data(kwargs)))
    masks, _ = tree_flatten(func(*tree_map(whole, tuple(args)), **tree_map(whole, kwargs)))
    return tree_unflatten([MaskedTensor.of(d, m) for d, m in zip(data, masks, strict=True)], spec)


def _reduced(function: Any, input: MaskedTensor, dim: Any = None, *args: Any, **kwargs: Any) -> MaskedTensor:
    """A slice counts where one of its elements does."""
    if function is masked.norm:
        order = kwargs.pop("p", 2 if dim is None else dim)  # norm(p, dim)
        dim, args = kwargs.pop("dim", args[0] if args else None), args[1:]
        kwargs["ord"] = 2 if order == "fro" else order
    if function in (masked.std, masked.var) and isinstance(dim, bool):
        kwargs["unbiased"], dim = dim, None
    keepdim = bool(kwargs.pop("keepdim", args[-1] if args else False))
    options = {name: value for name, value in kwargs.items() if value is not None}
    data, mask = input._masked_data, input._masked_mask
    if function in (masked.std, masked.var):
        options.setdefault("unbiased", options.pop("correction", 1) != 0)
    made: Any = function(data, dim=dim, keepdim=keepdim, mask=mask, **options)
    dims = tuple(range(mask.dim())) if dim is None else ((dim,) if isinstance(dim, int) else tuple(dim))
    left: Any = mask.any(dims, keepdim=keepdim and dim is not None) if mask.dim() else mask
    return MaskedTensor.of(made, left.expand(made.shape))


def _extreme(func: Any, input: Any, dim: Any = None, keepdim: bool = False, **kwargs: Any) -> Any:
    """``max`` and ``min``: of all, along a dimension with where it stands, or of two."""
    if isinstance(dim, Tensor) or "other" in kwargs:
        return _elementwise(func, (input, dim) if isinstance(dim, Tensor) else (input,), kwargs)
    end, place = (masked.amax, masked.argmax) if name_of(func) == "max" else (masked.amin, masked.argmin)
    if dim is None:
        return _reduced(end, input)
    kind = getattr(taeda.return_types, name_of(func))
    return kind((_reduced(end, input, dim, keepdim=keepdim), _reduced(place, input, dim, keepdim=keepdim)))


def _all_any(func: Any, input: MaskedTensor, dim: Any = None, keepdim: bool = False) -> MaskedTensor:
    neutral = name_of(func) == "all"
    data, mask = input._masked_data.bool().masked_fill(~input._masked_mask, neutral), input._masked_mask
    given = () if dim is None else (dim, keepdim)
    return MaskedTensor.of(func(data, *given), mask.any(*given))


def _is_any_true(func: Any, input: MaskedTensor) -> MaskedTensor:
    if input.dtype != taeda.bool:
        raise ValueError(f"taeda._is_any_true: takes bools; got {input.dtype}")
    return MaskedTensor.of((input._masked_data & input._masked_mask).any(), taeda.tensor(True))


def _check_strided(name: str, input: MaskedTensor) -> None:
    if input.layout != taeda.strided:
        raise ValueError(f"taeda.Tensor.{name}: is of strided data; got a MaskedTensor of layout {input.layout}")


def _is_contiguous(func: Any, input: MaskedTensor, **kwargs: Any) -> bool:
    _check_strided("is_contiguous", input)
    return input._masked_data.is_contiguous(**kwargs)


def _contiguous(func: Any, input: MaskedTensor, **kwargs: Any) -> MaskedTensor:
    _check_strided("contiguous", input)
    return MaskedTensor.of(input._masked_data.contiguous(**kwargs), input._masked_mask.contiguous(**kwargs))


def _where(func: Any, condition: Tensor, input: Any, other: Any) -> MaskedTensor:
    """Where both are masked each side brings its mask; a plain side counts whole."""
    chosen = _data(condition)
    data = taeda.where(chosen, _data(input), _data(other))
    sides = [x._masked_mask if isinstance(x, MaskedTensor) else True for x in (input, other)]
    mask = taeda.where(chosen, sides[0], sides[1])
    return MaskedTensor.of(data, mask.expand(data.shape))


def _matmul(func: Any, a: Any, b: Any) -> MaskedTensor:
    """Elements that are left out add nothing; a sum counts where a term does."""
    if name_of(func) == "__rmatmul__":
        a, b = b, a
    data = [x.to_tensor(0) if isinstance(x, MaskedTensor) else x for x in (a, b)]
    masks = [(x._masked_mask if isinstance(x, MaskedTensor) else taeda.ones_like(x)).float() for x in (a, b)]
    return MaskedTensor.of(taeda.matmul(*data), taeda.matmul(*masks) > 0)


def _is_same_size(func: Any, a: Any, b: Any) -> bool:
    return bool(a.shape == b.shape)


_RULES: dict[str, Rule] = {
    "all": _all_any,
    "any": _all_any,
    "bmm": _matmul,
    "grad": grad,
    "_is_any_true": _is_any_true,
    "contiguous": _contiguous,
    "is_contiguous": _is_contiguous,
    "is_same_size": _is_same_size,
    "max": _extreme,
    "min": _extreme,
    "matmul": _matmul,
    "mm": _matmul,
    "where": _where,
    "__matmul__": _matmul,
    "__rmatmul__": _matmul,
}
