"""taeda.func against known results, against PyTorch where it is installed, and where it must refuse."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda import func
from taeda.utils._pytree import tree_map_only

X = [0.5, -1.5, 2.0]
M = [[1.0, 2.0, -1.0], [3.0, -1.0, 0.5]]


def t(T: Any, values: Any, **options: Any) -> Any:
    return T.tensor(values, dtype=T.float64, **options)


def f(x: Any) -> Any:
    return (x.sin() * x).sum() + x.prod()


def g(x: Any) -> Any:
    return x.outer(x.exp())[:2]


def tree(p: Any, y: Any) -> Any:
    return {"a": p["w"] * y, "b": (p["v"] @ p["v"].T + y.sum(), [y.tanh()])}


def params(T: Any) -> Any:
    return {"w": t(T, X), "v": t(T, M)}


def nested(T: Any, F: Any) -> Any:
    return F.grad(lambda x: F.grad(lambda y: (x * y * y).sum())(x * 2).sum())(t(T, X))


def perturbations(T: Any, F: Any) -> Any:
    """The inner derivative must not see the outer one's: d/dx x * d/dy (x + y) = 1."""
    one, x = t(T, 1.0), t(T, 3.0)
    inner = lambda x: F.jvp(lambda y: x + y, (t(T, 2.0),), (one,))[1]
    forward = F.jvp(lambda x: x * inner(x), (x,), (one,))[1]
    backward = F.grad(lambda x: x * F.grad(lambda y: x + y)(t(T, 2.0)))(x)
    mixed = F.jvp(lambda x: x * F.grad(lambda y: x * y * y)(t(T, 2.0)), (x,), (one,))[1]
    return forward, backward, mixed


def ensemble(T: Any, F: Any) -> Any:
    def model(p: Any, x: Any) -> Any:
        return T.nn.functional.linear(x, p["v"], p["b"]).tanh().sum()

    p = {"v": t(T, M), "b": t(T, [0.5, -0.5])}
    return F.vmap(F.grad(model), in_dims=(None, 0))(p, t(T, [X, X[::-1], [1.0, 0.0, 2.0]]))


