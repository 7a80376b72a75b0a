"""Reading and writing at positions: by tensors of positions for some dimensions, along one dimension, or flat."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, i, v

WRITES = "function method"


# --- x[...] with tensors


@kernel(
    "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    variants="out",
    any_device=True,
    files="index",
    unbound=True,
    batch="index",
)
def index(self, indices):
    """The elements at positions given by tensors, or where masks hold; an absent one takes a whole dimension.

    The broadcast shape of the positions stands in the place of their dimensions, or first if those are not neighbours.
    """


@index.backward
def _(grad, self, indices):
    return {"self": op.index_backward(grad, self.sizes(), indices)}


index.samples([
    S(f(3, 4), [v([0, 2])]), S(f(3, 4), [v([0, 2]), v([1, 3])]), S(f(3, 4), [None, v([[0], [1]])]),
    S(f(3), [v([3])]),
])  # fmt: skip


@kernel(
    "_index_at(Tensor self, Tensor?[] positions) -> Tensor",
    shape="index_at",
    files="index",
    unbound=True,
    not_differentiable=True,
    batch="index",
)
def _index_at(self, positions):
    """``index`` without masks."""


@composite("index_backward(Tensor grad, SymInt[] sizes, Tensor?[] indices) -> Tensor", unbound=True)
def index_backward(grad, sizes, indices):
    """Zeros of shape ``sizes`` with ``grad`` added at ``indices``."""
    return op.index_put(grad.new_zeros(sizes), indices, grad, True)


@kernel(
    "index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
    variants=WRITES,
    files="index",
    batch="index_put_",
)
def index_put_(self, indices, values, accumulate):
    """Writes ``values``, broadcast, at positions given by tensors or masks; with ``accumulate`` adds them.

    Of several values for one position the last one stays.
    """


@index_put_.backward
def _(grad, indices, accumulate):
    return {"self": op.index_put_self_backward(grad, indices, accumulate), "values": op.index(grad, indices)}


@composite("index_put_self_backward(Tensor grad, Tensor?[] indices, bool accumulate) -> Tensor", unbound=True)
def index_put_self_backward(grad, indices, accumulate):
    """``grad`` with zeros where ``index_put_`` replaced what was there."""
    if accumulate:
        return grad
    return op.index_put(grad, indices, grad.new_zeros([]), False)


@composite(
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    variants="function method out",
    files="index",
)
def index_put(self, indices, values, accumulate):
    """``index_put_`` into a copy."""


index_put.samples([
    S(f(3, 4), [v([0, 2])], f(2, 4)), S(f(3, 4), [v([0, 2]), v([1, 3])], f()), S(f(3), [v([0, 0])], f(2), True),
])  # fmt: skip


@composite(
    "_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, "
    "bool unsafe=False) -> Tensor(a!)",
    samples="index_put",
)
def _index_put_impl_(self, indices, values, accumulate, unsafe):
    """``index_put_``; positions are checked whether ``unsafe`` or not."""
    self.index_put_(indices, values, accumulate)
    return self


# --- along one dimension


@kernel(
    "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    variants="function method out",
    shape="index_select",
    files="index",
    out="same",
    own_out=True,
    batch="index_select",
    samples=[S(f(3, 4), 0, v([2, 0, 2])), S(f(3, 4), 1, v([1])), S(f(3), 0, v([3])), S(f(3, 4), 0, v([[0]]))],
)
def index_select(self, dim, index):
    """The slices of ``self`` along ``dim`` at the positions of the vector ``index``."""


@index_select.backward
def _(grad, self, dim, index):
    return {"self": op.index_select_backward(grad, self.sizes(), dim, index)}


@composite(
    "index_select_backward(Tensor grad, SymInt[] self_sizes, int dim, Tensor index) -> Tensor",
    unbound=True,
)
def index_select_backward(grad, self_sizes, dim, index):
    """Zeros of shape ``self_sizes`` with the slices of ``grad`` added at ``index``."""
    if len(self_sizes) == 0:
        return grad.reshape([])
    return op.index_add(grad.new_zeros(self_sizes), dim, index, grad)


@kernel(
    "index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)",
    variants="method",
    files="index",
    batch="index_write",
)
def index_add_(self, dim, index, source, alpha):
    """Adds the slices of ``alpha * source`` along ``dim`` at the positions of the vector ``index``."""


@index_add_.backward
def _(grad, dim, index, source, alpha):
    return {"self": grad, "source": op.index_source_backward(grad, dim, index, source.sizes()) * conj(alpha)}


@composite("index_source_backward(Tensor grad, int dim, Tensor index, SymInt[] sizes) -> Tensor", unbound=True)
def index_source_backward(grad, dim, index, sizes):
    """The slices of ``grad`` at ``index``, in the shape of a source, which may be a number."""
    return grad.index_select(dim, index).reshape(sizes)


@composite(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    variants="function method out",
)
def index_add(self, dim, index, source, alpha):
    """``index_add_`` into a copy."""
    result = copy_for(self, (index, source))
    result.index_add_(dim, index, source, alpha=alpha)
    return unwritten(result)


index_add.samples([
    S(f(3, 4), 0, v([2, 0]), f(2, 4)), S(f(3, 4), 1, v([1, 3, 0]), f(3, 3)), S(f(5), 0, v([1, 2]), f(2)),
    S(f(3, 4), 0, v([2, 0]), f(2, 4), alpha=2),
])  # fmt: skip


@kernel(
    "index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)",
    variants="method",
    files="index",
    batch="index_write",
)
def index_copy_(self, dim, index, source):
    """Writes the slices of ``source`` along ``dim`` at the positions of the vector ``index``."""


@index_copy_.backward
def _(grad, dim, index, source):
    return {
        "self": op.index_fill(grad, dim, index, 0),
        "source": op.index_source_backward(grad, dim, index, source.sizes()),
    }


@composite(
    "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    variants="function method out",
    autocast="promote",
    samples=[S(f(3, 4), 0, v([2, 0]), f(2, 4)), S(f(3, 4), 1, v([1, 3, 0]), f(3, 3)), S(f(5), 0, v([1, 2]), f(2))],
)
def index_copy(self, dim, index, source):
    """``index_copy_`` into a copy."""
    result = copy_for(self, (index, source))
    result.index_copy_(dim, index, source)
    return unwritten(result)


@kernel(
    "index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
    variants="method",
    files="index",
    batch="index_fill_",
)
def index_fill_(self, dim, index, value):
    """Sets the slices along ``dim`` at the positions of the vector ``index`` to ``value``."""


@index_fill_.backward
def _(grad, dim, index):
    return {"self": op.index_fill(grad, dim, index, 0)}


@kernel(
    "index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)",
    variants="method",
    files="index",
    batch="index_fill_",
)
def index_fill_tensor_(self, dim, index, value):
    """The same with ``value`` in a tensor without dimensions."""


@index_fill_tensor_.backward
def _(grad, dim, index):
    return {"self": op.index_fill(grad, dim, index, 0), "value": op.index_fill_value_backward(grad, dim, index)}


@composite("index_fill_value_backward(Tensor grad, int dim, Tensor index) -> Tensor", unbound=True)
def index_fill_value_backward(grad, dim, index):
    """The sum of ``grad`` over the slices at ``index``."""
    places = index % (grad.size(dim) if grad.dim() > 0 else 1)
    once, _ = op._unique(places)
    return grad.index_select(dim, once).sum()


@composite(
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    variants="function method out",
    samples=[S(f(3, 4), 0, v([2, 0]), 1.5), S(f(3, 4), 1, v([1, 3, 0]), 1.5), S(f(5), 0, v([1, 2]), 1.5)],
)
def index_fill(self, dim, index, value):
    """``index_fill_`` into a copy."""
    result = copy_for(self, (index,), memory_format=preserve_format)
    result.index_fill_(dim, index, value)
    return unwritten(result)


@composite(
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    variants="function method out",
    samples=[S(f(3, 4), 0, v([2, 0]), f()), S(f(3, 4), 1, v([1, 3, 0]), f()), S(f(5), 0, v([1, 2]), f())],
)
def index_fill_tensor(self, dim, index, value):
    """``index_fill_`` into a copy."""
    result = copy_for(self, (index, value), memory_format=preserve_format)
    result.index_fill_(dim, index, value)
    return unwritten(result)


@kernel(
    "index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> "
    "Tensor(a!)",
    variants="method",
    files="index",
)
def index_reduce_(self, dim, index, source, reduce, include_self):
    """Combines slices of ``source`` with those of ``self`` at ``index``: ``reduce`` is prod, mean, amax or amin.

    Without ``include_self`` what was at these positions does not count.
    """


@index_reduce_.backward
def _(grad, self, dim, index, source, reduce, include_self, result):
    g = op.index_reduce_backward(grad, self, dim, index, source, reduce, include_self, result)
    return {"self": g[0], "source": g[1]}


@composite(
    "index_reduce_backward(Tensor grad, Tensor self, int dim, Tensor index, Tensor source, str reduce, "
    "bool include_self, Tensor result) -> (Tensor, Tensor, Tensor)",
    unbound=True,
)
def index_reduce_backward(grad, self, dim, index, source, reduce, include_self, result):
    """The gradients of ``self`` and ``source``."""
    # The positions of all elements make it a scatter_reduce.
    if self.dim() == 0:
        to_self, to_source, _ = op.scatter_reduce_backward(
            grad,
            self,
            0,
            index.reshape([]),
            source.reshape([]),
            reduce,
            include_self,
            result,
        )
        return to_self, to_source.reshape(source.shape), None
    sizes = [1] * self.dim()
    sizes[wrap_dim(dim, self.dim())] = index.numel()
    slices = source.reshape(source.shape if source.dim() > 0 else sizes)
    places = index.reshape(sizes).expand(slices.shape)
    to_self, to_source, _ = op.scatter_reduce_backward(grad, self, dim, places, slices, reduce, include_self, result)
    return to_self, to_source.reshape(source.shape), None


@composite(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
    variants="function method out",
)
def index_reduce(self, dim, index, source, reduce, include_self):
    """``index_reduce_`` into a copy."""
    result = copy_for(self, (index, source))
    result.index_reduce_(dim, index, source, reduce, include_self=include_self)
    return result if needs_autograd(result) else unwritten(result)


index_reduce.samples([
    S(f(3, 4), 0, v([2, 0]), f(2, 4), "prod"), S(f(3, 4), 0, v([2, 0]), f(2, 4), "mean"),
    S(f(3, 4), 0, v([2, 0]), f(2, 4), "amax"), S(f(3, 4), 0, v([2, 0]), f(2, 4), "amin"),
    S(f(3, 4), 1, v([1, 3, 0]), f(3, 3), "prod"), S(f(3, 4), 1, v([1, 3, 0]), f(3, 3), "mean"),
    S(f(3, 4), 1, v([1, 3, 0]), f(3, 3), "amax"), S(f(3, 4), 1, v([1, 3, 0]), f(3, 3), "amin"),
    S(f(5), 0, v([1, 2]), f(2), "prod"), S(f(5), 0, v([1, 2]), f(2), "mean"), S(f(5), 0, v([1, 2]), f(2), "amax"),
    S(f(5), 0, v([1, 2]), f(2), "amin"),
])  # fmt: skip


# --- by the count of elements


@kernel(
    "take(Tensor self, Tensor index) -> Tensor",
    variants="function method out",
    shape="take",
    files="index",
    out="same",
    own_out=True,
    batch="take",
    samples=[S(f(2, 3), v([0, 5, -1])), S(f(2, 3), v([6]))],
)
def take(self, index):
    """The elements whose positions in row-major order ``index`` holds, in the shape of ``index``."""


@take.backward
def _(grad, self, index):
    return {"self": op.take_backward(grad, self.sizes(), index)}


@composite("take_backward(Tensor grad, SymInt[] sizes, Tensor index) -> Tensor", unbound=True)
def take_backward(grad, sizes, index):
    """Zeros of shape ``sizes`` with ``grad`` added at ``index``."""
    return op.put(grad.new_zeros(sizes), index, grad, True)


@kernel(
    "put_(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!)",
    variants="method",
    files="index",
    batch="put_",
)
def put_(self, index, source, accumulate):
    """Writes ``source`` at the elements whose positions in row-major order ``index`` holds; or adds it."""


@put_.backward
def _(grad, index, source, accumulate):
    return {
        "self": op.put_self_backward(grad, index, accumulate),
        "source": op.reshape(op.take(grad, index), source.sizes()),
    }


@composite("put_self_backward(Tensor grad, Tensor index, bool accumulate) -> Tensor", unbound=True)
def put_self_backward(grad, index, accumulate):
    """``grad`` with zeros where ``put_`` replaced what was there."""
    if accumulate:
        return grad
    return op.put(grad, index, grad.new_zeros(index.shape), False)


@composite(
    "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    variants="function method out",
    samples=[S(f(2, 3), v([0, 5]), f(2)), S(f(2, 3), v([1, 1]), f(2), True)],
)
def put(self, index, source, accumulate):
    """``put_`` into a copy."""
    result = copy_for(self, (index, source), memory_format=preserve_format)
    result.put_(index, source, accumulate)
    return unwritten(result)


@composite(
    "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    variants="function method out",
    samples=[S(f(3, 4), i(3, 2, high=4), 1), S(f(3, 4), v([0, 7]))],
)
def take_along_dim(self, indices, dim):
    """``gather`` along ``dim`` with ``self`` and ``indices`` broadcast; without ``dim`` from the flat tensor."""
    check(indices.dtype == int64, f"indices must be int64; got {indices.dtype}")
    if dim is None:
        return self.reshape([-1]).gather(0, indices.reshape([-1]))
    check(
        self.dim() == indices.dim(),
        f"self and indices must have as many dimensions; got shapes {self.shape} and {indices.shape}",
    )
    along = wrap_dim(dim, self.dim())
    sizes = list(self.shape)
    for d in range(self.dim()):
        a, b = self.size(d), indices.size(d)
        check(
            d == along or a == b or a == 1 or b == 1,
            f"self and indices must broadcast but along dimension {along}; got shapes {self.shape} and {indices.shape}",
        )
        sizes[d] = b if a == 1 and d != along else a
    wanted = list(sizes)
    if self.dim() > 0:
        wanted[along] = indices.size(along)
    # Positions beyond the ends wrap around here, unlike in gather.
    length = self.size(along) if self.dim() > 0 else 1
    places = indices % length if length > 0 else indices
    return self.expand(sizes).gather(along, places.expand(wanted))


# --- where a mask allows


@composite(
    "_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
    files="index",
    samples=[S(f(4), v([True, False, True], "bool"), [v([0, 7, 2])], 1.5)],
)
def _unsafe_masked_index(self, mask, indices, fill):
    """``self[indices]`` where ``mask`` holds, else ``fill``; indices may be out of range where it does not."""


@composite(
    "_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor",
    files="index",
    samples=[S(f(4), v([True, False, True], "bool"), [v([0, 7, 2])], f(3))],
)
def _unsafe_masked_index_put_accumulate(self, mask, indices, values):
    """``self`` with ``values`` added at ``indices`` where ``mask`` holds."""
