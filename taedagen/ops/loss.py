"""Losses. ``reduction`` is 0 (none), 1 (mean) or 2 (sum)."""

import math

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, i, v

# --- class numbers


NONE, MEAN, SUM = 0, 1, 2


def _reduced(values, reduction):
    """``values``, their mean or their sum."""
    if reduction == MEAN:
        return values.mean()
    return values.sum() if reduction == SUM else values


def _per_class(weight, rank, dim):
    """A weight for each class, in a shape that broadcasts with logits of ``rank`` dimensions, of which ``dim`` is the
    classes."""
    return weight.reshape([weight.numel(), *[1] * (rank - dim - 1)])


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
    called="nll_loss",
    samples="nll_loss",
)
def nll_loss_nd(self, target, weight, reduction, ignore_index):
    """``nll_loss`` for (C) or (N, C, ...) with any number of further dimensions."""
    check(self.dim() >= 1, "input must be (C) or (N, C, ...); got a scalar", ValueError)
    check(
        self.dim() == 1 or target.dim() == 0 or self.size(0) == target.size(0),
        f"input and target must have as many samples; got shapes {self.shape} and {target.shape}",
        ValueError,
    )
    check(
        self.dim() == 1 or target.dim() == self.dim() - 1,
        f"target must have the input's shape without the classes; got shapes {self.shape} and {target.shape}",
    )
    if self.dim() <= 2:
        return op.nll_loss(self, target, weight, reduction, ignore_index)
    if self.dim() == 4:
        return op.nll_loss2d(self, target, weight, reduction, ignore_index)
    check(
        self.shape[2:] == target.shape[1:],
        f"target must have the input's shape without the classes; got shapes {self.shape} and {target.shape}",
    )
    area = math.prod(self.shape[2:])
    flat = self.reshape([self.size(0), self.size(1), 1, area])
    loss = op.nll_loss2d(flat, target.reshape([target.size(0), 1, area]), weight, reduction, ignore_index)
    return loss.reshape(target.shape) if reduction == NONE else loss


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
    outs="output total_weight",
    out_overload="output",
    flat="self",
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
    outs="output total_weight",
    out_overload="output",
    flat="self",
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
    outs="grad_input",
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
    outs="grad_input",
)
def nll_loss2d_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    """The gradient of ``nll_loss2d_forward``."""


@nll_loss2d_backward.backward
def _(grad, target, weight, reduction, ignore_index):
    return {"grad_output": op.nll_loss2d(grad, target, weight, reduction, ignore_index)}


