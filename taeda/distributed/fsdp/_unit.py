"""When a module's parameters are whole: around its forward pass, and around its backward pass.

A `Unit` is a module with parameters of its own that are gathered together; a `Context` knows all units of a model.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.autograd import Variable
from taeda.distributed.fsdp._group import Precision, ShardedGroup
from taeda.utils._pytree import tree_map_only

_units: weakref.WeakKeyDictionary[nn.Module, Unit] = weakref.WeakKeyDictionary()


def unit_of(module: nn.Module) -> Unit | None:
    """The unit that ``module`` is; None if it is none."""
    return _units.get(module)


def units_in(module: nn.Module) -> list[Unit]:
    """The units in a module, those outside before those inside."""
    return [unit for one in module.modules() if (unit := _units.get(one)) is not None]


class Context:
    """What the units of a model share: the order of their forward passes, and the backward pass that goes on."""

    def __init__(self, root: Unit) -> None:
        self.root = root
        self.order: list[Unit] = []
        self.last_order: list[Unit] = []
        self.in_backward = False
        self._reducing: Callable[[], None] | None = None
        for unit in units_in(root.module):
            unit.context = self

    def enter_backward(self) -> None:
        """Called with the first gradient that comes to a unit."""
        if not self.in_backward:
            self.in_backward = True
            Variable._execution_engine.queue_callback(self._leave_backward)

    def reduce(self, group: ShardedGroup) -> None:
        """Begins to reduce a group's gradients, when those of the group before are there."""
        self.finish_reducing()
        self._reducing = group.start_reduce()

    def finish_reducing(self) -> None:
        """Waits for the reduction that goes on."""
        going, self._reducing = self._reducing, None
        if going is not None:
            going()

    def forget(self) -> None:
        """Makes an end of a backward pass that did not come to its own."""
        self.in_backward, self._reducing = False, None
        self.order.clear()
        for unit in units_in(self.root.module):
            unit.in_backward = False
            unit.reshard()

    def _leave_backward(self) -> None:
        """What is left when the backward pass has ended: groups whose parameters were not all used."""
        self.in_backward = False
        known = self.order[::-1]
        for unit in [*known, *(one for one in units_in(self.root.module) if one not in known)]:
            unit.end_backward()
        self.finish_reducing()
        self.last_order, self.order = self.order, []

    def after(self, unit: Unit) -> list[Unit]:
        """The unit that ran after it in the pass before, if units gather ahead in forward passes."""
        if not unit.prefetches_forward or unit not in self.last_order or self.in_backward:
            return []
        at = self.last_order.index(unit)
        return self.last_order[at + 1 : at + 2]

    def before(self, unit: Unit) -> Unit | None:
        """The unit whose forward pass was the one before, so that its backward pass is next."""
        at = self.order.index(unit) if unit in self.order else 0
        return self.order[at - 1] if at else None


