"""Every op takes lazily conjugated and negated tensors for what they show, also where it writes to them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from comparison import UNDEFINED, differ
from declared import PUBLIC, Op, call, cases, find, report, samples_of, seed_for

import taeda
from taeda import Tensor
from taedagen.opdef.samples import Sample

# They show the memory, whatever the bits say, or refuse.
OF_MEMORY = {"set_", "is_set_to", "view_as_real"}
# Their running statistics go to an op whose schema does not say that it writes them.
OF_MEMORY_OVERLOADS = {"view.dtype", "_native_batch_norm_legit", "_batch_norm_with_update"}
SAMPLES = 4
# What `neg` takes.
NEGATIVES = {getattr(taeda, name) for name in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128",
                                               "uint8", "int8", "int16", "int32", "int64")}  # fmt: skip


def lazy(tensor: Tensor, bits: str) -> Tensor:
    """The same values and the same place in a storage whose elements are conjugated (``c``) or negated (``n``)."""
    length = tensor.untyped_storage().nbytes() // tensor.element_size()
    memory = tensor.as_strided((length,), (1,), 0)
    if "c" in bits:
        memory = memory.conj_physical()
    if "n" in bits:
        memory = -memory
    result = memory.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    if "c" in bits:
        result = result.conj()
    return taeda._neg_view(result) if "n" in bits else result


def some_lazy(values: Any, choose: random.Random) -> Any:
    """``values`` with bits chosen for the tensors among them."""
    if isinstance(values, (list, tuple)):
        return [some_lazy(value, choose) for value in values]
    if isinstance(values, dict):
        return {name: some_lazy(value, choose) for name, value in values.items()}
    if not isinstance(values, Tensor) or values.dtype not in NEGATIVES:
        return values
    return lazy(values, choose.choice(["c", "n", "cn", "c"] if values.is_complex() else ["n", "n", ""]))


def good(op: Op) -> list[Sample]:
    """Samples that the op takes, real and complex."""
    found = []
    for dtype in ("float64", "complex128"):
        taken = [s if dtype == "float64" else s.with_dtype(dtype) for s in samples_of(op)]
        function = find(taeda, op.schema.name, op.schema.overload)
        found += [s for s in taken if s.fills and call(taeda, function, s, seed_for(op)).error is None][:SAMPLES]
    return found


def mistake(op: Op, sample: Sample, choose: random.Random) -> str:
    function = find(taeda, op.schema.name, op.schema.overload)
    wanted = call(taeda, function, sample, seed_for(op))
    written = [argument.name in op.schema.names and argument.type.is_mutable for argument in op.schema.arguments]

    def make_lazy(args: list[Any]) -> None:
        args[:] = some_lazy(args, choose)

    got = call(taeda, function, sample, seed_for(op), prepare=make_lazy)
    if got.error is not None:
        return f"{sample}: {got.error!r}, wanted {wanted}"
    values = op.schema.name not in UNDEFINED
    pairs = list(zip(got.results, wanted.results, strict=True))
    pairs += [(g, w) for g, w, is_written in zip(got.args, wanted.args, written) if is_written and hasattr(w, "stride")]
    for mine, theirs in pairs:
        if difference := differ(mine, theirs, strides=False, values=values):
            return f"{sample}: {difference}"
    return ""


OPS = [
    op
    for declaration in PUBLIC
    for op in declaration.ops()
    if op.variant != "out"
    and any(argument.type.is_tensor for argument in op.schema.arguments)
    and op.schema.name not in OF_MEMORY
    and op.schema.full_name not in OF_MEMORY_OVERLOADS
]


@pytest.mark.parametrize("op", cases("lazy", OPS))
def test_lazy_arguments_are_taken_for_what_they_show(op: Op) -> None:
    choose = random.Random(seed_for(op))
    report(op, [m for sample in good(op) if (m := mistake(op, sample, choose))])


OUTS = [op for declaration in PUBLIC for op in declaration.ops() if op.variant == "out"]


@pytest.mark.parametrize("op", cases("lazy out", OUTS))
def test_results_are_written_into_lazy_tensors(op: Op) -> None:
    choose, form = random.Random(seed_for(op)), find(taeda, op.schema.name, op.schema.overload)
    mistakes = []
    for sample in samples_of(op)[:SAMPLES]:
        for dtype in ("float64", "complex128"):
            changed = sample.with_dtype(dtype) if dtype != "float64" else sample
            plain = find(taeda, op.plain.name, op.plain.overload)
            wanted = call(taeda, plain, changed, seed_for(op)) if plain else None
            if wanted is None or wanted.error is not None or len(wanted.results) != len(op.outs):
                continue
            outs = [some_lazy(taeda.empty(0, dtype=r.dtype), choose) for r in wanted.results]
            bits = [(out.is_conj(), out.is_neg()) for out in outs]
            given = dict(zip([a.name for a in op.outs], outs, strict=True))
            got = call(taeda, lambda *a, _given=given, **k: form(*a, **k, **_given), changed, seed_for(op))
            if got.error is not None:
                mistakes.append(f"{changed}: {got.error!r}, wanted {wanted}")
                continue
            mistakes += [
                f"{changed}: {difference}"
                for out, result in zip(outs, wanted.results, strict=True)
                if (difference := differ(out, result, strides=False, values=op.schema.name not in UNDEFINED))
            ]
            if bits != [(out.is_conj(), out.is_neg()) for out in outs]:
                mistakes.append(f"{changed}: the bits of out changed")
    report(op, mistakes)
