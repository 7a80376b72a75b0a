"""Which modules are at work, in the forward pass and in the backward pass."""

from __future__ import annotations

import weakref
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.autograd import Variable
from taeda.autograd.graph import register_multi_grad_hook
from taeda.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from taeda.utils._pytree import tree_iter

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """Inside ``with tracker:``, ``tracker.parents`` holds the names of the modules that are running, and ``"Global"``.

    A module's name is its path below the outermost module that was called, ``"Net.body.0"``; that one goes by the name
    of its class. In the backward pass a module is at work from when the gradients of its outputs are there until those
    of its inputs are; if no input takes a gradient, until the pass ends.
    """

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: weakref.WeakKeyDictionary[nn.Module, str] = weakref.WeakKeyDictionary()
        self._handles: list[Any] = []
        self._will_end = False

    def __enter__(self) -> ModuleTracker:
        self._handles = [
            register_module_forward_pre_hook(self._begin),
            register_module_forward_hook(self._end, always_call=True),
        ]
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    @property
    def is_bw(self) -> bool:
        """Whether a backward pass is running."""
        return taeda._C._autograd._current_graph_task_id() != -1

    def _name(self, module: nn.Module) -> str:
        if module not in self._names:
            self._names[module] = type(module).__name__
            for path, child in module.named_modules():
                if child not in self._names:
                    self._names[child] = f"{type(module).__name__}.{path}"
        return self._names[module]

    def _begin(self, module: nn.Module, inputs: Any) -> None:
        name = self._name(module)
        self.parents.add(name)
        needing = _recorded(inputs)
        if needing:
            register_multi_grad_hook(needing, lambda _: self.parents.discard(name))

    def _end(self, module: nn.Module, inputs: Any, outputs: Any) -> None:
        name = self._name(module)
        self.parents.discard(name)
        needing = _recorded(outputs)
        if needing:
            register_multi_grad_hook(needing, lambda _: self._begin_backward(name), mode="any")

    def _begin_backward(self, name: str) -> None:
        self.parents.add(name)
        if not self._will_end:
            self._will_end = True
            Variable._execution_engine.queue_callback(self._end_backward)

    def _end_backward(self) -> None:
        self._will_end = False
        self.parents = {"Global"}


def _recorded(values: Any) -> list[Tensor]:
    """The tensors among ``values`` that a gradient flows to."""
    if not taeda.is_grad_enabled():
        return []
    return [x for x in tree_iter(values) if isinstance(x, Tensor) and x.requires_grad]
