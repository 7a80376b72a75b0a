"""The declared ops under test, and how a call's outcome is taken."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import pytest
from comparison import describe, flat
from known import KNOWN

from taeda.testing._samples import make, samples, seed_of
from taedagen.opdef import REGISTRY, Declaration, Op, load_ops
from taedagen.opdef.samples import Sample

load_ops()

# Ops without a public name are parts of others (a backward kernel, a step of a composite) and are met through those.
# Those that take or give quantised tensors and packed weights are compared in tests/quantized; marks of profiles, whose
# handles are each library's own, in tests/profiler.
PUBLIC: list[Declaration] = [
    d
    for d in REGISTRY.declarations
    if not d.options.get("unbound") and not d.family.startswith(("quantized", "profiler"))
]


@cache
def base_ops() -> list[Op]:
    """One op per schema that computes: functional ones, and in-place ones that stand for themselves."""
    return [op for d in PUBLIC for op in d.ops() if op.variant == "functional" or op.schema is d.schema]


@cache
def samples_of(op: Op) -> tuple[Sample, ...]:
    return tuple(samples(op))


def cases(aspect: str, ops: list[Op]) -> list[Any]:
    """Parameters of a test over ``ops``; a known failure must fail."""
    return [
        pytest.param(op, id=name, marks=[pytest.mark.xfail(reason=KNOWN[key], strict=True)] if key in KNOWN else [])
        for op in ops
        for name in [op.schema.full_name]
        for key in [f"{aspect} {name}"]
    ]


def find(library: ModuleType, name: str, overload: str) -> Any:
    """``library.ops.aten.name.overload``, or of the namespace in ``demo::name``; None where it does not exist."""
    space, _, bare = name.rpartition("::")
    packet = getattr(getattr(library.ops, space or "aten"), bare, None)
    return None if packet is None else getattr(packet, overload or "default", None)


@dataclass
class Outcome:
    """What a call gave: its results and arguments afterwards, or its error."""

    results: list[Any]
    args: list[Any]
    error: Exception | None = None

    def __str__(self) -> str:
        if self.error is None:
            return describe(self.results)
        return f"{type(self.error).__name__}: {(str(self.error).splitlines() or [''])[0][:110]}"


def call(library: ModuleType, function: Callable[..., Any], sample: Sample, seed: int, device: str = "cpu",
         prepare: Callable[[list[Any]], Any] | None = None) -> Outcome:  # fmt: skip
    """Calls ``function`` with the sample's arguments after seeding the generator; an Exception becomes the outcome."""
    args, kwargs = make(sample, library, seed, device)
    if prepare is not None:
        prepare(args)
    library.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Outcome(flat(function(*args, **kwargs)), args)
        except Exception as error:
            return Outcome([], args, error)


def report(op: Op, mistakes: list[str]) -> None:
    """Fails with the first mistakes of an op."""
    if mistakes:
        shown = "\n  ".join(mistakes[:6])
        pytest.fail(f"{op.schema.full_name}: {len(mistakes)} mistakes\n  {shown}", pytrace=False)


def seed_for(op: Op) -> int:
    return seed_of(op.schema.full_name)
