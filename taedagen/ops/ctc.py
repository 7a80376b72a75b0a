"""Connectionist temporal classification (Graves et al., 2006)."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, i, v


@composite(
    "ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, "
    "int reduction=1, bool zero_infinity=False) -> Tensor",
    files="ctc",
    autocast="fp32",
)
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    """Minus the log-probability of ``targets`` (N, S), or all of them one after another, under all alignments.

    ``log_probs`` is (T, N, C) or (T, C). ``reduction`` is 0 (none), 1 (each divided by its length, then the mean) or
    2 (sum). With ``zero_infinity`` targets that no alignment can give count as 0.
    """


ctc_loss.samples([
    S(f(5, 2, 4), i(2, 3, high=4, low=1), [5, 4], [3, 2]),
    S(f(5, 2, 4), i(2, 3, high=4, low=1), [5, 4], [3, 2], 0, 0),
])  # fmt: skip


@composite(
    "ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, "
    "int reduction=1, bool zero_infinity=False) -> Tensor",
    files="ctc",
    autocast="fp32",
    samples=[S(f(5, 2, 4), i(2, 3, high=4, low=1), v([5, 4]), v([3, 2]))],
)
def ctc_loss_tensor(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    """The same with the lengths in integer tensors."""


@kernel(
    "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, "
    "bool zero_infinity=False) -> (Tensor, Tensor log_alpha)",
    variants="function out",
    shape="ctc_loss",
    files="ctc",
    nondiff="log_alpha",
)
def _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    """The loss of each sequence, and the log-probabilities (N, T, 2 S + 1) of the beginnings of its alignments."""


@_ctc_loss.backward
def _(
    grad,
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    result0,
    log_alpha,
    blank,
    zero_infinity,
):
    return {
        "log_probs": op._ctc_loss_backward(
            grad,
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            result0,
            log_alpha,
            blank,
            zero_infinity,
        )
    }


_ctc_loss.samples([
    S(f(5, 2, 4), i(2, 3, high=4, low=1), [5, 5], [3, 3]),
    S(f(5, 2, 4), v([[0, 1, 2], [2, 0, 1]], "int32"), [5, 5], [3, 3], 3),
])  # fmt: skip


@composite(
    "_ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, "
    "bool zero_infinity=False) -> (Tensor, Tensor log_alpha)",
    variants="function out",
    files="ctc",
    samples=[S(f(5, 2, 4), i(2, 3, high=4, low=1), v([5, 5]), v([3, 3]))],
)
def _ctc_loss_tensor(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    """The same with the lengths in integer tensors."""


@kernel(
    "_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, "
    "Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor",
    variants="function out",
    shape="ctc_loss_backward",
    files="ctc",
    unbound=True,
    not_differentiable=True,
)
def _ctc_loss_backward(*_):
    """The gradient for the input of the log-softmax that ``log_probs`` came from, which passes through it unchanged."""
