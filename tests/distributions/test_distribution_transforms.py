"""Transforms: inverses, Jacobians beside autograd, shapes, caches, and the registries of constraints."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import taeda

D = taeda.distributions
T, C = D.transforms, D.constraints


def double(value: Any) -> taeda.Tensor:
    return taeda.tensor(value, dtype=taeda.float64)


ELEMENTWISE: list[tuple[str, Any, Any]] = [
    ("exp", T.ExpTransform(), [-2.0, 0.3, 1.5]),
    ("power", T.PowerTransform(double([0.5, 2.0, -1.5])), [0.5, 1.5, 2.0]),
    ("power-number", T.PowerTransform(3.0), [0.5, 1.5, 2.0]),
    ("sigmoid", T.SigmoidTransform(), [-3.0, 0.3, 2.0]),
    ("softplus", T.SoftplusTransform(), [-3.0, 0.3, 2.0]),
    ("tanh", T.TanhTransform(), [-1.5, 0.3, 2.0]),
    ("affine", T.AffineTransform(1.0, -2.0), [-1.5, 0.3, 2.0]),
    ("affine-tensor", T.AffineTransform(double([0.0, 1.0, 2.0]), double([1.0, -2.0, 3.0])), [-1.5, 0.3, 2.0]),
    ("cdf", T.CumulativeDistributionTransform(D.Normal(double(0.3), double(1.2))), [-1.5, 0.3, 2.0]),
    ("inverse", T.ExpTransform().inv, [0.4, 1.0, 3.0]),
    ("chain", T.ComposeTransform([T.AffineTransform(0.1, 0.5), T.TanhTransform(), T.ExpTransform()]), [-1.0, 0.3, 2.0]),
    ("stack", T.StackTransform([T.ExpTransform(), T.TanhTransform(), T.AffineTransform(0, 2)]), [-1.0, 0.3, 2.0]),
    ("cat", T.CatTransform([T.ExpTransform(), T.TanhTransform()], lengths=[1, 2]), [-1.0, 0.3, 2.0]),
]  # fmt: skip
VECTORS: list[tuple[str, Any, Any]] = [
    ("stick-breaking", T.StickBreakingTransform(), [0.3, -1.0, 2.0]),
    ("stick-breaking-batch", T.StickBreakingTransform(), [[0.3, -1.0], [2.0, 0.1]]),
    ("correlation", T.CorrCholeskyTransform(), [0.3, -1.0, 0.7]),
    ("correlation-larger", T.CorrCholeskyTransform(), [0.3, -1.0, 0.7, 0.1, -0.4, 0.5]),
    ("independent", T.IndependentTransform(T.ExpTransform(), 1), [0.3, -1.0, 0.7]),
    ("affine-vector", T.AffineTransform(double([0.0, 1.0]), double([2.0, -3.0]), 1), [[0.3, -1.0], [0.1, 2.0]]),
    ("affine-number", T.AffineTransform(0.5, -3.0, event_dim=1), [0.3, -1.0, 0.7]),
    ("reshape", T.ReshapeTransform((4,), (2, 2)), [0.3, -1.0, 0.7, 0.1]),
    ("chain", T.ComposeTransform([T.TanhTransform(), T.StickBreakingTransform()]), [0.3, -1.0, 0.7]),
    ("chain-shapes", T.ComposeTransform([T.ReshapeTransform((4,), (2, 2)), T.ExpTransform()]), [0.3, -1.0, 0.7, 0.1]),
]  # fmt: skip
NOT_BIJECTIVE: list[tuple[str, Any, Any]] = [
    ("softmax", T.SoftmaxTransform(), [0.3, -1.0, 2.0]),
    ("abs", T.AbsTransform(), [0.3, -1.0, 2.0]),
    ("lower-cholesky", T.LowerCholeskyTransform(), [[0.3, -1.0], [2.0, 0.5]]),
    ("positive-definite", T.PositiveDefiniteTransform(), [[0.3, -1.0], [2.0, 0.5]]),
]
ALL = ELEMENTWISE + VECTORS + NOT_BIJECTIVE


def table(cases: list[tuple[str, Any, Any]]) -> Any:
    return pytest.mark.parametrize("transform, value", [case[1:] for case in cases], ids=[case[0] for case in cases])


@table(ALL)
def test_inverse(transform: Any, value: Any) -> None:
    x = double(value)
    y = transform(x)
    assert transform.codomain.check(y).all() and transform.domain.check(x).all()
    back = transform.inv(y)
    if transform.bijective:
        assert taeda.allclose(back, x, rtol=1e-7)
    assert taeda.allclose(transform(back), y, rtol=1e-7)
    assert transform.inv.inv is transform and transform.inv is not transform
    assert tuple(transform.forward_shape(x.shape)) == tuple(y.shape)
    assert tuple(transform.inverse_shape(y.shape)) == tuple(x.shape)


@table(ELEMENTWISE)
def test_jacobian_of_elements(transform: Any, value: Any) -> None:
    x = double(value).requires_grad_()
    y = transform(x)
    (slope,) = taeda.autograd.grad(y.sum(), x)
    log_slope = transform.log_abs_det_jacobian(x, y)
    assert log_slope.shape == x.shape and taeda.allclose(log_slope, slope.abs().log())
    assert taeda.allclose(transform.inv.log_abs_det_jacobian(y, x), -log_slope)
    if not isinstance(transform, T.StackTransform | T.CatTransform):
        assert (taeda.as_tensor(transform.sign) * slope > 0).all()


def square_part(transform: Any, y: taeda.Tensor) -> taeda.Tensor:
    """As many of the result's elements as there are free ones."""
    if transform.codomain is C.simplex:
        return y[..., :-1]
    return D.utils.tril_matrix_to_vec(y, -1) if transform.codomain is C.corr_cholesky else y.flatten()


