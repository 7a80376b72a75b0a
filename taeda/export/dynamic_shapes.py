"""Which sizes of the inputs vary: ``Dim``, and what says where they are."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import taeda
from taeda.export.errors import OutOfRange, UserError, UserErrorType
from taeda.utils import _pytree as pytree

__all__ = [
    "AdditionalInputs", "Constraint", "Dim", "ShapesCollection", "dims", "refine_dynamic_shapes_from_suggested_fixes",
]  # fmt: skip

UNLIMITED = 2**63 - 1


class _DimHint:
    """What is asked of a size without a name of its own."""

    def __init__(self, kind: str, min: int | None = None, max: int | None = None) -> None:
        self.kind, self.min, self.max = kind, min, max

    def __call__(self, min: int | None = None, max: int | None = None) -> _DimHint:
        """The same with limits."""
        return _DimHint(self.kind, min, max)

    def __repr__(self) -> str:
        return f"Dim.{self.kind}"


class Dim:
    """A named size that may differ from call to call; two dimensions of one name are always equal.

    Args:
        name: an identifier.
        min: the least value, 0 if None.
        max: the greatest value, without limit if None.

    ``2 * dim + 1`` and the like are sizes that follow from it. ``Dim.AUTO``: vary if the program allows it;
    ``Dim.DYNAMIC``: vary, or fail; ``Dim.STATIC``: stay as in the example.

    Raises:
        AssertionError: the name is no identifier, or ``min`` is not below ``max``.
    """

    AUTO: ClassVar[Any] = _DimHint("AUTO")
    DYNAMIC: ClassVar[Any] = _DimHint("DYNAMIC")
    STATIC: ClassVar[Any] = _DimHint("STATIC")

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.__name__ = name
        self.min = 0 if min is None else min
        self.max = UNLIMITED if max is None else max
        if not name.isidentifier():
            raise AssertionError(f"taeda.export.Dim: the name must be an identifier; got {name!r}")
        if self.max <= self.min:
            raise AssertionError(f"taeda.export.Dim: min must be less than max; got {name} from {min} to {max}")

    @property
    def root(self) -> Dim:
        """The dimension that the value follows from: this one."""
        return self

    def value(self, root: int) -> int:
        """The size where that of ``root`` is given."""
        return root

    def of(self, size: int) -> int | None:
        """The size of ``root`` where this one's is given; None if there is no such number."""
        return size

    def _derived(self, factor: int, offset: int) -> _DerivedDim:
        return _DerivedDim(self, factor, offset)

    def _check(self, other: Any) -> int:
        if type(other) is not int:
            raise NotImplementedError(
                f"taeda.export.Dim: {self.__name__} can be increased, decreased and multiplied by whole numbers; got "
                f"{type(other).__name__}"
            )
        return other

    def __add__(self, other: int) -> _DerivedDim:
        return self._derived(1, self._check(other))

    __radd__ = __add__

    def __sub__(self, other: int) -> _DerivedDim:
        return self._derived(1, -self._check(other))

    def __rsub__(self, other: int) -> _DerivedDim:
        raise NotImplementedError(f"taeda.export.Dim: a size cannot fall while {self.__name__} grows")

    def __mul__(self, other: int) -> _DerivedDim:
        if self._check(other) <= 0:
            raise NotImplementedError(f"taeda.export.Dim: {self.__name__} is multiplied by positive numbers only")
        return self._derived(other, 0)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"Dim('{self.__name__}', min={self.min}" + (f", max={self.max})" if self.max < UNLIMITED else ")")


class _DerivedDim(Dim):
    """``factor * root + offset``."""

    def __init__(self, base: Dim, factor: int, offset: int) -> None:
        inner: tuple[int, int] = (base.factor, base.offset) if isinstance(base, _DerivedDim) else (1, 0)
        self._root = base.root
        self.factor: int = factor * inner[0]
        self.offset: int = factor * inner[1] + offset
        text = self._root.__name__ if self.factor == 1 else f"{self.factor}*{self._root.__name__}"
        sign = "+" if self.offset >= 0 else "-"
        self.__name__ = f"{text} {sign} {abs(self.offset)}" if self.offset else text
        self.min = self.value(self._root.min)
        self.max = UNLIMITED if self._root.max == UNLIMITED else self.value(self._root.max)

    @property
    def root(self) -> Dim:
        """The dimension that the value follows from."""
        return self._root

    def value(self, root: int) -> int:
        """The size where that of ``root`` is given."""
        return self.factor * root + self.offset

    def of(self, size: int) -> int | None:
        """The size of ``root`` where this one's is given; None if there is no such number."""
        quotient, rest = divmod(size - self.offset, self.factor)
        return None if rest else quotient

    def __repr__(self) -> str:
        return self.__name__


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """A `Dim` for each name."""
    return tuple(Dim(name, min=min, max=max) for name in names)


