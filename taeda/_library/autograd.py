"""Autograd kernels made of a ``backward`` and a ``setup_context``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import _C
from taeda._library.ops import OpOverload

Function = Callable[..., Any]


def _is_tensors(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(item, taeda.Tensor) for item in value)


def _flatten(args: tuple[Any, ...]) -> tuple[list[Any], list[int | None]]:
    """Lists of tensors spelt out, since a Function sees only tensors that are arguments themselves."""
    flat: list[Any] = []
    counts: list[int | None] = []
    for arg in args:
        if _is_tensors(arg):
            flat += arg
            counts.append(len(arg))
        else:
            flat.append(arg)
            counts.append(None)
    return flat, counts


def _unflatten(flat: Any, counts: list[int | None]) -> tuple[Any, ...]:
    values = iter(flat)
    return tuple(next(values) if n is None else [next(values) for _ in range(n)] for n in counts)


class _ListContext:
    """A context whose ``needs_input_grad`` has the lists of the op's arguments."""

    def __init__(self, ctx: Any, counts: list[int | None]) -> None:
        self.__dict__["_ctx"], self.__dict__["_counts"] = ctx, counts

    @property
    def needs_input_grad(self) -> tuple[Any, ...]:
        return _unflatten(self._ctx.needs_input_grad, self._counts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_ctx"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["_ctx"], name, value)


def _wants_grad(flat: list[Any]) -> bool:
    return taeda.is_grad_enabled() and any(isinstance(a, taeda.Tensor) and a.requires_grad for a in flat)


def make_autograd_kernel(op: OpOverload, backward: Function | None, setup_context: Function | None) -> Function:
    """The op's kernel at the key Autograd; takes the key set first.

    Raises:
        RuntimeError: the op writes to its arguments and there is a ``backward``.
    """
    if backward is not None and op._schema.is_mutable:
        raise RuntimeError(
            f"taeda.library.register_autograd: {op} writes to its arguments, so that it has no derivative"
        )

    positional = [a for a in op._schema.arguments if not a.kwarg_only]
    keywords = {a.name: a.default_value for a in op._schema.arguments if a.kwarg_only}

    def kernel(keyset: Any, *args: Any, **kwargs: Any) -> Any:
        below = keyset & _C._after_autograd_keyset
        # setup_context and backward see every argument, also those that a call leaves at their defaults.
        args += tuple(a.default_value for a in positional[len(args) :])
        kwargs = keywords | kwargs
        flat, counts = _flatten(args)
        if not _wants_grad(flat):
            return op.redispatch(below, *args, **kwargs)
        return _make_function(op, below, counts, kwargs, backward, setup_context).apply(*flat)

    return kernel


def _make_function(op: OpOverload, keyset: Any, counts: list[int | None], kwargs: dict[str, Any],
                   backward: Function | None, setup_context: Function | None) -> Any:  # fmt: skip
    has_lists = any(count is not None for count in counts)

    def view(ctx: Any) -> Any:
        return _ListContext(ctx, counts) if has_lists else ctx

    class Generated(taeda.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *flat: Any) -> Any:
            args = _unflatten(flat, counts)
            with _C._AutoDispatchBelowAutograd():
                result = op.redispatch(keyset, *args, **kwargs)
            if op._schema.is_mutable:
                _mark_written(ctx, op, args)
            if setup_context is not None:
                keywords = {"keyword_only_inputs": kwargs} if kwargs else {}
                setup_context(ctx=view(ctx), inputs=args, output=result, **keywords)
            return tuple(result) if isinstance(result, list) else result

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            if backward is None:
                raise RuntimeError(f"taeda.library: {op} has no derivative; give it one with register_autograd")
            result = backward(view(ctx), *grads)
            if not has_lists:
                return result
            parts = result if isinstance(result, tuple) else (result,)
            flat: list[Any] = []
            for part, count in zip(parts, counts, strict=True):
                flat += [part] if count is None else (part if part is not None else [None] * count)
            return tuple(flat)

    Generated.__name__ = Generated.__qualname__ = op._opname
    return Generated


def _mark_written(ctx: Any, op: OpOverload, args: tuple[Any, ...]) -> None:
    for argument, value in zip(op._schema.arguments, args):
        if argument.is_write and isinstance(value, taeda.Tensor) and value.requires_grad:
            raise RuntimeError(
                f"taeda.library: {op} writes to '{argument.name}', which requires a gradient, but has no derivative"
            )
