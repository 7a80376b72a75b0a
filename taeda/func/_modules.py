"""Modules as functions of their parameters and buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._main.listed import iterated
from taeda.nn.utils.stateless import _functional_call


def _merged(dicts: Any) -> dict[str, Tensor]:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(f"taeda.func.functional_call: takes a dict or a sequence of dicts; got {type(dicts).__name__}")
    merged: dict[str, Tensor] = {}
    for one in dicts:
        if not isinstance(one, Mapping):
            raise ValueError(f"taeda.func.functional_call: takes dicts; got {type(one).__name__}")
        twice = merged.keys() & one.keys()
        if twice:
            raise ValueError(f"taeda.func.functional_call: the dicts share the keys {sorted(twice)}")
        merged.update(one)
    return merged


def functional_call(
    module: nn.Module,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Calls the module with other tensors in place of its parameters and buffers.

    Args:
        module: the module; it is as before afterwards.
        parameter_and_buffer_dicts: tensors by their names in ``named_parameters`` and ``named_buffers``; one dict or
            several without common keys. What is missing keeps its value. What the module puts in the place of a
            tensor ends up in the dict, if there is but one.
        args: the positional argument, or a tuple of them.
        kwargs: the keyword arguments.
        tie_weights: a tensor that the module holds under several names is replaced under all.
        strict: all names must be given, and no other.

    Raises:
        ValueError: keys twice, or several values for one tied tensor.
        RuntimeError: ``strict`` is violated.
        TypeError: something else than a tensor is given, or in its place.
    """
    given = _merged(parameter_and_buffer_dicts)
    return _functional_call(module, given, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models: Sequence[nn.Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of several modules of one class, stacked by name along a new first dimension.

    With ``vmap`` over ``functional_call`` they make an ensemble. The stacked parameters are leaves that require
    gradients where the modules' do.

    Raises:
        RuntimeError: no model, different classes or modes, or parameters that differ in ``requires_grad``.
    """
    models = iterated("taeda.func.stack_module_state: models", models)
    if not models:
        raise RuntimeError("taeda.func.stack_module_state: needs at least one model")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("taeda.func.stack_module_state: all models must be in train mode or all in eval mode")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("taeda.func.stack_module_state: all models must be of one class")
    parameters = _stacked([dict(model.named_parameters()) for model in models])
    buffers = _stacked([dict(model.named_buffers()) for model in models])
    return parameters, buffers


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    result = {}
    for name, first in states[0].items():
        tensors = [state[name] for state in states]
        if len({t.requires_grad for t in tensors}) > 1:
            raise RuntimeError(f"taeda.func.stack_module_state: '{name}' must require grad in all models or in none")
        result[name] = taeda.stack([t.detach() for t in tensors]).requires_grad_(first.requires_grad)
    return result


def replace_all_batch_norm_modules_(root: nn.Module) -> nn.Module:
    """Takes the running statistics away from all batch norms of a module, in place: they use the batch's own, also in
    eval mode, as a function without state must. Gives the module."""
    for module in root.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