def _with_probabilities(self, target, weight, reduction, smoothing):
    """The cross entropy with the probabilities of each class."""
    dim = 0 if self.dim() == 1 else 1
    classes = self.size(dim)
    check(
        target.is_floating_point(),
        f"class probabilities must be floating; got {target.dtype}",
    )
    wanted = target
    if smoothing > 0:
        wanted = target * (1 - smoothing) + smoothing / classes
    terms = self.log_softmax(dim) * wanted
    if weight is not None:
        terms = terms * _per_class(weight, self.dim(), dim)
    loss = -terms.sum([dim])
    if reduction != MEAN:
        return _reduced(loss, reduction)
    return loss.sum() / float(max(self.numel() // max(classes, 1), 1))


def _smoothed(self, target, weight, reduction, ignore_index, smoothing):
    """(1 - smoothing) of the loss of the class itself, and the rest spread over all classes."""
    dim = 0 if self.dim() == 1 else 1
    classes = self.size(dim)
    logs = self.log_softmax(dim)
    own = op.nll_loss_nd(logs, target, weight, reduction, ignore_index)
    spread = logs
    if weight is not None:
        spread = logs * _per_class(weight, self.dim(), dim)
    ignored = target == ignore_index
    rest = op.masked_fill(-spread.sum([dim]), ignored, 0)
    if reduction == MEAN and weight is not None:
        numbers = op.masked_fill(target, ignored, 0)
        weights = weight.index_select(0, numbers.flatten()).reshape(target.shape)
        rest = rest.sum() / op.masked_fill(weights, ignored, 0).sum()
    elif reduction == MEAN:
        rest = rest.sum() / op.logical_not(ignored).to(rest.dtype).sum()
    else:
        rest = _reduced(rest, reduction)
    return own * (1 - smoothing) + rest * (smoothing / classes)


@composite(
    "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100, "
    "float label_smoothing=0.0) -> Tensor",
    module="nn",
    called="cross_entropy",
    autocast="fp32",
)
def cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing):
    """The cross entropy of the logits ``self``, (C) or (N, C, ...), and class numbers or class probabilities."""
    check(self.dim() >= 1, "input must be (C) or (N, C, ...); got a scalar")
    check(
        0 <= label_smoothing <= 1,
        f"label_smoothing must be from 0 to 1; got {label_smoothing}",
    )
    if self.shape == target.shape and target.is_floating_point():
        check(ignore_index < 0, "ignore_index goes with class numbers, not probabilities")
        return _with_probabilities(self, target, weight, reduction, label_smoothing)
    if label_smoothing > 0:
        return _smoothed(self, target, weight, reduction, ignore_index, label_smoothing)
    are_rows = self.dim() == 2 and target.dim() == 1 and weight is None and target.dtype == int64
    if are_rows and self.size(0) == target.size(0):
        return op.cross_entropy_rows(self, target, reduction, ignore_index)[0]
    return op.nll_loss_nd(
        self.log_softmax(0 if self.dim() == 1 else 1),
        target,
        weight,
        reduction,
        ignore_index,
    )


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
    unbound=True,
)
def cross_entropy_gradient(grad_output, self, target, logsumexp, count, reduction, ignore_index):
    """The gradient of ``cross_entropy_rows``, written with differentiable ops where it is differentiated again."""
    if not may_record(grad_output, self):
        return op.cross_entropy_rows_backward(grad_output, self, target, logsumexp, count, reduction, ignore_index)
    ignored = target == ignore_index
    numbers = op.masked_fill(target, ignored, 0).unsqueeze(1)
    probabilities = self.softmax(1)
    one_hot = op.scatter(op.zeros_like(probabilities), 1, numbers, 1.0)
    upper = grad_output / count.to(self.dtype) if reduction == MEAN else grad_output
    rows = op.masked_fill(upper.expand(target.shape), ignored, 0)
    return (probabilities - one_hot) * rows.unsqueeze(1)


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
    autocast="fp32",
    samples=[S(f(2, 3), f(2, 3)), S(f(2, 3), f(2, 3), reduction=0), S(f(2, 3), f(2, 3), reduction=2), S(f(), f())],
)
def mse_loss(self, target, reduction):
    """``(self - target) ** 2``."""
    return _reduced(op.mse_elements(self, target), reduction)


@composite(
    "l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    module="nn",
    autocast="fp32",
    samples="mse_loss",
)
def l1_loss(self, target, reduction):
    """``|self - target|``."""
    return _reduced(abs(self - target), reduction)


@composite(
    "smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.0) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples="mse_loss",
)
def smooth_l1_loss(self, target, reduction, beta):
    """With ``d = |self - target|``: ``d ** 2 / (2 * beta)`` below ``beta``, ``d - beta / 2`` above."""
    check(beta >= 0, f"beta must not be negative; got {beta}")
    if beta == 0:
        return op.l1_loss(self, target, reduction)
    return _reduced(op.smooth_l1_elements(self, target, beta), reduction)


@composite(
    "huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.0) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples="mse_loss",
)
def huber_loss(self, target, reduction, delta):
    """With ``d = |self - target|``: ``d ** 2 / 2`` below ``delta``, ``delta * (d - delta / 2)`` above."""
    check(delta > 0, f"delta must be positive; got {delta}")
    return _reduced(op.huber_elements(self, target, delta), reduction)


@composite(
    "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
)
def binary_cross_entropy(self, target, weight, reduction):
    """The cross entropy of probabilities ``self`` and ``target``, both from 0 to 1; logarithms stop at -100."""
    if self.shape != target.shape:  # dimensions of size 1 are no difference
        target = op.reshape(op.expand(op.squeeze(target), op.squeeze(self).shape), self.shape)
    if has_values(self) and self.numel() > 0:
        low, high = op.aminmax(self.detach())
        least, most = float(low.item()), float(high.item())
        check(
            not (least < 0) and not (most > 1),
            f"probabilities must be from 0 to 1; got values from {least} to {most}",
        )
    loss = op.bce_elements(self, target)
    return _reduced(loss * weight if weight is not None else loss, reduction)


