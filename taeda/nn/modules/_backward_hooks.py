"""How a module's backward hooks get between its inputs' and its outputs' gradients.

An identity node stands before the module and one behind it. In backward the second sees the gradients of the outputs,
the first those of the inputs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd import Function


class _Tap(Function):
    """The identity; ``on_grad`` sees, and may replace, the gradients that pass."""

    @staticmethod
    def forward(ctx: Any, on_grad: Callable[[tuple[Any, ...]], tuple[Any, ...]], *tensors: Tensor) -> Any:
        ctx.on_grad = on_grad
        outputs = tuple(tensor.view_as(tensor) for tensor in tensors)
        ctx.mark_non_differentiable(
            *(output for output, tensor in zip(outputs, tensors, strict=True) if not tensor.requires_grad)
        )
        return outputs

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (None, *ctx.on_grad(grads))


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _replace(old: tuple[Any, ...], new: Any, what: str) -> tuple[Any, ...]:
    if new is None:
        return old
    new = _as_tuple(new)
    if len(new) != len(old):
        raise RuntimeError(f"taeda.nn: a backward hook returned {len(new)} gradients for {len(old)} {what}")
    return new


class BackwardHooks:
    """The full backward hooks and pre-hooks of one call of ``module``."""

    def __init__(self, module: Any, hooks: Iterable[Any], pre_hooks: Iterable[Any]) -> None:
        self.module = module
        self.hooks = list(hooks)
        self.pre_hooks = list(pre_hooks)
        self.grad_outputs: tuple[Any, ...] | None = None
        self.n_inputs: int | None = None
        self.inputs_tapped = False

    def wrap_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        self.n_inputs = len(args)
        if not self.hooks:
            return args
        args, self.inputs_tapped = self._tap(args, self._on_grad_inputs)
        return args

    def wrap_outputs(self, result: Any) -> Any:
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                f"taeda.nn: backward hooks see gradients of a tensor or a tuple of them; {type(self.module).__name__} "
                f"returned a {type(result).__name__}, whose gradients pass them by",
                stacklevel=4,
            )
        outputs, _ = self._tap(_as_tuple(result), self._on_grad_outputs)
        if not isinstance(result, tuple):
            return outputs[0]
        make = getattr(type(result), "_make", None)  # of named tuples
        return outputs if make is None else make(outputs)

    @staticmethod
    def _tap(values: tuple[Any, ...], on_grad: Any) -> tuple[tuple[Any, ...], bool]:
        at = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
        if not taeda.is_grad_enabled() or not any(values[i].requires_grad for i in at):
            return values, False
        count = len(values)

        def spread(grads: tuple[Any, ...]) -> tuple[Any, ...]:
            full = [None] * count
            for i, grad in zip(at, grads, strict=True):
                full[i] = grad
            full = on_grad(tuple(full))
            return tuple(full[i] for i in at)

        tapped = list(values)
        for i, tensor in zip(at, _Tap.apply(spread, *(values[i] for i in at)), strict=True):
            tapped[i] = tensor
        return tuple(tapped), True

    def _on_grad_outputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in self.pre_hooks:
            grads = _replace(grads, hook(self.module, grads), "outputs")
        self.grad_outputs = grads
        if not self.inputs_tapped:
            # No input needs a gradient, so nothing else would call the hooks.
            if self.hooks:
                warnings.warn("taeda.nn: a full backward hook is called without gradients of inputs, as no input "
                              "of the module requires grad", UserWarning, stacklevel=2)  # fmt: skip
            missing = (None,) * (self.n_inputs or 0)
            for hook in self.hooks:
                result = hook(self.module, missing, grads)
                if result is not None and any(grad is not None for grad in _as_tuple(result)):
                    raise RuntimeError(
                        "taeda.nn: a full backward hook returned gradients for inputs, but no input of the module "
                        "requires grad"
                    )
            self.grad_outputs = None
        return grads

    def _on_grad_inputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.grad_outputs is None:  # it came by a path that does not pass the module's output
            return grads
        for hook in self.hooks:
            grads = _replace(grads, hook(self.module, grads, self.grad_outputs), "inputs")
        self.grad_outputs = None
        return grads


def attach_legacy(module: Any, hooks: list[Any], args: tuple[Any, ...], result: Any) -> None:
    """Registers the hooks of `register_backward_hook` at the node that made the module's first output."""
    for what, value in (("is called with", args[0] if len(args) == 1 else args), ("returns", result)):
        if not isinstance(value, (Tensor, tuple)):
            warnings.warn(
                f"register_backward_hook is for modules of tensors and tuples of them; this one {what} a "
                f"{type(value).__name__}. Use register_full_backward_hook",
                FutureWarning,
                stacklevel=4,
            )
    if isinstance(result, tuple) and len(result) != 1:
        warnings.warn(
            "register_backward_hook sees only the last operation of a module with several outputs; "
            "use register_full_backward_hook",
            FutureWarning,
            stacklevel=4,
        )
    first = result
    while not isinstance(first, Tensor):
        if isinstance(first, dict):
            first = next(value for value in first.values() if isinstance(value, Tensor))
        else:
            first = first[0]
    node = first.grad_fn
    if node is None:
        return
    before = {value.grad_fn for value in args if isinstance(value, Tensor)}
    within = [made for made, _ in node.next_functions if made is not None and made.next_functions]
    if not before.issuperset(within):
        warnings.warn(
            "register_backward_hook sees only the last of a module's operations; use register_full_backward_hook",
            FutureWarning,
            stacklevel=4,
        )
    for hook in hooks:
        node.register_hook(lambda grad_in, grad_out, hook=hook: hook(module, grad_in, grad_out))