class Unit:
    """A module whose own parameters, in ``groups``, are gathered when it runs."""

    def __init__(
        self, module: nn.Module, groups: Sequence[ShardedGroup], precision: Precision, reshards: bool | None
    ) -> None:
        self.module, self.groups, self.precision = module, list(groups), precision
        self.reshards_after_forward = reshards  # None: unless it is the outermost
        self.reshards_after_backward = True
        self.syncs = True
        self.prefetches = True
        self.reduces_unused = False
        self.prefetch_forward: list[Unit] = []
        self.prefetch_backward: list[Unit] = []
        self.context: Context | None = None
        self.in_backward = False
        self.casts_root_inputs = True
        self.gathers_in_backward = True
        self.prefetches_forward = False
        self.is_exact = False  # computes in its parameters' own dtype, whatever comes
        self.is_full = False  # its parameters are whole because someone asked for them
        self.in_forward = False
        self._given_dtype: taeda.dtype | None = None
        _units[module] = self
        for group in self.groups:
            group.when_grads_are_there = self._grads_came  # type: ignore[method-assign]

    @property
    def is_root(self) -> bool:
        """Whether no other unit of the model is around it; known from its first forward pass on."""
        return self.context is not None and self.context.root is self

    def unshard(self) -> None:
        """Makes the parameters whole."""
        for group in self.groups:
            group.start_gather()
        for group in self.groups:
            group.gather()

    def reshard(self) -> None:
        """Leaves this process its shards."""
        for group in self.groups:
            group.free()

    def prefetch(self) -> None:
        """Begins to gather."""
        for group in self.groups:
            group.start_gather()

    def adopt(self) -> None:
        """Sees to parameters that were replaced or moved since the last use (``to``, ``to_empty``, loading)."""

    # ---- forward

    def before_forward(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Makes the parameters whole; gives the arguments as the module is to have them."""
        if self.context is None:
            Context(self)
        assert self.context is not None
        if self.context.in_backward and taeda._C._current_graph_task_id() == -1:  # type: ignore[attr-defined]
            self.context.forget()  # a backward pass that raised
        if not any(group.is_whole for group in self.groups):
            self.adopt()
        self.unshard()
        if taeda.is_grad_enabled() and not self.context.in_backward and self not in self.context.order:
            self.context.order.append(self)
        self.in_forward = True
        for other in self.prefetch_forward or self.context.after(self):
            other.prefetch()
        if self.is_exact and self.groups:
            self._given_dtype = next((one.dtype for one in tensors_in([args, kwargs]) if one.is_floating_point()), None)
            return cast(args, self.groups[0].dtype), cast(kwargs, self.groups[0].dtype)
        casts = self.precision.cast_inputs or self.is_root and self.casts_root_inputs
        if self.precision.param is not None and casts:
            args, kwargs = cast(args, self.precision.param), cast(kwargs, self.precision.param)
        return args, kwargs

    def after_forward(self, output: Any) -> Any:
        """Gives back what the backward pass gathers again; the result as others are to have it."""
        assert self.context is not None
        self.in_forward = False
        wanted = self._given_dtype if self.is_exact else self.precision.output
        if wanted is not None:
            output = cast(output, wanted)
        if not self.in_backward:
            keeps = self.is_root if self.reshards_after_forward is None else not self.reshards_after_forward
            if not keeps or not taeda.is_grad_enabled():
                self.reshard()
        if taeda.is_grad_enabled():
            for tensor in tensors_in(output):
                if tensor.requires_grad:
                    tensor.register_hook(self._before_backward)
        return output

    # ---- backward

    def _before_backward(self, grad: Tensor) -> None:
        assert self.context is not None
        self.context.enter_backward()
        self.in_backward = True
        if not self.gathers_in_backward:
            return
        self.unshard()
        others = self.prefetch_backward
        if not others and self.prefetches and (one := self.context.before(self)) is not None:
            others = [one]
        for other in others:
            if not other.in_backward:
                other.prefetch()

    def _grads_came(self, group: ShardedGroup) -> None:
        """All gradients of a group are there."""
        if self.context is None:
            return
        self.context.enter_backward()
        if self.syncs:
            self.context.reduce(group)
        else:
            group.keep_grads()
        if self.reshards_after_backward and all(group.trained):
            group.free()

    def end_backward(self) -> None:
        """The backward pass has ended."""
        assert self.context is not None
        for group in self.groups:
            if self.syncs and (group.has_grads() or self.reduces_unused and self.in_backward and any(group.trained)):
                self.context.reduce(group)
            elif not self.syncs:
                group.keep_grads()
        if self.reshards_after_backward:
            self.reshard()
        self.in_backward = False


def cast(value: Any, dtype: taeda.dtype) -> Any:
    """Tensors of floating-point numbers, also within containers, in another dtype."""
    return tree_map_only(Tensor, lambda one: one.to(dtype) if one.is_floating_point() else one, value)


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors in containers and dataclasses."""
    if isinstance(value, Tensor):
        yield value
        return
    if isinstance(value, dict):
        value = list(value.values())
    elif hasattr(value, "__dataclass_fields__"):
        value = list(vars(value).values())
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors_in(part)
