"""Tests of declared ops, made from their declarations' samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import taeda
from taeda.testing._samples import make, samples
from taedagen.opdef import REGISTRY, Op, load_ops
from taedagen.opdef.samples import Fill, Sample

_LARGER = {"short": ((64, 64), (512, 512)), "long": ((8, 8), (2048, 2048), (4096, 4096))}
_FEW = 2  # samples as declared, under the tag short


@dataclass(frozen=True)
class Declared:
    """An op with arguments to be."""

    op: Op
    sample: Sample

    @property
    def name(self) -> str:
        return self.op.schema.full_name

    def call(self, library: ModuleType, backward: bool) -> Callable[[], Any]:
        """The call to be timed, in ``library``, this one or PyTorch.

        Raises:
            LookupError: the library has no such op, or nothing requires a gradient.
        """
        function = _function(library, self.op)
        args, kwargs = make(self.sample, library)
        if not backward:
            return lambda: function(*args, **kwargs)
        leaves = [t.requires_grad_() for t in _tensors(library, [*args, *kwargs.values()]) if _floating(t)]
        results = [r for r in _tensors(library, [function(*args, **kwargs)]) if r.requires_grad]
        if not leaves or not results:
            raise LookupError(f"{self.name}: nothing here requires a gradient")
        grads = [library.ones_like(r) for r in results]
        return lambda: library.autograd.grad(results, leaves, grads, retain_graph=True, allow_unused=True)


def _floating(tensor: Any) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def _tensors(library: ModuleType, values: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if isinstance(value, library.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _tensors(library, value)
    return found


def _function(library: ModuleType, op: Op) -> Callable[..., Any]:
    """The public function, which costs least; else the op object."""
    declaration, name = op.declaration, op.schema.name
    space, _, bare = name.rpartition("::")
    homes = {"nn": "_C._nn", "linalg": "_C._linalg", "fft": "_C._fft", "special": "_C._special"}
    home: Any = library
    if not space and not declaration.options.get("unbound"):
        for part in filter(None, homes.get(declaration.module or "", "").split(".")):
            home = getattr(home, part, None)
        if callable(found := getattr(home, bare, None)):
            return found  # type: ignore[no-any-return]
    packet = getattr(getattr(library.ops, space or "aten"), bare, None)
    overload = None if packet is None else getattr(packet, op.schema.overload or "default", None)
    if overload is None:
        raise LookupError(f"{library.__name__} has no op {op.schema.full_name}")
    return overload  # type: ignore[no-any-return]


def ops_named(name: str) -> list[Op]:
    """The declared ops of that name, an overload named by ``name.overload``.

    Raises:
        LookupError: there is none; the message names those that are near.
    """
    load_ops()
    bare = name.removeprefix("aten::").removeprefix("aten.")
    ops = [op for d in REGISTRY.declarations for op in d.ops() if op.variant == "functional" or op.schema is d.schema]
    found = [op for op in ops if bare in (op.schema.name, op.schema.full_name)]
    if not found:
        import difflib

        near = difflib.get_close_matches(bare, {op.schema.name for op in ops}, 3)
        raise LookupError(f"no op is declared as {name!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""))
    return found


def _with_shapes(sample: Sample, shapes: Sequence[tuple[int, ...]]) -> Sample:
    """The sample with tensors of these shapes, in their order; one shape is for all tensors that had the first's."""
    fills = [fill for fill in sample.fills]
    first = fills[0].shape if fills else ()
    left = iter(shapes)

    def change(fill: Fill) -> Fill:
        if len(shapes) == 1:
            return replace(fill, shape=shapes[0], values=None) if fill.shape == first else fill
        shape = next(left, None)
        return fill if shape is None else replace(fill, shape=shape, values=None)

    return sample.map(change)


def _runs(case: Declared) -> bool:
    try:
        case.call(taeda, False)()
    except Exception:
        return False
    return True


def declared_cases(
    op: Op, tag: str, dtype: str | None, shapes: Sequence[Sequence[tuple[int, ...]]] | None
) -> Iterator[Declared]:
    """What to time: samples of the declaration that run, and the same with other shapes.

    Args:
        tag: ``short``: two samples and, for ops that take any shape, 64 x 64 and 512 x 512; ``long``: all of them and
            large ones; ``all``: both.
        shapes: in place of those: for each case the shapes of its tensors.
    """
    found = [sample.with_dtype(dtype or "float32") for sample in samples(op)]
    seen: set[str] = set()

    def fresh(sample: Sample) -> bool:
        text = str(sample)
        return not (text in seen or seen.add(text)) and _runs(Declared(op, sample))  # type: ignore[func-returns-value]

    good = [sample for sample in found if fresh(sample)]
    if shapes is not None:
        for each in shapes:
            fitting = (_with_shapes(sample, each) for sample in [*good, *found])
            yield from [Declared(op, sample) for sample in fitting if fresh(sample)][:1]
        return
    tags = ("short", "long") if tag == "all" else (tag,)
    yield from (Declared(op, sample) for sample in (good[:_FEW] if tags == ("short",) else good))
    if op.declaration.kind not in ("pointwise", "reduction"):
        return
    for shape in dict.fromkeys(shape for each in tags for shape in _LARGER[each]):
        larger = next((s for s in (_with_shapes(sample, [shape]) for sample in good) if fresh(s)), None)
        if larger is not None:
            yield Declared(op, larger)