CASES: dict[str, Any] = {
    "grad": lambda T, F: F.grad(f)(t(T, X)),
    "grad of a tree": lambda T, F: F.grad(lambda p, y: tree(p, y)["b"][0].sum())(params(T), t(T, X)),
    "grad argnums": lambda T, F: F.grad(lambda x, y: (x * y).sum(), argnums=(1, 0))(t(T, X), t(T, X[::-1])),
    "grad last": lambda T, F: F.grad(lambda x, y: (x * y).sum(), argnums=-1)(t(T, X), t(T, X[::-1])),
    "grad aux": lambda T, F: F.grad(lambda x: (f(x), {"y": x * 2}), has_aux=True)(t(T, X)),
    "grad kwargs": lambda T, F: F.grad(lambda x, *, y: (x * y).sum())(t(T, X), y=t(T, X)),
    "grad and value": lambda T, F: F.grad_and_value(f)(t(T, X)),
    "grad and value aux": lambda T, F: F.grad_and_value(lambda x: (f(x), x), has_aux=True)(t(T, X)),
    "grad unused": lambda T, F: F.grad(lambda x, y: y.sum())(t(T, X), t(T, X)),
    "grad of grad": nested,
    "grad complex": lambda T, F: F.grad(lambda z: (z * z.conj()).real.sum())(T.complex(t(T, X), t(T, X[::-1]))),
    "vjp": lambda T, F: F.vjp(g, t(T, X))[1](t(T, M).mul(3)),
    "vjp two": lambda T, F: F.vjp(lambda x, y: (x * y, x + y), t(T, X), t(T, X))[1]((t(T, X), t(T, X))),
    "vjp aux": lambda T, F: F.vjp(lambda x: (x * 2, x), t(T, X), has_aux=True)[2],
    "jvp": lambda T, F: F.jvp(g, (t(T, X),), (t(T, X[::-1]),)),
    "jvp two": lambda T, F: F.jvp(tree, (params(T), t(T, X)), (params(T), t(T, X[::-1]))),
    "jvp aux": lambda T, F: F.jvp(lambda x: (x * 2, x), (t(T, X),), (t(T, X),), has_aux=True),
    "jvp constant": lambda T, F: F.jvp(lambda x: t(T, X), (t(T, X),), (t(T, X),)),
    "jvp in place": lambda T, F: F.jvp(lambda x: x.clone().mul_(x).add_(1), (t(T, X),), (t(T, X),)),
    "jvp through a view": lambda T, F: F.jvp(
        lambda x: T.zeros(2, 3, dtype=x.dtype).index_put((T.tensor([1]),), x).view(-1)[2:5] * 2, (t(T, X),), (t(T, X),)
    ),
    "jvp of jvp": lambda T, F: F.jvp(
        lambda x: F.jvp(lambda y: (y**3 * x).sum(), (x,), (x * 2,))[1], (t(T, X),), (t(T, X),)
    ),
    "jvp of grad": lambda T, F: F.jvp(F.grad(f), (t(T, X),), (t(T, X[::-1]),)),
    "grad of jvp": lambda T, F: F.grad(lambda x: F.jvp(f, (x,), (x * x,))[1])(t(T, X)),
    "perturbations": perturbations,
    "jacrev": lambda T, F: F.jacrev(g)(t(T, X)),
    "jacfwd": lambda T, F: F.jacfwd(g)(t(T, X)),
    "jacrev tree": lambda T, F: F.jacrev(tree)(params(T), t(T, X)),
    "jacfwd tree": lambda T, F: F.jacfwd(tree)(params(T), t(T, X)),
    "jacrev argnums": lambda T, F: F.jacrev(tree, argnums=(0, 1))(params(T), t(T, X)),
    "jacfwd argnums": lambda T, F: F.jacfwd(tree, argnums=(1,))(params(T), t(T, X)),
    "jacrev aux": lambda T, F: F.jacrev(lambda x: (g(x), x), has_aux=True)(t(T, X)),
    "jacfwd aux": lambda T, F: F.jacfwd(lambda x: (g(x), x), has_aux=True)(t(T, X)),
    "jacrev jacrev": lambda T, F: F.jacrev(F.jacrev(g))(t(T, X)),
    "jacfwd jacfwd": lambda T, F: F.jacfwd(F.jacfwd(g))(t(T, X)),
    "jacrev jacfwd": lambda T, F: F.jacrev(F.jacfwd(g))(t(T, X)),
    "hessian": lambda T, F: F.hessian(f)(t(T, X)),
    "hessian tree": lambda T, F: F.hessian(lambda p, y: (p["w"] * y).pow(2).sum() * p["v"].sum())(params(T), t(T, X)),
    "hessian argnums": lambda T, F: F.hessian(lambda x, y: (x * y).pow(2).sum(), (0, 1))(t(T, X), t(T, X)),
    "hessian softmax": lambda T, F: F.hessian(lambda x: x.softmax(0)[0])(t(T, X)),
    "linearize": lambda T, F: F.linearize(g, t(T, X))[1](t(T, X[::-1])),
    "linearize tree": lambda T, F: F.linearize(tree, params(T), t(T, X))[1](params(T), t(T, X)),
    "linearize output": lambda T, F: F.linearize(g, t(T, X))[0],
    "vmap": lambda T, F: F.vmap(lambda x: x.sum() * x)(t(T, M)),
    "vmap is public": lambda T, F: T.vmap(T.dot)(t(T, M), t(T, M)),
    "vmap dims": lambda T, F: F.vmap(lambda x, y: x @ y, in_dims=(1, 0), out_dims=0)(t(T, M), t(T, [X, X, X])[:, :2]),
    "vmap negative": lambda T, F: F.vmap(lambda x: x * 2, in_dims=-1, out_dims=-1)(t(T, M)),
    "vmap shared": lambda T, F: F.vmap(lambda x, y: x + y, in_dims=(0, None))(t(T, M), t(T, X)),
    "vmap number": lambda T, F: F.vmap(lambda x, n: x * n, in_dims=(0, None))(t(T, M), 3),
    "vmap tree": lambda T, F: F.vmap(
        lambda d, y: (d["a"] * y, {"s": d["b"].sum()}), in_dims=({"a": 0, "b": None}, 0), out_dims=(1, {"s": 0})
    )({"a": t(T, M), "b": t(T, X)}, t(T, M)),
    "vmap prefix": lambda T, F: F.vmap(lambda d: d["a"] + d["b"], in_dims=(1,))({"a": t(T, M), "b": t(T, M)}),
    "vmap vmap": lambda T, F: F.vmap(F.vmap(lambda x, y: x * y, in_dims=(0, None)), in_dims=(None, 0))(
        t(T, X), t(T, X[::-1])
    ),
    "vmap chunks": lambda T, F: F.vmap(lambda x: x.sum(), chunk_size=1)(t(T, M)),
    "vmap named results": lambda T, F: F.vmap(lambda x: x.max(0))(t(T, M)),
    "vmap shared out": lambda T, F: F.vmap(lambda x, y: (x, y * 2), in_dims=(0, None), out_dims=(0, None))(
        t(T, M), t(T, X)
    ),
    "vmap empty": lambda T, F: F.vmap(lambda x: x.sum(), in_dims=0)(T.zeros(0, 3, dtype=T.float64)),
    "vmap of grad": lambda T, F: F.vmap(F.grad(f))(t(T, M)),
    "vmap of jvp": lambda T, F: F.vmap(lambda x: F.jvp(g, (x,), (x,))[1])(t(T, M)),
    "grad of vmap": lambda T, F: F.grad(lambda m: F.vmap(f)(m).prod())(t(T, M)),
    "jacfwd of vmap": lambda T, F: F.jacfwd(F.vmap(f))(t(T, M)),
    "per-sample gradients": ensemble,
    "integer outputs": lambda T, F: F.vmap(lambda x: x.argmax())(t(T, M)),
}