@table([case for case in VECTORS if "batch" not in case[0] and case[0] != "affine-vector"])
def test_jacobian_of_vectors(transform: Any, value: Any) -> None:
    x = double(value)
    jacobian = taeda.func.jacrev(lambda x: square_part(transform, transform(x)))(x)
    log_det = transform.log_abs_det_jacobian(x, transform(x))
    assert log_det.shape == () and taeda.allclose(log_det, taeda.linalg.slogdet(jacobian).logabsdet)


def test_batches_of_vectors() -> None:
    x = taeda.randn(4, 5, 3, dtype=taeda.float64)
    for transform in (T.StickBreakingTransform(), T.AffineTransform(1.0, 2.0, event_dim=1), T.CorrCholeskyTransform()):
        whole = transform.log_abs_det_jacobian(x, transform(x))
        assert whole.shape == (4, 5)
        assert taeda.allclose(whole[2, 3], transform.log_abs_det_jacobian(x[2, 3], transform(x[2, 3])))


@pytest.mark.torch
@table(ALL)
def test_beside_torch(transform: Any, value: Any) -> None:
    torch = pytest.importorskip("torch")
    name = type(transform).__name__
    if not hasattr(transform, "_cache_size") or name not in torch.distributions.transforms.__all__:
        return
    if transform.__dict__.keys() - {"_cache_size", "_inv", "_cached_x_y"}:
        return  # with parameters, compared above
    theirs = getattr(torch.distributions, name)()
    x = torch.tensor(value, dtype=torch.float64)
    np.testing.assert_allclose(transform(double(value)).numpy(), theirs(x).numpy(), rtol=1e-12)
    assert repr(transform) == repr(theirs) and repr(transform.domain) == repr(theirs.domain)
    assert transform.bijective == theirs.bijective and repr(transform.codomain) == repr(theirs.codomain)


def test_extreme_values() -> None:
    wide = taeda.tensor([-1e4, -100.0, 100.0, 1e4])
    for transform in (T.SigmoidTransform(), T.TanhTransform(), T.SoftplusTransform()):
        assert transform.log_abs_det_jacobian(wide, transform(wide)).isfinite().all()
    y = T.SigmoidTransform()(wide)
    assert (y > 0).all() and (y < 1).all()
    assert T.StickBreakingTransform()(wide).log().isfinite()[:-1].all()


