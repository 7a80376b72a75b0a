"""The recorded graph: nodes, edges, and what happens to the tensors that it saves."""

from __future__ import annotations

import collections
import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import taeda
from taeda import _C, Tensor

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

_autograd = _C._autograd


class _NodeMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (_autograd.Node, _C._FunctionBase))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, (_autograd.Node, _C._FunctionBase))


class Node(metaclass=_NodeMeta):
    """The type of ``tensor.grad_fn`` for ``isinstance``: built-in nodes and contexts of Python Functions.

    A node has ``name()``, ``next_functions``, ``metadata`` (a dict for notes), ``register_hook(fn)`` with
    ``fn(grad_inputs, grad_outputs)`` and ``register_prehook(fn)`` with ``fn(grad_outputs)``.
    """


class GradientEdge(NamedTuple):
    """Where a gradient goes: result ``output_nr`` of ``node``. It can stand for a tensor in ``autograd.grad``."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge that gradients of ``tensor`` take. RuntimeError if it does not require grad."""
    return GradientEdge(*_autograd.get_gradient_edge(tensor))


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Counts a write to the tensor or tensors, so that a backward pass which needs the old values raises."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        _autograd._increment_version(t)


class saved_tensors_hooks:
    """Tensors saved in the scope are kept as what ``pack_hook(tensor)`` makes of them.

    ``unpack_hook(packed)`` must give back a tensor of the same contents when backward needs it. Scopes nest, and the
    innermost pair serves. What a hook itself computes is not packed.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        _autograd._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *args: object) -> None:
        _autograd._pop_saved_tensors_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Tensors saved in the scope wait for backward in CPU memory, page-locked with ``pin_memory``."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Tensor]:
            if not pin_memory:
                return tensor.device, tensor.cpu()
            pinned = taeda.empty(tensor.size(), dtype=tensor.dtype, layout=tensor.layout, pin_memory=True)
            return tensor.device, pinned.copy_(tensor)

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Entering ``saved_tensors_hooks`` in the scope raises RuntimeError with the given message."""
    before = _autograd._saved_tensors_hooks_disabled_message()
    _autograd._saved_tensors_hooks_disable(error_message)
    try:
        yield
    finally:
        if before is None:
            _autograd._saved_tensors_hooks_enable()
        else:
            _autograd._saved_tensors_hooks_disable(before)


