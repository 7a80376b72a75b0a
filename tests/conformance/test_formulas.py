"""Every pointwise op beside its own formula, run by NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from comparison import array_differs, numpy_of
from declared import PUBLIC, Op, call, cases, find, report, samples_of, seed_for
from numpy_formula import evaluate

import taeda
from taeda.testing._samples import LAYOUTS, make
from taedagen.emit.formula import python_default
from taedagen.opdef.samples import Sample

POINTWISE = [op for d in PUBLIC if d.kind == "pointwise" for op in d.ops() if op.variant == "functional"]
# A dtype with the formula's own arithmetic, the widest of each kind that NumPy has too.
EXACT = ("float64", "int64", "bool", "complex128")
HOLES = {"rand", "normal"}  # formulas that draw


def arguments(op: Op, sample: Sample, seed: int) -> dict[str, object]:
    """The sample's values as arrays and numbers by parameter name, defaults filled in."""
    args, kwargs = make(sample, taeda, seed)
    given = dict(zip(op.declaration.schema.names, args)) | kwargs
    return {
        a.name: numpy_of(given[a.name]) if hasattr(given.get(a.name), "stride")
        else given[a.name] if a.name in given else python_default(a)
        for a in op.declaration.schema.arguments
    }  # fmt: skip


def mistake(op: Op, sample: Sample, seed: int) -> str:
    outcome = call(taeda, find(taeda, op.schema.name, op.schema.overload), sample, seed)
    if outcome.error is not None:
        return ""  # test_torch says whether it should raise
    dtype = str(outcome.results[0].dtype)[6:]
    with np.errstate(all="ignore"):
        values = arguments(op, sample, seed)
        read = np.result_type(*(v for v in values.values() if isinstance(v, np.ndarray))).name
        computed = dtype if dtype != "bool" and not np.issubdtype(np.dtype(dtype), np.integer) else read
        if read.startswith("int") and any(isinstance(values[name], float) for name in op.numbers):
            computed = "float64"
        if computed == "float32":  # an integer input whose formula is over floats
            return ""
        wanted = evaluate(op.declaration, values, computed)
    for got, array in zip(outcome.results, wanted):
        array = np.broadcast_to(np.asarray(array), tuple(got.shape))
        if str(got.dtype) == "torch.bool":
            array = array.astype(bool)
        difference = array_differs(numpy_of(got), array, 1e-7)
        if difference:
            return f"{sample}: {difference}"
    return ""


@pytest.mark.parametrize("op", cases("numpy", POINTWISE))
def test_pointwise_op_agrees_with_its_formula_in_numpy(op: Op) -> None:
    seed, mistakes = seed_for(op), []
    supported = set(op.declaration.dtypes).union(*op.declaration.formulas)
    for sample in samples_of(op):
        variants = [sample.with_layout(layout) for layout in LAYOUTS]
        variants += [sample.with_dtype(d) for d in EXACT if d in supported]
        mistakes += [mistake(op, variant, seed) for variant in variants]
    report(op, [m for m in mistakes if m])
