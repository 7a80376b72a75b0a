"""Activation checkpointing: keep the inputs of a piece of a model, and compute its insides again in backward."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda.utils._selective_checkpoint import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)
from taeda.utils._selective_checkpoint import (
    _CachedTorchDispatchMode as _CachedTorchDispatchMode,
)
from taeda.utils._selective_checkpoint import (
    _CachingTorchDispatchMode as _CachingTorchDispatchMode,
)

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

ContextFn = Callable[[], tuple[Any, Any]]


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function did not do what the first did."""


class _Settings:
    debug: bool | None = None
    early_stop: bool | None = None
    device_type: str = "cuda"


class DefaultDeviceType:
    """The accelerator whose random state is kept when no argument tells which; ``"cuda"`` at first."""

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Sets it."""
        _Settings.device_type = device

    @staticmethod
    def get_device_type() -> str:
        """What it is."""
        return _Settings.device_type


@contextlib.contextmanager
def _setting(name: str, value: bool | None) -> Iterator[None]:
    before = getattr(_Settings, name)
    setattr(_Settings, name, value)
    try:
        yield
    finally:
        setattr(_Settings, name, before)


def set_checkpoint_debug_enabled(enabled: bool | None) -> Any:
    """A context that decides ``debug`` for every ``checkpoint`` inside; None leaves it to each call."""
    return _setting("debug", enabled)


def set_checkpoint_early_stop(enable: bool) -> Any:
    """A context that decides whether ``checkpoint`` inside stops its second run once all it needs is there."""
    return _setting("early_stop", enable)


def noop_context_fn() -> tuple[Any, Any]:
    """Contexts for both runs that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: ContextFn = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Run ``function`` without keeping what its backward pass needs; run it again when that is needed.

    Args:
        function: the piece of the model; it must do the same each time it runs.
        args: its arguments.
        use_reentrant: False (recommended) recomputes through saved-tensor hooks: any structure of arguments and
            results, keywords, ``autograd.grad`` and several backward passes work. True runs a backward pass within
            the backward pass; only tensors directly among the arguments get gradients.
        context_fn: returns the contexts of the first and of the second run; with ``use_reentrant=False`` only.
        determinism_check: ``"default"`` compares shapes, dtypes and devices of the two runs, ``"none"`` nothing.
        debug: name every tensor of both runs when they differ; with ``use_reentrant=False`` only.
        early_stop: stop the second run once it has saved what the first did.
        preserve_rng_state: draw the same random numbers in the second run.
        kwargs: keyword arguments of the function; with ``use_reentrant=False`` only.

    Returns:
        What the function returns.

    Raises:
        CheckpointError: in backward: the second run saved other tensors than the first.
        ValueError: an argument is unknown or does not go with ``use_reentrant=True``.
        RuntimeError: in backward, with ``use_reentrant=True``: through ``autograd.grad`` or with ``inputs=``.
    """
    if use_reentrant is None:
        warnings.warn(
            "taeda.utils.checkpoint: say use_reentrant=False (recommended) or use_reentrant=True; True is assumed",
            stacklevel=2,
        )
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError(
                f"taeda.utils.checkpoint: use_reentrant=True takes no keyword arguments; got {list(kwargs)}"
            )
        if context_fn is not noop_context_fn or debug:
            raise ValueError("taeda.utils.checkpoint: context_fn and debug need use_reentrant=False")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"taeda.utils.checkpoint: determinism_check must be 'default' or 'none'; got {determinism_check!r}"
        )
    if not taeda.is_grad_enabled():
        return function(*args, **kwargs)
    with _recording(function, args, kwargs, context_fn, determinism_check, debug, early_stop, preserve_rng_state):
        return function(*args, **kwargs)


@contextlib.contextmanager
def _recording(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    context_fn: ContextFn = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
) -> Iterator[None]:
    """Within, ``function`` is to be called with ``args`` and ``kwargs``; backward passes will do that again."""
    first_context, second_context = context_fn()
    frame = _Frame(function, args, kwargs, second_context, preserve_rng_state)
    frame.checks = determinism_check == "default"
    frame.debug = debug if _Settings.debug is None else _Settings.debug
    frame.early_stop = early_stop if _Settings.early_stop is None else _Settings.early_stop
    with taeda.autograd.graph.saved_tensors_hooks(frame.pack, _unpack), first_context:
        yield
    frame.complete = True


# The world in which the function ran: random states and autocast


class _Surroundings:
    """Captures random states and autocast, to be put back for the second run."""

    def __init__(self, preserve_rng_state: bool, args: tuple[Any, ...]) -> None:
        self._cpu_state = taeda.get_rng_state() if preserve_rng_state else None
        self._device_type = next(
            (arg.device.type for arg in args if isinstance(arg, Tensor) and arg.device.type not in ("cpu", "meta")),
            None,
        )
        self._devices: list[int] = []
        self._device_states: list[Tensor] = []
        if preserve_rng_state and self._device_type is not None:
            self._devices, self._device_states = get_device_states(*args)
        kinds = ["cpu"] if self._device_type is None else ["cpu", self._device_type]
        self._autocast: list[dict[str, Any]] = [
            {
                "device_type": kind,
                "enabled": taeda.is_autocast_enabled(kind),
                "dtype": taeda.get_autocast_dtype(kind),
                "cache_enabled": taeda.is_autocast_cache_enabled(),
            }
            for kind in kinds
        ]

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            if self._cpu_state is not None:
                kind = self._device_type or _Settings.device_type
                stack.enter_context(taeda.random.fork_rng(devices=self._devices, device_type=kind))
                taeda.set_rng_state(self._cpu_state)
                set_device_states(self._devices, self._device_states, device_type=kind)
            for options in self._autocast:
                if options["enabled"] or taeda.is_autocast_enabled(options["device_type"]):
                    stack.enter_context(taeda.amp.autocast(**options))
            yield


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The accelerators that the tensors among ``args`` live on, and their random states."""
    found = {arg.device for arg in args if isinstance(arg, Tensor) and arg.device.type not in ("cpu", "meta")}
    devices = sorted(found, key=lambda device: device.index or 0)
    states = [getattr(taeda, device.type).get_rng_state(device.index) for device in devices]
    return [device.index or 0 for device in devices], states


