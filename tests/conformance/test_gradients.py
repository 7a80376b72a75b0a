"""First and second derivatives by finite differences, in float64."""

from __future__ import annotations

from typing import Any

import pytest
from declared import Op, base_ops, call, cases, find, flat, samples_of, seed_for

import taeda
from taeda.autograd import gradcheck, gradgradcheck
from taeda.testing._samples import Sample

# The function is not smooth where it is sampled, or draws: PyTorch's gradient is a convention there, not a limit.
NO_LIMIT = {
    "dropout",
    "feature_dropout",
    "alpha_dropout",
    "feature_alpha_dropout",
    "native_dropout",
    "rrelu",
    "rrelu_with_noise",
    "normal",
    "bernoulli",
    "poisson",
    "binomial",
    "multinomial",
    "_standard_gamma",
    "_sample_dirichlet",
    "nextafter",
    "linalg_lstsq",
    "pinverse",
}
# Eigenvectors and singular vectors have a phase of their own: only functions that ignore it have a gradient.
PHASE = {"linalg_svd", "svd", "linalg_eigh", "linalg_eig", "linalg_qr", "qr"}


def differentiable_samples(op: Op) -> list[tuple[Sample, Any]]:
    """Small valid samples with a result that requires a gradient."""
    function, found = find(taeda, op.schema.name, op.schema.overload), []
    if op.variant != "functional" or op.schema.name in NO_LIMIT:
        return []
    for sample in samples_of(op):
        if not 0 < sum(_count(x.shape) for x in sample.fills if x.dtype == "float64") <= 300:
            continue
        outcome = call(taeda, function, sample, seed_for(op), prepare=require_gradients)
        if outcome.error is None and any(getattr(r, "requires_grad", False) for r in outcome.results):
            found.append((sample, function))
    return found


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def require_gradients(args: list[Any]) -> list[Any]:
    found = [t for t in flat(args) if hasattr(t, "requires_grad_") and t.is_floating_point()]
    for tensor in found:
        tensor.requires_grad_()
    return found


def check(op: Op, check_function: Any, limit: int, size: int) -> None:
    picked = [p for p in differentiable_samples(op) if sum(_count(x.shape) for x in p[0].fills) <= size][:limit]
    if not picked:
        pytest.skip("nothing to differentiate")
    for sample, function in picked:
        args, kwargs = sample.make(taeda, seed_for(op))
        inputs = require_gradients(args)

        def of_inputs(
            *tensors: Any, args: Any = args, kwargs: Any = kwargs, function: Any = function, inputs: Any = inputs
        ) -> Any:
            replaced = {id(old): new for old, new in zip(inputs, tensors)}
            swap = lambda v: [swap(x) for x in v] if isinstance(v, list) else replaced.get(id(v), v)
            results = [r for r in flat(function(*map(swap, args), **kwargs)) if getattr(r, "requires_grad", False)]
            return tuple(r.abs() if op.schema.name in PHASE else r for r in results)

        try:
            check_function(of_inputs, inputs)
        except Exception as error:
            pytest.fail(f"{op.schema.full_name}{sample}: {type(error).__name__}: {str(error)[:500]}", pytrace=False)


OPS = [
    op
    for op in base_ops()
    if op.variant == "functional" and any(f.dtype == "float64" for s in samples_of(op) for f in s.fills)
]


@pytest.mark.parametrize("op", cases("gradient", OPS))
def test_gradient(op: Op) -> None:
    check(op, gradcheck, limit=4, size=300)


@pytest.mark.parametrize("op", cases("second gradient", OPS))
def test_second_gradient(op: Op) -> None:
    check(op, lambda f, x: gradgradcheck(f, x), limit=2, size=60)
