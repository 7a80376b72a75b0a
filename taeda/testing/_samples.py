"""Sample arguments for every declared op: those of its declaration, else made from its schema and kind.

``taedagen.opdef.samples`` is what they are written in; here are the tensors made.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any
from zlib import crc32

from taeda.testing._automatic import automatic
from taedagen.opdef import REGISTRY
from taedagen.opdef.facts import domain_of, samples_of
from taedagen.opdef.samples import Fill, Name, Sample

if TYPE_CHECKING:
    import numpy as np

    from taedagen.opdef import Op

LAYOUTS = ("plain", "transposed", "sliced", "expanded")
_COMPLEX = ("complex64", "complex128")
_HALF = ("float16", "bfloat16")


def make(sample: Sample, library: ModuleType, seed: int = 0, device: str = "cpu") -> tuple[list[Any], dict[str, Any]]:
    """A call's arguments with tensors made, in ``library`` (this one or PyTorch); each gets values of its own."""
    counter = iter(range(seed * 1000, seed * 1000 + 1000))
    change = lambda value: _resolve(value, library, counter, device)
    return [change(a) for a in sample.args], {k: change(v) for k, v in sample.kwargs.items()}


def _resolve(value: Any, library: ModuleType, counter: Iterator[int], device: str) -> Any:
    if isinstance(value, Fill):
        return _tensor(value, library, next(counter), device)
    if isinstance(value, Name):
        return getattr(library, value.name)
    if isinstance(value, list):
        return [_resolve(v, library, counter, device) for v in value]
    return value


def _tensor(fill: Fill, library: ModuleType, seed: int, device: str) -> Any:
    array = _array(fill, seed)
    tensor = library.tensor(array.tolist(), dtype=getattr(library, fill.dtype)).reshape(array.shape)
    if tensor.dim() and fill.layout == "transposed":
        order = list(range(tensor.dim()))[::-1]
        tensor = tensor.permute(order).contiguous().permute(order)
    elif tensor.dim() and fill.layout == "sliced":
        tensor = library.stack([tensor, tensor], -1).flatten(-2)[..., ::2] if tensor.numel() else tensor
    elif tensor.dim() and fill.layout == "expanded" and tensor.shape[0] > 1 and fill.values is None:
        tensor = tensor[:1].expand(tensor.shape)
    return tensor if device == "cpu" else tensor.to(device)


def _array(fill: Fill, seed: int) -> np.ndarray:
    """The values, the same for the same seed; smaller types come as float32."""
    import numpy as np

    dtype = "float32" if fill.dtype in _HALF or fill.dtype.startswith("float8") else fill.dtype
    if fill.values is not None:
        return np.asarray(fill.values, dtype=dtype)
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(fill.shape) < 0.5
    if dtype.startswith(("int", "uint")):
        if not fill.free:
            return rng.integers(int(fill.low), int(fill.high), fill.shape).astype(dtype)
        signs = rng.choice([-1, 1] if fill.low < 0 and not dtype.startswith("u") else [1], fill.shape)
        return (rng.integers(1, 5, fill.shape) * signs).astype(dtype)
    values = _constrained(fill, rng.uniform(fill.low, fill.high, fill.shape))
    if dtype in _COMPLEX:
        values = values + 1j * rng.uniform(0.1, 1.0, fill.shape) * (fill.shape_of == "")
    return values.astype(dtype)


def _constrained(fill: Fill, values: np.ndarray) -> np.ndarray:
    import numpy as np

    if fill.shape_of == "positive definite":
        return values @ np.swapaxes(values, -1, -2) + 2 * np.eye(fill.shape[-1])
    if fill.shape_of == "symmetric":
        return values + np.swapaxes(values, -1, -2) + np.diag(np.arange(fill.shape[-1]) * 2.0)
    if fill.shape_of == "invertible":
        return values + 5 * np.eye(fill.shape[-2], fill.shape[-1])
    if fill.shape_of == "triangular":
        return np.tril(values) + 3 * np.eye(fill.shape[-1])
    if fill.shape_of == "sorted":
        return np.sort(values, axis=-1)
    if fill.shape_of == "distribution":
        return np.abs(values) / np.abs(values).sum(-1, keepdims=True)
    return values + 0.1 * np.sign(values) if fill.low < 0 < fill.high else values


def samples(op: Op) -> list[Sample]:
    """Samples of the functional or in-place ``op``; empty where neither its declaration nor types say enough."""
    found = samples_of(op.declaration, REGISTRY)
    if found is None:
        found = automatic(op, domain_of(op.declaration, REGISTRY))
    return [_with_numbers(op, sample) for sample in found] if op.numbers else found


def _with_numbers(op: Op, sample: Sample) -> Sample:
    names = [a.name for a in op.declaration.schema.arguments]
    whole = any(fill.dtype == "int64" and fill.free for fill in sample.fills)
    number = 2 if whole else 1.5
    args = tuple(number if names[k] in op.numbers else a for k, a in enumerate(sample.args))
    return Sample(args, {k: number if k in op.numbers else a for k, a in sample.kwargs.items()})


def seed_of(name: str) -> int:
    return crc32(name.encode()) % 10_000
