"""Sample arguments for every declared op, made from its schema and kind.

A sample is neutral: it describes tensors (``Fill``) instead of holding them, so that the same values can be made for
this library, for PyTorch as an oracle, on another device or in another dtype. What types alone cannot say (a
convolution's weight, a sorted sequence) stands in ``_sample_table``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any
from zlib import crc32

if TYPE_CHECKING:
    import numpy as np

    from taedagen.opdef import Op
    from taedagen.opdef.schema import Argument

LAYOUTS = ("plain", "transposed", "sliced", "expanded")
_COMPLEX = ("complex64", "complex128")
_HALF = ("float16", "bfloat16")


@dataclass(frozen=True)
class Fill:
    """A tensor to be made: floats in [low, high) off zero, integers in [low, high), bools, or the given values,
    which no layout changes.

    ``free`` says that a sweep over dtypes may change its dtype; ``shape_of`` (symmetric positive definite, sorted,
    triangular) constrains it.
    """

    shape: tuple[int, ...]
    dtype: str = "float64"
    low: float = -2.0
    high: float = 2.0
    layout: str = "plain"
    shape_of: str = ""
    values: Any = None
    free: bool = True

    def array(self, seed: int) -> np.ndarray:
        """The values, the same for the same seed; smaller types come as float32."""
        import numpy as np

        dtype = "float32" if self.dtype in _HALF or self.dtype.startswith("float8") else self.dtype
        if self.values is not None:
            return np.asarray(self.values, dtype=dtype)
        rng = np.random.default_rng(seed)
        if dtype == "bool":
            return rng.random(self.shape) < 0.5
        if dtype.startswith(("int", "uint")):
            if not self.free:
                return rng.integers(int(self.low), int(self.high), self.shape).astype(dtype)
            signs = rng.choice([-1, 1] if self.low < 0 and not dtype.startswith("u") else [1], self.shape)
            return (rng.integers(1, 5, self.shape) * signs).astype(dtype)
        values = self._constrained(rng.uniform(self.low, self.high, self.shape))
        if dtype in _COMPLEX:
            values = values + 1j * rng.uniform(0.1, 1.0, self.shape) * (self.shape_of == "")
        return values.astype(dtype)

    def _constrained(self, values: np.ndarray) -> np.ndarray:
        import numpy as np

        if self.shape_of == "positive definite":
            return values @ np.swapaxes(values, -1, -2) + 2 * np.eye(self.shape[-1])
        if self.shape_of == "symmetric":
            return values + np.swapaxes(values, -1, -2) + np.diag(np.arange(self.shape[-1]) * 2.0)
        if self.shape_of == "invertible":
            return values + 5 * np.eye(self.shape[-2], self.shape[-1])
        if self.shape_of == "triangular":
            return np.tril(values) + 3 * np.eye(self.shape[-1])
        if self.shape_of == "sorted":
            return np.sort(values, axis=-1)
        if self.shape_of == "distribution":
            return np.abs(values) / np.abs(values).sum(-1, keepdims=True)
        return values + 0.1 * np.sign(values) if self.low < 0 < self.high else values

    def make(self, library: ModuleType, seed: int, device: str = "cpu") -> Any:
        """The tensor, in ``library`` (this one or PyTorch)."""
        array = self.array(seed)
        tensor = library.tensor(array.tolist(), dtype=getattr(library, self.dtype)).reshape(array.shape)
        if tensor.dim() and self.layout == "transposed":
            order = list(range(tensor.dim()))[::-1]
            tensor = tensor.permute(order).contiguous().permute(order)
        elif tensor.dim() and self.layout == "sliced":
            tensor = library.stack([tensor, tensor], -1).flatten(-2)[..., ::2] if tensor.numel() else tensor
        elif tensor.dim() and self.layout == "expanded" and tensor.shape[0] > 1 and self.values is None:
            tensor = tensor[:1].expand(tensor.shape)
        return tensor if device == "cpu" else tensor.to(device)


@dataclass(frozen=True)
class Name:
    """An attribute of the library: a dtype, a layout."""

    name: str


@dataclass(frozen=True)
class Sample:
    """One call's arguments."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def make(self, library: ModuleType, seed: int = 0, device: str = "cpu") -> tuple[list[Any], dict[str, Any]]:
        """The arguments with tensors made; each gets values of its own."""
        counter = iter(range(seed * 1000, seed * 1000 + 1000))
        change = lambda value: _resolve(value, library, counter, device)
        return [change(a) for a in self.args], {k: change(v) for k, v in self.kwargs.items()}

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


def _resolve(value: Any, library: ModuleType, counter: Iterator[int], device: str) -> Any:
    if isinstance(value, Fill):
        return value.make(library, next(counter), device)
    if isinstance(value, Name):
        return getattr(library, value.name)
    if isinstance(value, list):
        return [_resolve(v, library, counter, device) for v in value]
    return value


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
    import numpy as np

    return Fill(np.shape(values), dtype, values=values, free=False)


def S(*args: Any, **kwargs: Any) -> Sample:
    return Sample(args, kwargs)


def samples(op: Op) -> list[Sample]:
    """Samples of the functional or in-place ``op``; empty where neither types nor the table say enough."""
    from taeda.testing._sample_table import DOMAINS
    from taeda.testing._sample_table import TABLE as general
    from taeda.testing._sample_table_nn import TABLE as nn

    name, overload = op.schema.name, op.schema.overload
    base = op.declaration.schema
    for key in (op.schema.full_name, base.full_name, base.full_name.replace("_.", ".", 1) if "_." in base.full_name else
                base.full_name.removesuffix("_"), f"{name}.{overload}", name):  # fmt: skip
        if key in general or key in nn:
            found = general.get(key) or nn[key]
            break
    else:
        plain = base.name.removeprefix("_foreach_").removeprefix("special_").rstrip("_")
        found = _automatic(op, DOMAINS.get(plain, {}))
    if op.numbers:
        found = [_with_numbers(op, sample) for sample in found]
    return found


