"""Losses. ``reduction`` is 0 (none), 1 (mean) or 2 (sum)."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, i, v

# --- class numbers


@composite(
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples=[S(f(4, 3), i(4)), S(f(3), v(1)), S(f(4, 3), i(4), f(3, low=0.1))],
)
def nll_loss(self, target, weight, reduction, ignore_index):
    """Minus the log-probability, in ``self`` (N, C) or (C), of each class number of ``target``, times the class's
    ``weight``."""
    return op.nll_loss_forward(self, target, weight, reduction, ignore_index)[0]


@composite(
    "nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples=[S(f(2, 3, 4, 4), i(2, 4, 4))],
)
def nll_loss2d(self, target, weight, reduction, ignore_index):
    """``nll_loss`` for (N, C, H, W) and (N, H, W)."""
    return op.nll_loss2d_forward(self, target, weight, reduction, ignore_index)[0]


@composite(
    "nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor",
    module="nn",
    files="loss",
    samples="nll_loss",
)
def nll_loss_nd(self, target, weight, reduction, ignore_index):
    """``nll_loss`` for (C) or (N, C, ...) with any number of further dimensions."""


@kernel(
    "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor "
    "output, Tensor total_weight)",
    variants="function out",
    shape="nll_loss",
    files="loss",
    nondiff="total_weight",
    unbound=True,
    batch="nll_loss",
    samples=[S(f(4, 3), i(4), None, 1, -100), S(f(4, 3), v([0, -100, 2, 1]), f(3, low=0.1), 0, -100)],
)
def nll_loss_forward(self, target, weight, reduction, ignore_index):
    """``nll_loss`` with the sum of the weights that count."""


@nll_loss_forward.backward
def _(grad, self, target, weight, reduction, ignore_index, total_weight):
    return {"self": op.nll_loss_backward(grad, self, target, weight, reduction, ignore_index, total_weight)}


@kernel(
    "nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor "
    "output, Tensor total_weight)",
    variants="function out",
    shape="nll_loss2d",
    files="loss",
    nondiff="total_weight",
    unbound=True,
    batch="nll_loss",
    samples=[S(f(2, 3, 4, 4), i(2, 4, 4), None, 1, -100)],
)
def nll_loss2d_forward(self, target, weight, reduction, ignore_index):
    """``nll_loss2d`` with the sum of the weights that count."""


@nll_loss2d_forward.backward
def _(grad, self, target, weight, reduction, ignore_index, total_weight):
    return {"self": op.nll_loss2d_backward(grad, self, target, weight, reduction, ignore_index, total_weight)}


@kernel(
    "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt "
    "ignore_index, "
    "Tensor total_weight) -> Tensor",
    shape="nll_loss_backward",
    files="loss",
    unbound=True,
    batch="nll_loss_backward",
)
def nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    """The gradient of ``nll_loss_forward``."""


@nll_loss_backward.backward
def _(grad, target, weight, reduction, ignore_index):
    return {"grad_output": op.nll_loss(grad, target, weight, reduction, ignore_index)}


@kernel(
    "nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt "
    "ignore_index, "
    "Tensor total_weight) -> Tensor",
    shape="nll_loss_backward",
    files="loss",
    unbound=True,
    batch="nll_loss_backward",
)
def nll_loss2d_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    """The gradient of ``nll_loss2d_forward``."""


@nll_loss2d_backward.backward
def _(grad, target, weight, reduction, ignore_index):
    return {"grad_output": op.nll_loss2d(grad, target, weight, reduction, ignore_index)}


@composite(
    "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100, "
    "float label_smoothing=0.0) -> Tensor",
    module="nn",
    files="loss",
    autocast="fp32",
)
def cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing):
    """The cross entropy of the logits ``self``, (C) or (N, C, ...), and class numbers or class probabilities."""


cross_entropy_loss.samples([
    S(f(4, 3), i(4)), S(f(3), v(1)), S(f(4, 3), i(4), f(3, low=0.1)), S(f(4, 3), v([0, -100, 2, 1]), None, 0),
    S(f(4, 3), i(4), None, 1, -100, 0.1), S(f(4, 3), f(4, 3, of="distribution")), S(f(2, 3, 5), i(2, 5)),
])  # fmt: skip


@kernel(
    "cross_entropy_rows(Tensor self, Tensor target, int reduction, int ignore_index) -> (Tensor output, Tensor "
    "logsumexp, Tensor count)",
    shape="cross_entropy_rows",
    files="loss",
    nondiff="logsumexp count",
    unbound=True,
    batch="cross_entropy",
)
def cross_entropy_rows(self, target, reduction, ignore_index):
    """The cross entropy of rows of logits (N, C) and class numbers (N), without storing probabilities."""


@cross_entropy_rows.backward
def _(grad, self, target, logsumexp, count, reduction, ignore_index):
    return {"self": op.cross_entropy_gradient(grad, self, target, logsumexp, count, reduction, ignore_index)}


@composite(
    "cross_entropy_gradient(Tensor grad_output, Tensor self, Tensor target, Tensor logsumexp, Tensor count, int "
    "reduction, "
    "int ignore_index) -> Tensor",
    files="loss",
    unbound=True,
)
def cross_entropy_gradient(grad_output, self, target, logsumexp, count, reduction, ignore_index):
    """The gradient of ``cross_entropy_rows``, written with differentiable ops where it is differentiated again."""


@kernel(
    "cross_entropy_rows_backward(Tensor grad_output, Tensor self, Tensor target, Tensor logsumexp, Tensor count, int "
    "reduction, "
    "int ignore_index) -> Tensor",
    shape="cross_entropy_rows_backward",
    files="loss",
    unbound=True,
    not_differentiable=True,
    batch="cross_entropy_backward",
)
def cross_entropy_rows_backward(grad_output, self, target, logsumexp, count, reduction, ignore_index):
    """The fused form of ``cross_entropy_gradient``."""


# --- one number against another


# The losses below are a formula for each element, its slope as a second formula, and a reduction.


@pointwise("mse_elements(Tensor self, Tensor target) -> Tensor", dtypes=FLOATING, unbound=True)
def mse_elements(self, target):
    """``(self - target) ** 2``."""
    return (self - target) * (self - target)


@mse_elements.backward
def _(grad, self, target):
    return {"self": op.mse_slope(grad, self, target), "target": op.mse_slope(grad, target, self)}


@pointwise("mse_slope(Tensor upper, Tensor self, Tensor target) -> Tensor", dtypes=FLOATING, unbound=True)
def mse_slope(upper, self, target):
    """The gradient of ``mse_elements`` for ``self``."""
    return upper * 2 * (self - target)


@mse_slope.backward
def _(grad, upper, self, target):
    return {"upper": op.mse_slope(grad, self, target), "self": grad * upper * 2, "target": grad * upper * -2}


@pointwise("smooth_l1_elements(Tensor self, Tensor target, Scalar beta) -> Tensor", dtypes=FLOATING, unbound=True)
def smooth_l1_elements(self, target, beta):
    """With ``d = |self - target|``: ``d ** 2 / (2 * beta)`` below ``beta``, ``d - beta / 2`` above."""
    d = abs(self - target)
    return where(d < beta, d * d * 0.5 / beta, d - 0.5 * beta)


@smooth_l1_elements.backward
def _(grad, self, target, beta):
    return {
        "self": op.smooth_l1_slope(grad, self, target, beta),
        "target": op.smooth_l1_slope(grad, target, self, beta),
    }


@pointwise(
    "smooth_l1_slope(Tensor upper, Tensor self, Tensor target, Scalar beta) -> Tensor", dtypes=FLOATING, unbound=True
)
def smooth_l1_slope(upper, self, target, beta):
    """The gradient of ``smooth_l1_elements`` for ``self``."""
    return upper * maximum(minimum((self - target) / beta, 1), -1)


@smooth_l1_slope.backward
def _(grad, upper, self, target, beta):
    curve = op.where(abs(self - target) < beta, grad * upper / beta, 0)
    return {"upper": op.smooth_l1_slope(grad, self, target, beta), "self": curve, "target": -curve}


@pointwise("huber_elements(Tensor self, Tensor target, Scalar delta) -> Tensor", dtypes=FLOATING, unbound=True)
def huber_elements(self, target, delta):
    """With ``d = |self - target|``: ``d ** 2 / 2`` up to ``delta``, ``delta * (d - delta / 2)`` above."""
    d = abs(self - target)
    return where(d <= delta, d * d * 0.5, delta * (d - 0.5 * delta))


@huber_elements.backward
def _(grad, self, target, delta):
    return {"self": op.huber_slope(grad, self, target, delta), "target": op.huber_slope(grad, target, self, delta)}


@pointwise(
    "huber_slope(Tensor upper, Tensor self, Tensor target, Scalar delta) -> Tensor", dtypes=FLOATING, unbound=True
)
def huber_slope(upper, self, target, delta):
    """The gradient of ``huber_elements`` for ``self``."""
    return upper * maximum(minimum(self - target, delta), -delta)


@huber_slope.backward
def _(grad, upper, self, target, delta):
    curve = op.where(abs(self - target) < delta, grad * upper, 0)
    return {"upper": op.huber_slope(grad, self, target, delta), "self": curve, "target": -curve}


@pointwise("bce_elements(Tensor self, Tensor target) -> Tensor", dtypes=FLOATING, unbound=True)
def bce_elements(self, target):
    """``-target * log(self) - (1 - target) * log(1 - self)``, logarithms at least -100."""
    return (target - 1) * maximum(log1p(-self), -100) - target * maximum(log(self), -100)


@bce_elements.backward
def _(grad, self, target):
    return {
        "self": op.bce_slope(grad, self, target),
        "target": grad * (op.log1p(-self).clamp_min(-100) - op.log(self).clamp_min(-100)),
    }


@pointwise("bce_slope(Tensor upper, Tensor self, Tensor target) -> Tensor", dtypes=FLOATING, unbound=True)
def bce_slope(upper, self, target):
    """The gradient of ``bce_elements`` for ``self``."""
    return upper * (self - target) / maximum(self * (1 - self), 1e-12)


@bce_slope.backward
def _(grad, upper, self, target):
    product = (self * (1 - self)).clamp_min(1e-12)
    return {
        "upper": op.bce_slope(grad, self, target),
        "self": grad * upper * (target * (1 - 2 * self) + self * self) / (product * product),
        "target": -grad * upper / product,
    }


@pointwise("bce_logits_elements(Tensor self, Tensor target) -> Tensor", dtypes=FLOATING, unbound=True)
def bce_logits_elements(self, target):
    """``bce_elements`` of ``sigmoid(self)``, without overflow."""
    return (1 - target) * self - minimum(self, 0) + log1p(exp(-abs(self)))


@bce_logits_elements.backward
def _(grad, self, target):
    return {"self": op.bce_logits_slope(grad, self, target), "target": -grad * self}


@pointwise("bce_logits_slope(Tensor upper, Tensor self, Tensor target) -> Tensor", dtypes=FLOATING, unbound=True)
def bce_logits_slope(upper, self, target):
    """The gradient of ``bce_logits_elements`` for ``self``."""
    return upper * (1 / (1 + exp(-self)) - target)


@bce_logits_slope.backward
def _(grad, upper, self, target):
    s = op.sigmoid(self)
    return {
        "upper": op.bce_logits_slope(grad, self, target),
        "self": grad * upper * s * (1 - s),
        "target": -grad * upper,
    }


@pointwise("soft_margin_elements(Tensor self, Tensor target) -> Tensor", dtypes=FLOATING, unbound=True)
def soft_margin_elements(self, target):
    """``log(1 + exp(-target * self))``."""
    z = -target * self
    return maximum(z, 0) + log1p(exp(-abs(z)))


@soft_margin_elements.backward
def _(grad, self, target):
    slope = -grad * op.sigmoid(-target * self)
    return {"self": slope * target, "target": slope * self}


@composite(
    "mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    variants="function out",
    module="nn",
    files="loss",
    autocast="fp32",
    samples=[S(f(2, 3), f(2, 3)), S(f(2, 3), f(2, 3), reduction=0), S(f(2, 3), f(2, 3), reduction=2), S(f(), f())],
)
def mse_loss(self, target, reduction):
    """``(self - target) ** 2``."""


@composite(
    "l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    module="nn",
    files="loss",
    autocast="fp32",
    samples="mse_loss",
)
def l1_loss(self, target, reduction):
    """``|self - target|``."""


@composite(
    "smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.0) -> Tensor",
    variants="function out",
    module="nn",
    files="loss",
    autocast="fp32",
    samples="mse_loss",
)
def smooth_l1_loss(self, target, reduction, beta):
    """With ``d = |self - target|``: ``d ** 2 / (2 * beta)`` below ``beta``, ``d - beta / 2`` above."""


@composite(
    "huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.0) -> Tensor",
    variants="function out",
    module="nn",
    files="loss",
    autocast="fp32",
    samples="mse_loss",
)
def huber_loss(self, target, reduction, delta):
    """With ``d = |self - target|``: ``d ** 2 / 2`` below ``delta``, ``delta * (d - delta / 2)`` above."""


@composite(
    "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
    variants="function out",
    module="nn",
    files="loss",
    autocast="fp32",
)
def binary_cross_entropy(self, target, weight, reduction):
    """The cross entropy of probabilities ``self`` and ``target``, both from 0 to 1; logarithms stop at -100."""


binary_cross_entropy.samples([
    S(f(2, 3, low=0.1, high=0.9), f(2, 3, low=0, high=1)),
    S(f(2, low=0.1, high=0.9), f(2, low=0, high=1), f(2), 0),
])  # fmt: skip


@composite(
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int "
    "reduction=1) -> Tensor",
    files="loss",
    autocast="fp32",
    samples=[S(f(2, 3), f(2, 3, low=0, high=1)), S(f(2, 3), f(2, 3, low=0, high=1), f(3), f(3), 0)],
)
def binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction):
    """``binary_cross_entropy`` of ``sigmoid(self)`` without overflow; ``pos_weight`` scales positives."""


@composite(
    "kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
    files="loss",
    autocast="fp32",
    samples=[S(f(2, 3), f(2, 3, low=0.1)), S(f(2, 3), f(2, 3), 0, log_target=True)],
)
def kl_div(self, target, reduction, log_target):
    """``target * (log(target) - self)`` for log-probabilities ``self``."""


@composite(
    "soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    variants="function out",
    module="nn",
    files="loss",
    autocast="fp32",
    samples="mse_loss",
)
def soft_margin_loss(self, target, reduction):
    """``log(1 + exp(-target * self))`` for targets 1 and -1."""


@composite(
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor",
    files="loss",
    autocast="fp32",
    samples=[S(f(2, 3), f(2, 3, low=0.1), True, False, 1e-08, 0), S(f(2, 3), f(2, 3, low=0.1), True, False, 1e-08, 1)],
)
def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """Minus the log-likelihood of counts ``target`` at rate ``exp(input)`` (``input`` unless ``log_input``)."""


# --- margins


@composite(
    "hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=1) -> Tensor",
    files="margin_loss",
    autocast="fp32",
    samples=[S(f(2, 3), v([[1.0, -1, 1], [-1, 1, 1]], "float64"))],
)
def hinge_embedding_loss(self, target, margin, reduction):
    """``self`` where target is 1, ``max(0, margin - self)`` where it is -1."""


@composite(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> Tensor",
    files="margin_loss",
    autocast="fp32",
    samples=[S(f(3), f(3), v([1.0, -1, 1], "float64"))],
)
def margin_ranking_loss(input1, input2, target, margin, reduction):
    """``max(0, -target * (input1 - input2) + margin)``."""


@composite(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> Tensor",
    files="margin_loss",
    autocast="fp32",
    samples=[S(f(3, 4), f(3, 4), v([1.0, -1, 1], "float64"))],
)
def cosine_embedding_loss(input1, input2, target, margin, reduction):
    """``1 - cos(input1, input2)`` where target is 1, ``max(0, cos - margin)`` where it is -1; rows of (N, D) or one
    (D)."""


@composite(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float "
    "eps=1e-06, bool swap=False, "
    "int reduction=1) -> Tensor",
    files="margin_loss",
    autocast="fp32",
    samples=[S(f(2, 5), f(2, 5), f(2, 5)), S(f(5), f(5), f(5))],
)
def triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction):
    """``max(0, margin + |anchor - positive| - |anchor - negative|)`` in the ``p``-norm along the last dimension."""


@composite(
    "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=1) "
    "-> Tensor",
    variants="function out",
    module="nn",
    files="margin_loss",
    autocast="fp32",
    samples=[S(f(4, 3), i(4)), S(f(4, 3), i(4), 2, 0.5, f(3, low=0.1), 0)],
)
def multi_margin_loss(self, target, p, margin, weight, reduction):
    """The mean over the other classes of ``weight * max(0, margin - self[target] + self) ** p``, for (N, C) or (C)."""


@composite(
    "multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    variants="function out",
    module="nn",
    files="margin_loss",
    autocast="fp32",
    samples=[S(f(2, 4), v([[1, 3, -1, 0], [0, -1, 2, 1]]))],
)
def multilabel_margin_loss(self, target, reduction):
    """The hinge loss between the classes that ``target`` lists, up to the first -1, and all others, for (N, C) or
    (C)."""
