"""Modules that take the shapes of their parameters from their first input."""

from __future__ import annotations

from typing import Any

from taeda.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Makes a module lazy; stands before the module's class among the bases.

    The constructor registers `UninitializedParameter`s, and ``initialize_parameters(*args, **kwargs)``, called with the
    arguments of the first forward, materialises them. Then the module becomes an instance of ``cls_to_become``.
    """

    cls_to_become: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        this: Any = self
        self._load_hook = this._register_load_state_dict_pre_hook(_materialize_before_load, with_module=True)
        self._initialize_hook = this.register_forward_pre_hook(_initialize_before_forward, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materialises the parameters for the first call's arguments; every lazy module defines it."""
        raise NotImplementedError(f"{type(self).__name__} defines no initialize_parameters")

    def has_uninitialized_params(self) -> bool:
        """Whether some parameter or buffer still waits for its shape."""
        this: Any = self
        return any(is_lazy(tensor) for tensor in (*this._parameters.values(), *this._buffers.values()))

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        # A tensor without a shape cannot be detached; it goes into the dictionary itself.
        this: Any = self
        for name, tensor in this._own_state():
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()


def _materialize_before_load(
    module: Any,
    state_dict: Any,
    prefix: str,
    local_metadata: Any,
    strict: bool,
    missing_keys: list[str],
    unexpected_keys: list[str],
    error_msgs: list[str],
) -> None:
    for name, tensor in module._own_state():
        given = state_dict.get(prefix + name)
        if is_lazy(tensor) and given is not None and not is_lazy(given):
            tensor.materialize(given.shape)


def _initialize_before_forward(module: Any, args: Any, kwargs: Any) -> None:
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(f"{type(module).__name__}: initialize_parameters left parameters without a shape")
    module._initialize_hook.remove()
    module._load_hook.remove()
    del module._initialize_hook, module._load_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become