def seed_of(name: str) -> int:
    return crc32(name.encode()) % 10_000


_SHAPES: dict[int, list[list[tuple[int, ...]]]] = {
    1: [[(2, 3)], [()], [(67,)], [(0,)], [(2, 0, 3)], [(3, 5, 4)]],
    2: [[(2, 3), (2, 3)], [(2, 3), (3,)], [(2, 1), (1, 3)], [(), (2, 3)], [(), ()], [(0, 3), (1, 3)], [(67,), (67,)],
        [(2, 3), (4,)]],
    3: [[(2, 3)] * 3, [(2, 3), (3,), ()], [(2, 1), (1, 3), (2, 3)], [(0, 3), (1, 3), (3,)], [(67,)] * 3],
}  # fmt: skip
_INTS = {"dim": 0, "dim0": 0, "dim1": 1, "axis0": 0, "axis1": 1, "n": 2, "p": 2, "source": 0, "destination": 1}
_SILENT = {"dtype", "layout", "device", "pin_memory", "memory_format", "generator", "non_blocking", "copy", "driver"}


def _automatic(op: Op, domain: dict[str, Any]) -> list[Sample]:
    schema = op.declaration.schema
    required = [a for a in schema.arguments if a.default is None]
    tensors = [a for a in required if a.type.is_tensor and not a.type.is_list and not a.type.optional]
    shapes = _SHAPES.get(len(tensors), [[(2, 3)] * len(tensors)])
    if op.declaration.kind == "reduction":
        shapes = [[(2, 3)], [(2, 3, 4)], [()], [(67,)], [(0,)], [(3, 0, 2)]]
    made = []
    for pattern in shapes:
        values = _required(required, tensors, pattern, domain, op)
        if values is None:
            return []
        made.append(values)
    found = [_sample(required, values) for values in made]
    return found + list(_variations(op, required, made[: 2 if op.declaration.kind == "reduction" else 1]))


def _required(required: list[Argument], tensors: list[Argument], pattern: list[tuple[int, ...]], domain: dict[str, Any],
              op: Op) -> dict[str, Any] | None:  # fmt: skip
    values: dict[str, Any] = {}
    for argument in required:
        kind, name = argument.type, argument.name
        low, high = domain.get(name) or domain.get("self") or (-2.0, 2.0)
        if kind.is_tensor and kind.is_list:
            values[name] = [f(2, 3, low=low, high=high), f(2, 3, low=low, high=high)]
        elif kind.is_tensor and not kind.optional:
            values[name] = _tensor(name, pattern[tensors.index(argument)], (low, high), op)
        elif kind.optional:
            values[name] = None
        elif kind.is_list and kind.base == "Scalar":
            values[name] = [1.5, 2.0]
        elif kind.base == "Scalar":
            values[name] = domain.get("number", 1.5)
        elif kind.base in ("int", "SymInt") and name in _INTS:
            values[name] = [_INTS[name]] if kind.is_list and kind.list_size != 1 else _INTS[name]
        elif kind.base == "float":
            values[name] = 0.5
        elif kind.base == "bool":
            values[name] = True
        else:
            return None
    return values


def _tensor(name: str, shape: tuple[int, ...], domain: tuple[float, float], op: Op) -> Fill:
    if name in ("index", "indices"):
        return i(*shape, high=2)
    if name in ("mask", "condition"):
        return b(*shape)
    dtypes = op.declaration.dtypes
    dtype = "float64" if "float64" in dtypes or op.declaration.kind != "pointwise" else "int64"
    if not {"float64", "int64"} & set(dtypes):
        dtype = "complex128"
    return Fill(shape, dtype, *domain)


def _sample(required: list[Argument], values: dict[str, Any]) -> Sample:
    return Sample(tuple(values[a.name] for a in required if not a.keyword_only),
                  {a.name: values[a.name] for a in required if a.keyword_only})  # fmt: skip


def _variations(op: Op, required: list[Argument], bases: list[dict[str, Any]]) -> Iterator[Sample] | list[Sample]:
    """One optional parameter changed at a time; dimensions named from both ends."""
    found = []
    choices = op.declaration.options.get("choices") or {}
    for base in bases:
        plain = _sample(required, base)
        for argument in op.declaration.schema.arguments:
            for value in _others(argument, choices.get(argument.name, ())):
                if argument.name in base:
                    found.append(_sample(required, {**base, argument.name: value}))
                elif argument.default is not None:
                    found.append(Sample(plain.args, {**plain.kwargs, argument.name: value}))
    return found


def _others(argument: Argument, choices: tuple[Any, ...]) -> list[Any]:
    name, kind, default = argument.name, argument.type, argument.default
    if choices:
        return list(choices)
    if name in _SILENT or kind.is_tensor:
        return []
    if name == "dim" and kind.base in ("int", "SymInt"):
        return [-1, 0, 5] + ([[0, 1], [-1]] if kind.is_list else [])
    if kind.base == "bool" and not kind.is_list:
        return [default != "True"]
    if kind.base == "Scalar" and not kind.is_list and default is not None:
        return [0.5]
    return []


def _with_numbers(op: Op, sample: Sample) -> Sample:
    names = [a.name for a in op.declaration.schema.arguments]
    whole = any(fill.dtype == "int64" and fill.free for fill in sample.fills)
    number = 2 if whole else 1.5
    args = tuple(number if names[k] in op.numbers else a for k, a in enumerate(sample.args))
    return Sample(args, {k: number if k in op.numbers else a for k, a in sample.kwargs.items()})
