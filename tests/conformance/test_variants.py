"""Functions, methods, in-place and ``out=`` forms give what the op itself gives."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from comparison import UNDEFINED, describe, differ, flat
from declared import PUBLIC, Op, Outcome, base_ops, call, cases, find, report, samples_of, seed_for

import taeda
from taeda.testing._samples import make
from taedagen.opdef.samples import Name, Sample

NAMESPACES = {"linalg": "linalg", "fft": "fft", "special": "special"}


def public_function(op: Op) -> Any:
    """The Python function of an op, where its declaration says that there is one."""
    declaration = op.declaration
    if declaration.module == "nn":
        return getattr(taeda._C._nn, op.schema.name, None)
    namespace, name = NAMESPACES.get(declaration.module), op.schema.name
    if namespace is not None:
        return getattr(getattr(taeda, namespace), name.removeprefix(f"{namespace}_"), None)
    return getattr(taeda, name, None)


def good_samples(op: Op) -> list[Sample]:
    function = find(taeda, op.schema.name, op.schema.overload)
    return [s for s in samples_of(op) if call(taeda, function, s, seed_for(op)).error is None]


def compare(op: Op, form: Any, sample: Sample) -> str:
    wanted = call(taeda, find(taeda, op.schema.name, op.schema.overload), sample, seed_for(op))
    got = call(taeda, form, sample, seed_for(op))
    if got.error is not None:
        return f"{sample}: {got}, wanted {wanted}"
    differences = [differ(a, b, values=op.schema.name not in UNDEFINED) for a, b in zip(got.results, wanted.results)]
    return "".join(f"{sample}: {d}" for d in differences[:1] if d)


# The Python function takes its arguments in another form than the op.
OTHER_FORM = {"block_diag", "cartesian_prod", "tensordot", "stft"}
FUNCTIONS = [
    op
    for op in base_ops()
    if op.variant == "functional"
    and "function" in op.declaration.variants
    and op.schema.name not in OTHER_FORM
    and public_function(op)
]


@pytest.mark.parametrize("op", cases("function", FUNCTIONS))
def test_function_gives_what_the_op_gives(op: Op) -> None:
    report(op, [m for s in good_samples(op)[:3] if (m := compare(op, public_function(op), s))])


METHODS = [
    op
    for op in base_ops()
    if "method" in op.declaration.variants and not (op.schema.arguments and op.schema.arguments[0].name in op.numbers)
]


@pytest.mark.parametrize("op", cases("method", METHODS))
def test_method_gives_what_the_op_gives(op: Op) -> None:
    names = op.schema.names
    where = names.index("self") if "self" in names else 0

    def method(*args: Any, **kwargs: Any) -> Any:
        args_ = list(args)
        return getattr(args_.pop(where), op.schema.name)(*args_, **kwargs)

    report(op, [m for s in good_samples(op)[:3] if len(s.args) > where and (m := compare(op, method, s))])


INPLACE = [op for d in PUBLIC for op in d.ops() if op.variant == "inplace" and op.schema is not d.schema]


def functional_of(op: Op) -> Any:
    return find(taeda, op.plain.name, op.plain.overload)


@pytest.mark.parametrize("op", cases("inplace", INPLACE))
def test_inplace_form_writes_the_result_into_self(op: Op) -> None:
    form, functional = find(taeda, op.schema.name, op.schema.overload), functional_of(op)
    mistakes, checked = [], 0
    for sample in samples_of(op):
        wanted = call(taeda, functional, sample, seed_for(op))
        got = call(taeda, form, sample, seed_for(op))
        if wanted.error is not None:
            if got.error is None:
                mistakes.append(f"{sample}: gives {got}, wanted {wanted}")
            continue
        result = wanted.results[0]
        target = make(sample, taeda, seed_for(op))[0][0]
        if result.shape != target.shape or not taeda.can_cast(result.dtype, target.dtype):
            if got.error is None:
                mistakes.append(f"{sample}: {describe([result])} went into {describe([target])}")
            continue
        checked += 1
        if got.error is not None:
            mistakes.append(f"{sample}: {got}, wanted {wanted}")
        elif got.results[0] is not got.args[0] or got.args[0]._version == 0:
            mistakes.append(f"{sample}: the result is not self, or self's version did not move")
        else:
            difference = differ(got.results[0], result.to(target.dtype), strides=False)
            mistakes += [f"{sample}: {difference}"] if difference else []
    assert checked, f"no sample of {op.schema.full_name} could be checked"
    report(op, mistakes)


def out_of_int64(op: Op, sample: Sample, wanted: Outcome) -> str:
    """What is wrong with a floating-point result's way into int64 tensors: an error is wanted there.

    Sums, products and their like are computed in the out tensor's dtype, where ``dtype=`` does not say another.
    """
    outs = [taeda.empty(r.shape, dtype=taeda.int64) for r in wanted.results]
    form = find(taeda, op.schema.name, op.schema.overload)
    given = dict(zip([a.name for a in op.outs], outs))
    got = call(taeda, lambda *a, **k: form(*a, **k, **given), sample, seed_for(op))
    rule = op.declaration.options.get("out")
    if rule == "any":
        return differ(outs[0], wanted.results[0].long())
    if rule != "same" and "dtype" not in sample.kwargs and any(a.name == "dtype" for a in op.schema.arguments):
        converted = Sample(sample.args, sample.kwargs | {"dtype": Name("int64")})
        wanted = call(taeda, functional_of(op), converted, seed_for(op))
        fits = wanted.error is None and wanted.results[0].dtype == taeda.int64
        if fits and got.error is None:
            return differ(outs[0], wanted.results[0])
        agree = not fits and got.error is not None
        return "" if agree else f"{sample} out of int64: {got}, with dtype=int64 {wanted}"
    refusal = TypeError if rule == "type error" else RuntimeError
    if isinstance(got.error, refusal) or op.schema.name in UNDEFINED | {"empty"}:
        return ""
    return f"{sample}: a floating-point result went into an int64 out tensor"


OUTS = [op for d in PUBLIC for op in d.ops() if op.variant == "out"]


@pytest.mark.parametrize("op", cases("out", OUTS))
def test_out_form_writes_into_the_given_tensors(op: Op) -> None:
    functional, form = functional_of(op), find(taeda, op.schema.name, op.schema.overload)
    names = [a.name for a in op.outs]
    mistakes, checked = [], 0
    for sample in samples_of(op):
        wanted = call(taeda, functional, sample, seed_for(op))
        if wanted.error is not None or len(wanted.results) != len(names):
            continue
        checked += 1
        kwargs = {k: v for k, v in sample.kwargs.items() if k in op.schema.names}
        for size in ("right", "empty", "wrong"):
            outs = [
                taeda.empty(r.shape if size == "right" else (0,) if size == "empty" else (7, 1, 5), dtype=r.dtype)
                for r in wanted.results
            ]
            got = call(
                taeda,
                lambda *a, outs=outs, **k: form(*a, **k, **dict(zip(names, outs))),
                Sample(sample.args, kwargs),
                seed_for(op),
            )
            if got.error is not None:
                mistakes.append(f"{sample} out of {size} size: {got}")
            elif not all(a is b for a, b in zip(got.results, outs)):
                mistakes.append(f"{sample}: the results are not the given tensors")
            elif op.schema.name not in UNDEFINED:
                differences = [differ(a, b, strides=False) for a, b in zip(outs, wanted.results)]
                mistakes += [f"{sample} out of {size} size: {d}" for d in differences if d][:1]
        # Factories and draws take their dtype from the out tensor.
        if wanted.results[0].is_floating_point() and sample.fills and not op.schema.name.startswith("rand"):
            mistakes += filter(None, [out_of_int64(op, Sample(sample.args, kwargs), wanted)])
    assert checked, f"no sample of {op.schema.full_name} could be checked"
    report(op, mistakes)


def test_out_of_the_wrong_size_warns() -> None:
    out = taeda.empty(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        taeda.add(taeda.ones(2), 1, out=out)
    assert out.tolist() == [2.0, 2.0]
    assert any("resize" in str(w.message) for w in caught)


def test_flat_opens_lists() -> None:
    assert flat([1, (2, [3]), None]) == [1, 2, 3]
