"""Calls that other calls lead to, backward passes' for the most part, with one argument wrong in one way.

What has no samples of its own is hardly ever called rightly by chance, so that nothing behind its first check is
reached. Here the samples of all operators run forward and backward, what reaches the kernels is recorded, and each
recorded call is repeated with one argument of another dtype, size or value. ``PER_TARGET`` cases in a row go to one
operator, whose samples they run once.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import taeda
from fuzz.calls import DTYPES, HUGE, SMALL, call, code, entry, is_endless, ops, prepare, samples_of
from fuzz.calls import can_require_grad as can
from fuzz.right_calls import overload, right_calls
from taeda.profiler import profile
from taeda.testing._samples import make as make_sample
from taeda.utils._python_dispatch import TorchDispatchMode
from taeda.utils._pytree import tree_map
from taedagen.opdef import Op
from taedagen.opdef.schema import Type

__all__ = ["SECONDS", "make", "prepare"]
SECONDS = 60
PER_TARGET = 500
SAMPLES, CALLS_OF_ONE = 12, 6  # that are run, of one operator; that are kept
Recorded = tuple[Any, tuple[Any, ...], dict[str, Any]]


class Recorder(TorchDispatchMode):
    """Keeps a few calls of each operator."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[str, list[Recorded]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.keep(func, fresh(args), fresh(kwargs or {}))
        return func(*args, **(kwargs or {}))

    def keep(self, function: Any, args: Any, kwargs: dict[str, Any]) -> None:
        kept = self.calls.setdefault(str(function), [])
        if len(kept) < CALLS_OF_ONE:
            kept.append((function, args, kwargs))

    def keep_event(self, event: Any) -> None:
        """A profiler's event, which tells what composites are given, too, but of tensors only the sizes."""
        for op in hidden().get(event.name, ()):
            arguments = op.schema.arguments
            if len(arguments) == len(event.input_shapes):
                given = zip(arguments, event.input_shapes, event.concrete_inputs, strict=True)
                args = [again(argument.type, sizes, value) for argument, sizes, value in given]
                self.keep(entry(op), args, {})


def again(kind: Type, sizes: Any, value: Any) -> Any:
    """An argument like the one that an event tells of."""
    if kind.base != "Tensor" or value is not None:
        return value
    if kind.is_list:
        return [taeda.ones(size) for size in sizes]
    return None if kind.optional and not sizes else taeda.ones(sizes)


@lru_cache(1)
def hidden() -> dict[str, list[Op]]:
    """Operators without samples, by the names that profilers show."""
    found: dict[str, list[Op]] = {}
    for op in ops():
        if not samples_of(op):
            namespace, _, name = op.schema.name.rpartition("::")
            found.setdefault(f"{namespace or 'aten'}::{name}", []).append(op)
    return found


def fresh(values: Any) -> Any:
    """The same with tensors of their own, whose ends are where those of their memory are."""
    return tree_map(lambda v: v.detach().clone() if isinstance(v, taeda.Tensor) else v, values)