def set_device_states(devices: list[int], states: list[Tensor], *, device_type: str | None = None) -> None:
    """Put back what ``get_device_states`` returned."""
    for device, state in zip(devices, states, strict=True):
        getattr(taeda, device_type or _Settings.device_type).set_rng_state(state, device)


# Without re-entering the engine: saved tensors are stand-ins that a second run fills


class _EnoughError(BaseException):
    """Ends the second run early."""


class _Inputs(taeda.autograd.Function):
    """Saves a frame's tensor arguments as a node would, so that an enclosing checkpoint can drop them too."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        return anchor.new_empty(0)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise AssertionError("nothing depends on this node")


class _Frame:
    """One checkpointed call: what to run again, and the tensors that the second run made."""

    checks: bool
    debug: bool
    early_stop: bool
    complete = False  # the first run has ended

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], context: Any, keep_rng: bool
    ) -> None:
        self._function = function
        self._kwargs = kwargs
        self._context = context
        self._surroundings = _Surroundings(keep_rng, args)
        self._others = [None if isinstance(arg, Tensor) else arg for arg in args]
        self._tensor_places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        anchor = taeda.empty(0, requires_grad=True)
        self._saver = _Inputs.apply(anchor, *(args[i] for i in self._tensor_places))
        self._first: list[str] = []  # a description of each tensor saved by the first run
        self.made: dict[int, Tensor] = {}

    def pack(self, tensor: Tensor) -> tuple[_Frame, int]:
        self._first.append(_describe(tensor))
        return self, len(self._first) - 1

    def run_again(self) -> None:
        """Fill ``made`` with what the first run saved."""
        second: list[str] = []

        def keep(tensor: Tensor) -> Tensor:
            index = len(second)
            second.append(_describe(tensor))
            self.made[index] = tensor.detach() if tensor.requires_grad else tensor
            if self.early_stop and index + 1 == len(self._first):
                raise _EnoughError
            return tensor.detach()

        args = list(self._others)
        for index, tensor in zip(self._tensor_places, self._saver.grad_fn.saved_tensors, strict=True):
            args[index] = tensor
        hooks = taeda.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor)
        with (
            self._surroundings.restored(),
            taeda.enable_grad(),
            self._context,
            contextlib.suppress(_EnoughError),
            hooks,
        ):
            self._function(*args, **self._kwargs)
        self._compare(second)

    def _compare(self, second: list[str]) -> None:
        if not self.complete:  # a backward pass within the function itself; the second run went further than the first
            del second[len(self._first) :]
        if len(second) != len(self._first):
            what = f"the first run saved {len(self._first)} tensors for backward, the second {len(second)}"
        else:
            different = [i for i in range(len(second)) if second[i] != self._first[i]] if self.checks else []
            if not different:
                return
            i = different[0]
            what = (
                f"{len(different)} of the tensors saved for backward differ between the runs; number {i} was "
                f"{self._first[i]}, then {second[i]}"
            )
        if self.debug:
            what += "\nfirst run:\n  " + "\n  ".join(self._first) + "\nsecond run:\n  " + "\n  ".join(second)
        self.made.clear()
        raise CheckpointError(
            f"taeda.utils.checkpoint: {what}. The function must do the same each time: does it depend on something "
            "that changed meanwhile?" + ("" if self.debug else " debug=True lists the tensors")
        )


def _unpack(packed: tuple[_Frame, int]) -> Tensor:
    frame, index = packed
    if index not in frame.made:
        frame.run_again()
    return frame.made.pop(index)  # given out once: a later need runs the function again


def _describe(tensor: Tensor) -> str:
    return f"{tensor.dtype} {tuple(tensor.shape)} on {tensor.device}"


# Re-entering the engine


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs, their tensors cut from the graph but requiring gradients as before."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"taeda.utils.checkpoint: expected a tuple of inputs; got {type(inputs).__name__}")
    cut = tuple(x.detach() if isinstance(x, Tensor) else x for x in inputs)
    for new, old in zip(cut, inputs, strict=True):
        if isinstance(new, Tensor):
            new.requires_grad = old.requires_grad
    return cut


def check_backward_validity(inputs: Any) -> None:
    """Warn if no input requires gradients, since a re-entrant checkpoint then gives none to anything."""
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        warnings.warn(
            "taeda.utils.checkpoint: with use_reentrant=True an argument must require gradients for anything inside "
            "to get one; none does. use_reentrant=False has no such condition",
            stacklevel=2,
        )


class CheckpointFunction(taeda.autograd.Function):
    """``checkpoint(use_reentrant=True)`` as a node: its backward runs the function and a backward pass of its own."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.function = run_function
        ctx.surroundings = _Surroundings(preserve_rng_state, args)
        ctx.others = [None if isinstance(arg, Tensor) else arg for arg in args]
        ctx.tensor_places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.tensor_places))
        with taeda.no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if not taeda.autograd._is_checkpoint_valid():
            raise RuntimeError(
                "taeda.utils.checkpoint: use_reentrant=True works with backward() alone, not with autograd.grad or "
                "backward(inputs=...); use_reentrant=False works with all"
            )
        inputs = list(ctx.others)
        for index, tensor in zip(ctx.tensor_places, ctx.saved_tensors, strict=True):
            inputs[index] = tensor
        detached = detach_variable(tuple(inputs))
        with ctx.surroundings.restored(), taeda.enable_grad():
            outputs = ctx.function(*detached)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, grads, strict=True) if isinstance(o, Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError(
                "taeda.utils.checkpoint: no output requires gradients in the second run; nothing to go backward from"
            )
        taeda.autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return None, None, *(x.grad if isinstance(x, Tensor) else None for x in detached)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run a chain of functions in ``segments`` pieces, all but the last checkpointed.

    Args:
        functions: a ``Sequential`` or a list, each taking what the one before returns.
        segments: the number of pieces.
        input: what the first function takes.
        use_reentrant: as for ``checkpoint``.
        kwargs: ``preserve_rng_state``, as for ``checkpoint``.

    Raises:
        ValueError: another keyword.
    """
    if use_reentrant is None:
        warnings.warn(
            "taeda.utils.checkpoint_sequential: say use_reentrant=False (recommended) or use_reentrant=True; "
            "True is assumed",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"taeda.utils.checkpoint_sequential: unknown keyword arguments {list(kwargs)}")
    chain = list(functions.children()) if isinstance(functions, taeda.nn.Sequential) else list(functions)
    length = len(chain) // segments
    for start in range(0, length * (segments - 1), length or 1):
        piece = _in_turn(chain[start : start + length])
        input = checkpoint(piece, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _in_turn(chain[length * (segments - 1) :])(input)


def _in_turn(functions: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for function in functions:
            value = function(value)
        return value

    return run
