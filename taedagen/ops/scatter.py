"""One position per element along a dimension."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, i, v


@kernel(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    variants="function method out",
    shape="gather",
    files="scatter",
    out="same",
    own_out=True,
    batch="along",
    samples=[S(f(3, 4), 0, i(2, 4)), S(f(3, 4), 1, i(3, 2, high=4)), S(f(3), 0, v([3])), S(f(), 0, v(0))],
)
def gather(self, dim, index, sparse_grad):
    """``result[i][j][k] = self[i][index[i][j][k]][k]`` for ``dim`` 1; the shape of ``index``."""


@gather.backward
def _(grad, self, dim, index):
    return {"self": op.scatter_add(op.new_zeros(grad, self.sizes()), dim, index, grad)}


@kernel(
    "scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
    variants="method",
    files="scatter",
    batch="along",
)
def scatter_(self, dim, index, src):
    """``self[i][index[i][j][k]][k] = src[i][j][k]`` for ``dim`` 1; of several for one index the last stays."""


@scatter_.backward
def _(grad, dim, index, src):
    return {"self": op.scatter(grad, dim, index, 0), "src": op.gather_window(grad, dim, index, src.sizes())}


@kernel(
    "scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
    variants="method",
    files="scatter",
    batch="along",
)
def scatter_value_(self, dim, index, value):
    """The same with one number for all."""


@scatter_value_.backward
def _(grad, dim, index):
    return {"self": op.scatter(grad, dim, index, 0)}


@kernel(
    "scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor(a!)",
    variants="method",
    files="scatter",
    batch="along",
)
def scatter_arithmetic_(self, dim, index, src, reduce):
    """Adds (``reduce="add"``) or multiplies (``"multiply"``); without a gradient, which ``scatter_reduce_`` has."""


@kernel(
    "scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor(a!)",
    variants="method",
    files="scatter",
    batch="along",
)
def scatter_value_arithmetic_(self, dim, index, value, reduce):
    """The same with one number for all."""


@composite(
    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    variants="function method out",
    samples=[S(f(3, 4), 0, v([[0, 1, 2, 0], [2, 0, 1, 1]]), f(2, 4)), S(f(5), 0, v([4, 1]), f(2))],
)
def scatter(self, dim, index, src):
    """``scatter_`` into a copy."""
    result = copy_for(self, (index, src))
    result.scatter_(dim, index, src)
    return unwritten(result)


@composite(
    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    variants="function method out",
    samples=[S(f(3, 4), 0, i(2, 4), 1.5), S(f(3, 4), 1, i(3, 2, high=4), 1.5), S(f(5), -1, i(2, high=5), 1.5)],
)
def scatter_value(self, dim, index, value):
    """``scatter_`` into a copy."""
    result = copy_for(self, (index,))
    result.scatter_(dim, index, value)
    return unwritten(result)


@composite(
    "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
    variants="function method out",
)
def scatter_arithmetic(self, dim, index, src, reduce):
    """``scatter_`` into a copy."""
    result = copy_for(self, (index, src))
    result.scatter_(dim, index, src, reduce=reduce)
    return result if needs_autograd(result) else unwritten(result)


scatter_arithmetic.samples([
    S(f(3, 4), 0, i(2, 4), f(2, 4), reduce="add"), S(f(3, 4), 0, i(2, 4), f(2, 4), reduce="multiply"),
    S(f(3, 4), 1, i(3, 2, high=4), f(3, 2), reduce="add"),
    S(f(3, 4), 1, i(3, 2, high=4), f(3, 2), reduce="multiply"), S(f(5), -1, i(2, high=5), f(2), reduce="add"),
    S(f(5), -1, i(2, high=5), f(2), reduce="multiply"),
])  # fmt: skip


@composite(
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
    variants="function method out",
)
def scatter_value_arithmetic(self, dim, index, value, reduce):
    """``scatter_`` into a copy."""
    result = copy_for(self, (index,))
    result.scatter_(dim, index, value, reduce=reduce)
    return result if needs_autograd(result) else unwritten(result)


scatter_value_arithmetic.samples([
    S(f(3, 4), 0, i(2, 4), 1.5, reduce="add"), S(f(3, 4), 0, i(2, 4), 1.5, reduce="multiply"),
    S(f(3, 4), 1, i(3, 2, high=4), 1.5, reduce="add"), S(f(3, 4), 1, i(3, 2, high=4), 1.5, reduce="multiply"),
    S(f(5), -1, i(2, high=5), 1.5, reduce="add"), S(f(5), -1, i(2, high=5), 1.5, reduce="multiply"),
])  # fmt: skip


@kernel(
    "scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
    variants="method",
    files="scatter",
    batch="along",
)
def scatter_add_(self, dim, index, src):
    """``self[i][index[i][j][k]][k] += src[i][j][k]`` for ``dim`` 1."""


@scatter_add_.backward
def _(grad, dim, index, src):
    return {"self": grad, "src": op.gather_window(grad, dim, index, src.sizes())}


@composite(
    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    variants="function method out",
    samples=[S(f(3, 4), 0, i(2, 4), f(2, 4)), S(f(3, 4), 1, i(3, 2, high=4), f(3, 2)), S(f(5), -1, i(2, high=5), f(2))],
)
def scatter_add(self, dim, index, src):
    """``scatter_add_`` into a copy."""
    result = copy_for(self, (index, src))
    result.scatter_add_(dim, index, src)
    return unwritten(result)


@composite("gather_window(Tensor grad, int dim, Tensor index, SymInt[] sizes) -> Tensor", unbound=True)
def gather_window(grad, dim, index, sizes):
    """The gradient of a scatter's source: ``gather``, with zeros for what of the source ``index`` left out."""
    window = grad.gather(dim, index)
    if window.shape == sizes:
        return window
    result = grad.new_zeros(sizes)
    part = result
    for d in range(part.dim()):
        part = op.slice(part, d, 0, window.size(d))
    part.copy_(window)
    return result


