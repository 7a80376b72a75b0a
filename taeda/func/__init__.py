"""Functions of functions: derivatives and batches of pure functions over nested containers of tensors."""

from __future__ import annotations

from typing import Any

from taeda.func._batch import vmap
from taeda.func._forward import hessian, jacfwd, jvp, linearize
from taeda.func._reverse import grad, grad_and_value, jacrev, vjp

__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]

_OF_MODULES = frozenset(("functional_call", "replace_all_batch_norm_modules_", "stack_module_state"))


def __getattr__(name: str) -> Any:
    if name == "rearrange":
        from taeda.func._rearrange import rearrange

        return rearrange
    if name == "functionalize":
        from taeda.func._functionalize import functionalize

        return functionalize
    if name not in _OF_MODULES:  # these alone need nn
        from taeda._main.absent import missing

        raise missing(__name__, name)
    from taeda.func import _modules

    return getattr(_modules, name)