def plain(value: Any, number: Any = list) -> Any:
    """Nested lists of numbers; shapes and structures stay visible."""
    if isinstance(value, dict):
        return {k: plain(v, number) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *(plain(v, number) for v in value)]
    numbers = number(value.detach().reshape(-1).tolist())
    return [str(value.dtype), tuple(value.shape), value.requires_grad, numbers]


@pytest.fixture(autouse=True, params=[1, 100], ids=["at once", "one by one"])
def way(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """How ``vmap`` runs the few examples of these tests."""
    monkeypatch.setattr("taeda.func._batch._AT_ONCE", request.param)


@pytest.mark.torch
@pytest.mark.parametrize("name", CASES)
def test_as_torch_does(name: str) -> None:
    torch = pytest.importorskip("torch")
    found = plain(CASES[name](taeda, func))
    assert found == plain(CASES[name](torch, torch.func), pytest.approx)


def test_known() -> None:
    x = t(taeda, X)
    assert func.grad(lambda x: (x * x).sum())(x).tolist() == (2 * x).tolist()
    assert func.jacfwd(lambda x: t(taeda, M) @ x)(x).tolist() == M
    assert func.jacrev(lambda x: t(taeda, M) @ x)(x).tolist() == M
    assert func.hessian(lambda x: (x**2).sum())(x).tolist() == (2 * taeda.eye(3)).tolist()
    assert [r.item() for r in perturbations(taeda, func)] == [1.0, 1.0, 24.0]


def test_results_stay_in_the_graph_of_what_requires_gradients() -> None:
    x, w = t(taeda, X).requires_grad_(), t(taeda, X)
    assert not func.grad(f)(w).requires_grad
    assert func.grad(f)(x).requires_grad
    w.requires_grad_()
    func.grad(lambda y: (y * y * w).sum())(t(taeda, X)).sum().backward()
    assert w.grad.tolist() == [2 * v for v in X]
    func.jvp(lambda y: y * y * w, (t(taeda, X),), (taeda.ones(3, dtype=taeda.float64),))[1].sum().backward()
    assert w.grad.tolist() == [4 * v for v in X]
    with taeda.no_grad():
        gradient = func.grad(f)(x)
    assert not gradient.requires_grad and gradient.any()
    value, pull = func.vjp(lambda y: y * y, t(taeda, X))
    assert not value.requires_grad and not pull(value)[0].requires_grad
    assert x.grad is None


def test_no_level_stays_open_after_an_error() -> None:
    def fails(x: Any) -> Any:
        raise KeyError

    with pytest.raises(KeyError):
        func.jvp(fails, (t(taeda, X),), (t(taeda, X),))
    with taeda.autograd.forward_ad.dual_level():
        pass


def test_data_decides_by_example() -> None:
    def walk(x: Any) -> Any:
        return x * 2 if x.sum() > 0 else -x

    assert func.vmap(walk)(taeda.tensor([[1.0], [-1.0]])).tolist() == [[2.0], [1.0]]


def test_randomness() -> None:
    x = taeda.zeros(3, 2)
    draw = lambda x: x + taeda.rand(2)
    with pytest.raises(RuntimeError, match="random"):
        func.vmap(draw)(x)
    same = func.vmap(draw, randomness="same")(x)
    assert (same == same[0]).all()
    different = func.vmap(draw, randomness="different")(x)
    assert not (different == different[0]).all()
    with pytest.raises(RuntimeError, match="random"):
        func.jacfwd(lambda x: x * taeda.rand(()))(t(taeda, X))
    assert func.jacfwd(lambda x: x * taeda.rand(()), randomness="same")(t(taeda, X)).diag().unique().numel() == 1


@pytest.mark.parametrize("size", [2, 5])
def test_generators_that_are_named(size: int) -> None:
    generator = taeda.Generator().manual_seed(3)
    start, x = generator.get_state(), taeda.zeros(size, 2)
    draw = lambda x: x + taeda.rand(2, generator=generator)
    with pytest.raises(RuntimeError, match="random"):
        func.vmap(draw)(x)
    assert taeda.equal(generator.get_state(), start)
    wanted = taeda.rand(2, generator=taeda.Generator().manual_seed(3))
    assert taeda.equal(func.vmap(draw, randomness="same")(x), wanted.expand(size, 2))
    assert not taeda.equal(generator.get_state(), start)
    generator.set_state(start)
    assert func.vmap(draw, randomness="different")(x).unique().numel() == 2 * size
    wanted = taeda.normal(0.0, taeda.ones(5, 16), generator=taeda.Generator().manual_seed(3))
    generator.set_state(start)
    shared = func.vmap(lambda x: taeda.normal(0.0, taeda.ones(16), generator=generator), randomness="different")
    assert taeda.equal(shared(taeda.zeros(5)), wanted)


@pytest.mark.torch
@pytest.mark.parametrize(
    "draw",
    [
        lambda T, x: x + T.rand_like(x),
        lambda T, x: T.nn.functional.dropout(x, 0.5),
        lambda T, x: T.bernoulli(x / 100),
        lambda T, x: T.normal(x, 1.0),
        lambda T, x: T.func.grad(lambda y: (T.nn.functional.dropout(y, 0.3) ** 2).sum())(x),
    ],
)
def test_each_example_draws_torchs_numbers(draw: Any) -> None:
    torch = pytest.importorskip("torch")
    found = []
    for T in (taeda, torch):
        T.manual_seed(0)
        x = T.arange(40.0).reshape(8, 5)
        vmap = T.func.vmap if T is torch else at_once
        found.append(vmap(lambda x, T=T: draw(T, x), randomness="different")(x).tolist())
    assert found[0] == pytest.approx(found[1]) if not isinstance(found[0][0], list) else plain_equal(*found)


def at_once(function: Any, **options: Any) -> Any:
    """``vmap`` that may not fall back to calls one by one."""
    from taeda.func import _batch

    def run(x: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_batch._Call, "example", None)
            patch.setattr(_batch, "_AT_ONCE", 1)
            return func.vmap(function, **options)(x)

    return run


def plain_equal(mine: list[list[float]], theirs: list[list[float]]) -> bool:
    return all(a == pytest.approx(b, rel=1e-6) for a, b in zip(mine, theirs, strict=True))


def test_programs_run_at_once() -> None:
    x = t(taeda, [X, X[::-1]])
    nn = taeda.nn
    net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Tanh(), nn.Linear(4, 1)).double()
    wanted = taeda.stack([net(row) for row in x])
    assert taeda.allclose(at_once(net)(x), wanted)
    wanted.sum().backward()
    grads = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    at_once(net)(x).sum().backward()  # parameters are outside of vmap
    for p, wanted_grad in zip(net.parameters(), grads, strict=True):
        assert taeda.allclose(p.grad, wanted_grad)
    written = at_once(lambda row: row.new_zeros(2).index_put_((row.argmax() % 2,), row[0]))(x)
    assert written.tolist() == [[0.0, X[0]] if max(X) == X[1] else [X[0], 0.0], written[1].tolist()]


