"""First and second derivatives by finite differences, in float64."""

from __future__ import annotations

from typing import Any

import pytest
from comparison import flat
from declared import Op, base_ops, call, cases, find, samples_of, seed_for

import taeda
from taeda.autograd import gradcheck, gradgradcheck
from taeda.testing._samples import make
from taedagen.opdef.samples import Sample

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
    "linalg_lstsq",
    "pinverse",
    "ctc_loss",
    "_ctc_loss",
    # Estimates: gradients pass through rounding.
    "fake_quantize_per_tensor_affine",
    "fake_quantize_per_channel_affine",
    "fused_moving_avg_obs_fake_quant",
    "_compute_linear_combination.out",  # adds to out in each call
    "_test_autograd_multiple_dispatch",  # off by one, to be told from others
}
DTYPES = ("float64", "complex128")
# What is left free has no gradient, as in PyTorch: vectors beyond the singular values.
DETERMINED = {"linalg_svd": {"full_matrices": False}}
# Eigenvectors and singular vectors have a phase of their own: only functions that ignore it have a gradient.
PHASE = {"linalg_svd", "svd", "linalg_eigh", "linalg_eig", "linalg_qr", "qr"}


# PyTorch has no derivative of these either: backward must say so.
NO_DERIVATIVE = {
    "_standard_gamma_grad", "_dirichlet_grad", "heaviside", "scatter.reduce", "scatter.value_reduce",
    "geqrf", "linalg_ldl_factor", "linalg_ldl_factor_ex", "linalg_ldl_solve", "bincount", "histogram.bins_tensor",
    "histogram.bin_ct", "_unique2", "unique_consecutive",
    "randint_like", "randint_like.generator", "randint_like.low_dtype",
    "randint_like.low_generator_dtype", "randint_like.Tensor", "randint_like.Tensor_generator",
}  # fmt: skip
# Arguments that are data to their op, not variables: PyTorch has no derivative for them either.
CONSTANT = {
    **dict.fromkeys(("igamma", "igammac", "special_gammainc", "special_gammaincc", "special_zeta"), {"self"}),
    **dict.fromkeys(
        ("nll_loss", "nll_loss_nd", "nll_loss_forward", "cross_entropy_loss", "multi_margin_loss"), {"weight"}
    ),
    **dict.fromkeys(
        ("batch_norm", "native_batch_norm", "_native_batch_norm_legit", "instance_norm"),
        {"running_mean", "running_var"},
    ),
    **dict.fromkeys(("quantile", "nanquantile"), {"q"}),
}
# Read one triangle of a symmetric matrix: finite differences must keep it symmetric.
SYMMETRIC = {"linalg_cholesky_ex", "linalg_cholesky", "cholesky", "linalg_eigh", "linalg_eigvalsh"}
# Read one triangle and have a gradient for all elements, as PyTorch's: it is a limit among triangles only.
TRIANGULAR = {"cholesky_solve", "cholesky_inverse"}


def differentiable_samples(op: Op) -> list[tuple[Sample, Any]]:
    """Small valid samples with a result that requires a gradient."""
    function, found = find(taeda, op.schema.name, op.schema.overload), []
    if (
        op.variant != "functional"
        or {op.schema.name, op.schema.full_name} & (NO_LIMIT | NO_DERIVATIVE)
        or function is None
    ):
        return []
    for sample in samples_of(op):
        if not 0 < sum(_count(x.shape) for x in sample.fills if x.dtype in DTYPES) <= 300:
            continue
        outcome = call(taeda, function, sample, seed_for(op), prepare=lambda args: require_gradients(op, args))
        wanted = [r for r in outcome.results if getattr(r, "requires_grad", False)]
        if outcome.error is None and wanted and all(str(r.dtype)[6:] in DTYPES for r in wanted):
            found.append((sample, function))
    return found


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def require_gradients(op: Op, args: list[Any]) -> list[Any]:
    """Makes the floating-point arguments leaves, those that are constants to the op left out."""
    constants = CONSTANT.get(op.schema.name, set())
    named = [arg for name, arg in zip(op.schema.names, args) if name not in constants]
    found = [t for t in flat(named) if hasattr(t, "requires_grad_") and (t.is_floating_point() or t.is_complex())]
    for tensor in found:
        tensor.requires_grad_()
    return found


def skip_without_a_gradient(op: Op, exempt: set[str]) -> None:
    """Skips an op that has no derivative; fails where it has one that no sample reached."""
    variables = {a.name for a in op.schema.arguments if a.type.is_tensor} - CONSTANT.get(op.schema.name, set())
    named = {op.schema.name, op.schema.full_name} & exempt
    if named & NO_DERIVATIVE:
        pytest.skip("has no derivative: test_backward_of_an_op_without_a_derivative_raises sees that backward says so")
    if named:
        pytest.skip("draws or rounds: its gradient is no limit of differences (NO_LIMIT)")
    assert not variables or not op.declaration.derivative, "has a derivative that no sample reaches"
    pytest.skip("takes no variable or declares no derivative; test_torch compares with PyTorch what requires grad")


def check(op: Op, check_function: Any, limit: int) -> None:
    picked = sorted(differentiable_samples(op), key=lambda p: sum(_count(x.shape) for x in p[0].fills))[:limit]
    if not picked:
        skip_without_a_gradient(op, NO_LIMIT | NO_DERIVATIVE)
    for sample, function in picked:
        args, kwargs = make(sample, taeda, seed_for(op))
        kwargs |= DETERMINED.get(op.schema.name, {})
        inputs = require_gradients(op, args)

        def of_inputs(
            *tensors: Any, args: Any = args, kwargs: Any = kwargs, function: Any = function, inputs: Any = inputs
        ) -> Any:
            if op.schema.name in SYMMETRIC:
                tensors = tuple((t + t.mT) / 2 for t in tensors)
            if op.schema.name in TRIANGULAR:
                tensors = (*tensors[:-1], tensors[-1].tril())
            replaced = {id(old): new for old, new in zip(inputs, tensors)}
            swap = lambda v: [swap(x) for x in v] if isinstance(v, list) else replaced.get(id(v), v)
            results = [r for r in flat(function(*map(swap, args), **kwargs)) if getattr(r, "requires_grad", False)]
            return tuple(r.abs() if op.schema.name in PHASE else r for r in results)

        try:
            check_function(of_inputs, inputs)
        except Exception as error:
            pytest.fail(f"{op.schema.full_name}{sample}: {type(error).__name__}: {str(error)[:500]}", pytrace=False)


@pytest.mark.parametrize("name", sorted(NO_DERIVATIVE))
def test_backward_of_an_op_without_a_derivative_raises(name: str) -> None:
    op = next(op for op in base_ops() if op.schema.full_name == name)
    function = find(taeda, op.schema.name, op.schema.overload)
    outcomes = [
        call(taeda, function, s, seed_for(op), prepare=lambda args: require_gradients(op, args)) for s in samples_of(op)
    ]
    recorded = [r for outcome in outcomes for r in outcome.results if getattr(r, "requires_grad", False)]
    with pytest.raises(RuntimeError, match="derivative"):
        recorded[0].sum().backward()


OPS = [
    op
    for op in base_ops()
    if op.variant == "functional" and any(f.dtype in DTYPES for s in samples_of(op) for f in s.fills)
]


@pytest.mark.parametrize("op", cases("gradient", OPS))
def test_gradient(op: Op) -> None:
    check(op, gradcheck, limit=4)


@pytest.mark.parametrize("op", cases("second gradient", OPS))
def test_second_gradient(op: Op) -> None:
    check(op, lambda f, x: gradgradcheck(f, x), limit=2)