binary_cross_entropy.samples([
    S(f(2, 3, low=0.1, high=0.9), f(2, 3, low=0, high=1)),
    S(f(2, low=0.1, high=0.9), f(2, low=0, high=1), f(2), 0),
])  # fmt: skip


@composite(
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int "
    "reduction=1) -> Tensor",
    autocast="fp32",
    samples=[S(f(2, 3), f(2, 3, low=0, high=1)), S(f(2, 3), f(2, 3, low=0, high=1), f(3), f(3), 0)],
)
def binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction):
    """``binary_cross_entropy`` of ``sigmoid(self)`` without overflow; ``pos_weight`` scales positives."""
    if pos_weight is not None:  # (1 - t) x + (1 + (p - 1) t) softplus(-x)
        factor = (pos_weight - 1) * target + 1
        loss = (1 - target) * self - factor * op.log_sigmoid(self)
    else:
        loss = op.bce_logits_elements(self, target)
    return _reduced(loss * weight if weight is not None else loss, reduction)


@composite(
    "kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
    autocast="fp32",
    samples=[S(f(2, 3), f(2, 3, low=0.1)), S(f(2, 3), f(2, 3), 0, log_target=True)],
)
def kl_div(self, target, reduction, log_target):
    """``target * (log(target) - self)`` for log-probabilities ``self``."""
    if log_target:
        return _reduced(exp(target) * (target - self), reduction)
    return _reduced(op.xlogy(target, target) - target * self, reduction)


@composite(
    "soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples="mse_loss",
)
def soft_margin_loss(self, target, reduction):
    """``log(1 + exp(-target * self))`` for targets 1 and -1."""
    if promote_types(self.dtype, target.dtype).is_complex:
        return _reduced(log(exp(-self * target) + 1), reduction)
    return _reduced(op.soft_margin_elements(self, target), reduction)


@composite(
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor",
    autocast="fp32",
    samples=[S(f(2, 3), f(2, 3, low=0.1), True, False, 1e-08, 0), S(f(2, 3), f(2, 3, low=0.1), True, False, 1e-08, 1)],
)
def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """Minus the log-likelihood of counts ``target`` at rate ``exp(input)`` (``input`` unless ``log_input``)."""
    if log_input:
        loss = exp(input) - target * input
    else:
        loss = input - target * log(input + eps)
    if full:  # Stirling's approximation of log(target!)
        stirling = target * log(target) - target + log(target * 6.283185307179586) * 0.5
        loss = loss + op.masked_fill(stirling, target <= 1, 0)
    return _reduced(loss, reduction)


# --- margins


@composite(
    "hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=1) -> Tensor",
    autocast="fp32",
    samples=[S(f(2, 3), v([[1.0, -1, 1], [-1, 1, 1]], "float64"))],
)
def hinge_embedding_loss(self, target, margin, reduction):
    """``self`` where target is 1, ``max(0, margin - self)`` where it is -1."""
    # Whole numbers stay whole, with a whole margin.
    is_whole_input = not is_differentiable(self.dtype)
    distance = op.full_like(self, margin) - self if is_whole_input else margin - self
    zero = op.zeros_like(self)
    apart = where(target != 1, op.clamp_min(distance, 0), zero)
    return _reduced(apart + where(target != -1, self, zero), reduction)


@composite(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> Tensor",
    autocast="fp32",
    samples=[S(f(3), f(3), v([1.0, -1, 1], "float64"))],
)
def margin_ranking_loss(input1, input2, target, margin, reduction):
    """``max(0, -target * (input1 - input2) + margin)``."""
    check(
        input1.dim() == target.dim() and input2.dim() == target.dim(),
        f"input1, input2 and target must have the same number of dimensions; got {input1.dim()}, {input2.dim()} and "
        f"{target.dim()}",
    )
    return _reduced(op.clamp_min(-target * (input1 - input2) + margin, 0), reduction)


