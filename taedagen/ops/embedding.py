"""Rows of a table, one for each index, alone or summed up in bags."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, i, v


@composite(
    "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, "
    "bool sparse=False) -> Tensor",
    variants="function out",
    files="embedding",
    batch="embedding",
    samples=[S(f(5, 3), i(2, 4, high=5)), S(f(5, 3), v([1, 1]), 3)],
)
def embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse):
    """The rows of ``weight`` (rows, width) at ``indices`` (any shape): shape ``(*indices.shape, width)``.

    The row ``padding_idx`` has no gradient; with ``scale_grad_by_freq`` a row's is divided by how often it was taken.
    """


@embedding.backward
def _(grad, weight, indices, padding_idx, scale_grad_by_freq, sparse):
    return {"weight": op.embedding_backward(grad, indices, weight.size(0), padding_idx, scale_grad_by_freq, sparse)}


@composite(
    "embedding_backward(Tensor grad, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq, "
    "bool sparse) -> Tensor",
    files="embedding",
    samples=[S(f(2, 4, 3), i(2, 4, high=5), 5, -1, False, False)],
)
def embedding_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq, sparse):
    """The gradient of a table of ``num_weights`` rows."""


@kernel(
    "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, "
    "bool scale_grad_by_freq) -> Tensor",
    variants="function out",
    shape="embedding_dense_backward",
    files="embedding",
    batch="embedding_dense_backward",
    samples=[S(f(2, 4, 3), i(2, 4, high=5), 5, -1, False), S(f(2, 4, 3), i(2, 4, high=5), 5, 1, True)],
)
def embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
    """The sums of the rows of ``grad_output`` that belong to each row of the table."""


@embedding_dense_backward.backward
def _(grad, indices, padding_idx, scale_grad_by_freq):
    return {"grad_output": op.embedding_double_backward(grad, indices, padding_idx, scale_grad_by_freq)}


@composite(
    "embedding_double_backward(Tensor grad, Tensor indices, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor",
    files="embedding",
    unbound=True,
)
def embedding_double_backward(grad, indices, padding_idx, scale_grad_by_freq):
    """The rows of ``grad`` at ``indices``, weighted as in the gradient of the table."""


@kernel(
    "embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)",
    files="embedding",
    not_differentiable=True,
    samples=[S(f(5, 3), v([1, 3]), 1.0, 2.0)],
)
def embedding_renorm_(self, indices, max_norm, norm_type):
    """Scales the rows at ``indices`` whose ``norm_type``-norm is above ``max_norm`` down to it."""


@kernel(
    "_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, "
    "bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) "
    "-> (Tensor output, Tensor offset2bag, Tensor bag_size, Tensor max_indices)",
    shape="embedding_bag",
    files="embedding",
    nondiff="offset2bag bag_size max_indices",
)
def _embedding_bag(*_):
    """The sum (``mode`` 0), mean (1) or maximum (2) of the rows of each bag; a bag begins at each of ``offsets``.

    Also the bag of each index, the number of rows in each bag, and for maxima the rows that they come from (-1: none).
    """


@_embedding_bag.backward
def _(
    grad,
    weight,
    indices,
    offsets,
    scale_grad_by_freq,
    mode,
    sparse,
    per_sample_weights,
    padding_idx,
    offset2bag,
    bag_size,
    max_indices,
):
    return {
        "weight": op._embedding_bag_backward(
            grad,
            indices,
            offsets,
            offset2bag,
            bag_size,
            max_indices,
            weight.size(0),
            scale_grad_by_freq,
            mode,
            sparse,
            per_sample_weights,
            padding_idx,
        ),
        "per_sample_weights": op._embedding_bag_per_sample_weights_backward(
            grad, weight, indices, offsets, offset2bag, mode, padding_idx
        ),
    }


_embedding_bag.samples([S(f(5, 3), v([1, 2, 4, 3]), v([0, 2]), False, m) for m in (0, 1, 2)])


@composite(
    "_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int "
    "mode=0, "
    "bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) "
    "-> (Tensor, Tensor, Tensor, Tensor)",
    files="embedding",
    samples="_embedding_bag",
)
def _embedding_bag_forward_only(*_):
    """``_embedding_bag``."""


@composite(
    "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, "
    "bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) "
    "-> (Tensor, Tensor, Tensor, Tensor)",
    files="embedding",
    samples=[S(f(5, 3), v([1, 2, 4, 3]), v([0, 2]), False, 0, False, None, False, 2)],
)
def embedding_bag_padded(*_):
    """``_embedding_bag``, leaving the row ``padding_idx`` out (counted from the end if negative)."""


@composite(
    "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, "
    "bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) "
    "-> (Tensor, Tensor, Tensor, Tensor)",
    files="embedding",
    samples="_embedding_bag",
)
def embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq,
    mode,
    sparse,
    per_sample_weights,
    include_last_offset,
):
    """``_embedding_bag``."""


@composite(
    "_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size, "
    "Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool sparse, "
    "Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
    files="embedding",
)
def _embedding_bag_backward(*_):
    """The gradient of the table."""


_embedding_bag_backward.samples(
    [
        S(f(2, 3), v([1, 2, 4, 1]), v([0, 3]), v(o), v([3, 1]), v(top), 5, False, m, False, w)
        for o, m, w, top in (
            ([0, 0, 0, 1], 0, None, [3, 1]),
            ([], 0, None, [3, 1]),
            ([], 0, f(4), [3, 1]),
            ([0, 0, 0, 1], 1, None, [3, 1]),
            ([0, 0, 0, 1], 2, None, [[1, 2, 4], [1, 1, 1]]),
        )
    ]
)


@composite(
    "_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, "
    "Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, "
    "int padding_idx=-1) -> Tensor",
    files="embedding",
)
def _embedding_bag_dense_backward(*_):
    """The gradient of the table."""


_embedding_bag_dense_backward.samples(
    [
        S(f(2, 3), v(of), v([0, 0, 0, 1]), v([3, 1]), v(top), 5, freq, m, None)
        for m, freq, of, top in (
            (0, False, [1, 2, 4, 1], [3, 1]),
            (0, True, [1, 2, 2, 1], [3, 1]),
            (1, False, [1, 2, 4, 1], [3, 1]),
            (2, False, [1, 2, 4, 1], [[1, 2, 4], [1, 1, 1]]),
        )
    ]
)


@composite(
    "_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, "
    "Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor",
    files="embedding",
)
def _embedding_bag_per_sample_weights_backward(grad, weight, indices, offsets, offset2bag, mode, padding_idx):
    """The gradient of each sample's weight: its row times the gradient of its bag."""


_embedding_bag_per_sample_weights_backward.samples(
    [S(f(2, 3), f(5, 3), v([1, 2, 4, 1]), v([0, 3]), v(o), 0, *pad) for o in ([0, 0, 0, 1], []) for pad in ((), (2,))]
)
