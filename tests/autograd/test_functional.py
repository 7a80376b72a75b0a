"""vjp, jvp, jacobian, hessian, vhp, hvp against each other, known derivatives, and PyTorch where it is installed."""

import pytest

import taeda
from taeda.autograd import functional

T = taeda.tensor
A = T([[1.0, 2.0], [3.0, -1.0]], dtype=taeda.float64)
X = T([0.5, -1.5], dtype=taeda.float64)
Y = T([[1.0], [2.0]], dtype=taeda.float64)


def linear(x):
    return x.new_tensor([[1.0, 2.0], [3.0, -1.0]]) @ x


def two(x, y):
    return (x * x).outer(y[:, 0]), (x.sin() * y[0]).sum()


def energy(x, y):
    return (x**3).sum() * y.prod() + x[0] * x[1]


def same(a, b):
    if isinstance(b, (tuple, list)):
        return isinstance(a, tuple) and len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a.shape == b.shape and taeda.allclose(a, b) and a.requires_grad == b.requires_grad


def test_known():
    assert same(functional.jacobian(linear, X), A)
    assert same(functional.vjp(linear, X, X), (A @ X, A.T @ X))
    assert same(functional.jvp(linear, X, X), (A @ X, A @ X))
    assert same(functional.hessian(lambda x: x @ A @ x, X), A + A.T)
    assert same(functional.hvp(lambda x: x @ A @ x, X, X), (X @ A @ X, (A + A.T) @ X))
    assert same(functional.vhp(lambda x: x @ A @ x, X, X), (X @ A @ X, (A + A.T) @ X))


def cases():
    v2 = (taeda.ones(2, 2, dtype=taeda.float64), T(2.0, dtype=taeda.float64))
    vin = (X.flip(0), Y * 3)
    for create_graph in (False, True):
        flags = {"create_graph": create_graph}
        yield "vjp", two, (X, Y), (v2,), flags
        yield "vjp", lambda x: x.prod(), X, (), flags
        yield "vjp", linear, X, (X,), flags
        yield "jvp", two, (X, Y), (vin,), flags
        yield "jvp", linear, X, (X,), flags
        yield "jacobian", two, (X, Y), (), flags
        yield "jacobian", linear, X, (), flags
        yield "jacobian", lambda x: (x.sum(), x.new_ones(2)), X, (), flags
        yield "jacobian", linear, X, (), {**flags, "vectorize": True}
        yield "jacobian", two, (X, Y), (), {**flags, "vectorize": True}
        yield "hessian", energy, (X, Y), (), flags
        yield "hessian", lambda x: (x**3).sum(), X, (), flags
        yield "hessian", lambda x: x.sum(), X, (), flags
        yield "hessian", energy, (X, Y), (), {**flags, "vectorize": True}
        yield "hvp", energy, (X, Y), (vin,), flags
        yield "vhp", energy, (X, Y), (vin,), flags
        yield "vhp", lambda x: x.sum(), X, (X,), flags
    yield "jacobian", two, (X, Y), (), {"vectorize": True, "strategy": "forward-mode"}
    yield "hessian", energy, (X, Y), (), {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}


@pytest.mark.torch
@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case[0])
def test_as_torch_does(case, tracked):
    oracle = pytest.importorskip("torch.autograd.functional")
    torch = pytest.importorskip("torch")
    name, func, inputs, rest, options = case
    inputs = tuple(x.clone().requires_grad_(tracked) for x in inputs) if isinstance(inputs, tuple) else inputs

    def cross(value):
        if isinstance(value, tuple):
            return tuple(map(cross, value))
        copy = torch.tensor(value.tolist(), dtype=torch.float64)
        return copy.requires_grad_(value.requires_grad)

    def check(found, expected):
        assert isinstance(found, tuple) == isinstance(expected, (tuple, list))  # forward mode gives lists there
        if isinstance(found, tuple):
            assert len(found) == len(expected)
            for pair in zip(found, expected):
                check(*pair)
        else:
            assert found.detach().flatten().tolist() == pytest.approx(expected.detach().flatten().tolist())
            assert tuple(found.shape) == tuple(expected.shape)
            assert found.requires_grad == expected.requires_grad or "forward-mode" in options.values()

    expected = getattr(oracle, name)(func, cross(inputs), *cross(rest), **options)
    found = getattr(functional, name)(func, inputs, *rest, **options)
    check(found, expected)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: functional.vjp(linear, X), RuntimeError),
        (lambda: functional.vjp(linear, X, Y), RuntimeError),
        (lambda: functional.vjp(linear, [X], X), TypeError),
        (lambda: functional.vjp(lambda x: 3, X), TypeError),
        (lambda: functional.jvp(linear, X, (X, X)), RuntimeError),
        (lambda: functional.jvp(lambda x: A, X, X, strict=True), RuntimeError),
        (lambda: functional.jacobian(lambda x, y: x, (X, Y), strict=True), RuntimeError),
        (lambda: functional.jacobian(linear, X, strict=True, vectorize=True), RuntimeError),
        (lambda: functional.jacobian(linear, X, strategy="forward-mode"), NotImplementedError),
        (lambda: functional.jacobian(linear, X, strategy="sideways"), ValueError),
        (lambda: functional.hessian(linear, X), RuntimeError),
        (lambda: functional.hessian(lambda x: x.sum(), X, strict=True), RuntimeError),
        (lambda: functional.hvp(lambda x: x.sum(), X, X, strict=True), RuntimeError),
        (lambda: functional.vhp(lambda x: A.sum(), X, X, strict=True), RuntimeError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="taeda.autograd.functional"):
        call()


def test_beyond_torch():
    assert functional.jacobian(lambda x: x[:0], X).shape == (0, 2)
    x = X.clone().requires_grad_()
    rows = functional.jacobian(lambda x: x**3, x, create_graph=True, vectorize=True, strategy="forward-mode")
    rows.sum().backward()
    assert taeda.allclose(x.grad, 6 * X)


def test_the_result_can_be_differentiated_again():
    x = X.clone().requires_grad_()
    functional.jacobian(lambda x: x**3, x, create_graph=True).sum().backward()
    assert taeda.allclose(x.grad, 6 * X)
