"""``BatchedTensor``: holds a batch, shows one example. Each op on it runs its rule, once for the whole batch."""

from __future__ import annotations

import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from taeda import _C, Tensor
from taeda._C import _autograd
from taeda._library.ops import OpOverload
from taeda._schema.tags import Tag
from taeda.func._active import transforms_active
from taeda.utils._python_dispatch import TorchDispatchMode
from taeda.utils._pytree import tree_map_only

Rule = Callable[..., Any]


class Unbatchable(RuntimeError):
    """A call that cannot be made for all examples at once: it reads values, or writes where examples would meet."""


class Refused(RuntimeError):
    """What a mapped function must not do, for one example neither."""


_KERNELS = _C.DispatchKeySet("CPU")  # kernels of any device, too


class BatchedTensor(Tensor):
    """One example's shape over the values of all: ``value`` is (batch, *shape). Nested calls of ``vmap`` nest them."""

    value: Tensor
    batch: Batch

    @staticmethod
    def __new__(cls, value: Tensor, batch: Batch) -> BatchedTensor:
        made: BatchedTensor = Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls, value.shape[1:], strides=value.stride()[1:], dtype=value.dtype, device=value.device
        )
        made.value, made.batch = value, batch
        return made

    __torch_function__ = _C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(cls, func: OpOverload, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        batch = _innermost(args, kwargs)
        assert batch is not None
        if batch.is_over:
            raise RuntimeError(
                f"taeda.func.vmap: {func} got a tensor of one example, whose vmap has ended; let the mapped function "
                "return what is needed outside of it"
            )
        rule = batch.rule_of(func)
        if rule is None:  # made of other ops, whose rules serve
            return func.redispatch(_KERNELS, *args, **(kwargs or {}))
        with _C._RestorePythonTLSSnapshot():  # the values may be recorded by an outer transform
            return rule(batch, func, *args, **(kwargs or {}))

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        value = textwrap.indent(repr(self.value), "    ")
        return f"BatchedTensor(lvl={self.batch.depth}, bdim=0, value=\n{value}\n)"

    @property
    def data(self) -> Any:  # type: ignore[override]
        raise Refused("taeda.Tensor.data: it is asked for inside vmap; detach() gives values outside the graph")

    @data.setter
    def data(self, value: Any) -> None:
        raise Refused("taeda.Tensor.data: it is set inside vmap; write to the tensor with copy_()")


_C._set_outermost_class(BatchedTensor)


def _innermost(args: Any, kwargs: Any) -> Batch | None:
    """The innermost batch of the arguments; None if none is batched."""
    found: Batch | None = None
    for x in args if not kwargs else (*args, *kwargs.values()):
        if type(x) is not BatchedTensor and not isinstance(x, (list, tuple)):
            continue
        batch = x.batch if type(x) is BatchedTensor else _innermost(x, None)
        if batch is not None and (found is None or batch.level > found.level):
            found = batch
    return found


class Batch:
    """One ``vmap`` that is running: how many examples there are, and how deep it is nested."""

    def __init__(self, size: int, level: int, rule_of: Callable[[OpOverload], Rule | None], randomness: str) -> None:
        self.size, self.level, self.rule_of, self.randomness = size, level, rule_of, randomness
        self.depth, self.is_over = transforms_active() + 1, False
        self.dual_levels = _autograd._dual_levels()  # tangents of these are the values' own

    def holds(self, x: Any) -> bool:
        """Whether ``x`` differs by example of this batch."""
        return type(x) is BatchedTensor and x.batch is self

    def wrap(self, value: Tensor) -> BatchedTensor:
        return BatchedTensor(value, self)

    def wrap_all(self, values: Any) -> Any:
        """Wraps an op's results, a tensor or a list or tuple of them."""
        if isinstance(values, (list, tuple)):
            return tuple([self.wrap_all(value) for value in values])
        return BatchedTensor(values, self) if isinstance(values, Tensor) else values

    def whole(self, x: Any) -> Any:
        """The values (batch, *shape) of a tensor, which are one for all if it does not differ by example."""
        if self.holds(x):
            return x.value
        return x.expand(self.size, *x.shape) if isinstance(x, Tensor) else x

    def padded(self, x: Any, rank: int) -> Any:
        """The values of ``x`` so that they broadcast with others of ``rank`` dimensions, not counting the batch's."""
        if not self.holds(x):
            return x
        missing = rank - x.dim()
        if missing <= 0:
            return x.value
        return x.value.reshape(self.size, *[1] * missing, *x.shape)

    def shared(self, x: Any) -> Any:
        """``x``, which must not differ by example."""
        if self.holds(x):
            raise Unbatchable("an argument that all examples must share differs by example")
        return x

    def written(self, x: Tensor) -> Tensor:
        """The values of a tensor that is written to, which must have room for each example's."""
        if not self.holds(x):
            raise Unbatchable("a tensor that all examples share is written to")
        return x.value  # type: ignore[attr-defined, no-any-return]


class _Draws(TorchDispatchMode):
    """What random numbers the examples of one batch get, the next that begins to run where the mode is made."""

    def __init__(self) -> None:
        super().__init__()
        self.level = len(_stack())

    def __torch_dispatch__(self, func: OpOverload, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given, stack = kwargs or {}, _stack()
        if Tag.nondeterministic_seeded not in func.tags or len(stack) <= self.level:
            return func(*args, **given)
        batch = _innermost(args, given)
        return self.draw(stack[self.level], -1 if batch is None else batch.level, func, args, given)

    def draw(self, batch: Batch, level: int, func: OpOverload, args: Any, given: dict[str, Any]) -> Any:
        """What ``func`` draws; ``level`` is that of the innermost batch among its arguments, -1 without one."""
        raise NotImplementedError


class EachDraws(_Draws):
    """In the block each example draws its own random numbers; those of no example in particular cannot be."""

    def draw(self, batch: Batch, level: int, func: OpOverload, args: Any, given: dict[str, Any]) -> Any:
        name = func._schema.name.removeprefix("aten::")
        if level == batch.level and _for_sizes_of_first(batch, name, args, given):  # outer batches' modes see it
            drawn = func(args[0].value, *args[1:], **given)
            return args[0] if name.endswith("_") else batch.wrap_all(drawn)
        if level >= batch.level:
            return func(*args, **given)
        given = bound(func, args, given)
        if func._schema.is_mutable:
            raise Unbatchable("random numbers are drawn into a tensor that all examples share")
        if any(isinstance(x, Tensor) for x in given.values()):
            return func(**tree_map_only(Tensor, lambda x: batch.wrap(batch.whole(x)), given))
        if "size" not in given:
            raise Unbatchable(f"{func} has no size that could have room for each example's numbers")
        return batch.wrap(func(**given | {"size": [batch.size, *given["size"]]}))


class NoDraws(_Draws):
    """In the block no random numbers are drawn."""

    def draw(self, batch: Batch, level: int, func: OpOverload, args: Any, given: dict[str, Any]) -> Any:
        raise Refused(
            f"taeda.func.vmap: {func} draws random numbers; say with randomness='different' or 'same' whether each "
            "example draws its own"
        )


class WrongRule(Refused):
    """A function's own rule for batches that does not give what rules give."""


class SameForDifferent(Refused):
    """The examples are to draw the same numbers for values of their own."""


class OneDraw(_Draws):
    """One draw serves all examples, which it can where the numbers do not depend on what differs by example."""

    def draw(self, batch: Batch, level: int, func: OpOverload, args: Any, given: dict[str, Any]) -> Any:
        if level != batch.level:
            return func(*args, **given)
        name = func._schema.name.removeprefix("aten::")
        if not _for_sizes_of_first(batch, name, args, given):
            raise SameForDifferent(
                f"taeda.func.vmap: randomness='same' cannot serve {func}, of which an argument differs by example; "
                "draw the numbers before, or with randomness='different'"
            )
        example = unbatched(batch, args[0], 0)
        if name == "native_dropout":
            scale, mask = func(example.new_ones(example.shape), *args[1:], **given)
            return args[0] * scale, mask
        drawn = func(example.clone(), *args[1:], **given)
        return args[0].copy_(drawn) if name.endswith("_") else drawn


def _for_sizes_of_first(batch: Batch, name: str, args: Any, kwargs: Any) -> bool:
    """Whether of the arguments the first alone differs by example, whose values the op does not look at."""
    others = _innermost(args[1:], kwargs)
    if not batch.holds(args[0]) or (others is not None and others.level >= batch.level):
        return False
    return name.endswith("_like") or name == "native_dropout" or (name.endswith("_") and "with_noise" not in name)


_running = threading.local()


def _stack() -> list[Batch]:
    """The batches that run in this thread, the innermost last."""
    stack: list[Batch] = _running.__dict__.setdefault("stack", [])
    return stack


def current() -> Batch | None:
    """The innermost ``vmap`` that runs all examples at once in this thread."""
    stack = _stack()
    return stack[-1] if stack else None


def batch_of(level: int) -> Batch:
    """The batch that runs in this thread as so many transforms deep."""
    for batch in reversed(_stack()):
        if batch.depth == level:
            return batch
    raise RuntimeError(f"taeda.func.vmap: no batch of level {level} is running in this thread")


@contextmanager
def running(size: int, rule_of: Callable[[OpOverload], Rule | None], randomness: str = "error") -> Iterator[Batch]:
    """A new batch of ``size`` examples, the innermost one in the block; ``rule_of`` tells what serves an op."""
    stack = _stack()
    stack.append(Batch(size, len(stack), rule_of, randomness))
    try:
        yield stack[-1]
    finally:
        stack.pop().is_over = True


def mapped(x: Tensor) -> Tensor:
    """``x`` as a tensor of the innermost batch, of its own for each example, so that one can differentiate by it."""
    batch = current()
    if batch is None or batch.holds(x):
        return x
    levels = range(batch.dual_levels, _autograd._dual_levels())
    tangents = {level: _autograd._get_tangent(x, level) for level in levels}
    known = {level: tangent for level, tangent in tangents.items() if tangent is not None}
    made = batch.wrap(batch.whole(_autograd._primal(x, min(known)) if known else x))
    for level, tangent in known.items():
        _autograd._set_tangent(made, mapped(tangent), level)
    return made


def holds_linked(x: Tensor) -> bool:
    """Whether what ``x`` holds depends on something that is differentiated outside of ``vmap``."""
    while type(x) is BatchedTensor:
        x = x.value
        if x.requires_grad:
            return True
    return False


def bound(op: OpOverload, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments of a call by name, those left out with their defaults."""
    given = dict(zip((a.name for a in op._schema.arguments), args, strict=False), **kwargs)
    return {a.name: given.get(a.name, a.default_value) for a in op._schema.arguments}


def unbatched(batch: Batch, tree: Any, index: int) -> Any:
    """Arguments as one example has them."""
    return tree_map_only(BatchedTensor, lambda x: x.value[index] if x.batch is batch else x, tree)
