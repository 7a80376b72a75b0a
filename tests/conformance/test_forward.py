"""Forward mode against reverse mode: for any ``t`` and ``u``, ``<u, J t> == <J'u, t>``, complex numbers as pairs."""

from __future__ import annotations

from typing import Any

import pytest
from comparison import flat
from declared import Op, base_ops, call, cases, find, samples_of, seed_for
from test_gradients import CONSTANT, NO_DERIVATIVE, PHASE, skip_without_a_gradient

import taeda
from taeda.autograd import forward_ad
from taeda.testing._samples import make
from taedagen.opdef import REGISTRY
from taedagen.opdef.samples import Sample

DTYPES = ("float64", "complex128")
# The gradient is one kernel without a gradient of its own: neither has PyTorch forward mode for it.
REFUSE = {"_ctc_loss", "ctc_loss"}
# The overload of the plain form, where it bears another name.
PLAIN = {"float_power_.Scalar": "Tensor_Scalar", "float_power_.Tensor": "Tensor_Tensor"}
REFUSE_BOTH = {"_sample_dirichlet", "histc"}
TOLD_APART = {"_test_autograd_multiple_dispatch"}  # the gradient is another than that of forward mode, on purpose


def small(sample: Sample) -> bool:
    """In double precision, with something in it: means of nothing are NaN, and so are their tangents."""
    sizes = [size for x in sample.fills for size in x.shape]
    return any(x.dtype in DTYPES for x in sample.fills) and all(0 < size <= 64 for size in sizes)


SAMPLED = [op for op in base_ops() if op.variant == "functional" and any(small(s) for s in samples_of(op))]
WITHOUT = NO_DERIVATIVE | REFUSE | REFUSE_BOTH | TOLD_APART
OPS = [op for op in SAMPLED if not {op.schema.name, op.schema.full_name} & WITHOUT]
INPLACE = [
    op
    for declaration in REGISTRY.declarations
    if not declaration.options.get("unbound")
    for op in declaration.ops()
    if op.variant == "inplace" and op.schema is not declaration.schema and any(small(s) for s in samples_of(op))
]


def varied(op: Op, args: list[Any]) -> list[Any]:
    constants = CONSTANT.get(op.schema.name.removesuffix("_"), set())
    named = [arg for name, arg in zip(op.schema.names, args) if name not in constants]
    return [t for t in flat(named) if isinstance(t, taeda.Tensor) and (t.is_floating_point() or t.is_complex())]


def noise(x: Any, seed: int) -> Any:
    generator = taeda.Generator().manual_seed(seed)
    return taeda.randn(x.shape, dtype=x.dtype, generator=generator)


def dot(a: Any, b: Any) -> float:
    product = a.detach().conj() * b.detach()
    return float((product.real if product.is_complex() else product).sum())


def swapped(value: Any, table: dict[int, Any]) -> Any:
    return [swapped(x, table) for x in value] if isinstance(value, list) else table.get(id(value), value)


def results_of(op: Op, function: Any, args: list[Any], kwargs: dict[str, Any]) -> list[Any]:
    taeda.manual_seed(0)
    results = [r for r in flat(function(*args, **kwargs)) if isinstance(r, taeda.Tensor)]
    varying = [r for r in results if r.is_floating_point() or r.is_complex()]
    return [r.abs() for r in varying] if op.schema.name in PHASE else varying


def compare(op: Op, function: Any, sample: Sample) -> bool:
    """Whether there was anything to compare."""
    args, kwargs = make(sample, taeda, seed_for(op))
    inputs = varied(op, args)
    leaves = [x.detach().requires_grad_() for x in inputs]
    table = {id(old): new for old, new in zip(inputs, leaves)}
    results = [r for r in results_of(op, function, swapped(args, table), kwargs)]
    tracked = [i for i, r in enumerate(results) if r.requires_grad]
    if not inputs or not tracked:
        return False
    tangents = [noise(x, 2 * i) for i, x in enumerate(inputs)]
    weights = [noise(results[i], 2 * i + 1) for i in tracked]
    grads = taeda.autograd.grad([results[i] for i in tracked], leaves, weights, allow_unused=True)
    backward = sum(dot(g, t) for g, t in zip(grads, tangents) if g is not None)
    for recorded in (False, True):
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x.detach().requires_grad_(recorded), t) for x, t in zip(inputs, tangents)]
            table = {id(old): new for old, new in zip(inputs, duals)}
            pushed = [forward_ad.unpack_dual(r) for r in results_of(op, function, swapped(args, table), kwargs)]
        found = [pushed[i] for i in tracked]
        for pair in found:
            assert pair.tangent is None or (pair.tangent.shape, pair.tangent.dtype) == (
                pair.primal.shape,
                pair.primal.dtype,
            ), f"{sample}: the tangent is {pair.tangent.dtype} {pair.tangent.shape}"
        forward = sum(dot(w, pair.tangent) for w, pair in zip(weights, found) if pair.tangent is not None)
        size = max(1.0, *(dot(w, w) ** 0.5 for w in weights), abs(backward))
        assert forward == pytest.approx(backward, rel=1e-6, abs=1e-6 * size, nan_ok=True), str(sample)
    return True