class _Kept:
    """A saved tensor that is copied before its memory is written to."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.is_open = True


class _Keeper:
    """What the graphs recorded in one scope saved, by the storage that holds it."""

    is_used = False  # there is one at a time

    def __init__(self) -> None:
        self.kept: dict[int, weakref.WeakSet[_Kept]] = {}
        self.is_open = True
        # For those who look: what was saved, by memory, version and form, and whose memory was then written to.
        self.tid_to_weakhandle: weakref.WeakValueDictionary[tuple[Any, ...], _Kept] = weakref.WeakValueDictionary()
        self.cloned: weakref.WeakKeyDictionary[_Kept, Tensor] = weakref.WeakKeyDictionary()

    def pack(self, tensor: Tensor) -> _Kept:
        form = (type(tensor), tensor.shape, tensor.stride(), tensor.dtype, tensor.is_conj(), tensor.is_neg())
        key = (tensor.data_ptr(), tensor._version, *form)
        kept = self.tid_to_weakhandle.get(key)
        # Memory that was written to may be another tensor's by now; who wraps others has none to be known by.
        if kept is None or kept in self.cloned or not tensor.data_ptr():
            kept = self.tid_to_weakhandle[key] = _Kept(tensor)
            self.kept.setdefault(_address(tensor), weakref.WeakSet()).add(kept)
        return kept

    def unpack(self, kept: _Kept) -> Tensor:
        if not (self.is_open and kept.is_open):
            raise AssertionError(
                "taeda.autograd.graph.allow_mutation_on_saved_tensors: backward must run in the scope in which the "
                "graph was recorded"
            )
        return kept.tensor

    def before_write(self, tensor: Tensor) -> None:
        for kept in self.kept.pop(_address(tensor), ()):
            kept.tensor = self.cloned[kept] = kept.tensor.clone()

    def clear(self) -> None:
        """Forgets what was saved; backward through the graphs of the scope raises from then on."""
        for some in self.kept.values():
            for kept in some:
                kept.is_open = False
        self.kept.clear()
        self.tid_to_weakhandle.clear()
        self.cloned.clear()


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_Keeper]:
    """In the scope saved tensors may be written to in place: backward sees what they held when they were saved.

    A saved tensor is cloned just before the first call that writes to its memory. Forward and backward must both run in
    the scope, or backward raises AssertionError. Yields an object whose ``clear()`` lets go of what was saved.
    """
    from taeda.utils._python_dispatch import TorchDispatchMode

    if _Keeper.is_used:
        raise RuntimeError("taeda.autograd.graph.allow_mutation_on_saved_tensors: scopes of it do not nest")
    keeper = _Keeper()

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            for index, argument in enumerate(func._schema.arguments):
                if argument.alias_info is None or not argument.alias_info.is_write:
                    continue
                value = args[index] if index < len(args) else named.get(argument.name)
                for tensor in value if isinstance(value, (list, tuple)) else [value]:
                    if isinstance(tensor, Tensor):
                        keeper.before_write(tensor)
            return func(*args, **named)

    _Keeper.is_used = True
    try:
        with saved_tensors_hooks(keeper.pack, keeper.unpack), Watch():
            yield keeper
    finally:
        keeper.is_open = _Keeper.is_used = False
        keeper.clear()


class _MultiHandle:
    def __init__(self, handles: Sequence[Any]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _MultiHandle:
        return self

    def __exit__(self, *args: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all") -> _MultiHandle:
    """Calls ``fn`` once per backward pass with the gradients of several tensors.

    Args:
        tensors: tensors that require grad.
        fn: with ``mode="all"`` called with a list of one gradient (or None) per tensor once the last one that the pass
            reaches has arrived; with ``"any"`` called with the first gradient that arrives.
        mode: ``"all"`` or ``"any"``.

    Returns:
        A handle whose ``remove()`` takes the hook away. ValueError for another mode.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"taeda.autograd.graph.register_multi_grad_hook: mode must be 'all' or 'any'; got {mode!r}")
    if mode == "any":
        return _register_any(tensors, fn)
    arrived: dict[int, list[Tensor | None]] = {}
    missing: dict[int, int] = {}
    sources = [_Source(t) for t in tensors]

    def hook_for(index: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            task = _autograd._current_graph_task_id()
            if task not in arrived:
                arrived[task] = [None] * len(sources)
                missing[task] = sum(source.is_reached() for source in sources)
            arrived[task][index] = grad
            missing[task] -= 1
            if missing[task] == 0:
                del missing[task]
                fn(arrived.pop(task))

        return hook

    return _MultiHandle([t.register_hook(hook_for(i)) for i, t in enumerate(tensors)])


class _Source:
    """Whether a pass reaches a tensor, asked without keeping the tensor or, for a leaf, its changing node alive."""

    def __init__(self, tensor: Tensor) -> None:
        self.leaf = weakref.ref(tensor) if tensor.is_leaf else None
        self.token = None if tensor.is_leaf else _autograd._node_token(tensor)

    def is_reached(self) -> bool:
        if self.token is not None:
            return _autograd._is_token_reached_now(self.token)
        tensor = None if self.leaf is None else self.leaf()
        return tensor is not None and _autograd._is_reached_now(tensor)


def _register_any(tensors: Sequence[Tensor], fn: Callable[..., None]) -> _MultiHandle:
    recent: collections.deque[int] = collections.deque(maxlen=64)  # passes may run in several threads at once
    lock = threading.Lock()

    def hook(grad: Tensor) -> None:
        task = _autograd._current_graph_task_id()
        with lock:
            is_first = task not in recent
            if is_first:
                recent.append(task)
        if is_first:
            fn(grad)

    return _MultiHandle([t.register_hook(hook) for t in tensors])
