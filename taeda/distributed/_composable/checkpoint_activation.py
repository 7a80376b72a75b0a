"""Activation checkpoints of a module, without a wrapper around it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import taeda
from taeda import nn
from taeda.distributed._composable.contract import contract
from taeda.utils.checkpoint import _recording

__all__ = ["checkpoint"]

_NAME = "taeda.distributed._composable.checkpoint"
_OPTIONS = {"context_fn", "debug", "determinism_check", "early_stop", "preserve_rng_state"}


class _CheckpointState:
    """Whether a module's calls are recorded, and the recording that is under way."""

    enable_hook = False
    _ac_generator: Any = None

    def end(self, *error: Any) -> None:
        recording, self._ac_generator = self._ac_generator, None
        if recording is not None:
            recording.__exit__(*error)


@contextmanager
def _unrecorded(state: _CheckpointState) -> Iterator[None]:
    before, state.enable_hook = state.enable_hook, False
    try:
        yield
    finally:
        state.enable_hook = before


@contract(state_cls=_CheckpointState)
def checkpoint(module: nn.Module, **kwargs: Any) -> nn.Module:
    """Has ``module`` run again in backward passes, where it keeps nothing for them.

    Args:
        module: whose calls do not keep what their backward passes need.
        kwargs: of `taeda.utils.checkpoint.checkpoint`, with ``use_reentrant`` False.

    Raises:
        NotImplementedError: ``use_reentrant`` is true.
        ValueError: there is no such argument.
    """
    if kwargs.pop("use_reentrant", False):
        raise NotImplementedError(f"{_NAME}: use_reentrant=False is wanted; True needs a call of its own")
    if unknown := sorted(set(kwargs) - _OPTIONS):
        raise ValueError(f"{_NAME}: the arguments are {sorted(_OPTIONS)}; got {unknown}")
    state = checkpoint.state(module)
    state.enable_hook = True

    def again(*inputs: Any, **named: Any) -> Any:
        with _unrecorded(state):
            return module(*inputs, **named)

    def before(_: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        if state.enable_hook and taeda.is_grad_enabled():
            state._ac_generator = _recording(again, inputs, named, **kwargs)
            state._ac_generator.__enter__()

    def behind(_: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        if state.enable_hook:
            state.end(None, None, None)

    module.register_forward_pre_hook(before, with_kwargs=True)
    module.register_forward_hook(behind, prepend=True, always_call=True)
    return module