def test_what_is_outside_gets_gradients_of_gradients_inside() -> None:
    w, rows = t(taeda, M).requires_grad_(), t(taeda, M)

    def adapted(x: Any) -> Any:
        loss = lambda w: ((w @ x).tanh() ** 2).sum()
        return loss(w - 0.1 * func.grad(loss)(w))

    func.vmap(adapted)(rows).sum().backward()
    wanted = taeda.autograd.grad(sum(adapted(row) for row in rows), w)[0]
    assert taeda.allclose(w.grad, wanted)


def test_a_call_that_reads_values_runs_one_by_one() -> None:
    calls = []

    def reads(row: Any) -> Any:
        calls.append(type(row))
        return row * row.max().item()

    x = t(taeda, M)
    assert func.vmap(reads)(x).tolist() == [[v * max(row) for v in row] for row in M]
    assert calls[-1] is taeda.Tensor

    def writes_and_reads(row: Any) -> Any:
        row.add_(1)
        return row * row.sum().item()

    y = x.clone()
    if len(calls) > len(M):  # at once: the write cannot be taken back
        with pytest.raises(RuntimeError, match="in place"):
            func.vmap(writes_and_reads)(y)
    else:
        func.vmap(writes_and_reads)(y)
    assert y.tolist() == (x + 1).tolist()


