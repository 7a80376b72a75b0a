"""The vocabulary of ``samples=``: calls that show what an op takes, for tests.

``S(f(2, 3), v([0, 2]), dim=1)`` is a call with a 2x3 tensor of floats, the tensor [0, 2] and a keyword. A sample is
neutral: it describes tensors (``Fill``) instead of holding them, so that ``taeda.testing`` can make the same values for
this library, for PyTorch as an oracle, on another device or in another dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from taedagen.opdef.schema import Schema

Interval = tuple[float, float]


@dataclass(frozen=True)
class Fill:
    """A tensor to be made: floats in [low, high) off zero, integers in [low, high), bools, or the given values,
    which no layout changes.

    ``free`` says that a sweep over dtypes may change its dtype; ``shape_of`` (symmetric, positive definite, invertible,
    triangular, sorted, distribution) constrains it.
    """

    shape: tuple[int, ...]
    dtype: str = "float64"
    low: float = -2.0
    high: float = 2.0
    layout: str = "plain"
    shape_of: str = ""
    values: Any = None
    free: bool = True


@dataclass(frozen=True)
class Name:
    """An attribute of the library: a dtype, a layout."""

    name: str


@dataclass(frozen=True)
class Sample:
    """One call's arguments."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def map(self, change: Callable[[Fill], Fill]) -> Sample:
        """The sample with every tensor changed."""

        def deep(v: Any) -> Any:
            return change(v) if isinstance(v, Fill) else [deep(x) for x in v] if isinstance(v, list) else v

        return Sample(tuple(deep(a) for a in self.args), {k: deep(v) for k, v in self.kwargs.items()})

    def with_dtype(self, dtype: str) -> Sample:
        return self.map(lambda fill: replace(fill, dtype=dtype) if fill.free else fill)

    def with_layout(self, layout: str) -> Sample:
        return self.map(lambda fill: replace(fill, layout=layout))

    @property
    def fills(self) -> list[Fill]:
        found: list[Fill] = []

        def note(fill: Fill) -> Fill:
            found.append(fill)
            return fill

        self.map(note)
        return found

    def __str__(self) -> str:
        parts = [_text(a) for a in self.args] + [f"{k}={_text(v)}" for k, v in self.kwargs.items()]
        return f"({', '.join(parts)})"


def _text(value: Any) -> str:
    if isinstance(value, Fill):
        return f"{value.dtype}{list(value.shape)}" + ("" if value.layout == "plain" else f" {value.layout}")
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return value.name if isinstance(value, Name) else repr(value)


def S(*args: Any, **kwargs: Any) -> Sample:
    """A call."""
    return Sample(args, kwargs)


def f(*shape: int, low: float = -2.0, high: float = 2.0, of: str = "", dtype: str = "float64") -> Fill:
    """A floating-point tensor."""
    return Fill(shape, dtype, low, high, shape_of=of, free=dtype == "float64")


def i(*shape: int, high: int = 3, low: int = 0) -> Fill:
    """An int64 tensor of indices."""
    return Fill(shape, "int64", low, high, free=False)


def b(*shape: int) -> Fill:
    """A mask."""
    return Fill(shape, "bool", free=False)


def v(values: Any, dtype: str = "int64") -> Fill:
    """A tensor of these values."""
    return Fill(_shape(values), dtype, values=values, free=False)


def _shape(values: Any) -> tuple[int, ...]:
    if not isinstance(values, (list, tuple)):
        return ()
    return (len(values), *(_shape(values[0]) if values else ()))


# --- what may be wrong


def mistake_in_samples(schema: Schema, samples: Any) -> str | None:
    """What is wrong with the samples for ``schema``; None if nothing is."""
    if isinstance(samples, str):
        return None  # another op's, which may not be declared yet
    if not isinstance(samples, list) or not all(isinstance(sample, Sample) for sample in samples):
        return "samples are a list of S(...), or the name of the op whose samples serve"
    names = schema.names
    positional = [a.name for a in schema.arguments if not a.keyword_only]
    for sample in samples:
        if len(sample.args) > len(positional):
            return f"the sample {sample} has {len(sample.args)} arguments by position; the schema takes {positional}"
        for name in sample.kwargs:
            if name not in names:
                return f"the sample {sample} names '{name}'; the schema has {names}"
            if name in positional[: len(sample.args)]:
                return f"the sample {sample} gives '{name}' twice"
    return None


def mistake_in_domain(schema: Schema, domain: Any) -> str | None:
    """What is wrong with the domain for ``schema``; None if nothing is."""
    if isinstance(domain, str):
        return None  # another op's, which may not be declared yet
    names = schema.names
    for name, interval in (domain if isinstance(domain, dict) else {names[0]: domain}).items():
        if name not in names:
            return f"the domain names '{name}'; the schema has {names}"
        if not isinstance(interval, tuple) or len(interval) != 2 or not interval[0] < interval[1]:
            return f"a domain is an interval, (low, high); got {interval!r}"
    return None
