"""Forward mode by hand: what carries a tangent, what drops it, what refuses."""

import pytest

import taeda
from taeda.autograd import forward_ad


def dual(values, tangent=None):
    x = taeda.tensor(values, dtype=taeda.float64)
    t = taeda.arange(1.0, x.numel() + 1, dtype=taeda.float64).reshape(x.shape) if tangent is None else tangent
    return forward_ad.make_dual(x, t)


def tangent(x):
    found = forward_ad.unpack_dual(x).tangent
    return None if found is None else found.tolist()


@pytest.fixture(autouse=True)
def level():
    with forward_ad.dual_level():
        yield


def test_writes_reach_views_and_bases():
    x, base = dual([1.0, 1.0, 1.0]), taeda.zeros(2, 3, dtype=taeda.float64)
    first, flat = base[0], base.view(-1)
    first.copy_(x)
    first.mul_(2)
    assert tangent(base) == [[2.0, 4.0, 6.0], [0.0, 0.0, 0.0]]
    assert tangent(flat) == [2.0, 4.0, 6.0, 0.0, 0.0, 0.0]
    base.zero_()
    assert tangent(first) == [0.0, 0.0, 0.0]
    y = x * 1
    y[1:].mul_(3)
    assert tangent(y) == [1.0, 6.0, 9.0]
    assert tangent(x) == [1.0, 2.0, 3.0]


def test_writes_in_place():
    x = dual([2.0, 3.0])
    y = x + 0
    y.mul_(x)
    y.pow_(2)
    assert tangent(y) == [4 * 8.0, 4 * 27.0 * 2]
    y.transpose_(0, 0).unsqueeze_(0)
    assert tangent(y) == [[32.0, 216.0]]
    assert tangent(y.uniform_()) == [[0.0, 0.0]]


def test_the_tangent_may_be_laid_out_otherwise():
    t = taeda.arange(6.0, dtype=taeda.float64).view(3, 2).t()
    x = dual([[1.0] * 3] * 2, t)
    assert tangent(x.view(-1)) == t.reshape(-1).tolist()
    assert tangent(x.as_strided((2,), (1,), 1)) == t.reshape(-1)[1:3].tolist()


def test_results_do_not_share_the_tangent():
    x = dual([1.0, 2.0])
    for same in (x + 1, x.clone(), x.contiguous() * 1, x.to(taeda.float64, copy=True)):
        same.mul_(2)
        assert tangent(x) == [1.0, 2.0] and tangent(same) == [2.0, 4.0]


def test_what_drops_tangents():
    x = dual([1.0, 2.0])
    assert tangent(x.detach()) is None and tangent(x > 0) is None and tangent(x.argmax()) is None
    assert tangent(x.int()) is None and tangent((x * 2).detach_()) is None
    assert tangent(x.sign()) == [0.0, 0.0]
    with taeda.no_grad():
        assert tangent(x * 2) == [2.0, 4.0]
    with forward_ad._set_fwd_grad_enabled(False):
        assert tangent(x * 2) is None and not forward_ad._is_fwd_grad_enabled()
    with taeda.inference_mode():
        assert tangent(x * 2) is None
    assert forward_ad._is_fwd_grad_enabled()
    value = forward_ad.unpack_dual(x).primal
    assert tangent(value) is None and tangent(value * 2) is None and tangent(value.view(-1)) is None


def test_dtypes():
    x = dual([1.0, 2.0])
    assert forward_ad.unpack_dual(x.half()).tangent.dtype == taeda.float16
    z = taeda.complex(x, x * 2) * 1j
    assert tangent(z) == [-2 + 1j, -4 + 2j]
    assert tangent(z.abs() ** 2) == pytest.approx([10.0, 40.0])
    assert tangent(z.real * z.imag) == [-4.0, -16.0]
    assert tangent(taeda.view_as_real(z).sum()) == -3.0


def test_refusals():
    x = dual([1.0, 2.0])
    with pytest.raises(NotImplementedError, match="forward mode"):
        taeda.add(x, x, out=taeda.empty(2, dtype=taeda.float64))
    with pytest.raises(RuntimeError, match="level"):
        forward_ad.enter_dual_level()


def test_the_primal_keeps_its_history():
    x = taeda.ones(2, dtype=taeda.float64, requires_grad=True)
    value, moved = forward_ad.unpack_dual(forward_ad.make_dual(x * 2, taeda.ones(2, dtype=taeda.float64)) ** 2)
    value.sum().backward()
    assert x.grad.tolist() == [8.0, 8.0]
    x.grad = None
    moved.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_backward_carries_tangents():
    x = taeda.tensor([1.0, 2.0], dtype=taeda.float64)
    moving = forward_ad.make_dual(x.clone().requires_grad_(), taeda.ones_like(x))
    for f, second in ((lambda x: x**3, 6 * x), (taeda.exp, x.exp()), (lambda x: x.softmax(0)[0], None)):
        (gradient,) = taeda.autograd.grad(f(moving).sum(), moving)
        expected = taeda.autograd.functional.hessian(lambda x, f=f: f(x).sum(), x).sum(1) if second is None else second
        assert taeda.allclose(forward_ad.unpack_dual(gradient).tangent, expected)


def test_a_tangent_is_no_dual_of_the_level():
    with pytest.raises(RuntimeError, match="dual tensor of level"):
        forward_ad.make_dual(taeda.ones(2, dtype=taeda.float64), dual([1.0, 2.0]))


BITS = {"none": lambda x: x, "conj": lambda x: x.conj(), "neg": lambda x: x._neg_view()}


@pytest.mark.parametrize("primal", BITS)
@pytest.mark.parametrize("other", BITS)
def test_a_tangent_has_the_bits_of_its_primal(primal, other):
    x, t = BITS[primal](taeda.ones(2, dtype=taeda.complex64)), BITS[other](taeda.ones(2, dtype=taeda.complex64) * 2j)
    made = forward_ad.unpack_dual(forward_ad.make_dual(x, t)).tangent
    assert (made is t) == (primal == other) and made.tolist() == t.tolist()
    assert (made.is_conj(), made.is_neg()) == (x.is_conj(), x.is_neg())


def test_a_tangent_reaches_as_far_as_its_primal():
    whole = forward_ad.make_dual(taeda.arange(5.0)[:4].detach(), taeda.ones(4)).as_strided((5,), (1,), 0)
    assert tangent(whole) == [1.0, 1.0, 1.0, 1.0, 0.0]


def test_a_dual_tensor_shows_its_tangent():
    assert "tangent=tensor([1., 2.]" in str(dual([3.0, 4.0])) and "tangent" not in str(taeda.ones(2))


def test_rows_made_shorter_keep_their_tangents():
    weight = forward_ad.make_dual(taeda.full((3, 4), 2.0), taeda.ones(3, 4))
    rows = taeda.nn.functional.embedding(taeda.tensor([0, 2]), weight, max_norm=1.0)
    primal, tangent = forward_ad.unpack_dual(rows)
    assert primal.norm(dim=1).max() <= 1 and tangent.tolist() == [[1.0] * 4] * 2
