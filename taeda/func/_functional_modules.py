"""Modules as functions in functorch's older form: parameters are a tuple, not a dictionary."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from taeda import Tensor, nn
from taeda.func._batch import vmap
from taeda.func._modules import functional_call
from taeda.utils._pytree import tree_leaves

Tensors = tuple[Tensor, ...]


class FunctionalModule(nn.Module):
    """A module without parameters of its own: they come first among a call's arguments. It has no buffers."""

    def __init__(self, stateless_model: nn.Module, param_names: tuple[str, ...]) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names

    def forward(self, params: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        return functional_call(self.stateless_model, dict(zip(self.param_names, params, strict=True)), args, kwargs)


class FunctionalModuleWithBuffers(nn.Module):
    """A module without parameters and buffers of its own: they come first among a call's arguments."""

    def __init__(self, stateless_model: nn.Module, param_names: tuple[str, ...], buffer_names: tuple[str, ...]) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.buffer_names = buffer_names

    def forward(self, params: Sequence[Tensor], buffers: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        state = dict(zip(self.param_names, params, strict=True))
        state |= zip(self.buffer_names, buffers, strict=True)
        return functional_call(self.stateless_model, state, args, kwargs)


def _taken_apart(model: nn.Module, detached: bool) -> tuple[nn.Module, dict[str, Tensor], dict[str, Tensor]]:
    """A copy of the module, and its parameters and buffers by name; a tensor under several names counts once."""
    copy = deepcopy(model)
    params: dict[str, Tensor] = dict(copy.named_parameters())
    if detached:
        params = {name: param.detach() for name, param in params.items()}
    return copy, params, dict(copy.named_buffers())


def make_functional(model: nn.Module, disable_autograd_tracking: bool = False) -> tuple[FunctionalModule, Tensors]:
    """A function ``f(params, *args)`` that computes what ``model`` does, and copies of its parameters.

    Args:
        model: a module without buffers.
        disable_autograd_tracking: whether the copies do not require gradients.

    Raises:
        RuntimeError: ``model`` has buffers; see `make_functional_with_buffers`.
    """
    copy, params, buffers = _taken_apart(model, disable_autograd_tracking)
    if buffers:
        raise RuntimeError(
            "taeda.func.make_functional: the module has buffers; make_functional_with_buffers takes them as well"
        )
    return FunctionalModule(copy, tuple(params)), tuple(params.values())


def make_functional_with_buffers(
    model: nn.Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """A function ``f(params, buffers, *args)`` that computes what ``model`` does, and copies of both."""
    copy, params, buffers = _taken_apart(model, disable_autograd_tracking)
    function = FunctionalModuleWithBuffers(copy, tuple(params), tuple(buffers))
    return function, tuple(params.values()), tuple(buffers.values())


def combine_state_for_ensemble(
    models: Sequence[nn.Module],
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """The function of `make_functional_with_buffers`, with parameters and buffers of all models stacked along a new
    first dimension; see ``taeda.func.stack_module_state``, which does the same by name."""
    from taeda.func._modules import stack_module_state

    params, buffers = stack_module_state(models)
    function, _, _ = make_functional_with_buffers(models[0])
    return function, tuple(params.values()), tuple(buffers.values())


def functional_init(model_class: Any, ensemble_shape: Sequence[int] = (), device: Any = "cpu") -> Callable[..., Any]:
    """From the arguments of ``model_class`` to parameters, the function that takes them and a tuple of the module's
    arguments, and their names.

    Args:
        model_class: makes a module without buffers; see `functional_init_with_buffers`.
        ensemble_shape: with one number, so many modules are made and their parameters stacked.
        device: where they are.

    Raises:
        ValueError: more than one number, or none above zero.
        RuntimeError: the module has buffers.
    """
    with_buffers = functional_init_with_buffers(model_class, ensemble_shape, device)

    def make(*args: Any, **kwargs: Any) -> tuple[Tensors, Callable[..., Any], tuple[str, ...]]:
        weights, buffers, function, names, _ = with_buffers(*args, **kwargs)
        if buffers:
            raise RuntimeError("taeda.func.functional_init: the module has buffers; see functional_init_with_buffers")
        return weights, lambda weights, data: function(weights, (), data), names

    return make


def functional_init_with_buffers(
    model_class: Any, ensemble_shape: Sequence[int] = (), device: Any = "cpu"
) -> Callable[..., Any]:
    """As `functional_init`; gives parameters, buffers, the function, and the names of both."""
    if len(ensemble_shape) > 1 or any(count <= 0 for count in ensemble_shape):
        raise ValueError(
            f"taeda.func.functional_init: ensemble_shape must hold one number above zero or none; got {ensemble_shape}"
        )

    def make(*args: Any, **kwargs: Any) -> tuple[Tensors, Tensors, Callable[..., Any], Any, Any]:
        models = [model_class(*args, **kwargs).to(device) for _ in range(ensemble_shape[0] if ensemble_shape else 1)]
        function, weights, buffers = make_functional_with_buffers(models[0])
        if ensemble_shape:
            _, weights, buffers = combine_state_for_ensemble(models)

        def call(weights: Tensors, buffers: Tensors, data: tuple[Any, ...]) -> Any:
            return function(weights, buffers, *data)

        return weights, buffers, call, function.param_names, function.buffer_names

    return make


def chunk_vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", chunks: int = 2
) -> Callable[..., Any]:
    """``vmap`` over ``chunks`` parts of the batch, one after the other."""

    def run(*args: Any, **kwargs: Any) -> Any:
        mapped = _sizes(args, in_dims)
        size = -(-mapped // min(chunks, mapped)) if mapped else None
        return vmap(func, in_dims, out_dims, randomness, chunk_size=size)(*args, **kwargs)

    return run


def _sizes(args: tuple[Any, ...], in_dims: Any) -> int:
    """How many examples the arguments hold."""
    dims = in_dims if isinstance(in_dims, (tuple, list)) else [in_dims] * len(args)
    for arg, dim in zip(args, dims):
        leaves = [leaf for leaf in tree_leaves(arg) if isinstance(leaf, Tensor)]
        axis = next((d for d in tree_leaves(dim) if d is not None), None)
        if leaves and axis is not None:
            return leaves[0].size(axis)
    return 0


def moved(name: str, function: Any) -> Any:
    """The function as ``functorch`` has it: a call says that ``torch`` has it now."""

    @functools.wraps(function)
    def deprecated(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"functorch.{name}: functorch is deprecated; torch and torch.func have what serves in its place",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    return deprecated
