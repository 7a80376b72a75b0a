"""Pointwise ops and reductions: what formulas do to zeros decides how they run."""

import pytest

import taeda
from taeda.sparse._kernels.rules import rules

LAYOUTS = ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"]
KEEP = [
    "sin",
    "tan",
    "asin",
    "sinh",
    "tanh",
    "asinh",
    "atan",
    "sqrt",
    "sign",
    "neg",
    "abs",
    "relu",
    "expm1",
    "log1p",
    "floor",
    "ceil",
    "round",
    "trunc",
    "frac",
    "erf",
    "deg2rad",
    "isnan",
    "isinf",
    "sgn",
    "square",
    "signbit",
    "positive",
    "nn.functional.silu",
    "nn.functional.leaky_relu",
    "nn.functional.gelu",
]
DO_NOT = [
    "cos",
    "exp",
    "cosh",
    "acos",
    "sigmoid",
    "digamma",
    "log",
    "reciprocal",
    "rsqrt",
    "logical_not",
    "isfinite",
    "erfc",
]


def to(x, layout, block=(2, 3)):
    return x.to_sparse(layout=getattr(taeda, layout), **({"blocksize": block} if layout[7] == "b" else {}))


def drawn(seed=0, n=4, m=6):
    g = taeda.Generator().manual_seed(seed)
    x = taeda.rand(n, m, generator=g) - 0.5
    return taeda.where(x.abs() > 0.25, x, 0)


def found(name):
    function = taeda
    for part in name.split("."):
        function = getattr(function, part)
    return function


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", KEEP)
def test_zeros_that_stay_zeros(name, layout):
    x, function = drawn(), found(name)
    made = function(to(x, layout))
    assert made.layout == getattr(taeda, layout)
    taeda.testing.assert_close(made.to_dense(), function(x), equal_nan=True)


@pytest.mark.parametrize("name", DO_NOT)
def test_zeros_that_would_not(name):
    with pytest.raises(NotImplementedError, match="dense"):
        found(name)(drawn().to_sparse())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_numbers_decide(layout):
    x = drawn()
    s = to(x, layout)
    for call in (
        lambda t: t * 3,
        lambda t: t / 2,
        lambda t: t**2,
        lambda t: t > 0.1,
        lambda t: t != 0,
        lambda t: 2 * t,
        lambda t: t.clamp(-0.3, 0.3),
        lambda t: t.clamp_min(-1),
        lambda t: t + 0,
        lambda t: t % 0.3,
        lambda t: t * taeda.tensor(2.0),
        lambda t: taeda.nn.functional.hardtanh(t),
    ):
        taeda.testing.assert_close(call(s).to_dense(), call(x))
    for call in (
        lambda t: t + 1,
        lambda t: t**0,
        lambda t: t >= 0,
        lambda t: t == 0,
        lambda t: t.clamp(0.1, 1),
        lambda t: 1 / t,
    ):
        with pytest.raises(NotImplementedError, match="dense"):
            call(s)


@pytest.mark.parametrize("one", LAYOUTS)
@pytest.mark.parametrize("two", LAYOUTS)
def test_two_sparse_operands(one, two):
    x, y = drawn(1), drawn(2)
    s, t = to(x, one), to(y, two)
    for call in (
        taeda.add,
        taeda.sub,
        taeda.mul,
        taeda.maximum,
        taeda.ne,
        taeda.lt,
        taeda.hypot,
        taeda.logical_and,
        lambda a, b: taeda.add(a, b, alpha=3),
        lambda a, b: taeda.lerp(a, b, 0.3),
    ):
        made = call(s, t)
        assert made.layout == s.layout
        taeda.testing.assert_close(made.to_dense(), call(x, y))
    with pytest.raises(NotImplementedError, match="dense"):
        taeda.eq(s, t)
    if "b" not in (one + two).replace("sparse_", ""):
        assert (s * t)._nnz() == int(((x != 0) & (y != 0)).sum()) and (s + t)._nnz() == int(((x != 0) | (y != 0)).sum())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_dense_operand(layout):
    x, y = drawn(1), taeda.randn(4, 6)
    s = to(x, layout)
    for made in (s * y, y * s, s.clone().mul_(y)):
        assert made.layout == s.layout
        taeda.testing.assert_close(made.to_dense(), x * y)
    taeda.testing.assert_close((s * y[0]).to_dense(), x * y[0])
    for made in (y + s, s + y, y.clone().add_(s), y.t().clone().t().add_(s), taeda.add(y, s, out=taeda.empty(4, 6))):
        assert made.layout == taeda.strided
        taeda.testing.assert_close(made, x + y)
    taeda.testing.assert_close(y - s, y - x)
    taeda.testing.assert_close(y.clone().sub_(s, alpha=2), y - 2 * x)
    with pytest.raises((NotImplementedError, RuntimeError)):
        taeda.maximum(s, y)
    if layout != "sparse_coo":
        with pytest.raises(RuntimeError, match="broadcast|expand"):
            s * taeda.ones(5, 4, 6)


