"""Calling a module with other tensors in the places of its parameters and buffers."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

from taeda import Tensor

__all__ = ["functional_call"]

_NAME = "taeda.func.functional_call"
_ABSENT = object()


def _tied_names(module: Any) -> dict[str, list[str]]:
    """All names of each parameter or buffer that has several, by each of them."""
    by_tensor: dict[int, list[str]] = {}
    for named in (module.named_parameters, module.named_buffers):
        for name, tensor in named(remove_duplicate=False):
            by_tensor.setdefault(id(tensor), []).append(name)
    return {name: names for names in by_tensor.values() if len(names) > 1 for name in names}


def _with_ties(module: Any, given: dict[str, Tensor]) -> dict[str, Tensor]:
    """``given`` with each tensor also under the other names of what it stands for."""
    result, tied = dict(given), _tied_names(module)
    for name, tensor in given.items():
        for other in tied.get(name, ()):
            if other in given and given[other] is not tensor:
                raise ValueError(f"{_NAME}: '{name}' and '{other}' are one tensor, but several values are given")
            result[other] = tensor
    return result


def _check_names(module: Any, given: dict[str, Tensor]) -> None:
    own = {
        name for named in (module.named_parameters, module.named_buffers) for name, _ in named(remove_duplicate=False)
    }
    unexpected, missing = sorted(given.keys() - own), sorted(own - given.keys())
    if unexpected or missing:
        raise RuntimeError(f"{_NAME}: unexpected names {unexpected}, missing names {missing}")


def _slot(module: Any, name: str) -> tuple[dict[str, Any], str]:
    """The table that holds a parameter, buffer or other attribute, and its key there."""
    path, _, last = name.rpartition(".")
    owner = module.get_submodule(path)
    for table in (owner._parameters, owner._buffers):
        if last in table:
            return table, last
    if not isinstance(getattr(owner, last, None), (Tensor, type(None))):
        raise TypeError(f"{_NAME}: '{name}' is no parameter, buffer or other tensor of the module")
    return vars(owner), last


@contextlib.contextmanager
def _reparametrize_module(
    module: Any,
    parameters_and_buffers: dict[str, Tensor],
    *,
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> Iterator[None]:
    """While it is active, the module holds these tensors; what it sets in their places stays in the dictionary."""
    tensors = _with_ties(module, parameters_and_buffers) if tie_weights else parameters_and_buffers
    if strict:
        _check_names(module, tensors)
    for name, tensor in tensors.items():
        if not isinstance(tensor, (Tensor, type(None))):
            raise TypeError(f"{_NAME}: '{name}' must be a tensor; got {type(tensor).__name__}")
    slots = {name: _slot(module, name) for name in tensors}
    before = {name: table.get(key, _ABSENT) for name, (table, key) in slots.items()}
    for name, (table, key) in slots.items():
        table[key] = tensors[name]
    try:
        yield
    finally:
        for name, (table, key) in reversed(slots.items()):
            now = table.get(key, _ABSENT)
            if before[name] is not _ABSENT:
                table[key] = before[name]
            elif now is not _ABSENT:
                del table[key]
            if now is not _ABSENT and name in parameters_and_buffers:
                parameters_and_buffers[name] = now


def _functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict):
        return module(*positional, **(kwargs or {}))


def functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Deprecated form of ``taeda.func.functional_call``: the module called with other parameters and buffers.

    Args:
        parameters_and_buffers: tensors by name; what the module puts in their places ends up here.
        args: the positional arguments, or the only one.
        tie_weights: whether a tensor of the module with several names is replaced under all of them.
        strict: whether each parameter and buffer must be given, and nothing else.

    Raises:
        ValueError: two different tensors are given for one that is tied.
        RuntimeError: ``strict`` and the names do not match.
    """
    warnings.warn("taeda.nn.utils.stateless.functional_call is deprecated; use taeda.func.functional_call",
                  FutureWarning, stacklevel=2)  # fmt: skip
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
