"""``functionalize``: a function without its writes in place.

Its tensors are wrappers. What a wrapper and its views share is one tensor, the store's value; a write makes another
value of the store, from which the views make theirs again. Ops below the wrappers never write to what others see.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import taeda
from taeda import _C, Tensor
from taeda._library.ops import OpOverload
from taeda.autograd._transforms import transforms_aside
from taeda.func._active import transforming
from taeda.func._batched.tensor import BatchedTensor
from taeda.utils._python_dispatch import TorchDispatchMode
from taeda.utils._pytree import tree_leaves, tree_map, tree_map_only

_aten: Any = taeda.ops.aten
_OVER = {"select", "slice", "diagonal", "as_strided"}  # views with an op that writes into a copy: select_scatter, ...
_RESHAPES = {"view", "_unsafe_view", "unsqueeze", "squeeze", "alias", "detach", "_reshape_alias"}


class _View(NamedTuple):
    """How a view was made."""

    op: OpOverload
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    place: int | None = None  # among several results

    def of(self, base: Tensor) -> Tensor:
        made = self.op(base, *self.args, **self.kwargs)
        return made if self.place is None else made[self.place]

    def written(self, base: Tensor, part: Tensor) -> Tensor:
        """``base`` with ``part`` in place of the view."""
        full = self.op._schema.name.rpartition("::")[2]
        name = full.removesuffix("_copy")
        if name in _OVER:
            return getattr(_aten, name + "_scatter").default(base, part, *self.args, **self.kwargs)
        if name == "view" and (part.is_contiguous() or full != name):
            return self.op(part, base.shape)
        if name in _RESHAPES:
            return part.reshape(base.shape)
        if name == "transpose":
            return self.op(part, *self.args)
        if name == "t":
            return self.op(part)
        if self.of(base).dtype != base.dtype:
            raise RuntimeError(f"taeda.func.functionalize: a write through {self.op} has no form without writes here")
        places = self.of(taeda.arange(base.numel(), device=base.device).view(base.shape))
        return base.reshape(-1).scatter(0, places.reshape(-1), part.reshape(-1)).view(base.shape)


class _Store:
    """What a tensor and its views share."""

    def __init__(self, value: Tensor) -> None:
        self.value, self.version = value, 0


class FunctionalTensor(Tensor):
    """A tensor whose writes make new values."""

    store: _Store
    views: tuple[_View, ...]
    known: Tensor  # its value at a version of the store
    seen: int
    turns: list[Callable[[Tensor], Any]]  # the calls that changed its shape

    @staticmethod
    def __new__(cls, value: Tensor, store: _Store | None = None, views: tuple[_View, ...] = ()) -> FunctionalTensor:
        made: FunctionalTensor = Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls, value.shape, strides=value.stride(), dtype=value.dtype, device=value.device
        )
        made.store = _Store(value) if store is None else store
        made.views, made.known, made.seen, made.turns = views, value, made.store.version, []
        return made

    __torch_function__ = _C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(cls, func: OpOverload, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _call(func, args, kwargs or {}, copies=False)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        return f"FunctionalTensor({self.now()!r})"

    def now(self) -> Tensor:
        """The value, after all writes."""
        if self.seen != self.store.version:
            self.known = functools.reduce(lambda base, view: view.of(base), self.views, self.store.value)
            self.seen = self.store.version
        return self.known

    def turn(self, view: _View) -> None:
        """Makes this tensor that view of itself: its shape changes in place."""
        value = view.of(self.now())
        self.views = (*self.views, view)
        self._become(value)

    def regrow(self, size: Any) -> None:
        """Gives it that many elements, the first of which it has; its views stay with those that it had."""
        flat, count = self.now().reshape(-1), math.prod(size)
        more = flat.new_empty(max(count - flat.numel(), 0))
        value = taeda.cat((flat[:count], more)).view(size)
        self.store, self.views = _Store(value), ()
        self.store.version = 1  # what it came from is to have it, too
        self._become(value)

    def _become(self, value: Tensor) -> None:
        self.known, self.seen = value, self.store.version
        with transforms_aside():
            self.data = FunctionalTensor(value)

    def write(self, value: Tensor) -> None:
        """Makes ``value`` this tensor's, and through it its base's."""
        if value.shape != self.shape and not self.views:  # as out= has it
            self.store.value = value
            self.store.version += 1
            self.turns.append(lambda x: x.resize_(value.shape))
            return self._become(value)
        if value.shape != self.shape:
            raise RuntimeError(
                f"taeda.func.functionalize: a tensor of shape {tuple(self.shape)} is to become one of "
                f"{tuple(value.shape)} in place, which has no form without writes"
            )
        bases = [self.store.value]
        for view in self.views[:-1]:
            bases.append(view.of(bases[-1]))
        whole = value
        for base, view in zip(reversed(bases), reversed(self.views), strict=False):
            whole = view.written(base, whole)
        self.store.value, self.known = whole, value
        self.store.version += 1
        self.seen = self.store.version


class _Functional(TorchDispatchMode):
    """In the block every tensor that is made is one whose writes make new values."""

    def __init__(self, copies: bool) -> None:
        super().__init__()
        self.copies = copies

    def __torch_dispatch__(self, func: OpOverload, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(_is_batch_of_such(x) for x in tree_leaves((args, kwargs))):
            return func(*args, **(kwargs or {}))  # its rule asks for what it holds
        return _call(func, args, kwargs or {}, self.copies)

    def around_branches(self, record: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Has a branch or loop recorded of values, with functions that write to none of them.

        Raises:
            RuntimeError: one writes to its arguments.
        """

        def on_values(function: Any) -> Any:
            if isinstance(function, Tensor) or not callable(function):
                return function

            def call(*given: Any) -> Any:
                inputs = tree_map_only(Tensor, FunctionalTensor, given)
                with self:
                    result = function(*inputs)
                if any(x.store.version for x in tree_leaves(inputs) if isinstance(x, FunctionalTensor)):
                    raise RuntimeError(
                        "taeda.func.functionalize: a function of a branch or loop writes to its arguments, which has "
                        "no form without writes; let it return what it changes"
                    )
                return _values(result)

            return call

        return tree_map_only(Tensor, FunctionalTensor, record(*tree_map(on_values, _values(args))))


