"""gradcheck must pass right gradients and catch every kind of wrong one."""

import random
import sys

import pytest

import taeda
from taeda.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck


def double(*shape, complex=False, seed=0):
    generator = taeda.Generator().manual_seed(seed)
    dtype = taeda.complex128 if complex else taeda.float64
    return taeda.randn(shape, dtype=dtype, generator=generator).requires_grad_()


def make(forward, backward):
    class F(taeda.autograd.Function):
        pass

    F.forward, F.backward = staticmethod(forward), staticmethod(backward)
    return F.apply


def save(ctx, x):
    ctx.save_for_backward(x)
    return x * x


RIGHT = {
    "square": (lambda x: x * x, [double(2, 3)]),
    "two inputs": (lambda x, y: (x @ y).tanh(), [double(2, 3), double(3, 2)]),
    "two outputs": (lambda x: (x.sin(), x.cos().sum()), [double(3)]),
    "scalar": (lambda x: x.exp(), [double()]),
    "unused input": (lambda x, y: x * 2, [double(2), double(2)]),
    "extra arguments": (lambda x, n, y: x**n * y, [double(2), 3, double(2).detach()]),
    "strided": (lambda x: x * x[0], [double(3, 4).detach().t().requires_grad_()]),
    "a view of the input": (lambda x: x.t(), [double(2, 3)]),
    "an integer output besides": (lambda x: (x * 2, x.argmax()), [double(3)]),
    "complex": (lambda z: z * z.conj() + z.exp(), [double(2, complex=True)]),
    "complex to real": (lambda z: z.abs() * z.real, [double(2, complex=True)]),
    "real to complex": (lambda x: taeda.complex(x, x * 2) ** 2, [double(2)]),
    "mixed": (lambda z, x: (z * x).sum(), [double(2, complex=True), double(2)]),
    "empty": (lambda x: x * 2, [double(0, 3)]),
    "no gradient": (lambda x: x.detach().sign(), [double(3)]),
    "a list": (lambda *x: [x[0] + x[1]], [double(2), double(2)]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("fast", [True, False])
def test_right_gradients_pass(name, fast):
    func, inputs = RIGHT[name]
    before = [x.detach().clone() for x in inputs if isinstance(x, taeda.Tensor)]
    assert gradcheck(func, tuple(inputs), fast_mode=fast, check_grad_dtypes=True)
    assert all((a == b).all() for a, b in zip(before, [x for x in inputs if isinstance(x, taeda.Tensor)]))


@pytest.mark.parametrize("name", ["square", "two inputs", "two outputs", "scalar", "complex", "complex to real"])
@pytest.mark.parametrize("fast", [True, False])
def test_right_second_derivatives_pass(name, fast):
    func, inputs = RIGHT[name]
    assert gradgradcheck(func, tuple(inputs), fast_mode=fast)
    assert gradgradcheck(func, tuple(inputs), fast_mode=fast, gen_non_contig_grad_outputs=True)


@pytest.mark.parametrize("name", ["square", "two inputs", "two outputs", "complex", "complex to real"])
def test_forward_mode_passes(name):
    func, inputs = RIGHT[name]
    for fast in (True, False):
        assert gradcheck(func, tuple(inputs), check_forward_ad=True, fast_mode=fast)
    assert gradcheck(func, tuple(inputs), check_forward_ad=True, check_backward_ad=False)
    assert gradgradcheck(func, tuple(inputs), check_fwd_over_rev=True)


@pytest.mark.parametrize("name", ["square", "two inputs", "two outputs", "complex", "unused input"])
def test_batched_passes(name):
    func, inputs = RIGHT[name]
    assert gradcheck(func, tuple(inputs), check_batched_grad=True)
    assert gradcheck(func, tuple(inputs), check_forward_ad=True, check_batched_forward_grad=True)


WRONG = {
    "wrong factor": make(save, lambda ctx, g: g * 3 * ctx.saved_tensors[0]),
    "one entry wrong": make(save, lambda ctx, g: g * 2 * ctx.saved_tensors[0] + (taeda.arange(3) == 1) * g),
    "ignores its gradient": make(save, lambda ctx, g: 2 * ctx.saved_tensors[0]),
    "nondeterministic": make(save, lambda ctx, g: g * 2 * ctx.saved_tensors[0] + random.random() * 1e-9),
    "lost": lambda x: x.detach() * 2,
    "nan": make(save, lambda ctx, g: g * float("nan")),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("fast", [True, False])
def test_wrong_gradients_are_caught(name, fast):
    with pytest.raises(GradcheckError, match="taeda.autograd.gradcheck"):
        gradcheck(WRONG[name], double(3), fast_mode=fast)
    assert not gradcheck(WRONG[name], double(3), raise_exception=False, fast_mode=fast)


def test_message_names_the_entry():
    with pytest.raises(GradcheckError, match=r"differs in 1 of 9 .* d output\[1\] / d input\[1\]"):
        gradcheck(WRONG["one entry wrong"], double(3))


def test_wrong_conjugate_is_caught():
    wrong = make(lambda ctx, z: z.conj().clone(), lambda ctx, g: g)
    with pytest.raises(GradcheckError, match="imag"):
        gradcheck(wrong, double(2, complex=True))


def test_nondeterminism_can_be_allowed():
    wobbly = make(save, lambda ctx, g: g * (2 * ctx.saved_tensors[0] + random.random() * 1e-9))
    assert not gradcheck(wobbly, double(3), raise_exception=False)
    assert gradcheck(wobbly, double(3), nondet_tol=1e-8)


def test_undefined_gradients():
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    def backward(ctx, g):
        return g * 2

    with pytest.raises(GradcheckError, match="undefined"):
        gradcheck(make(forward, backward), double(2))


def test_wrong_second_derivative_is_caught():
    def backward(ctx, g):
        with taeda.no_grad():
            slope = 2 * ctx.saved_tensors[0]
        return g * slope

    func = make(save, backward)
    assert gradcheck(func, double(3))
    with pytest.raises(GradcheckError):
        gradgradcheck(func, double(3))


def test_tolerances():
    almost = make(save, lambda ctx, g: g * 2.001 * ctx.saved_tensors[0])
    assert gradcheck(almost, double(3), rtol=1e-2)
    assert not gradcheck(almost, double(3), rtol=1e-5, raise_exception=False)


@pytest.mark.parametrize(
    ("inputs", "options", "error"),
    [
        (taeda.ones(2, dtype=taeda.float64), {}, ValueError),
        (double(2), {"check_backward_ad": False}, AssertionError),
        (double(2), {"check_batched_forward_grad": True}, ValueError),
        (double(1).detach().expand(3).requires_grad_(), {}, RuntimeError),
    ],
)
def test_bad_arguments(inputs, options, error):
    with pytest.raises(error, match="gradcheck"):
        gradcheck(lambda x: x * 2, inputs, **options)


def test_single_precision_warns():
    x = taeda.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="float64"):
        assert gradcheck(lambda x: x * 2, x, eps=1e-2, atol=1e-2)


def test_the_global_generator_is_left_alone():
    taeda.manual_seed(3)
    expected = taeda.rand(1)
    taeda.manual_seed(3)
    gradcheck(lambda x: x * 2, double(2), fast_mode=True)
    assert taeda.rand(1) == expected


@pytest.mark.parametrize("other", [lambda x: x[:1], lambda x: x.float()])
def test_outputs_of_one_form(other):
    with pytest.raises(AssertionError, match="other values of the inputs"):
        gradcheck(lambda x: x * 2 if bool((x >= 1).all()) else other(x), double(2).detach().fill_(1).requires_grad_())


def test_jacobians_of_older_programs():
    module = sys.modules["taeda.autograd.gradcheck"]  # the package has the function by this name
    a, b = double(2), double(2)
    with pytest.warns(FutureWarning, match="left over"):
        one, two = module.get_numerical_jacobian(lambda xs: 2 * xs[0] + xs[1] * xs[0], (a, b), eps=1e-6)
    assert taeda.allclose(one, taeda.diag(2 + b), atol=1e-6) and taeda.allclose(two, taeda.diag(a), atol=1e-6)
    with pytest.warns(FutureWarning, match="left over"):
        found, *facts = module.get_analytical_jacobian((a, b), 2 * a + b * a)
    assert taeda.allclose(found[0], one, atol=1e-6) and taeda.allclose(found[1], two, atol=1e-6)
    assert facts == [True, True, True]
    with pytest.warns(FutureWarning), pytest.raises(ValueError, match="grad_out"):
        module.get_numerical_jacobian(lambda xs: xs[0], (a,), grad_out=2.0)


@pytest.mark.filterwarnings("ignore:.*left over:FutureWarning")
def test_jacobians_of_older_programs_at_the_edges():
    module = sys.modules["taeda.autograd.gradcheck"]
    numerical, analytical = module.get_numerical_jacobian, module.get_analytical_jacobian
    for x, f, shape in ((double(0), lambda x: x * 2, (0, 0)), (double(2), lambda x: x[:0], (2, 0))):
        assert [j.shape for j in (*numerical(lambda xs, f=f: f(*xs), x), *analytical(x, f(x))[0])] == [shape] * 2
    z = taeda.tensor([1 + 2j, 3j], dtype=taeda.complex128, requires_grad=True)
    (one,), ((two,), *_) = numerical(lambda xs: (xs[0] ** 2).real, (z,), eps=1e-6), analytical(z, (z**2).real)
    assert taeda.allclose(one, two, atol=1e-6) and taeda.allclose(two.diag(), taeda.tensor([2 - 4j, -6j]).to(two))
    for call in (lambda: numerical(lambda xs: xs[0], (z,)), lambda: analytical(z, z * 1)):
        with pytest.raises(ValueError, match="real outputs"):
            call()


@pytest.mark.parametrize("check", [True, False])
def test_a_jvp_that_wants_all_tangents(check):
    class F(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x + y

        @staticmethod
        def jvp(ctx, x, y):
            return x + y

    arguments = {"check_forward_ad": True, "check_backward_ad": False, "raise_exception": False}
    assert gradcheck(F.apply, (double(2), double(2)), check_undefined_grad=check, **arguments) is not check