@kernel(
    "scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) "
    "-> Tensor(a!)",
    variants="method",
    files="scatter",
    batch="along",
)
def scatter_reduce_(self, dim, index, src, reduce, include_self):
    """Combines elements of ``src`` with those of ``self`` at ``index``: ``reduce`` is sum, prod, mean, amax or amin.

    Without ``include_self`` what was at these positions does not count.
    """


@scatter_reduce_.backward
def _(grad, self, dim, index, src, reduce, include_self, result):
    g = op.scatter_reduce_backward(grad, self, dim, index, src, reduce, include_self, result)
    return {"self": g[0], "src": g[1]}


@composite(
    "scatter_reduce_backward(Tensor grad, Tensor self, int dim, Tensor index, Tensor src, str reduce, "
    "bool include_self, Tensor result) -> (Tensor, Tensor, Tensor)",
    files="scatter",
    unbound=True,
)
def scatter_reduce_backward(grad, self, dim, index, src, reduce, include_self, result):
    """The gradients of ``self`` and ``src``; those of equal extremes are shared out evenly."""


@composite(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> "
    "Tensor",
    variants="function method out",
)
def scatter_reduce(self, dim, index, src, reduce, include_self):
    """``scatter_reduce_`` into a copy."""
    result = copy_for(self, (index, src))
    result.scatter_reduce_(dim, index, src, reduce, include_self=include_self)
    return result if needs_autograd(result) else unwritten(result)


scatter_reduce.samples([
    S(f(3, 4), 0, i(2, 4), f(2, 4), "sum"), S(f(3, 4), 0, i(2, 4), f(2, 4), "prod"),
    S(f(3, 4), 0, i(2, 4), f(2, 4), "mean"), S(f(3, 4), 0, i(2, 4), f(2, 4), "amax"),
    S(f(3, 4), 0, i(2, 4), f(2, 4), "amin"), S(f(3, 4), 1, i(3, 2, high=4), f(3, 2), "sum"),
    S(f(3, 4), 1, i(3, 2, high=4), f(3, 2), "prod"), S(f(3, 4), 1, i(3, 2, high=4), f(3, 2), "mean"),
    S(f(3, 4), 1, i(3, 2, high=4), f(3, 2), "amax"), S(f(3, 4), 1, i(3, 2, high=4), f(3, 2), "amin"),
    S(f(5), -1, i(2, high=5), f(2), "sum"), S(f(5), -1, i(2, high=5), f(2), "prod"),
    S(f(5), -1, i(2, high=5), f(2), "mean"), S(f(5), -1, i(2, high=5), f(2), "amax"),
    S(f(5), -1, i(2, high=5), f(2), "amin"), S(f(3, 4), 0, i(2, 4), f(2, 4), "sum", include_self=False),
    S(f(3, 4), 0, i(2, 4), f(2, 4), "prod", include_self=False),
    S(f(3, 4), 0, i(2, 4), f(2, 4), "mean", include_self=False),
    S(f(3, 4), 0, i(2, 4), f(2, 4), "amax", include_self=False),
    S(f(3, 4), 0, i(2, 4), f(2, 4), "amin", include_self=False),
])  # fmt: skip
