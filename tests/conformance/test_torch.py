"""Every op beside PyTorch's of the same name: values, dtypes, shapes, strides, what requires a gradient, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from comparison import UNDEFINED, UP_TO_SIGN, differ, error_agrees
from declared import Op, Outcome, base_ops, call, cases, find, report, samples_of, seed_for

import taeda
from taedagen.opdef.samples import Sample

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

# Equal rows leave the answer open: which of equal elements comes first, the factors of a singular matrix.
DEGENERATE = (
    "topk",
    "kthvalue",
    "median",
    "nanmedian",
    "mode",
    "sort",
    "argsort",
    "msort",
    "linalg_",
    "geqrf",
    "qr",
    "svd",
    "pinverse",
    "inverse",
    "matrix_power",
    "_fused_",
)
# PyTorch's own values are approximations: their relative error, found beside SciPy's (tests/ops/test_special.py).
APPROXIMATE = {"_standard_gamma_grad": 3e-4}
# Words of PyTorch's op objects, whose parser is stricter than that of its functions (no number for a list).
PARSER = ("Expected a value of type", "positional argument(s) but")
# Words of PyTorch's errors where it lacks a dtype that we may well have.
LACKS = (
    "not implemented for",
    "not supported",
    "unsupported",
    "does not support",
    "not yet implemented",
    "is only supported",
    "expected scalar type",
    "should be one of",
    "Expected ",
    "expected ",
)
# PyTorch's result is memory that nothing was written to where an operand is strided.
UNWRITTEN_IF_STRIDED = ("_int_mm",)
# PyTorch reads the halves of complex coefficients as coefficients, and a bool one as a number.
MISREADS = {"_compute_linear_combination": {"bool", "complex64", "complex128"}}
DTYPES = ("float32", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool", "complex64", "complex128")
OPS = [op for op in base_ops() if find(torch, op.schema.name, op.schema.overload) is not None]


def both(op: Op, sample: Sample, prepare: Callable[[list[Any]], Any] | None = None) -> tuple[Outcome, Outcome]:
    name, overload = op.schema.name, op.schema.overload
    pair = [call(T, find(T, name, overload), sample, seed_for(op), prepare=prepare) for T in (taeda, torch)]
    return pair[0], pair[1]


def compare(op: Op, sample: Sample, got: Outcome, wanted: Outcome, *, superset: bool = False) -> str:
    """A sentence on the first difference; ``superset`` lets us compute what PyTorch does not."""
    if wanted.error is not None:
        if any(word in str(wanted.error) for word in PARSER):
            return ""
        if superset and any(word in str(wanted.error) for word in LACKS):
            return ""
        agrees = got.error is not None and error_agrees(got.error, wanted.error)
        return "" if agrees else f"{sample}: {got}, wanted {wanted}"
    if got.error is not None:
        return f"{sample}: {got}, wanted {wanted}"
    if len(got.results) != len(wanted.results):
        return f"{sample}: {len(got.results)} results, wanted {len(wanted.results)}"
    name = op.schema.name
    for ours, theirs in zip(got.results, wanted.results):
        difference = differ(
            ours, theirs, values=name not in UNDEFINED, up_to_sign=name in UP_TO_SIGN, rtol=APPROXIMATE.get(name)
        )
        if difference:
            return f"{sample}: {difference}"
    return ""


@pytest.mark.parametrize("op", cases("torch", OPS))
def test_op_agrees_with_torch(op: Op) -> None:
    mistakes, succeeded = [], 0
    for sample in samples_of(op):
        for layout in ("plain", "transposed", "sliced", "expanded"):
            written = any(a.type.is_mutable for a in op.schema.arguments)  # not where elements share memory
            if layout == "expanded" and (written or op.schema.name.startswith(DEGENERATE)):
                continue
            if layout != "plain" and (not sample.fills or op.schema.name in UNWRITTEN_IF_STRIDED):
                continue
            got, wanted = both(op, sample.with_layout(layout))
            succeeded += wanted.error is None
            if wanted.error is None or layout == "plain":  # layouts that PyTorch refuses are ours to take
                mistakes.append(compare(op, sample.with_layout(layout), got, wanted))
    assert succeeded, f"no sample of {op.schema.full_name} is a valid call"
    report(op, [m for m in mistakes if m])


@pytest.mark.parametrize(
    "op", cases("dtype", [op for op in OPS if any(x.free for s in samples_of(op) for x in s.fills)])
)
def test_op_agrees_with_torch_over_dtypes(op: Op) -> None:
    sample = next(s for s in samples_of(op) if any(x.free for x in s.fills))
    variants = [sample.with_dtype(dtype) for dtype in DTYPES if dtype not in MISREADS.get(op.schema.name, ())]
    if len(sample.fills) > 1 and op.declaration.kind == "pointwise":
        variants += [
            mixed(sample, first, rest)
            for first, rest in (
                ("int64", "float32"),
                ("float32", "int64"),
                ("uint8", "int8"),
                ("bfloat16", "float32"),
                ("float16", "bfloat16"),
                ("bool", "int32"),
                ("float32", "complex64"),
            )
        ]
    mistakes = [compare(op, v, *both(op, v), superset=True) for v in variants]
    report(op, [m for m in mistakes if m])


def mixed(sample: Sample, first: str, rest: str) -> Sample:
    """The first tensor of one dtype, the others of another."""
    head = Sample(sample.args[:1], {}).with_dtype(first)
    tail = Sample(sample.args[1:], sample.kwargs).with_dtype(rest)
    return Sample(head.args + tail.args, tail.kwargs)


@pytest.mark.parametrize("op", cases("recording", [op for op in OPS if op.variant == "functional"]))
def test_results_require_gradients_where_torch_says(op: Op) -> None:
    def leaves(args: list[Any]) -> None:
        for arg in args:
            for tensor in arg if isinstance(arg, list) else [arg]:
                if hasattr(tensor, "requires_grad_") and tensor.is_floating_point():
                    tensor.requires_grad_()

    mistakes = []
    for sample in samples_of(op)[:2]:
        got, wanted = both(op, sample, leaves)
        if got.error is None and wanted.error is None:
            flags = [[getattr(r, "requires_grad", None) for r in outcome.results] for outcome in (got, wanted)]
            if flags[0] != flags[1]:
                mistakes.append(f"{sample}: requires_grad {flags[0]}, wanted {flags[1]}")
    report(op, mistakes)
