"""Differentiable functions with a derivative written by hand."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import taeda
from taeda import _C

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]

_NAME = "taeda.autograd.Function"
_by_rule: Any = None  # func.vmap's: the Function that runs the rule of one, where an argument is a batch
_routed: Any = None  # a class of tensors, and what runs a Function of such: see `route`


class FunctionCtx:
    """What ``forward`` and ``backward`` of one call share, their ``ctx``; other things may be set as attributes."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps tensors (or None) for ``backward``, where ``ctx.saved_tensors`` gives them back.

        Unlike an attribute this makes no reference cycle for outputs, notices writes in place, and takes part in
        saved-tensor hooks. To be called once, from ``forward`` or ``setup_context``.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keeps tensors (or None) for ``jvp``."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Says which inputs ``forward`` wrote to in place; it must return them too."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Says which outputs have no gradient; ``backward`` still gets an argument for each."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether ``backward`` gets zeros (the default) or None for an output that no gradient reached."""
        self.materialize_grads = value

    @property
    def saved_variables(self) -> Any:
        """The old name of ``saved_tensors``."""
        warnings.warn("taeda.autograd.Function: saved_variables is deprecated; use saved_tensors", DeprecationWarning,
                      stacklevel=2)  # fmt: skip
        return self.saved_tensors  # type: ignore[attr-defined]


class BackwardCFunction(_C._FunctionBase, FunctionCtx):
    """The base of contexts; a subclass named after its Function is made for each."""

    _forward_cls: type[Function]


def _no_backward(ctx: Any, *grad_outputs: Any) -> Any:
    """Computes the gradient of each input of ``forward``.

    Args:
        ctx: the context of the call, with ``saved_tensors`` and ``needs_input_grad`` (one bool for each input).
        grad_outputs: one for each output of ``forward``, with its shape and dtype.

    Returns:
        One gradient for each input of ``forward``, or None where there is none.
    """
    raise NotImplementedError(
        f"{_NAME}: define a static method backward(ctx, *grad_outputs) to differentiate this Function"
    )


def _no_setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
    """Fills ``ctx`` from inputs and output after a ``forward`` that does not take it."""
    raise NotImplementedError(
        f"{_NAME}: define a static method setup_context(ctx, inputs, output), or let forward take ctx"
    )


def _no_vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
    """Runs the function for all examples of `func.vmap` at once, which else runs ``forward`` itself.

    Args:
        info: ``info.batch_size`` says how many examples there are, ``info.randomness`` what vmap was told.
        in_dims: for each argument which dimension runs over examples, None where they share it.
        args: those of ``forward``, whole.

    Returns:
        The outputs, and for each the dimension that runs over examples, or None.
    """
    raise NotImplementedError(f"{_NAME}: define a static method vmap(info, in_dims, *args) before calling it")


class Function(_C._FunctionBase):
    """A differentiable function that brings its own derivative.

    A subclass defines static methods ``forward(ctx, *args)`` and ``backward(ctx, *grad_outputs)``; or
    ``forward(*args)`` together with ``setup_context(ctx, inputs, output)``. It is called by ``apply``, never by making
    an object. ``jvp(ctx, *tangents)`` adds forward mode.

    Example::

        class Exp(Function):
            @staticmethod
            def forward(ctx, x):
                y = x.exp()
                ctx.save_for_backward(y)
                return y

            @staticmethod
            def backward(ctx, grad):
                (y,) = ctx.saved_tensors
                return grad * y

        y = Exp.apply(x)
    """

    _backward_cls: type[BackwardCFunction]
    generate_vmap_rule = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        members = {"_forward_cls": cls, "__module__": cls.__module__}
        cls._backward_cls = type(cls.__name__ + "Backward", (BackwardCFunction,), members)
        if cls.setup_context is not _no_setup_context and "apply" not in vars(cls):
            cls.apply = vars(Function)["_apply_bound"]  # type: ignore[method-assign]

    @classmethod
    def _apply_bound(cls, *args: Any, **kwargs: Any) -> Any:
        bound = _bind(cls.forward, args, kwargs)
        if cls.vmap is not _no_vmap and _by_rule is not None:
            cls = _by_rule(cls, bound) or cls
        return cls._apply_routed(*bound)

    @classmethod
    def _apply_routed(cls, *args: Any) -> Any:
        if _routed is not None and any(isinstance(arg, _routed[0]) for arg in args):
            return _routed[1](cls, args)
        return super().apply(*args)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name = type(self).__name__
        warnings.warn(f"{_NAME}: {name} should not be instantiated; its methods are static, and {name}.apply calls it",
                      DeprecationWarning, stacklevel=2)  # fmt: skip

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{_NAME}: a Function is called as {type(self).__name__}.apply(...)")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Computes the outputs; nothing in it is recorded."""
        raise NotImplementedError(f"{_NAME}: define a static method forward(ctx, *args) to use this Function")

    backward = vjp = _unset_backward = staticmethod(_no_backward)
    setup_context = _unset_setup_context = staticmethod(_no_setup_context)

    vmap = staticmethod(_no_vmap)

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Computes the tangent of each output from those of the inputs (None where an input has none)."""
        raise NotImplementedError(
            f"{_NAME}: define a static method jvp(ctx, *tangents) to use this Function in forward mode"
        )


def route(kind: type, runs: Callable[[Any, tuple[Any, ...]], Any]) -> None:
    """From now on ``runs(cls, args)`` is called for a Function with an argument of ``kind``. Before that, ``apply`` is
    the core's own."""
    global _routed
    _routed = kind, runs
    Function.apply = vars(Function)["_apply_routed"]  # type: ignore[method-assign]


class InplaceFunction(Function):
    """A Function that objects were made of, once: it says whether it writes in place. `Function` serves as well."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


@functools.cache
def _signature(forward: Callable[..., Any]) -> Any:
    import inspect

    return inspect.signature(forward)


def _bind(forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments of ``forward`` in order, its defaults included, since setup_context sees them."""
    bound = _signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise NotImplementedError(
            f"{_NAME}: forward has keyword-only arguments ({', '.join(bound.kwargs)}), and kwarg-only Tensor args have "
            "no place among gradients; let them be positional"
        )
    return bound.args


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a ``backward`` whose own calls cannot be differentiated: doing so raises instead of giving zeros."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with taeda.no_grad():
            outputs = fn(ctx, *args)
        if not taeda.is_grad_enabled() or not any(isinstance(a, taeda.Tensor) and a.requires_grad for a in args):
            return outputs
        return _C._not_differentiable_again(outputs)

    return wrapper