def run_sample(function: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Forward, backward, and backward again."""
    leaves = [a.requires_grad_() for a in args if isinstance(a, taeda.Tensor) and can(a)]
    try:
        result = function(*args, **kwargs)
        for _ in range(2):
            found = [t for t in (result if isinstance(result, (tuple, list)) else [result]) if _goes_back(t)]
            if not leaves or not found:
                return
            result = taeda.autograd.grad(found, leaves, [t.detach() for t in found], create_graph=True,
                                         allow_unused=True)  # fmt: skip
    except Exception:  # what there was is recorded
        pass


def _goes_back(t: Any) -> bool:
    return isinstance(t, taeda.Tensor) and t.grad_fn is not None


@lru_cache(2)
def recorded(target: int) -> tuple[list[Recorded], ...]:
    """The calls behind an operator's samples, by operator; of those with samples of their own only its own."""
    own: list[Recorded] = []
    recorder = Recorder()
    if target >= len(ops()):
        name, make_args = right_calls()[target - len(ops())]
        own.append((overload(name), make_args(), {}))
        with recorder:
            run_sample(own[0][0], fresh(own[0][1]), {})
        return own, *(calls for key, calls in sorted(recorder.calls.items()) if key not in with_samples())
    op = ops()[target]
    for seed, sample in enumerate(samples_of(op)[:SAMPLES]):
        args, kwargs = make_sample(sample, taeda, seed)
        if op.variant == "out":
            try:
                made = entry(op.declaration.ops()[0])(*fresh(args), **fresh(kwargs))
            except Exception:  # the sample is one of an error
                continue
            kwargs |= zip((a.name for a in op.outs), made if isinstance(made, tuple) else [made])
        own.append((entry(op), fresh(args), fresh(kwargs)))
        with profile(record_shapes=True) as profiler:
            run_sample(entry(op), fresh(args), fresh(kwargs))
        for event in profiler.events():
            recorder.keep_event(event)
        with recorder:
            run_sample(entry(op), args, kwargs)
    known = with_samples()
    return *([own] if own else []), *(calls for name, calls in sorted(recorder.calls.items()) if name not in known)


def shown(op: Any) -> str:
    namespace, _, name = op.schema.name.rpartition("::")
    return f"{namespace or 'aten'}.{name}.{op.schema.overload or 'default'}"


@lru_cache(1)
def with_samples() -> frozenset[str]:
    return frozenset(shown(op) for op in ops() if samples_of(op))


# --- one argument wrong


def resized(rng: random.Random, t: Any) -> Any:
    if not t.dim():
        return t.expand(rng.choice(((1,), (2,), (0,), (2, 3))))
    dim = rng.randrange(t.dim())
    size = rng.choice((0, 1, max(t.shape[dim] - 1, 0), t.shape[dim] + 1, t.shape[dim] + 7))
    if size and not t.shape[dim]:
        return t.new_ones([*t.shape[:dim], size, *t.shape[dim + 1 :]])
    return t.index_select(dim, taeda.arange(size) % max(t.shape[dim], 1))


CHANGES: tuple[Callable[[random.Random, Any], Any], ...] = (
    lambda rng, t: t.to(rng.choice(DTYPES)),
    lambda rng, t: t.to(rng.choice(DTYPES)),
    lambda rng, t: t.long(),
    resized,
    resized,
    lambda rng, t: resized(rng, resized(rng, t)),
    lambda rng, t: t.new_ones(()),
    lambda rng, t: t[0],
    lambda rng, t: t.unsqueeze(rng.randrange(-1, t.dim() + 1)),
    lambda rng, t: t.flatten(),
    lambda rng, t: t.transpose(0, -1),
    lambda rng, t: t.transpose(0, -1).contiguous().transpose(0, -1),
    lambda rng, t: t[..., :1].expand(t.shape),
    lambda rng, t: taeda.stack([t, t], -1)[..., 0],
    lambda rng, t: taeda.full_like(t, rng.choice((-1, 1, 7, 100, 2**31, -(2**62), float("nan"), float("inf")))),
    lambda rng, t: t * -3,
    lambda rng, t: t.to("meta"),
)


def changed(rng: random.Random, value: Any) -> Any:
    if isinstance(value, taeda.Tensor):
        try:
            return rng.choice(CHANGES)(rng, value)
        except (RuntimeError, IndexError, TypeError, ValueError):  # it has no such form
            return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice((*SMALL, value + 1, value - 1, value * 2, *HUGE))
    if isinstance(value, float):
        return rng.choice((0.0, -1.0, float("nan"), float("inf"), 1e300, value * 2))
    if isinstance(value, list) and value:
        at = rng.randrange(len(value))
        return rng.choice(
            (value[:at] + [changed(rng, value[at])] + value[at + 1 :], value[:-1], value + value[-1:], [],
             [changed(rng, value[0])] * len(value))
        )  # fmt: skip
    if isinstance(value, taeda.dtype):
        return rng.choice(DTYPES)
    if value is None:
        return rng.choice((None, taeda.ones(2, 3), taeda.ones(3), taeda.zeros(3, dtype=taeda.int64), 1))
    return value


def make(number: int) -> tuple[str, Callable[[], None]]:
    rng = random.Random(number)
    families = recorded(number // PER_TARGET % (len(ops()) + len(right_calls())))
    if not families:
        return "", lambda: None
    function, args, kwargs = rng.choice(rng.choice(families))
    parts, names = [*fresh(args), *fresh(list(kwargs.values()))], list(kwargs)
    for place in rng.sample(range(len(parts)), min(len(parts), rng.choice((1, 1, 1, 2)))):
        parts[place] = changed(rng, parts[place])
    args, kwargs = parts[: len(args)], dict(zip(names, parts[len(args) :], strict=True))
    text = ", ".join([*map(code, args), *(f"{key}={code(value)}" for key, value in kwargs.items())])
    if any(isinstance(a, taeda.Tensor) and is_endless(a) for a in parts):
        return "", lambda: None
    return f"ops.{function}({text})", lambda: call(function, args, kwargs, rng)
