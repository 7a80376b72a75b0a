"""``autograd.Function`` of composed tensors: a Function of their sources, which runs the program's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taeda import Tensor
from taeda._composed.tensor import Composed
from taeda.autograd import function
from taeda.autograd.function import Function, FunctionCtx


class _Context(FunctionCtx):
    """The ``ctx`` that the program's methods share."""

    to_save: tuple[Any, ...] = ()
    dirty_tensors: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()
    materialize_grads = True
    needs_input_grad: tuple[bool, ...] = ()

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved."""
        return self.to_save


def _sources(values: Sequence[Any]) -> list[Tensor]:
    return [part for x in values if isinstance(x, Tensor) for part in _parts(x)]


def _parts(x: Tensor) -> list[Tensor]:
    return x.sources() if isinstance(x, Composed) else [x]


class _Call:
    """One call of a Function."""

    def __init__(self, cls: Any, args: tuple[Any, ...]) -> None:
        self.cls, self.args, self.ctx = cls, args, _Context()
        self.results: tuple[Any, ...] = ()
        self.alone = False  # one result, no tuple
        self.ctx.needs_input_grad = tuple(isinstance(x, Tensor) and x.requires_grad for x in args)

    def forward(self) -> list[Tensor]:
        """The sources of the results."""
        if self.cls.setup_context is Function.setup_context:
            results = self.cls.forward(self.ctx, *self.args)
        else:
            results = self.cls.forward(*self.args)
            self.cls.setup_context(self.ctx, self.args, results)
        self.alone = not isinstance(results, tuple)
        self.results = (results,) if self.alone else results
        return _sources(self.results)

    def over(self, made: Sequence[Tensor]) -> Any:
        """The results over the sources that are part of the graph."""
        rest = iter(made)
        found = tuple(self._of(x, rest) for x in self.results)
        return found[0] if self.alone else found

    def _of(self, like: Any, rest: Any) -> Any:
        if not isinstance(like, Tensor):
            return like
        parts = [next(rest) for _ in _parts(like)]
        if all(part is None for part in parts):
            return None
        parts = [one.new_zeros(one.shape) if part is None else part
                 for one, part in zip(_parts(like), parts, strict=True)]  # fmt: skip
        return like.over(parts) if isinstance(like, Composed) else parts[0]

    def backward(self, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
        """The gradients of the sources of the arguments."""
        rest = iter(grads)
        given = [self._of(x, rest) if isinstance(x, Tensor) else None for x in self.results]
        own = self.cls.backward if self.cls.backward is not Function.backward else self.cls.vjp
        found = own(self.ctx, *given)
        found = found if isinstance(found, tuple) else (found,)
        made: list[Tensor | None] = []
        for x, grad in zip(self.args, found, strict=False):
            if isinstance(x, Tensor):
                made += [None] * len(_parts(x)) if grad is None else _parts(grad)
        return made


class _OverSources(Function):
    @staticmethod
    def forward(ctx: Any, call: _Call, *sources: Tensor) -> Any:
        results = call.forward()
        ctx.call = call
        ctx.set_materialize_grads(call.ctx.materialize_grads)
        ctx.mark_dirty(*_sources(call.ctx.dirty_tensors))
        ctx.mark_non_differentiable(*_sources(call.ctx.non_differentiable))
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        return None, *ctx.call.backward(grads)


def _run(cls: Any, args: tuple[Any, ...]) -> Any:
    call = _Call(cls, args)
    return call.over(_OverSources.apply(call, *_sources(args)))


function.route(Composed, _run)
