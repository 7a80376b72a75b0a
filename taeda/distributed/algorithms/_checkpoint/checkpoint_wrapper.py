"""Wrappers that keep a module's inputs instead of its intermediate results, and compute these again."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Any

from taeda import Tensor, nn
from taeda.autograd.graph import save_on_cpu
from taeda.distributed.fsdp.wrap import Policy, lambda_auto_wrap_policy, wrap_children
from taeda.utils.checkpoint import checkpoint

__all__ = [
    "ActivationWrapper", "CheckpointImpl", "CheckpointWrapper", "OffloadWrapper", "apply_activation_checkpointing",
    "checkpoint_wrapper", "offload_wrapper",
]  # fmt: skip

_WRAPPED = "_checkpoint_wrapped_module"


class CheckpointImpl(Enum):
    """How it is computed again: in a backward pass of its own, or within the one that goes on."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(nn.Module):
    """A wrapper whose state has the names of what is wrapped."""

    def __init__(self, mod: nn.Module) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self._register_state_dict_hook(_without_wrapper)
        self._register_load_state_dict_pre_hook(_with_wrapper, with_module=True)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise ValueError("ActivationWrapper: a class that derives from it says how it runs")

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == _WRAPPED:
                raise
            return getattr(super().__getattr__(_WRAPPED), name)

    def __getitem__(self, key: int) -> Any:
        return self._checkpoint_wrapped_module[key]  # type: ignore[index]

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, nn.Parameter]]:
        """Under the names of what is wrapped."""
        for name, one in super().named_parameters(*args, **kwargs):
            yield name.replace(f"{_WRAPPED}.", ""), one


def _without_wrapper(module: nn.Module, state: dict[str, Tensor], prefix: str, _: Any) -> None:
    before = f"{prefix}{_WRAPPED}."
    for name in [name for name in state if name.startswith(before)]:
        state[prefix + name[len(before) :]] = state.pop(name)


def _with_wrapper(module: nn.Module, state: dict[str, Tensor], prefix: str, *_: Any) -> None:
    before = f"{prefix}{_WRAPPED}."
    for name in [name for name in state if name.startswith(prefix) and not name.startswith(before)]:
        state[before + name[len(prefix) :]] = state.pop(name)


class CheckpointWrapper(ActivationWrapper):
    """Computes ``mod`` again in the backward pass, by ``checkpoint_fn``, by default `taeda.utils.checkpoint`."""

    def __init__(
        self, mod: nn.Module, checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT, checkpoint_fn: Any = None,
        **checkpoint_fn_kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        self.checkpoint_fn: Callable[..., Any]
        if checkpoint_fn is None:
            reentrant = checkpoint_impl is CheckpointImpl.REENTRANT
            self.checkpoint_fn = functools.partial(checkpoint, use_reentrant=reentrant, **checkpoint_fn_kwargs)
        else:
            self.checkpoint_fn = functools.partial(checkpoint_fn, **checkpoint_fn_kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's own result."""
        inner = self._checkpoint_wrapped_module
        if self.checkpoint_impl is CheckpointImpl.REENTRANT and kwargs:
            names = list(kwargs)  # that kind passes gradients on to positional arguments only

            def call(*given: Any) -> Any:
                count = len(given) - len(names)
                return inner(*given[:count], **dict(zip(names, given[count:], strict=True)))

            return self.checkpoint_fn(call, *args, *kwargs.values())
        return self.checkpoint_fn(inner, *args, **kwargs)


class OffloadWrapper(ActivationWrapper):
    """Keeps ``mod``'s intermediate results on the CPU."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's own result."""
        with save_on_cpu(pin_memory=False):
            return self._checkpoint_wrapped_module(*args, **kwargs)


def offload_wrapper(module: nn.Module) -> nn.Module:
    """`OffloadWrapper` of a module."""
    return OffloadWrapper(module)


def checkpoint_wrapper(
    module: nn.Module, checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT, checkpoint_fn: Any = None,
    **checkpoint_fn_kwargs: Any,
) -> nn.Module:  # fmt: skip
    """`CheckpointWrapper` of a module."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(
    model: nn.Module, checkpoint_wrapper_fn: Callable[..., nn.Module] = checkpoint_wrapper,
    check_fn: Callable[[nn.Module], bool] = lambda _: True, auto_wrap_policy: Policy | None = None,
) -> None:  # fmt: skip
    """Wraps the submodules of ``model``, in place, for which ``check_fn``, or the policy, says so."""
    policy = auto_wrap_policy or functools.partial(lambda_auto_wrap_policy, lambda_fn=check_fn)
    wrap_children(model, policy, checkpoint_wrapper_fn, {}, set(), set())