@pytest.mark.parametrize(
    ("mine", "other"), [((4, 1), (4, 6)), ((6,), (2, 6)), ((2, 1, 3), (4, 3)), ((1, 1), (3, 5)), ((3, 1, 2), (3, 4, 2))]
)
def test_coordinates_broadcast(mine, other):
    x, y = taeda.randn(mine).relu(), taeda.randn(other)
    for dims in range(1, len(mine) + 1):
        s = x.to_sparse(dims).requires_grad_()
        made = s * y
        assert made.is_coalesced() and made.shape == (x * y).shape
        taeda.testing.assert_close(made.to_dense(), x * y)
        made.to_dense().sum().backward()
        dense = x.clone().requires_grad_()
        (dense * y).sum().backward()
        taeda.testing.assert_close(s.grad.to_dense() * (x != 0), dense.grad * (x != 0))
    if x.dim() == y.dim():
        taeda.testing.assert_close((x.to_sparse() * y.to_sparse()).to_dense(), x * y)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_place_and_out(layout):
    x, y = drawn(1), drawn(2)
    s, t = to(x, layout), to(y, layout)
    same = s.clone()
    assert same.add_(t) is same and same.mul_(2).div_(4).neg_() is same
    taeda.testing.assert_close(same.to_dense(), -(x + y) / 2)
    out = to(taeda.zeros(4, 6), layout)
    assert taeda.mul(s, t, out=out) is out
    taeda.testing.assert_close(out.to_dense(), x * y)
    assert s.clone().zero_().to_dense().count_nonzero() == 0
    taeda.testing.assert_close(s.clone().copy_(s * 2).to_dense(), x * 2)
    taeda.testing.assert_close(taeda.empty(4, 6).copy_(s), x)
    with pytest.raises(RuntimeError, match="cannot be"):
        to(x.int(), layout).mul_(1.5)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "name, args",
    [
        ("sum", ()),
        ("sum", (0,)),
        ("sum", (1,)),
        ("sum", ((0, 1),)),
        ("mean", ()),
        ("mean", (0,)),
        ("any", ()),
        ("any", (1,)),
        ("count_nonzero", ()),
        ("count_nonzero", (0,)),
        ("max", ()),
        ("min", ()),
        ("norm", ()),
        ("norm", (1,)),
        ("all", ()),
    ],
)
def test_reductions(layout, name, args):
    x = drawn(3)
    made, wanted = getattr(to(x, layout), name)(*args), getattr(x, name)(*args)
    assert made.dtype == wanted.dtype and made.shape == wanted.shape
    taeda.testing.assert_close(made.to_dense(), wanted)


def test_sums_of_more_dimensions():
    x = taeda.randn(2, 3, 4).relu()
    s = x.to_sparse(2)
    for dim in (0, 1, 2, -1, (0, 1), (0, 2), (0, 1, 2)):
        taeda.testing.assert_close(taeda.sparse.sum(s, dim).to_dense(), x.sum(dim))
        taeda.testing.assert_close(s.sum(dim, keepdim=True).to_dense(), x.sum(dim, keepdim=True))
    assert taeda.sparse.sum(s, 0).is_sparse and taeda.sparse.sum(s, (0, 1)).layout == taeda.strided
    assert x.int().to_sparse().sum().dtype == taeda.int64
    with pytest.raises(IndexError):
        s.sum(3)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_softmax_over_what_is_stored(dim):
    x = taeda.randn(3, 4, 2)
    keep = taeda.rand(3, 4) > 0.4
    s = (x * keep[..., None]).to_sparse(2)
    wanted = x.masked_fill(~keep[..., None], -float("inf")).softmax(dim).nan_to_num() * keep[..., None]
    taeda.testing.assert_close(taeda.sparse.softmax(s, dim).to_dense(), wanted)
    logs = taeda.sparse.log_softmax(s, dim)
    taeda.testing.assert_close(logs.coalesce().values().exp(), taeda.sparse.softmax(s, dim).coalesce().values())


def test_uncoalesced_operands():
    s = taeda.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2, -3], (2, 2))
    x = s.to_dense()
    assert taeda.equal(taeda.sqrt(s * s).to_dense(), (x * x).sqrt()) and taeda.equal((s * 2).to_dense(), x * 2)
    assert taeda.equal(s.abs().to_dense(), x.abs()) and (s * 2)._nnz() == 3 and s.abs()._nnz() == 2
    assert taeda.equal((s + s).to_dense(), 2 * x) and s.max() == 3 and s.count_nonzero() == 2


def test_the_rules_that_the_generator_found():
    found = rules()
    assert found["mul.Tensor"].alone == {"self", "other"} and found["mul.Tensor"].keeps
    assert found["add.Tensor"].keeps and not found["add.Tensor"].alone and not found["add.Scalar"].keeps
    assert not {"cos", "exp", "eq.Tensor", "log"} & set(found) and found["sum.dim_IntList"].keeps


def test_questions():
    s = drawn().to_sparse()
    assert taeda.equal(s, s.clone()) and not taeda.equal(s, s * 2) and not taeda.equal(s, s.to_sparse_csr())
    assert taeda.sparse_coo_tensor([[0]], [4.5], (1,)).item() == 4.5 and taeda.sparse_coo_tensor((1,)).item() == 0
    with pytest.raises(RuntimeError):
        s.item()
    with pytest.raises((TypeError, RuntimeError)):
        s.numpy()
    for call in (s.tolist, s.untyped_storage, s.stride, lambda: s.as_strided((1,), (1,)), lambda: s.data_ptr()):
        try:
            call()
        except (RuntimeError, NotImplementedError, TypeError):
            continue
        assert call() == 0
    with pytest.raises(TypeError, match="cannot be set"):
        s[0] = 1
    assert len(s) == 4 and s.numel() == 24 and s.ndim == 2


@pytest.mark.parametrize("convert", [lambda x: x.to_sparse(), lambda x: x.to_sparse_csr()])
def test_sparse_numbers(convert):
    """One without dimensions is a number, stored or not, and be it in two parts."""
    x = taeda.eye(3)
    parts = taeda.sparse_coo_tensor(taeda.empty(0, 2, dtype=taeda.int64), taeda.tensor([1.0, 1.0]), ())
    for number in (taeda.tensor(2.0).to_sparse(), taeda.tensor(0.0).to_sparse(), parts):
        for made in (convert(x) * number, number * convert(x)):
            assert made.layout == convert(x).layout and taeda.equal(made.to_dense(), x * number.to_dense())