@dataclasses.dataclass
class Constraint:
    """The range of one dimension of one input."""

    name: str
    dim: int
    min: int
    max: int


class ShapesCollection:
    """Says which sizes vary by the tensors themselves: ``shapes[x] = {0: dim}``."""

    def __init__(self) -> None:
        self._shapes: dict[int, Any] = {}
        self._keep: list[Any] = []

    def __setitem__(self, t: Any, shape: Any) -> None:
        if not isinstance(t, (taeda.Tensor, int)):
            raise AssertionError(
                f"taeda.export.ShapesCollection: keys are tensors of the inputs; got {type(t).__name__}"
            )
        self._shapes[id(t)] = shape
        self._keep.append(t)

    def __getitem__(self, t: Any) -> Any:
        return self._shapes.setdefault(id(t), {})

    def __len__(self) -> int:
        return len(self._shapes)

    def dynamic_shapes(self, m: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        """The same nested as the arguments, as `export` takes it.

        Raises:
            ValueError: a tensor in the collection is none of the arguments.
        """
        named = named_arguments(m, args, kwargs or {})
        leaves = {id(leaf) for leaf in pytree.tree_leaves(named)}
        if not set(self._shapes) <= leaves:
            raise ValueError("taeda.export.ShapesCollection: a tensor in it is not among the arguments")
        return pytree.tree_map(lambda leaf: self._shapes.get(id(leaf)), named)


class AdditionalInputs:
    """Further examples: what differs among them varies."""

    def __init__(self) -> None:
        self._examples: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def add(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> None:
        """One more example."""
        if not isinstance(args, tuple):
            raise AssertionError(f"taeda.export.AdditionalInputs: args must be a tuple; got {type(args).__name__}")
        self._examples.append((args, kwargs or {}))

    def dynamic_shapes(self, m: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        """Nested as the arguments, ``Dim.DYNAMIC`` where sizes differ.

        Raises:
            ValueError: the examples are nested differently, or tensors differ in rank.
        """
        first = named_arguments(m, args, kwargs or {})
        others = [named_arguments(m, *example) for example in self._examples]

        def differing(leaf: Any, *rest: Any) -> Any:
            if isinstance(leaf, taeda.Tensor):
                if any(other.dim() != leaf.dim() for other in rest):
                    raise ValueError("taeda.export.AdditionalInputs: the examples differ in their number of dimensions")
                return tuple(
                    Dim.DYNAMIC if any(other.shape[d] != leaf.shape[d] for other in rest) else None
                    for d in range(leaf.dim())
                )
            return Dim.DYNAMIC if type(leaf) is int and any(other != leaf for other in rest) else None

        return pytree.tree_map(differing, first, *others)

    def verify(self, ep: Any) -> None:
        """Runs the exported program on every example."""
        module = ep.module()
        for args, kwargs in self._examples:
            module(*args, **kwargs)


def signature_of(module: Any) -> inspect.Signature:
    """The parameters of ``module.forward``; what stands for another module says those of the other."""
    said = vars(module).get("_signature") if isinstance(module, taeda.nn.Module) else None
    return said or inspect.signature(module.forward if isinstance(module, taeda.nn.Module) else module)


def named_arguments(module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of ``module.forward`` by name; those in ``*args`` as a tuple."""
    bound = signature_of(module).bind(*args, **kwargs)
    named: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            named.update(value)
        else:
            named[name] = value
    return named


@dataclasses.dataclass
class Wish:
    """What is asked of one size of one leaf: a `Dim`, AUTO or DYNAMIC."""

    dim: Any
    hint: int

    @property
    def is_auto(self) -> bool:
        """Whether it may stay as it is."""
        return isinstance(self.dim, _DimHint) and self.dim.kind == "AUTO"


Wishes = dict[tuple[int, int | None], Wish]  # by leaf and dimension; None for a number


def read_wishes(module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], shapes: Any) -> Wishes:
    """What ``dynamic_shapes`` asks of the leaves of ``(args, kwargs)``, in the order of flattening.

    Raises:
        UserError: it is not nested as the arguments are, or names sizes that do not exist or are equal.
    """
    if shapes is None:
        return {}
    if isinstance(shapes, (ShapesCollection, AdditionalInputs)):
        shapes = shapes.dynamic_shapes(module, args, dict(kwargs))
    named = named_arguments(module, args, kwargs)
    if isinstance(shapes, (tuple, list)):
        shapes = _by_name(module, args, named, list(shapes))
    elif set(shapes) != set(named) and set(shapes) - set(named):
        unknown = ", ".join(sorted(map(str, set(shapes) - set(named))))
        raise UserError(
            UserErrorType.INVALID_INPUT,
            f"taeda.export.export: dynamic_shapes names {unknown}; the arguments are {', '.join(named)}",
        )
    numbers: dict[int, list[int]] = {}  # a tensor may be several arguments
    for i, leaf in enumerate(pytree.tree_leaves((args, dict(kwargs)))):
        numbers.setdefault(id(leaf), []).append(i)
    positions = itertools.count()
    # Leaves of the named arguments come in the order of those of (args, kwargs), as keywords follow.
    wishes: Wishes = {}
    for name, value in named.items():
        for where, leaf, wanted in _pairs(name, value, shapes.get(name)):
            at = next(positions)
            index = numbers[id(leaf)].pop(0) if isinstance(leaf, taeda.Tensor) and numbers.get(id(leaf)) else at
            wishes.update({(index, d): wish for d, wish in _of_leaf(where, leaf, wanted)})
    _check_equal_names(wishes)
    return wishes


def _by_name(module: Any, args: tuple[Any, ...], named: dict[str, Any], shapes: list[Any]) -> dict[str, Any]:
    """What is asked in order, by name; arguments in ``*args`` may stand for themselves."""
    parameters = signature_of(module).parameters.values()
    variadic = next((i for i, p in enumerate(parameters) if p.kind is inspect.Parameter.VAR_POSITIONAL), None)
    if variadic is not None and (len(shapes) != len(named) or not isinstance(shapes[variadic], (tuple, list))):
        count = len(args) - variadic
        shapes[variadic : variadic + count] = [tuple(shapes[variadic : variadic + count])]
    if len(shapes) != len(named):
        raise UserError(
            UserErrorType.INVALID_INPUT,
            f"taeda.export.export: dynamic_shapes says {len(shapes)} arguments; the example has {len(named)}: "
            f"{', '.join(named)}",
        )
    return dict(zip(named, shapes))


def _pairs(where: str, value: Any, wanted: Any) -> Iterator[tuple[str, Any, Any]]:
    """The leaves of an argument with what is asked of each."""
    leaves, spec = pytree.tree_flatten(value)
    if spec.is_leaf():
        yield where, value, wanted
        return
    if wanted is None:
        yield from ((where, leaf, None) for leaf in leaves)
        return
    children = spec._children_of(value)
    if type(wanted) is type(value) and not isinstance(wanted, (Mapping, tuple, list)):
        wanted = spec._children_of(wanted)  # a dataclass of what is asked
    keys = list(value) if isinstance(value, Mapping) else range(len(children))
    if isinstance(wanted, (Mapping, tuple, list)) and len(wanted) > len(children):
        raise UserError(
            UserErrorType.INVALID_INPUT,
            f"taeda.export.export: {where} is a {type(value).__name__} of {len(children)}; dynamic_shapes says "
            f"{len(wanted)} of it",
        )
    if isinstance(wanted, Mapping) and isinstance(value, Mapping) and (absent := [k for k in wanted if k not in value]):
        raise UserError(
            UserErrorType.INVALID_INPUT,
            f"taeda.export.export: dynamic_shapes names {', '.join(map(repr, absent))} of {where}, which has "
            f"{', '.join(map(repr, value)) or 'nothing'}",
        )
    for key, child in zip(keys, children):
        try:
            inner = wanted.get(key) if isinstance(wanted, Mapping) else wanted[key]
        except (IndexError, KeyError, TypeError):
            raise UserError(
                UserErrorType.INVALID_INPUT,
                f"taeda.export.export: dynamic_shapes must be nested as the arguments are; {where} is a "
                f"{type(value).__name__} of {len(children)}, got {wanted!r}",
            ) from None
        yield from _pairs(f"{where}[{key!r}]", child, inner)


def _of_leaf(where: str, leaf: Any, wanted: Any) -> Iterator[tuple[int | None, Wish]]:
    if wanted is None:
        return
    if not isinstance(leaf, taeda.Tensor):
        if isinstance(wanted, (Dim, _DimHint)) and type(leaf) is int and getattr(wanted, "kind", "") != "STATIC":
            yield None, Wish(wanted, leaf)
        return
    if not isinstance(wanted, (Mapping, tuple, list)):
        raise UserError(
            UserErrorType.INVALID_INPUT,
            f"taeda.export.export: {where} is a tensor; dynamic_shapes says a dict or a sequence of its dimensions, "
            f"got {wanted!r}",
        )
    items: Any = wanted.items() if isinstance(wanted, Mapping) else enumerate(wanted)
    if not isinstance(wanted, Mapping) and len(wanted) != leaf.dim():
        raise UserError(
            UserErrorType.INVALID_INPUT,
            f"taeda.export.export: {where} has {leaf.dim()} dimensions; dynamic_shapes says {len(wanted)} of it",
        )
    for dim, asked in items:
        if asked is None or getattr(asked, "kind", "") == "STATIC":
            continue
        if not -leaf.dim() <= dim < leaf.dim():
            raise UserError(
                UserErrorType.INVALID_INPUT,
                f"taeda.export.export: dynamic_shapes names dimension {dim} of {where}, which has shape "
                f"{tuple(leaf.shape)}",
            )
        dim %= leaf.dim()
        size = int(leaf.shape[dim])
        if type(asked) is int:
            if asked != size:
                raise UserError(
                    UserErrorType.INVALID_INPUT,
                    f"taeda.export.export: dynamic_shapes says {asked} for dimension {dim} of {where}; the example "
                    f"has {size}",
                )
            continue
        if not isinstance(asked, (Dim, _DimHint)):
            raise UserError(
                UserErrorType.INVALID_INPUT,
                f"taeda.export.export: a dimension is a Dim, Dim.AUTO, Dim.DYNAMIC, Dim.STATIC, an int or None; got "
                f"{asked!r} for dimension {dim} of {where}",
            )
        _check_range(where, dim, size, asked)
        yield dim, Wish(asked, size)


def _check_range(where: str, dim: int, size: int, asked: Any) -> None:
    low = asked.min if asked.min is not None else 0
    high = asked.max if asked.max is not None else UNLIMITED
    fits = low <= size <= high and (not isinstance(asked, Dim) or asked.of(size) is not None)
    if not fits:
        raise OutOfRange(
            f"taeda.export.export: dimension {dim} of {where} is {size} in the example, which is not in the range of "
            f"{asked!r}",
        )


def _check_equal_names(wishes: Wishes) -> None:
    found: dict[str, int] = {}
    roots: dict[str, Dim] = {}
    for wish in wishes.values():
        if isinstance(wish.dim, Dim):
            root = wish.dim.root
            other = roots.setdefault(root.__name__, root)
            if (other.min, other.max) != (root.min, root.max):
                raise UserError(
                    UserErrorType.INVALID_INPUT,
                    f"taeda.export.export: dimensions of one name must have the same limits; got {other!r} and "
                    f"{root!r}",
                )
            size: Any = wish.dim.of(wish.hint)
            if found.setdefault(wish.dim.root.__name__, size) != size:
                raise UserError(
                    UserErrorType.CONSTRAINT_VIOLATION,
                    f"taeda.export.export: dimensions of one name are equal; {wish.dim.root.__name__} is "
                    f"{found[wish.dim.root.__name__]} and {size} in the example",
                )


Chooser = Callable[[int, int, int], int]


def choose(value: int, low: int, high: int, nth: int) -> int:
    """A size within limits that differs from the example's: the nth to try."""
    primes = (2, 3, 5, 7, 11)
    wanted = [value * primes[nth % 5] if value else 2, value + 1 + nth, value - 1 - nth, value + 2]
    return next((w for w in wanted if max(low, 1) <= w <= high and w != value), value)


def over(dim: Dim, root: Dim) -> Dim:
    """The same over another root."""
    return root._derived(dim.factor, dim.offset) if isinstance(dim, _DerivedDim) else root


_FIX = re.compile(r"^\s+([A-Za-z_]\w*) = (?:(\d+)|([A-Za-z_]\w*))$")


def refine_dynamic_shapes_from_suggested_fixes(msg: str, dynamic_shapes: Any) -> Any:
    """``dynamic_shapes`` with the changes that the message of a refusal suggests.

    Args:
        msg: the message of a `UserError`.
        dynamic_shapes: what `export` was given, with named dimensions.

    Returns:
        The same nesting, with dimensions that are to be equal as one, and numbers for those that are to be fixed.

    Raises:
        ValueError: the message suggests nothing.
    """
    fixes: dict[str, Any] = {}
    for line in msg.partition("Suggested fixes:")[2].splitlines()[1:]:
        found = _FIX.match(line)
        if found is None:
            break
        fixes[found[1]] = int(found[2]) if found[2] else found[3]
    if not fixes:
        raise ValueError(
            "taeda.export.dynamic_shapes.refine_dynamic_shapes_from_suggested_fixes: the message suggests no fixes"
        )
    dims = {d.root.__name__: d.root for d in pytree.tree_leaves(dynamic_shapes) if isinstance(d, Dim)}

    def change(leaf: Any) -> Any:
        fix = fixes.get(leaf.root.__name__) if isinstance(leaf, Dim) else None
        if fix is None:
            return leaf
        return leaf.value(fix) if isinstance(fix, int) else over(leaf, dims[fix])

    return pytree.tree_map(change, dynamic_shapes)