@composite(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> Tensor",
    autocast="fp32",
    samples=[S(f(3, 4), f(3, 4), v([1.0, -1, 1], "float64"))],
)
def cosine_embedding_loss(input1, input2, target, margin, reduction):
    """``1 - cos(input1, input2)`` where target is 1, ``max(0, cos - margin)`` where it is -1; rows of (N, D) or one
    (D)."""
    check(target.dim() <= 1, f"target must be (N) or one number; got shape {target.shape}")
    rank = target.dim() + 1
    check(
        input1.dim() == rank and input2.dim() == rank,
        f"a target of {target.dim()} dimensions needs inputs of {rank}; got shapes {input1.shape} and {input2.shape}",
    )
    squares1 = (input1 * input1).sum([-1]) + 1e-12
    squares2 = (input2 * input2).sum([-1]) + 1e-12
    cosine = (input1 * input2).sum([-1]) / sqrt(squares1 * squares2)
    zero = op.zeros_like(cosine)
    near = where(target == 1, 1 - cosine, zero)
    far = where(target == -1, op.clamp_min(cosine - margin, 0), zero)
    return _reduced(near + far, reduction)


@composite(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float "
    "eps=1e-06, bool swap=False, "
    "int reduction=1) -> Tensor",
    autocast="fp32",
    samples=[S(f(2, 5), f(2, 5), f(2, 5)), S(f(5), f(5), f(5))],
)
def triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction):
    """``max(0, margin + |anchor - positive| - |anchor - negative|)`` in the ``p``-norm along the last dimension."""
    check(
        anchor.dim() == positive.dim() and anchor.dim() == negative.dim(),
        f"anchor, positive and negative must have the same number of dimensions; got {anchor.dim()}, {positive.dim()} "
        f"and {negative.dim()}",
    )
    near = op.pairwise_distance(anchor, positive, p, eps)
    far = op.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = minimum(far, op.pairwise_distance(positive, negative, p, eps))
    return _reduced(op.clamp_min(near - far + margin, 0), reduction)


@composite(
    "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=1) "
    "-> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples=[S(f(4, 3), i(4)), S(f(4, 3), i(4), 2, 0.5, f(3, low=0.1), 0)],
)
def multi_margin_loss(self, target, p, margin, weight, reduction):
    """The mean over the other classes of ``weight * max(0, margin - self[target] + self) ** p``, for (N, C) or (C)."""
    check(p == 1 or p == 2, f"p must be 1 or 2; got {p}")
    check(
        self.dim() <= 2 and (self.dim() == 0 or self.size(-1) > 0),
        f"input must be (N, C) or (C) with classes, or a number; got shape {self.shape}",
    )
    scores = self if self.dim() == 2 else self.reshape([1, self.numel()])
    numbers = target.reshape([-1])
    check(
        numbers.size(0) == scores.size(0),
        f"target must have one class number per sample, {scores.size(0)}; got shape {target.shape}",
    )
    classes = scores.size(1)
    check(
        weight is None or (weight.dim() == 1 and weight.numel() == classes),
        f"weight must have one number for each of the {classes} classes",
    )
    index = numbers.unsqueeze(1)
    terms = op.clamp_min(scores - scores.gather(1, index) + margin, 0)
    if p == 2:
        terms = terms * terms
    if weight is not None:
        terms = terms * weight.index_select(0, numbers).unsqueeze(1)
    terms = op.scatter(terms, 1, index, 0)  # the class itself does not count
    loss = terms.sum([1]) / float(classes)
    return _reduced(loss.reshape(target.shape), reduction)


@composite(
    "multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples=[S(f(2, 4), v([[1, 3, -1, 0], [0, -1, 2, 1]]))],
)
def multilabel_margin_loss(self, target, reduction):
    """The hinge loss between the classes that ``target`` lists, up to the first -1, and all others, for (N, C) or
    (C)."""
    check(
        self.dim() <= 2 and self.shape == target.shape,
        f"input and target must both be (N, C) or (C); got shapes {self.shape} and {target.shape}",
    )
    classes = 1 if self.dim() == 0 else self.size(-1)
    scores = self.reshape([-1, classes])
    numbers = target.reshape([-1, classes])
    # Labels count up to the first -1.
    listed = op.cumsum((numbers < 0).to(int64), 1) == 0
    index = op.masked_fill(numbers, op.logical_not(listed), 0)
    hits = op.scatter_add(op.zeros_like(index), 1, index, listed.to(int64))
    own = scores.gather(1, index).unsqueeze(2)
    terms = op.clamp_min(scores.unsqueeze(1) - own + 1, 0)
    counts = op.logical_and(listed.unsqueeze(2), (hits == 0).unsqueeze(1))
    loss = where(counts, terms, op.zeros_like(terms)).sum([1, 2]) / float(classes)
    return _reduced(loss.reshape([]) if self.dim() <= 1 else loss, reduction)