def _is_batch_of_such(x: Any) -> bool:
    is_batch = type(x) is BatchedTensor
    while type(x) is BatchedTensor:
        x = x.value
    return is_batch and isinstance(x, FunctionalTensor)


def _values(tree: Any) -> Any:
    return tree_map_only(FunctionalTensor, lambda x: x.now(), tree)


def _call(func: OpOverload, args: Any, kwargs: dict[str, Any], copies: bool) -> Any:
    schema = func._schema
    if schema.is_mutable:
        plain = _out_of_place(func)
        if func is _aten.resize_.default:
            args[0].regrow(args[1])
        elif plain is not None and plain._schema.returns[0].alias_info:  # unsqueeze_
            args[0].turn(_View(_copying(plain) if copies else plain, _values(tuple(args[1:])), _values(kwargs)))
        else:
            return _written(func, plain, args, kwargs)
        args[0].turns.append(functools.partial(func, **dict(zip(_names(func)[1:], args[1:], strict=False), **kwargs)))
        return args[0]
    base = args[0] if args else None
    info = schema.arguments[0].alias_info if schema.arguments else None
    if info is None or not isinstance(base, FunctionalTensor):
        return tree_map_only(Tensor, FunctionalTensor, func(*_values(args), **_values(kwargs)))
    op = _copying(func) if copies else func
    rest, named = _values(tuple(args[1:])), _values(kwargs)
    made = op(base.now(), *rest, **named)
    if isinstance(made, Tensor):
        return FunctionalTensor(made, base.store, (*base.views, _View(op, rest, named)))
    return type(made)(
        FunctionalTensor(one, base.store, (*base.views, _View(op, rest, named, i))) for i, one in enumerate(made)
    )