def test_cache() -> None:
    x = taeda.randn(3)
    plain, cached = T.TanhTransform(), T.TanhTransform(cache_size=1)
    y = cached(x)
    assert cached(x) is y and cached.inv(y) is x and plain.inv(plain(x)) is not x
    assert cached.inv(y.clone()) is not x
    assert cached.with_cache(1) is cached and cached.with_cache(0)._cache_size == 0
    chain = T.ComposeTransform([T.TanhTransform(), T.AffineTransform(0, 2.0)], cache_size=1)
    assert chain.inv(chain(x)) is x
    inverse = plain.inv.with_cache()
    assert inverse._cache_size == 1 and inverse.inv(inverse(y)) is y
    others = (
        T.PowerTransform(2.0), T.ReshapeTransform((3,), (3, 1)), T.IndependentTransform(T.ExpTransform(), 1),
        T.StackTransform([T.ExpTransform()] * 3), T.CatTransform([T.ExpTransform()] * 3),
        T.CumulativeDistributionTransform(D.Normal(0, 1)),
    )  # fmt: skip
    for other in others:
        value = x.abs()
        cached = other.with_cache()
        assert cached.inv(cached(value)) is value, other
    with pytest.raises(ValueError, match="cache_size"):
        T.ExpTransform(cache_size=2)


def test_equality() -> None:
    assert T.ExpTransform() == T.ExpTransform() != T.TanhTransform()
    assert T.ExpTransform().inv == T.ExpTransform().inv != T.ExpTransform()
    assert T.AffineTransform(1, taeda.tensor(2.0)) == T.AffineTransform(taeda.tensor(1.0), 2) != T.AffineTransform(1, 3)
    assert T.PowerTransform(2.0) == T.PowerTransform(taeda.tensor(2.0)) != T.PowerTransform(3.0)
    chain = [T.ExpTransform(), T.AffineTransform(0, 1)]
    assert T.ComposeTransform(chain) == T.ComposeTransform(list(chain)) != T.ComposeTransform(chain[:1])
    for one, other in ((T.ExpTransform(), T.ExpTransform()), (T.AffineTransform(1, 2), T.AffineTransform(1.0, 2.0))):
        assert hash(one) == hash(other)
    assert T.ReshapeTransform((2,), (2, 1)) != T.ReshapeTransform((2,), (2, 1))


def test_shapes_and_dimensions() -> None:
    chain = T.ComposeTransform([T.ExpTransform(), T.StickBreakingTransform()])
    assert chain.domain.event_dim == chain.codomain.event_dim == chain.event_dim == 1
    grown = T.ComposeTransform([T.CorrCholeskyTransform(), T.AffineTransform(0, 2.0)])
    assert (grown.domain.event_dim, grown.codomain.event_dim) == (1, 2)
    with pytest.raises(ValueError, match="event"):
        _ = grown.event_dim
    assert T.identity_transform.domain is C.real and T.identity_transform.bijective
    zero = T.identity_transform.log_abs_det_jacobian(taeda.ones(3), taeda.ones(3))
    assert zero.tolist() == [0, 0, 0] and T.identity_transform.sign == 1
    assert T.AffineTransform(taeda.zeros(3), 1.0).forward_shape((2, 1)) == (2, 3)
    assert T.ReshapeTransform((4,), (2, 2)).forward_shape((7, 4)) == (7, 2, 2)
    two = T.StackTransform([T.ExpTransform(), T.StickBreakingTransform().inv], dim=0)
    assert two.codomain.cseq[0] is C.positive


