"""Reductions of stretches of a dimension, whose lengths are data."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v


@kernel(
    "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, "
    "int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
    variants="function out",
    shape="segment_reduce",
    files="segment",
)
def segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe, initial):
    """The "sum", "mean", "max", "min" or "prod" of stretches of ``data`` along ``axis``, and of ``initial``.

    ``lengths`` (..., stretches) says how long they are, ``offsets`` (..., stretches + 1) where they begin and the last
    one ends; the sizes before the last are those of ``data`` before ``axis``. Lengths sum to the size of ``axis``
    unless ``unsafe``.
    """


@segment_reduce.backward
def _(grad, result, data, reduce, lengths, offsets, axis, initial):
    return {
        "data": op.segment_reduce_backward(
            grad,
            result,
            data,
            reduce,
            lengths=lengths,
            offsets=offsets,
            axis=axis,
            initial=initial,
        )
    }


segment_reduce.samples(
    [S(f(6, 2), r, lengths=v([2, 0, 4])) for r in ("sum", "mean", "max", "min", "prod", "no")]
    + [S(f(6), r, offsets=v([0, 1, 4]), initial=1.5) for r in ("sum", "mean", "max", "min", "prod")]
    + [
        S(f(2, 5, 3), "mean", lengths=v([[1, 4], [2, 3]]), axis=1),
        S(f(6), "sum", lengths=v([2, 3])),
        S(f(6), "sum"),
        S(f(6), "sum", lengths=v([2, 2]), unsafe=True),
        S(f(6, 2), "sum", lengths=v([6]), axis=1),
    ]
)


_STRETCHES = "str reduce, *, Tensor? lengths=None, Tensor? offsets=None, int axis=0, Scalar? initial=None) -> Tensor"


@kernel(
    f"segment_reduce_backward(Tensor upper, Tensor output, Tensor data, {_STRETCHES}",
    shape="segment_reduce_backward",
    files="segment",
    unbound=True,
)
def segment_reduce_backward(upper, output, data, reduce, lengths, offsets, axis, initial):
    """The gradient of ``segment_reduce`` for ``data``; equal extrema share theirs."""


@segment_reduce_backward.backward
def _(grad, upper, output, data, reduce, lengths, offsets, axis, initial):
    slopes = op.segment_reduce_backward(
        op.ones_like(upper),
        output,
        data,
        reduce,
        lengths=lengths,
        offsets=offsets,
        axis=axis,
        initial=initial,
    )
    return {
        "upper": op.segment_reduce(
            grad * slopes,
            "sum",
            lengths=lengths,
            offsets=offsets,
            axis=axis,
            unsafe=True,
        ),
        "output": None,
        "data": op.segment_slopes_backward(
            grad,
            upper,
            data,
            reduce,
            lengths=lengths,
            offsets=offsets,
            axis=axis,
            initial=initial,
        ),
    }


@kernel(
    f"segment_slopes_backward(Tensor grad, Tensor upper, Tensor data, {_STRETCHES}",
    shape="segment_slopes_backward",
    files="segment",
    unbound=True,
)
def segment_slopes_backward(grad, upper, data, reduce, lengths, offsets, axis, initial):
    """The gradient of ``segment_reduce_backward`` for ``data``: zero but for products."""
