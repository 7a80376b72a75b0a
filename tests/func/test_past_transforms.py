"""What reaches past a transform from inside its function is refused, or does what PyTorch does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import taeda
from taeda.func import functional_call, functionalize, grad, grad_and_value, jacfwd, jacrev, jvp, linearize, vjp, vmap

X = taeda.tensor([0.5, -1.0, 2.0])
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: grad(f)(X),
    "vjp": lambda f: vjp(f, X),
    "jacrev": lambda f: jacrev(f)(X),
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "jacfwd": lambda f: jacfwd(f)(X),
    "vmap": lambda f: vmap(f)(X),
    "functionalize": lambda f: functionalize(f)(X.clone()),
}
DIFFERENTIATES = ("grad", "vjp", "jacrev", "jvp", "jacfwd")


def keeps(x: Any) -> Any:
    y = x.sin()
    y.retain_grad()
    return y.sum()


def takes_data(x: Any) -> Any:
    x.data = taeda.ones(3)
    return x.sum()


REACHING: dict[str, Callable[[Any], Any]] = {
    "requires_grad_": lambda x: x.requires_grad_().sum(),
    "requires_grad_(False)": lambda x: x.requires_grad_(False).sum(),
    "requires_grad_ of another": lambda x: (taeda.ones(3).requires_grad_() * x).sum(),
    "data": takes_data,
    "autograd.functional": lambda x: taeda.autograd.functional.vjp(lambda y: y.sum(), x)[1].sum(),
}


@pytest.mark.parametrize("call", REACHING)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_refused(transform: str, call: str) -> None:
    with pytest.raises(RuntimeError, match="transform|vmap"):
        TRANSFORMS[transform](REACHING[call])
    assert X.clone().requires_grad_().requires_grad  # outside it is as ever
    assert not X.requires_grad


@pytest.mark.parametrize("transform", ["grad", "vjp", "jacrev"])
def test_no_gradient_is_kept_inside(transform: str) -> None:
    with pytest.raises(RuntimeError, match="retain_grad"):
        TRANSFORMS[transform](keeps)


def test_what_the_library_does_itself_is_not_refused() -> None:
    weight = taeda.randn(4, 3, generator=taeda.Generator().manual_seed(0))

    def loss(w: Any) -> Any:
        layer = taeda.nn.Linear(3, 4)
        logits = functional_call(layer, {"weight": w, "bias": taeda.zeros(4)}, (X,))
        again = taeda.utils.checkpoint.checkpoint(lambda y: y.tanh(), logits, use_reentrant=False)
        return again.sum() + grad(lambda y: y @ y)(w[0]).sum()

    wanted = grad(lambda w: (w @ X).tanh().sum() + 2 * w[0].sum())(weight)
    taeda.testing.assert_close(grad(loss)(weight), wanted)
    text = repr(vmap(lambda w: taeda.nn.Parameter(taeda.ones(2)) * w)(X))
    assert "Batched" not in text


@pytest.mark.parametrize("transform", DIFFERENTIATES)
def test_captured_tensors_keep_their_own_history(transform: str) -> None:
    captured = taeda.zeros(3)

    def writes(x: Any) -> Any:
        captured.copy_(x)
        return (captured * x).sum()

    for _ in range(2):  # nor is it taken the next time
        with pytest.raises(RuntimeError, match="none of them"):
            TRANSFORMS[transform](writes)
        assert not captured.requires_grad


def test_all_captured_tensors_that_were_written_can_be_used_again() -> None:
    both = taeda.zeros(3), taeda.zeros(3)

    def writing(x: Any) -> Any:
        for one in both:
            one.add_(x)
        return x.sum()

    with pytest.raises(RuntimeError, match="would outlive the derivative"):
        grad(writing)(taeda.ones(3))
    assert not any(one.requires_grad for one in both)


def test_captured_tensors_may_be_written_other_values() -> None:
    calls = taeda.zeros(())

    def counts(x: Any) -> Any:
        calls.add_(1)
        return x.sum()

    grad(counts)(X)
    jvp(counts, (X,), (X,))
    assert calls == 2


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_other_arguments_may_be_written_to(jacobian: Any) -> None:
    def fills(x: Any, y: Any) -> Any:
        y.copy_(x)
        return y

    x, y = taeda.tensor([1.0, 2.0]), taeda.zeros(2)
    taeda.testing.assert_close(jacobian(fills)(x, y), taeda.eye(2))
    assert taeda.equal(y, x)
    assert not y.requires_grad


def test_tangents_of_examples_are_written_to_what_has_none() -> None:
    def fills(x: Any, y: Any, z: Any) -> Any:
        x[:2] = y
        return taeda.vstack([(x**2).sum(), (z**3).sum()])

    x, y, z = taeda.rand(3), taeda.tensor([1.0, 2.0]), taeda.tensor([3.0, 4.0])
    of_y, of_z = jacfwd(fills, argnums=(1, 2))(x, y, z)
    taeda.testing.assert_close(of_y, taeda.stack([2 * y, 0 * y]).unsqueeze(1))
    taeda.testing.assert_close(of_z, taeda.stack([0 * z, 3 * z**2]).unsqueeze(1))


def test_gradients_go_on_where_the_call_was_not_recorded() -> None:
    x = taeda.tensor(3.0, requires_grad=True)
    with taeda.no_grad():
        out, pull = vjp(lambda x: x**2, x)
        slope, value = grad_and_value(lambda x: x**2)(x)
        line, push = linearize(lambda x: x**3, x)
    assert not any(t.requires_grad for t in (out, slope, value, line))
    (y,) = pull(taeda.tensor(1.0))
    (second,) = taeda.autograd.grad(y, x)
    assert (y, second) == (6, 2)
    assert push(taeda.tensor(1.0)) == 27


def test_an_example_does_not_outlive_its_vmap() -> None:
    kept: list[Any] = []
    vmap(lambda x: kept.append(x) or x)(X)
    for use in (lambda: kept[0].sin(), lambda: kept[0].mul_(2), lambda: X + kept[0]):
        with pytest.raises(RuntimeError, match="has ended"):
            use()
    assert kept[0].shape == ()


def test_data_of_an_example_is_refused() -> None:
    with pytest.raises(RuntimeError, match="detach"):
        vmap(lambda x: x.data)(X)


def test_what_a_batch_looks_like() -> None:
    seen: list[str] = []
    vmap(lambda x: seen.append(repr(x)) or x)(taeda.eye(2))
    vmap(lambda x: vmap(lambda y: seen.append(repr(y)) or y)(x))(taeda.ones(1, 1))
    assert seen == [
        "BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[1., 0.],\n            [0., 1.]])\n)",
        "BatchedTensor(lvl=2, bdim=0, value=\n"
        "    BatchedTensor(lvl=1, bdim=0, value=\n        tensor([[1.]])\n    )\n)",
    ]


def test_in_place_the_batch_itself_is_returned() -> None:
    x = taeda.rand(2, 3)
    assert vmap(taeda.Tensor.acos_)(x) is x
    assert vmap(taeda.Tensor.acos_, out_dims=1)(x)._base is x


def test_dimensions_are_a_tuple() -> None:
    for dims in ([0, 0], {0}, "00"):
        with pytest.raises(ValueError, match="in_dims"):
            vmap(taeda.mul, dims)(X, X)  # type: ignore[arg-type]
    vmap(lambda pair: pair[0] + pair[1], ([0, 0],))([X, X])


M, V = taeda.eye(3), taeda.ones(3)
WRONG: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "mv of matrices": (taeda.mv, (M, M)),
    "dot of matrices": (taeda.dot, (M, M)),
    "addmv that grows": (lambda a, b: taeda.addmv(b, a[:1], b), (M, V)),
    "linear that grows": (lambda a, b: taeda.nn.functional.linear(b, a[:1], a), (M, V)),
    "add_ that grows": (lambda a, b: b.clone().add_(a[:1]), (M, V)),
    "copy_ that grows": (lambda a, b: b.clone().copy_(a[:1] * 2, True), (M.unsqueeze(0).expand(2, 3, 3), V)),
    "tril of a vector": (lambda a: a.tril(), (V,)),
    "svdvals of a vector": (taeda.linalg.svdvals, (V,)),
    "squeeze": (lambda x: x[0].squeeze(1), (V,)),
    "transpose": (lambda x: x[0].transpose(0, 1), (V,)),
    "unfold": (lambda x: x[0].unfold(1, 1, 1), (V,)),
    "roll": (lambda x: x[0].roll(1, 0), (V,)),
    "expand": (lambda x: x.expand(-1, 3), (V,)),
    "searchsorted": (lambda a, b: taeda.searchsorted(a[0], b[0]), (V, V)),
    "index_select by a matrix": (lambda a: a.index_select(0, taeda.zeros_like(a).long()), (M,)),
    "embedding of a vector": (lambda a: taeda.nn.functional.embedding(taeda.zeros_like(a).long(), a), (V,)),
    "layer_norm by a number": (lambda a: taeda.nn.functional.layer_norm(a, (3,), a[0]), (V,)),
    "solve of a number": (lambda a, b: taeda.linalg.solve(a[0], b), (V, M[:1])),
}


@pytest.mark.parametrize("name", WRONG)
def test_all_examples_raise_where_one_does(name: str) -> None:
    function, args = WRONG[name]
    with pytest.raises((RuntimeError, IndexError)):
        function(*args)
    with pytest.raises((RuntimeError, IndexError)):
        vmap(function)(*(taeda.stack([x, x + 1]) for x in args))