def test_writes_to_shared_tensors_are_refused() -> None:
    total, norm = taeda.zeros(3), taeda.nn.BatchNorm1d(3)
    for writes, x in ((lambda x: total.add_(x), taeda.ones(2, 3)), (norm, taeda.ones(2, 4, 3))):
        with pytest.raises(RuntimeError, match="in place"):
            func.vmap(writes)(x)
    with pytest.raises(RuntimeError, match="in place"):
        func.vmap(lambda x, y: y.add_(x), in_dims=(0, None))(taeda.ones(2, 3), taeda.zeros(3))
    mapped = taeda.ones(2, 3)
    func.vmap(lambda x: x.mul_(2))(mapped)
    assert (mapped == 2).all()


def ones(*shape: int) -> Any:
    return taeda.ones(shape)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: func.grad(lambda x: x)(ones(2)), RuntimeError),
        (lambda: func.grad(lambda x: 3.0)(ones(2)), RuntimeError),
        (lambda: func.grad(f)(taeda.tensor([1, 2])), RuntimeError),
        (lambda: func.grad(f, argnums=1)(ones(2)), RuntimeError),
        (lambda: func.grad(f, argnums=(0, 0))(ones(2)), RuntimeError),
        (lambda: func.grad(f, argnums=())(ones(2)), RuntimeError),
        (lambda: func.grad(f)(3.0), ValueError),
        (lambda: func.grad(f, has_aux=True)(ones(2)), RuntimeError),
        (lambda: func.vjp(f, ones(2))[1](ones(3)), RuntimeError),
        (lambda: func.vjp(f, ones(2))[1]((ones(3),)), RuntimeError),
        (lambda: func.vjp(lambda x: 3, ones(2)), RuntimeError),
        (lambda: func.jvp(f, ones(2), ones(2)), RuntimeError),
        (lambda: func.jvp(f, (ones(2),), (ones(2), ones(2))), RuntimeError),
        (lambda: func.jvp(f, (ones(2),), (ones(3),)), RuntimeError),
        (lambda: func.jvp(f, (ones(2),), (ones(2).double(),)), RuntimeError),
        (lambda: func.jvp(lambda x: ones(2), (ones(2),), (ones(2),), strict=True), RuntimeError),
        (lambda: func.jvp(f, (1.0,), (ones(2),)), RuntimeError),
        (lambda: func.jvp(f, (ones(2),), (1.0,)), RuntimeError),
        (lambda: func.jvp(lambda x: (), (ones(2),), (ones(2),)), RuntimeError),
        (lambda: func.jvp(lambda x: (x, [x, 1]), (ones(2),), (ones(2),), has_aux=True), RuntimeError),
        (lambda: func.grad(lambda x: (x.sum(), 1), has_aux=True)(ones(2)), RuntimeError),
        (lambda: func.jacrev(lambda x: ())(ones(2)), RuntimeError),
        (lambda: func.jacrev(f)(ones(2).cfloat()), RuntimeError),
        (lambda: func.jacrev(lambda x: x * 1j)(ones(2)), RuntimeError),
        (lambda: func.jacfwd(f)(ones(2).cfloat()), RuntimeError),
        (lambda: func.jacfwd(lambda x: x * 1j)(ones(2)), RuntimeError),
        (lambda: func.jacrev(f, chunk_size=0), ValueError),
        (lambda: func.linearize(f, ones(2))[1](ones(3)), RuntimeError),
        (lambda: func.vmap(f)(3), ValueError),
        (lambda: func.vmap(f)(), ValueError),
        (lambda: func.vmap(f, in_dims=5)(ones(2)), ValueError),
        (lambda: func.vmap(f, in_dims="a")(ones(2)), ValueError),
        (lambda: func.vmap(f, in_dims=None)(ones(2)), ValueError),
        (lambda: func.vmap(f, in_dims=(0, 0))(ones(2)), ValueError),
        (lambda: func.vmap(f, in_dims=((0,),))(ones(2)), ValueError),
        (lambda: func.vmap(f, in_dims=(None,))(ones(2)), ValueError),
        (lambda: func.vmap(lambda x, y: x)(ones(2), ones(3)), ValueError),
        (lambda: func.vmap(lambda x: 3)(ones(2)), ValueError),
        (lambda: func.vmap(lambda x: None)(ones(2)), ValueError),
        (lambda: func.vmap(lambda x: x, out_dims=(0, 0))(ones(2)), ValueError),
        (lambda: func.vmap(lambda x: x, out_dims=3)(ones(2)), IndexError),
        (lambda: func.vmap(lambda x: x, out_dims="a")(ones(2)), ValueError),
        (lambda: func.vmap(lambda x: x, out_dims=None)(taeda.arange(3.0)), ValueError),
        (lambda: func.vmap(f, randomness="no")(ones(2, 2)), RuntimeError),
        (lambda: func.vmap(f, chunk_size=0)(ones(2)), ValueError),
        (lambda: func.vmap(lambda x: taeda.zeros(int(x)))(taeda.arange(3.0)), RuntimeError),
    ],
)
def test_refusals(call: Any, error: type) -> None:
    with pytest.raises(error, match=r"taeda\.func"):
        call()


def test_a_position_of_each_example_in_a_table_that_all_share() -> None:
    table = taeda.arange(12.0, dtype=taeda.float64).requires_grad_()
    result = at_once(lambda i: table[i] * table[i.reshape(1)].sum())(taeda.tensor([1, 3, 3, 5, 2]))
    result.sum().backward()
    assert result.tolist() == [1, 9, 9, 25, 4]
    assert table.grad.tolist()[:7] == [0, 2, 4, 12, 0, 10, 0]


def test_batches_answer_before_other_classes():
    class Wrapper(taeda.Tensor):
        @staticmethod
        def __new__(cls, inner):
            made = taeda.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
            made.inner = inner
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            args = tree_map_only(cls, lambda x: x.inner, args)
            return tree_map_only(taeda.Tensor, cls, func(*args, **(kwargs or {})))

    fixed = Wrapper(taeda.full((3,), 2.0))
    for f in (lambda x: fixed * x, lambda x: x * fixed):
        found = taeda.func.vmap(f)(taeda.ones(4, 3))
        assert type(found) is Wrapper and found.inner.tolist() == [[2.0] * 3] * 4
