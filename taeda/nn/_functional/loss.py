"""Losses. ``reduction`` is 'none', 'mean' or 'sum'; ``size_average`` and ``reduce`` are its deprecated predecessors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._C import _nn
from taeda.nn._reduction import get_enum, legacy_get_string, resolve

_MEAN, _SUM = 1, 2


def _reduce(values: Tensor, reduction: int) -> Tensor:
    if reduction == _MEAN:
        return values.mean()
    return values.sum() if reduction == _SUM else values


def _warn_broadcast(name: str, input: Tensor, target: Tensor) -> None:
    if target.size() != input.size():
        warnings.warn(
            f"taeda.nn.functional.{name}: target has size {tuple(target.size())}, input {tuple(input.size())}; they "
            "are broadcast, which is rarely what is meant",
            stacklevel=3,
        )


def _check_weight(name: str, input: Tensor, weight: Tensor) -> None:
    if weight.size() != input.size():
        raise ValueError(
            f"taeda.nn.functional.{name}: weight must have the size of input, {tuple(input.size())}; "
            f"got {tuple(weight.size())}"
        )


def _weighted_mean(values: Tensor, weight: Tensor, reduction: int) -> Tensor:
    weighted = values * weight
    if reduction == _MEAN:
        return weighted.sum() / weight.sum()
    return weighted.sum() if reduction == _SUM else weighted


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """``(input - target) ** 2``; with ``weight`` the mean is the weighted one."""
    number = resolve(reduction, size_average, reduce)
    _warn_broadcast("mse_loss", input, target)
    if weight is None:
        return _nn.mse_loss(input, target, number)
    _check_weight("mse_loss", input, weight)
    return _weighted_mean(_nn.mse_loss(input, target, 0), weight, number)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """``|input - target|``; with ``weight`` the mean is the weighted one."""
    number = resolve(reduction, size_average, reduce)
    _warn_broadcast("l1_loss", input, target)
    if weight is None:
        return _nn.l1_loss(input, target, number)
    _check_weight("l1_loss", input, weight)
    return _weighted_mean(_nn.l1_loss(input, target, 0), weight, number)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """With ``d = |input - target|``: ``d ** 2 / (2 * beta)`` below ``beta``, ``d - beta / 2`` above."""
    number = resolve(reduction, size_average, reduce)
    _warn_broadcast("smooth_l1_loss", input, target)
    if beta == 0.0:
        return _nn.l1_loss(input, target, number)
    return _nn.smooth_l1_loss(input, target, number, beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """With ``d = |input - target|``: ``d ** 2 / 2`` below ``delta``, ``delta * (d - delta / 2)`` above."""
    number = get_enum(reduction)
    _warn_broadcast("huber_loss", input, target)
    if weight is None:
        return _nn.huber_loss(input, target, number, delta)
    _check_weight("huber_loss", input, weight)
    return _reduce(_nn.huber_loss(input, target, 0, delta) * weight, number)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy of the logits ``input``, (N, C, ...) or (C), and class numbers or class probabilities.

    Class numbers have input's shape without C, probabilities have its shape. ``weight`` holds one factor per class.
    """
    number = resolve(reduction, size_average, reduce)
    return _nn.cross_entropy_loss(input, target, weight, number, ignore_index, label_smoothing)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-probability, in ``input`` (N, C, ...) or (C), of each class number of ``target``."""
    return _nn.nll_loss_nd(input, target, weight, resolve(reduction, size_average, reduce), ignore_index)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The cross entropy of probabilities ``input`` and ``target``, both from 0 to 1; logarithms stop at -100."""
    number = resolve(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"taeda.nn.functional.binary_cross_entropy: target must have the size of input, {tuple(input.size())}; "
            f"got {tuple(target.size())}"
        )
    if weight is not None:
        weight = weight.expand(taeda.broadcast_shapes(weight.shape, target.shape))
    return _nn.binary_cross_entropy(input, target, weight, number)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of ``sigmoid(input)``, computed without overflow; ``pos_weight`` scales positives."""
    number = resolve(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            "taeda.nn.functional.binary_cross_entropy_with_logits: target must have the size of input, "
            f"{tuple(input.size())}; got {tuple(target.size())}"
        )
    return taeda.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """``target * (log(target) - input)`` for log-probabilities ``input``.

    ``reduction='batchmean'`` divides the sum by the first dimension, which is the divergence; 'mean' is not.
    """
    if size_average is not None or reduce is not None:
        reduction = legacy_get_string(size_average, reduce)
    elif reduction == "mean":
        warnings.warn(
            "taeda.nn.functional.kl_div: reduction='mean' divides by the number of elements; use 'batchmean' for the "
            "Kullback-Leibler divergence",
            stacklevel=2,
        )
    if reduction != "batchmean":
        return taeda.kl_div(input, target, get_enum(reduction), log_target=log_target)
    total = taeda.kl_div(input, target, _SUM, log_target=log_target)
    return total / input.size(0) if input.dim() else total


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-likelihood of counts ``target`` at rate ``exp(input)`` (``input`` unless ``log_input``)."""
    number = resolve(reduction, size_average, reduce)
    return taeda.poisson_nll_loss(input, target, log_input, full, eps, number)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-likelihood of ``target`` for mean ``input`` and variance ``var``, which is at least ``eps``.

    ``var`` is a number, of input's size, or of that size with one dimension 1 or without the last. No gradient flows
    through the limit ``eps``. ``full`` adds the constant ``log(2 * pi) / 2``.
    """
    variance = var if isinstance(var, Tensor) else taeda.full_like(input, var, requires_grad=False)
    if taeda.any(variance < 0):
        raise ValueError("taeda.nn.functional.gaussian_nll_loss: var has negative entries")
    if variance.size() != input.size():
        if input.size()[:-1] == variance.size():
            variance = variance.unsqueeze(-1)
        elif input.dim() != variance.dim() or [v for v, n in zip(variance.size(), input.size()) if v != n] != [1]:
            raise ValueError(
                f"taeda.nn.functional.gaussian_nll_loss: var of size {tuple(variance.size())} does not go with an "
                f"input of size {tuple(input.size())}"
            )
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(
            f"taeda.nn.functional.gaussian_nll_loss: reduction must be 'none', 'mean' or 'sum'; got {reduction!r}"
        )
    variance = variance.clone()
    with taeda.no_grad():
        variance.clamp_(min=eps)
    loss = 0.5 * (taeda.log(variance) + (input - target) ** 2 / variance)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduce(loss, get_enum(reduction))


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``input`` where target is 1, ``max(0, margin - input)`` where it is -1."""
    return taeda.hinge_embedding_loss(input, target, margin, resolve(reduction, size_average, reduce))


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``log(1 + exp(-target * input))`` for targets 1 and -1."""
    return _nn.soft_margin_loss(input, target, resolve(reduction, size_average, reduce))


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The hinge loss between the classes that ``target`` lists, up to the first -1, and all others."""
    return _nn.multilabel_margin_loss(input, target, resolve(reduction, size_average, reduce))


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The binary cross entropy of the logits ``input``, (N, C) or (C), averaged over the classes."""
    number = resolve(reduction, size_average, reduce)
    losses = -(target * _nn.log_sigmoid(input) + (1 - target) * _nn.log_sigmoid(-input))
    if weight is not None:
        losses = losses * weight
    classes = input.dim() - 1
    return _reduce(losses.sum(dim=classes) / input.size(classes), number)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``mean over other classes of max(0, margin - input[target] + input) ** p``; ``p`` is 1 or 2."""
    number = resolve(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError(f"taeda.nn.functional.multi_margin_loss: p must be 1 or 2; got {p}")
    if weight is not None and weight.dim() != 1:
        raise ValueError(f"taeda.nn.functional.multi_margin_loss: weight must have 1 dimension; got {weight.dim()}")
    return _nn.multi_margin_loss(input, target, p, margin, weight, number)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)``: target 1 wants input1 the larger, -1 input2."""
    number = resolve(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "taeda.nn.functional.margin_ranking_loss: all tensors must have the same number of dimensions; got "
            f"{tuple(input1.size())}, {tuple(input2.size())} and target {tuple(target.size())}"
        )
    return taeda.margin_ranking_loss(input1, input2, target, margin, number)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``1 - cos`` where target is 1, ``max(0, cos - margin)`` where it is -1."""
    return taeda.cosine_embedding_loss(input1, input2, target, margin, resolve(reduction, size_average, reduce))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)`` with the p-norm distance.

    With ``swap`` the negative's distance is the smaller of that to the anchor and that to the positive.
    """
    number = resolve(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"taeda.nn.functional.triplet_margin_loss: margin must be greater than 0; got {margin}")
    return taeda.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own; by default the Euclidean one."""
    name = "taeda.nn.functional.triplet_margin_with_distance_loss"
    if margin <= 0:
        raise ValueError(f"{name}: margin must be greater than 0; got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            f"{name}: anchor, positive and negative must have the same number of dimensions; got {anchor.dim()}, "
            f"{positive.dim()} and {negative.dim()}"
        )
    number = get_enum(reduction)
    distance: Any = taeda.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = taeda.minimum(far, distance(positive, negative))
    return _reduce(taeda.clamp_min(margin + near - far, 0), number)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the log-likelihood of label sequences under all their alignments (Graves et al., 2006).

    ``log_probs`` is (T, N, C) or (T, C); ``targets`` is (N, S) or all labels in a row.
    """
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if isinstance(lengths, Tensor) and (lengths.is_floating_point() or lengths.is_complex()):
            raise RuntimeError(f"taeda.nn.functional.ctc_loss: {name} must be integers; got {lengths.dtype}")
    return taeda.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, get_enum(reduction), zero_infinity)