def _copying(func: OpOverload) -> OpOverload:
    """The form of a view that gives new memory; the view itself where there is none."""
    packet = getattr(_aten, func._schema.name.rpartition("::")[2] + "_copy", None)
    return getattr(packet, func._overloadname, func)


def _written(func: OpOverload, plain: OpOverload | None, args: Any, kwargs: dict[str, Any]) -> Any:
    """A call that writes to its arguments, as one that does not, whose results are then theirs."""
    parameters = func._schema.arguments
    given = dict(zip(_names(func), args, strict=False), **kwargs)
    targets = {p.name: given[p.name] for p in parameters if p.alias_info and p.alias_info.is_write and p.name in given}
    first = parameters[0].name
    if plain is not None and list(targets) == [first] and isinstance(targets[first], FunctionalTensor):
        value = plain(*_values(args), **_values(kwargs))
        targets[first].write(value if value.dtype == targets[first].dtype else value.to(targets[first].dtype))
        return targets[first]
    # Written are copies that nobody else has.
    fresh = {name: tree_map_only(FunctionalTensor, lambda x: x.now().clone(), t) for name, t in targets.items()}
    func(**{**_values(given), **fresh})
    for name, target in targets.items():
        for one, value in zip(_list(target), _list(fresh[name]), strict=True):
            if isinstance(one, FunctionalTensor):
                one.write(value)
    results = [targets.get(p.name) for p in parameters if p.name in targets]
    count = len(func._schema.returns)
    return None if count == 0 else results[0] if count == 1 else tuple(results[:count])


def _names(func: OpOverload) -> list[str]:
    return [parameter.name for parameter in func._schema.arguments]


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _out_of_place(func: OpOverload) -> OpOverload | None:
    """``add.Tensor`` for ``add_.Tensor``; None where there is no such op."""
    name = func._schema.name.rpartition("::")[2]
    if not name.endswith("_") or name.endswith("__"):
        return None
    if name in ("zero_", "transpose_"):  # whose forms have other names
        return _aten.zeros_like.default if name == "zero_" else _aten.transpose.int
    try:
        return getattr(getattr(_aten, name[:-1]), func._overloadname)
    except AttributeError:
        return None


def _cut(x: Tensor) -> Tensor:
    """``x`` outside of graphs; where it is in none there shall be no call that others would see."""
    return x.detach() if x.requires_grad else x


class _Enter(taeda.autograd.Function):
    """Wraps a tensor that is differentiated outside."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        return FunctionalTensor(_cut(x))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return _values(grads[0])

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return None if tangents[0] is None else FunctionalTensor(tangents[0])


class _Leave(taeda.autograd.Function):
    """Takes the wrapper off."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Tensor:
        return _cut(x.now())

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return FunctionalTensor(grads[0])

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _values(tangents[0])


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """A function that computes what ``func`` does, and runs no op that writes to a tensor that others see.

    What ``func`` writes to its arguments is copied into them at the end. Modes and tensor classes that look at ops in
    the call see those without writes.

    Args:
        func: takes and returns trees of tensors.
        remove: ``"mutations"``, or ``"mutations_and_views"`` to have views replaced by copies, too.

    Raises:
        RuntimeError: ``remove`` is something else; in the call: what is written has another shape.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"taeda.func.functionalize: remove must be 'mutations' or 'mutations_and_views'; got {remove!r}"
        )

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        entered: dict[int, tuple[Tensor, Any]] = {}

        def enter(x: Tensor) -> Any:
            if id(x) not in entered:
                entered[id(x)] = x, _Enter.apply(x)
            return entered[id(x)][1]

        inner_args, inner_kwargs = tree_map_only(Tensor, enter, (args, kwargs))
        with _Functional(remove == "mutations_and_views"), transforming():
            result = func(*inner_args, **inner_kwargs)
        for x, inner in entered.values():
            for turn in inner.turns:
                turn(x)
            if inner.store.version:
                x.copy_(_Leave.apply(inner))
        return tree_map_only(FunctionalTensor, _Leave.apply, result)

    return wrapped