@pytest.mark.parametrize(
    "wrong, kind",
    [
        (lambda: T.ReshapeTransform((4,), (2, 3)), ValueError),
        (lambda: T.ReshapeTransform((4,), (2, 2)).forward_shape((3,)), ValueError),
        (lambda: T.ReshapeTransform((4,), (2, 2))(taeda.ones(3)), ValueError),
        (lambda: T.StickBreakingTransform().forward_shape(()), ValueError),
        (lambda: T.SoftmaxTransform().forward_shape(()), ValueError),
        (lambda: T.CorrCholeskyTransform().forward_shape((4,)), ValueError),
        (lambda: T.CorrCholeskyTransform().inverse_shape((2, 3)), ValueError),
        (lambda: T.IndependentTransform(T.ExpTransform(), 2)(taeda.ones(3)), ValueError),
        (lambda: T.StackTransform([T.ExpTransform()])(taeda.ones(3)), AssertionError),
        (lambda: T.CatTransform([T.ExpTransform()])(taeda.ones(3)), AssertionError),
        (lambda: T.CatTransform([T.ExpTransform()], lengths=[1, 2]), AssertionError),
        (lambda: T.StackTransform([3]), AssertionError),
        (lambda: T.AbsTransform().sign, NotImplementedError),
        (lambda: T.SoftmaxTransform().log_abs_det_jacobian(taeda.ones(2), taeda.ones(2)), NotImplementedError),
        (lambda: T.Transform()(taeda.ones(2)), NotImplementedError),
        (lambda: T.Transform().inv(taeda.ones(2)), NotImplementedError),
    ],
)
def test_errors(wrong: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        wrong()


def test_own_transform() -> None:
    class Cube(T.Transform):
        domain = codomain = C.real
        bijective = True
        sign = 1

        def _call(self, x: Any) -> Any:
            return x**3

        def _inverse(self, y: Any) -> Any:
            return y.sign() * y.abs() ** (1 / 3)

        def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
            return math.log(3) + 2 * x.abs().log()

    p = D.TransformedDistribution(D.Normal(double(0.0), double(1.0)), [Cube()])
    x = double([0.5, 2.0])
    (slope,) = taeda.autograd.grad(p.cdf(x.requires_grad_()).sum(), x)
    assert taeda.allclose(p.log_prob(x).exp(), slope) and Cube().with_cache()._cache_size == 1


def test_pickle() -> None:
    transform = T.ComposeTransform([T.ExpTransform(), T.AffineTransform(1.0, 2.0)])
    x = taeda.randn(3)
    _ = transform.inv
    again = pickle.loads(pickle.dumps(transform))
    assert again == transform and taeda.equal(again(x), transform(x))
    p = pickle.loads(pickle.dumps(D.LogNormal(taeda.zeros(2), 1.0)))
    assert p.log_prob(taeda.ones(2)).shape == (2,)


REGISTERED = [
    C.real, C.positive, C.nonnegative, C.greater_than(2.0), C.greater_than_eq(-1.0), C.less_than(3.0), C.unit_interval,
    C.interval(-2.0, 3.0), C.half_open_interval(1.0, 2.0), C.simplex, C.corr_cholesky, C.real_vector,
    C.independent(C.positive, 1), C.interval(taeda.tensor([0.0, 1.0, 2.0]), taeda.tensor([1.0, 3.0, 5.0])),
    C.stack([C.real, C.positive, C.less_than(0.0)]), C.cat([C.positive, C.unit_interval], lengths=[1, 2]),
]  # fmt: skip
MATRICES = [C.lower_cholesky, C.positive_definite, C.positive_semidefinite]


@pytest.mark.parametrize("constraint", REGISTERED + MATRICES, ids=repr)
def test_registered_constraints(constraint: Any) -> None:
    shape = (3, 3) if constraint in MATRICES else (3,)
    for registry in (D.transform_to, D.biject_to):
        if registry is D.biject_to and constraint in MATRICES:
            with pytest.raises(NotImplementedError, match="Cholesky|Definite|Semidefinite"):
                registry(constraint)
            continue
        transform = registry(constraint)
        x = taeda.randn(shape)
        y = transform(x)
        assert constraint.check(y).all()
        if registry is D.biject_to:
            assert transform.bijective and taeda.allclose(transform.inv(y), x, atol=1e-4)


def test_registering() -> None:
    class Odd(C.Constraint):
        pass

    with pytest.raises(NotImplementedError, match="Odd"):
        D.biject_to(Odd())
    D.biject_to.register(Odd, lambda constraint: T.ExpTransform())
    assert D.biject_to(Odd()) == T.ExpTransform()

    @D.transform_to.register(Odd())
    def _(constraint: Any) -> Any:
        return T.TanhTransform()

    assert D.transform_to(Odd()) == T.TanhTransform()
    for registry in (D.biject_to, D.transform_to):
        del registry._registry[Odd]
        with pytest.raises(TypeError, match="constraint"):
            registry.register(int, lambda constraint: None)
