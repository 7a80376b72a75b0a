"""Distances between the rows of matrices: the ``p``-norms of their differences."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@composite(
    "cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor", files="distance", autocast="fp32"
)
def cdist(x1, x2, p, compute_mode):
    """The distance of each row of ``x1`` (..., P, M) to each of ``x2`` (..., R, M): (..., P, R).

    ``compute_mode`` says whether Euclidean distances come from a matrix product, which is quicker and less exact: 0 (or
    None) from 26 rows on, 1 always, 2 never.
    """


cdist.samples([
    S(f(4, 3), f(5, 3)), S(f(4, 3), f(5, 3), 1), S(f(2, 4, 3), f(5, 3), float("inf")),
    S(f(4, 3), f(2, 1, 5, 3), 2.5), S(f(3, 2), f(4, 2), 2.0, 1), S(f(3, 20), f(4, 20), 0), S(f(2, 0), f(3, 0)),
    S(f(27, 3), f(2, 3)), S(f(2, 3), f(2, 4)),
])  # fmt: skip


@kernel(
    "_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
    variants="function out",
    shape="cdist_forward",
    files="distance",
    unbound=True,
    batch="broadcast",
)
def _cdist_forward(x1, x2, p, compute_mode):
    """``cdist``, each distance from its two rows."""


@_cdist_forward.backward
def _(grad, x1, x2, p, result):
    return {
        "x1": op._cdist_backward(grad, x1, x2, p, result),
        "x2": op._cdist_backward(grad.transpose(-1, -2), x2, x1, p, result.transpose(-1, -2)),
    }


@composite(
    "_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
    variants="function out",
    files="distance",
    unbound=True,
)
def _cdist_backward(grad, x1, x2, p, cdist):
    """The gradient of ``_cdist_forward`` for ``x1``, of the broadcast shape."""


@kernel(
    "cdist_gradient(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
    shape="cdist_backward",
    files="distance",
    unbound=True,
    not_differentiable=True,
    batch="broadcast",
)
def cdist_gradient(grad, x1, x2, p, cdist):
    """The fused form of ``_cdist_backward``."""


@composite(
    "_euclidean_dist(Tensor x1, Tensor x2) -> Tensor",
    variants="function out",
    files="distance",
    batch="broadcast",
    samples=[S(f(4, 3), f(5, 3)), S(f(2, 4, 3), f(5, 3))],
)
def _euclidean_dist(x1, x2):
    """Euclidean distances by one matrix product: the squares of both rows less twice their product."""


@_euclidean_dist.backward
def _(grad, x1, x2, result):
    ratio = op.masked_fill(grad / result, result == 0, 0)
    turned = ratio.transpose(-1, -2)
    return {
        "x1": x1 * ratio.sum([-1], True) - op.matmul(ratio, x2),
        "x2": x2 * turned.sum([-1], True) - op.matmul(turned, x1),
    }


@composite("pdist(Tensor self, float p=2.) -> Tensor", files="distance")
def pdist(self, p):
    """The distances of each row of ``self`` (N, M) to those after it: (N (N - 1) / 2)."""


pdist.samples([S(f(4, 3), p) for p in (2.0, 1, 0, 3.5, float("inf"))] + [S(f(1, 3)), S(f(3, 20))])


@kernel(
    "_pdist_forward(Tensor self, float p=2.) -> Tensor",
    variants="function out",
    shape="pdist_forward",
    files="distance",
    unbound=True,
)
def _pdist_forward(self, p):
    """``pdist``."""


@_pdist_forward.backward
def _(grad, self, p, result):
    return {"self": op._pdist_backward(grad, self, p, result)}


@composite(
    "_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor",
    variants="function out",
    files="distance",
    unbound=True,
)
def _pdist_backward(grad, self, p, pdist):
    """The gradient of ``_pdist_forward``."""


@kernel(
    "pdist_gradient(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor",
    shape="pdist_backward",
    files="distance",
    unbound=True,
    not_differentiable=True,
)
def pdist_gradient(grad, self, p, pdist):
    """The fused form of ``_pdist_backward``."""