def differentiable(op: Op, function: Any, sample: Sample) -> bool:
    """Without mistakes in the sample; with results in double precision."""

    def prepare(args: list[Any]) -> list[Any]:
        return [x.requires_grad_() for x in varied(op, args)]

    outcome = call(taeda, function, sample, seed_for(op), prepare=prepare)
    wanted = [r for r in outcome.results if getattr(r, "requires_grad", False)]
    return outcome.error is None and bool(wanted) and all(r.dtype in (taeda.float64, taeda.complex128) for r in wanted)


@pytest.mark.parametrize("op", cases("forward", OPS))
def test_forward_mode_agrees_with_reverse_mode(op: Op) -> None:
    function = find(taeda, op.schema.name, op.schema.overload)
    compared = 0
    for sample in filter(small, samples_of(op)):
        if compared < 6 and differentiable(op, function, sample):
            compared += compare(op, function, sample)
    if not compared:
        skip_without_a_gradient(op, set())


@pytest.mark.parametrize("op", cases("forward in place", INPLACE))
def test_forms_in_place_carry_the_same_tangent(op: Op) -> None:
    written = find(taeda, op.schema.name, op.schema.overload)
    overload = PLAIN.get(op.schema.full_name, op.plain.overload)
    plain = find(taeda, op.schema.name.removesuffix("_"), overload)
    compared = 0
    for sample in filter(small, samples_of(op)):
        args, kwargs = make(sample, taeda, seed_for(op))
        inputs = varied(op, args)
        if not inputs or compared == 4 or call(taeda, written, sample, seed_for(op)).error is not None:
            continue
        found = []
        for function in (plain, written):
            with forward_ad.dual_level():
                duals = [forward_ad.make_dual(x.clone(), noise(x, i)) for i, x in enumerate(inputs)]
                table = {id(old): new for old, new in zip(inputs, duals)}
                try:
                    result = next(iter(results_of(op, function, swapped(args, table), kwargs)), None)
                except NotImplementedError as error:
                    found.append(str(error))
                    continue
                found.append(None if result is None else forward_ad.unpack_dual(result).tangent)
        if isinstance(found[0], str):
            assert "forward mode" in found[1] or "no derivative" in found[1]
            continue
        if found[0] is None or found[1] is None:
            assert found[0] is None or not found[0].any()
            continue
        assert taeda.allclose(found[0].to(found[1].dtype), found[1], equal_nan=True), str(sample)
        compared += 1
    if not compared:
        skip_without_a_gradient(op, NO_DERIVATIVE)


# Made of ops that have tangents, they have right ones.
MADE_OF_OTHERS = {"scatter.reduce", "scatter.value_reduce"}
REFUSING = [op for op in SAMPLED if {op.schema.name, op.schema.full_name} & ((NO_DERIVATIVE | REFUSE) - MADE_OF_OTHERS)]


@pytest.mark.parametrize("op", REFUSING, ids=lambda op: op.schema.full_name)
def test_an_op_without_a_derivative_refuses_tangents(op: Op) -> None:
    function = find(taeda, op.schema.name, op.schema.overload)
    wanted = [s for s in samples_of(op) if small(s) and call(taeda, function, s, seed_for(op)).error is None]
    args, kwargs = make(wanted[0], taeda, seed_for(op))
    with forward_ad.dual_level():
        table = {id(x): forward_ad.make_dual(x, taeda.ones_like(x)) for x in varied(op, args)}
        with pytest.raises(NotImplementedError, match="forward mode|no derivative"):
            function(*swapped(args, table), **kwargs)
