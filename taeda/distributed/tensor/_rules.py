"""Which dimensions of an op's operands and results are the same: along those each process can work on its part.

A rule gives every dimension a letter (a number). If a letter is cut over a dimension of the mesh, all operands that
have it are cut along it, those that do not are whole, and so are the results; one that has lost the letter is the sum
of the processes' terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from taeda import Tensor

Letters = tuple[int | None, ...]


class Rule(NamedTuple):
    """Letters by operand and by result; which of them can be cut; what terms are reduced by.

    ``linear``: 1 if terms of one operand, the others whole, give terms of the result; 2 if terms of all of them do.
    ``added``: the operand that is added to the result, and so is a term of it where the result is in terms.
    """

    operands: list[Letters]
    results: list[Letters]
    free: set[int]
    reduction: str = "sum"
    linear: int = 0
    added: int = -1


def _numbered(tensor: Tensor) -> tuple[int, ...]:
    return tuple(range(tensor.dim()))


def _pointwise(name: str, tensors: Sequence[Tensor], kwargs: Any) -> Rule:
    ndim = max(tensor.dim() for tensor in tensors)
    sizes = [1] * ndim
    for tensor in tensors:
        for at, size in enumerate(reversed(tensor.shape), 1):
            sizes[-at] = max(sizes[-at], size) if size else 0
    operands = [
        tuple(
            letter if size == sizes[letter] else None for letter, size in enumerate(tensor.shape, ndim - tensor.dim())
        )
        for tensor in tensors
    ]
    everything = tuple(range(ndim))
    return Rule(operands, [everything] * 3, set(everything), linear=_linearity(name, len(tensors), kwargs))


def _linearity(name: str, count: int, kwargs: Any) -> int:
    """`Rule.linear` of a pointwise op with ``count`` tensors; its other operands are numbers."""
    if name in _UNARY or name in _SUMS and count == 2:
        return 2
    divides = name in _QUOTIENTS and count == 1 and kwargs.get("rounding_mode") is None
    return int(name in _PRODUCTS or divides)


def _contraction(operands: str, result: str, free: str, results: int = 1) -> Callable[..., Rule]:
    """Of a product in einsum's letters; ``.`` stands for any number of leading dimensions."""

    def rule(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
        parts = operands.split(",")[: len(tensors)]
        leading = max(t.dim() - len(p.replace(".", "")) for t, p in zip(tensors, parts, strict=True))

        def letters(part: str) -> Letters:
            first = list(range(1000, 1000 + leading)) if "." in part else []
            return tuple(first + [ord(one) for one in part if one != "."])

        given = [letters(part) for part in parts]
        if any(len(one) != tensor.dim() for one, tensor in zip(given, tensors, strict=True)):
            return _whole(tensors)
        can = {ord(one) for one in free} | set(range(1000, 1000 + leading))
        return Rule(given, [letters(result)] * results, can, linear=int(len(tensors) == 2), added=2)

    return rule


def _added_to(product: Callable[..., Rule]) -> Callable[..., Rule]:
    """Of a product to which the first operand, which may be smaller, is added."""

    def rule(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
        made = product(tensors[1:], args, kwargs)
        shape = [next((t.shape[own.index(letter)] for t, own in zip(tensors[1:], made.operands, strict=True)
                       if letter in own), 0) for letter in made.results[0]]  # fmt: skip
        first = tensors[0]
        behind = zip(made.results[0][len(shape) - first.dim() :], shape[len(shape) - first.dim() :], strict=True)
        own = tuple(letter if size == have else None for (letter, size), have in zip(behind, first.shape, strict=True))
        return made._replace(operands=[own, *made.operands], linear=0, added=0)

    return rule


def _whole(tensors: Sequence[Tensor]) -> Rule:
    return Rule([(None,) * tensor.dim() for tensor in tensors], [], set())


def _moved(order: Callable[[int, Any], Sequence[int]]) -> Callable[..., Rule]:
    def rule(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
        letters = _numbered(tensors[0])
        result = tuple(letters[at] for at in order(len(letters), args))
        return Rule([letters], [result], set(letters), linear=1)

    return rule


def _swapped(ndim: int, args: Any) -> list[int]:
    order = list(range(ndim))
    first, second = (args[1], args[2]) if len(args) > 2 else (0, ndim - 1)
    if ndim:
        order[first], order[second] = order[second], order[first]
    return order


def _keeps(*taken: int, results: int = 1, default: int = 0) -> Callable[..., Rule]:
    """Of an op that works along the dimension in ``args[taken]``, and on each other place by itself."""

    def rule(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
        at = taken[0]
        dim = args[at] if len(args) > at else kwargs.get("dim", default)
        letters = _numbered(tensors[0])
        if not isinstance(dim, int) or any(tensor.dim() != len(letters) for tensor in tensors):
            return _whole(tensors)
        free = set(letters) - {dim % max(1, len(letters))}
        return Rule([letters] * len(tensors), [letters] * results, free, linear=0)

    return rule


def _select(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
    letters = _numbered(tensors[0])
    dim = (args[1] if len(args) > 1 else 0) % len(letters)
    rest = tuple(letter for letter in letters if letter != dim)
    return Rule([letters], [rest] * int(tensors[0].shape[dim]), set(rest), linear=1)


def _slice(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
    """Of all places along the dimension (as in ``x[:, 1]``) parts of it do, too."""
    given: list[Any] = [*args[1:], *(0, None, None, 1)[len(args) - 1 :]]
    dim, start, end, step = given
    letters = _numbered(tensors[0])
    size = tensors[0].shape[dim]
    everything = start in (None, 0) and (end is None or end >= size) and step == 1
    return Rule([letters], [letters], set(letters) - (set() if everything else {dim % len(letters)}))


def _stack(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
    letters = _numbered(tensors[0])
    made: list[int | None] = list(letters)
    dim = args[1] if len(args) > 1 else kwargs.get("dim", 0)
    made.insert(dim % (len(letters) + 1), None)
    return Rule([letters] * len(tensors), [tuple(made)], set(letters))


def _unsqueeze(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
    letters: list[int | None] = list(_numbered(tensors[0]))
    letters.insert(args[1] % (len(letters) + 1), None)
    return Rule([_numbered(tensors[0])], [tuple(letters)], set(_numbered(tensors[0])), linear=1)


def _squeeze(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
    letters = _numbered(tensors[0])
    dims = range(len(letters)) if len(args) < 2 else [args[1]] if isinstance(args[1], int) else args[1]
    gone = {dim % len(letters) for dim in dims if tensors[0].shape[dim] == 1}
    rest = tuple(letter for letter in letters if letter not in gone)
    return Rule([letters], [rest], set(rest), linear=1)


def _reduction(kind: str = "", results: int = 1) -> Callable[..., Rule]:
    """Of an op over some dimensions.

    Args:
        kind: how results of parts of these are reduced; they are whole for "".
        results: how many there are.
    """

    def rule(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
        letters = _numbered(tensors[0])
        dims = args[1] if len(args) > 1 else kwargs.get("dim")
        if isinstance(dims, int):
            dims = [dims]
        gone = {dim % max(1, len(letters)) for dim in dims} if dims else set(letters)
        keep = args[2] if len(args) > 2 else kwargs.get("keepdim", False)
        result = tuple(None if letter in gone else letter for letter in letters if keep is True or letter not in gone)
        free = set(letters) if kind else set(letters) - gone
        return Rule([letters], [result] * results, free, kind, linear=int(kind in ("sum", "avg")))

    return rule


def _extreme(kind: str) -> Callable[..., Rule]:
    """Of all elements a term, of those along a dimension one and its place."""

    def rule(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
        named = len(args) > 1 or "dim" in kwargs
        return _reduction("" if named else kind, 1 + named)(tensors, args, kwargs)

    return rule


def _turned(at: int) -> Callable[..., Rule]:
    """Of an op that moves elements along the dimensions in its argument ``at``."""

    def rule(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
        letters = _numbered(tensors[0])
        dims = args[1 + at] if len(args) > 1 + at else kwargs.get("dims") or letters
        moved = {dim % len(letters) for dim in dims} if letters else set()
        return Rule([letters], [letters], set(letters) - moved, linear=1)

    return rule


def _layer_norm(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
    letters = _numbered(tensors[0])
    count = len(letters) - len(args[1])
    leading = letters[:count] + (None,) * (len(letters) - count)
    others: list[Letters] = [(None,) * tensor.dim() for tensor in tensors[1:]]
    return Rule([letters, *others], [letters, leading, leading], set(letters[:count]))


def _layer_norm_grads(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
    letters = _numbered(tensors[1])
    count = len(letters) - len(args[2])
    wide = letters[:count] + (None,) * (len(letters) - count)
    operands = [wide if tensor.dim() == len(letters) else (None,) * tensor.dim() for tensor in tensors]
    trailing = (None,) * len(args[2])
    return Rule(operands, [wide, trailing, trailing], set(letters[:count]))


def _embedding_grad(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
    leading = _numbered(tensors[1])
    return Rule([(*leading, 1000), leading], [(None, 1000)], {*leading, 1000})


def _embedding(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
    letters = _numbered(tensors[1])
    return Rule([(None, 1000), letters], [(*letters, 1000)], {*letters, 1000})


def _gather(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
    """Along the dimension itself the indices may be cut; along another both, where both are of one size."""
    source, index = tensors
    if not index.dim() or source.dim() != index.dim():
        return _whole(tensors)
    along = args[1] % index.dim()
    same = {dim for dim in range(index.dim()) if dim != along and source.shape[dim] == index.shape[dim]}
    letters = _numbered(index)
    return Rule([tuple(dim if dim in same else None for dim in letters), letters], [letters], same | {along})


def _attention(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
    if any(tensor.dim() != 4 or tensor.shape[1] != tensors[0].shape[1] for tensor in tensors):
        return _whole(tensors)
    return Rule([(0, 1, None, None)] * len(tensors), [(0, 1, None, None), (0, 1, None), (0, 1, None)], {0, 1})


def _attention_grads(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
    heads = tensors[1].shape[1]
    if len(tensors) != 6 or any(tensor.dim() < 3 or tensor.shape[1] != heads for tensor in tensors):
        return _whole(tensors)
    operands: list[Letters] = [(0, 1) + (None,) * (tensor.dim() - 2) for tensor in tensors]
    return Rule(operands, [(0, 1, None, None)] * 3, {0, 1})


def view_letters(old: Sequence[int], new: Sequence[int]) -> Letters:
    """For each new dimension the old one that begins at the same place and is cut into as many pieces."""
    found: list[int | None] = []
    for at in range(len(new)):
        before = math.prod(new[:at])
        same = [dim for dim in range(len(old)) if math.prod(old[:dim]) == before and old[dim] > 1 and new[at] > 1]
        found.append(same[-1] if same else None)
    return tuple(found)


_UNARY = {"neg", "neg_", "clone", "detach", "_to_copy", "alias", "zero_", "fill_"}  # PyTorch's fill_ fills each term
_SUMS, _PRODUCTS, _QUOTIENTS = {"add", "add_", "sub", "sub_"}, {"mul", "mul_"}, {"div", "div_"}
_LIKE = {"clone", "detach", "_to_copy", "alias", "zeros_like", "ones_like", "empty_like", "full_like", "rand_like",
         "randn_like", "native_dropout", "native_dropout_backward", "copy_", "zero_", "fill_", "bernoulli",
         "masked_fill", "masked_fill_", "uniform_", "normal_", "lerp_", "addcmul_", "addcdiv_"}  # fmt: skip

RULES: dict[str, Callable[..., Rule]] = {
    "mm": _contraction("ik,kj", "ij", "ikj"),
    "bmm": _contraction("bik,bkj", "bij", "bikj"),
    "addmm": _added_to(_contraction("ik,kj", "ij", "ikj")),
    "baddbmm": _added_to(_contraction("bik,bkj", "bij", "bikj")),
    "linear": _contraction(".k,jk,j", ".j", "jk"),
    "t": _moved(lambda ndim, args: _swapped(ndim, args[:1]) if ndim == 2 else range(ndim)),
    "transpose": _moved(_swapped),
    "permute": _moved(lambda ndim, args: [dim % ndim for dim in args[1]]),
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    "select": _select,
    "unbind": _select,
    "slice": _slice,
    "stack": _stack,
    "split": _keeps(2, results=64),
    "split_with_sizes": _keeps(2, results=64),
    "cat": _keeps(1),
    "cumsum": _keeps(1),
    "cumprod": _keeps(1),
    "sort": _keeps(2, results=2, default=-1),
    "topk": _keeps(2, results=2, default=-1),
    "argmax": _reduction(),
    "argmin": _reduction(),
    "any": _reduction(),
    "all": _reduction(),
    "prod": _reduction(),
    "std": _reduction(),
    "var": _reduction(),
    "var_mean": _reduction(results=2),
    "logsumexp": _reduction(),
    "amax": _reduction("max"),
    "amin": _reduction("min"),
    "max": _extreme("max"),
    "min": _extreme("min"),
    "flip": _turned(0),
    "roll": _turned(1),
    "_softmax": _keeps(1),
    "_log_softmax": _keeps(1),
    "_softmax_backward_data": _keeps(2),
    "_log_softmax_backward_data": _keeps(2),
    "gather": _gather,
    "sum": _reduction("sum"),
    "mean": _reduction("avg"),
    "native_layer_norm": _layer_norm,
    "_native_layer_norm": _layer_norm,
    "_fused_rms_norm": _layer_norm,
    "embedding": _embedding,
    "layer_norm_grads": _layer_norm_grads,
    "embedding_dense_backward": _embedding_grad,
    "attention_rows": _attention,
    "attention_grads": _attention_grads,
}


def rule_for(name: str, is_pointwise: bool, tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Rule:
    """The rule of an op; without one all operands are made whole."""
    if is_pointwise or name in _LIKE:
        return _pointwise(name, tensors, kwargs)
    return RULES[name](tensors, args, kwargs) if name in RULES else _whole(tensors)
