"""Losses. ``reduction`` is 'none', 'mean' or 'sum'; ``size_average`` and ``reduce`` are its deprecated predecessors."""

from __future__ import annotations

from collections.abc import Callable

from taeda import Tensor
from taeda.nn import _reduction as _Reduction
from taeda.nn import functional as F
from taeda.nn.modules.distance import PairwiseDistance
from taeda.nn.modules.module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _Loss(Module):
    reduction: str

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = _Reduction.legacy_get_string(size_average, reduce)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(_Loss):
    """``|input - target|``.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """``(input - target) ** 2``.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """With ``d = |input - target|``: ``d ** 2 / (2 * beta)`` below ``beta``, ``d - beta / 2`` above.

    Args:
        beta: where the parabola becomes a line.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """With ``d = |input - target|``: ``d ** 2 / 2`` below ``delta``, ``delta * (d - delta / 2)`` above.

    Args:
        delta: where the parabola becomes a line.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        if not isinstance(delta, (int, float)):
            raise TypeError(f"taeda.nn.HuberLoss: delta must be a number; got {type(delta).__name__}")
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(_WeightedLoss):
    """Minus the log-probability, in the input (N, C, ...) or (C), of each class number of the target.

    Args:
        weight: a factor for each class.
        ignore_index: a class number that counts for nothing.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """Deprecated: `NLLLoss` takes any number of dimensions."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        import warnings

        warnings.warn("taeda.nn.NLLLoss2d is deprecated; use NLLLoss", FutureWarning, stacklevel=2)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(_WeightedLoss):
    """The cross entropy of logits (N, C, ...) or (C) and class numbers or class probabilities.

    Args:
        weight: one factor per class.
        ignore_index: a class number that counts for nothing.
        label_smoothing: the share of each target spread evenly over all classes.
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class PoissonNLLLoss(_Loss):
    """Minus the log-likelihood of counts at rate ``exp(input)`` (``input`` unless ``log_input``).

    Args:
        log_input: whether the input is the logarithm of the rate.
        full: whether Stirling's approximation of ``log(target!)`` is added.
        eps: keeps the logarithm of a rate of 0 finite.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """Minus the log-likelihood of the target for a mean, the input, and a variance of at least ``eps``.

    Args:
        full: whether the constant ``log(2 * pi) / 2`` is added.
        eps: the least variance.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class KLDivLoss(_Loss):
    """``target * (log(target) - input)`` for log-probabilities; ``reduction='batchmean'`` is the divergence.

    Args:
        log_target: whether the target is given as logarithms, too.
        reduction: ``"batchmean"``, ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its
            deprecated forms.
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """The cross entropy of probabilities and targets, both from 0 to 1; logarithms stop at -100.

    Args:
        weight: a factor for each element of a batch.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """`BCELoss` of the sigmoid of the input, computed without overflow; ``pos_weight`` scales positives.

    Args:
        weight: a factor for each element of a batch.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
        pos_weight: a factor for the positives of each class.
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class HingeEmbeddingLoss(_Loss):
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1.

    Args:
        margin: beyond it unlike pairs cost nothing.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """``log(1 + exp(-target * input))`` for targets 1 and -1.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """The hinge loss between the classes that the target lists, up to the first -1, and all others.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The binary cross entropy of logits (N, C) or (C), averaged over the classes.

    Args:
        weight: a factor for each class.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """``mean over other classes of max(0, margin - input[target] + input) ** p``; ``p`` is 1 or 2.

    Args:
        p: 1 or 2.
        margin: by how much the right class must lead.
        weight: a factor for each class.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"taeda.nn.MultiMarginLoss: p must be 1 or 2; got {p}")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"taeda.nn.MultiMarginLoss: weight must have 1 dimension; got {weight.dim()}")
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class MarginRankingLoss(_Loss):
    """``max(0, -target * (input1 - input2) + margin)``: target 1 wants input1 the larger, -1 input2.

    Args:
        margin: by how much one must be the larger.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1.

    Args:
        margin: from -1 to 1; below it the cosine of unlike pairs costs nothing.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)`` with the p-norm distance.

    Args:
        margin: by how much the negative must be farther.
        p, eps: the norm, and what is added to differences.
        swap: takes the smaller of the distances of anchor and positive to the negative.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; size_average and reduce are its deprecated forms.
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"taeda.nn.TripletMarginLoss: margin must be greater than 0; got {margin}")
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` with a distance of one's own; by default the Euclidean one.

    Args:
        distance_function: of two tensors; one distance for each pair.
        margin: by how much the negative must be farther.
        swap: takes the smaller of the distances of anchor and positive to the negative.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(f"taeda.nn.TripletMarginWithDistanceLoss: margin must be greater than 0; got {margin}")
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class CTCLoss(_Loss):
    """Minus the log-likelihood of label sequences under all their alignments (Graves et al., 2006).

    Args:
        blank: the class that means no label.
        zero_infinity: infinite losses, of inputs too short for their labels, count as 0.
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
