"""Modules as functions of their parameters and buffers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import taeda
from taeda import Tensor, nn


def _merged(dicts: Any) -> dict[str, Tensor]:
    if isinstance(dicts, Mapping):
        return dict(dicts)
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


def _with_tied(module: nn.Module, given: dict[str, Tensor]) -> dict[str, Tensor]:
    """The other names of each parameter that was given, too."""
    names: dict[int, list[str]] = {}
    for named in (module.named_parameters, module.named_buffers):
        for name, tensor in named(remove_duplicate=False):
            names.setdefault(id(tensor), []).append(name)
    result = dict(given)
    for group in names.values():
        values = [given[name] for name in group if name in given]
        if not values:
            continue
        if any(value is not values[0] for value in values):
            raise ValueError(f"taeda.func.functional_call: {group} are one tensor, but several values are given")
        result.update(dict.fromkeys(group, values[0]))
    return result


def _check_keys(module: nn.Module, given: dict[str, Tensor], strict: bool) -> None:
    own = [name for name, _ in module.named_parameters(remove_duplicate=False)]
    own += [name for name, _ in module.named_buffers(remove_duplicate=False)]
    unexpected = sorted(given.keys() - set(own))
    missing = sorted(set(own) - given.keys())
    if strict and (unexpected or missing):
        raise RuntimeError(f"taeda.func.functional_call: unexpected keys {unexpected}, missing keys {missing}")


@contextlib.contextmanager
def _replaced(module: nn.Module, values: dict[str, Tensor]) -> Iterator[None]:
    """The module with other tensors under these names; what the module assigns to them in the scope goes into
    ``values``."""
    places = []
    for name, value in values.items():
        path, _, last = name.rpartition(".")
        owner = module.get_submodule(path)
        holder = next((h for h in (owner._parameters, owner._buffers) if last in h), None)
        if holder is None:
            raise AttributeError(f"taeda.func.functional_call: the module has no parameter or buffer '{name}'")
        places.append((holder, last, holder[last], name))
        if not isinstance(value, Tensor):
            raise TypeError(f"taeda.func.functional_call: '{name}' must be a tensor; got {type(value).__name__}")
    try:
        for holder, last, _, name in places:
            holder[last] = values[name]
        yield
    finally:
        for holder, last, before, _ in reversed(places):
            holder[last] = before


def functional_call(
    module: nn.Module,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Calls the module with other tensors in place of its parameters and buffers.

    Args:
        module: the module; it is as before afterwards.
        parameter_and_buffer_dicts: tensors by their names in ``named_parameters`` and ``named_buffers``; one dict or
            several without common keys. What is missing keeps its value.
        args: the positional argument, or a tuple of them.
        kwargs: the keyword arguments.
        tie_weights: a tensor that the module holds under several names is replaced under all.
        strict: all names must be given, and no other.

    Raises:
        ValueError: keys twice, or several values for one tied tensor.
        RuntimeError: ``strict`` is violated.
    """
    given = _merged(parameter_and_buffer_dicts)
    _check_keys(module, given, strict)
    values = _with_tied(module, given) if tie_weights else given
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, values):
        return module(*positional, **(kwargs or {}))


def stack_module_state(models: Sequence[nn.Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of several modules of one class, stacked by name along a new first dimension.

    With ``vmap`` over ``functional_call`` they make an ensemble. The stacked parameters are leaves that require
    gradients where the modules' do.

    Raises:
        RuntimeError: no model, different classes or modes, or parameters that differ in ``requires_grad``.
    """
    models = list(models)
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
