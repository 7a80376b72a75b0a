"""Softmax over very many classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda._main.listed import iterated
from taeda.nn import functional as F
from taeda.nn.modules.container import ModuleList, Sequential
from taeda.nn.modules.linear import Linear
from taeda.nn.modules.module import Module
from taeda.types import Device, _dtype

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The adaptive softmax (Grave et al., 2017): frequent classes at once, rare ones in clusters of smaller width.

    Args:
        cutoffs: where each cluster begins, increasing; the classes before the first are in the head. Classes must be
            numbered by falling frequency.
        div_value: each cluster's width is the previous one's divided by this.
        head_bias: whether the head has a bias.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        cutoffs = iterated("taeda.nn.AdaptiveLogSoftmaxWithLoss: cutoffs", cutoffs)
        if not cutoffs:
            raise ValueError("taeda.nn.AdaptiveLogSoftmaxWithLoss: cutoffs is empty")
        if (
            cutoffs != sorted(set(cutoffs))
            or cutoffs[0] <= 0
            or cutoffs[-1] > n_classes - 1
            or any(int(cutoff) != cutoff for cutoff in cutoffs)
        ):
            raise ValueError(
                "taeda.nn.AdaptiveLogSoftmaxWithLoss: cutoffs must be increasing integers from 1 to n_classes - 1 = "
                f"{n_classes - 1}; got {cutoffs}"
            )
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **factory)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // div_value ** (i + 1))
            classes = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, width, bias=False, **factory), Linear(width, classes, bias=False, **factory)
                )
            )

    def reset_parameters(self) -> None:
        """Draws new weights."""
        self.head.reset_parameters()
        pair: Any
        for pair in self.tail:
            for layer in pair:
                layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """For (N, in_features) and N class numbers, or without N: each target's log-probability, and the mean loss.

        Raises:
            RuntimeError: the shapes disagree, or a target is no class.
        """
        name = "taeda.nn.AdaptiveLogSoftmaxWithLoss"
        if target_.dim() > 1 or input_.dim() != target_.dim() + 1 or (target_.dim() and len(input_) != len(target_)):
            raise RuntimeError(
                f"{name}: expected (N, {self.in_features}) with (N), or the same without N; got "
                f"{tuple(input_.shape)} and {tuple(target_.shape)}"
            )
        batched = target_.dim() > 0
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        if bool(taeda.any((target < 0) | (target >= self.n_classes))):
            raise RuntimeError(f"{name}: targets must be from 0 to {self.n_classes - 1}")

        head = self.head(input).log_softmax(dim=1)
        # In the head a rare class stands as its cluster.
        in_head = target.clone()
        tail = input.new_zeros(target.size(0))
        for i, cluster in enumerate(self.tail):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = taeda.nonzero((target >= low) & (target < high)).squeeze(-1)
            if rows.numel() == 0:
                continue
            in_head = in_head.index_fill(0, rows, self.shortlist_size + i)
            log_probs = cluster(input.index_select(0, rows)).log_softmax(dim=1)
            chosen = log_probs.gather(1, (target[rows] - low).unsqueeze(1)).squeeze(1)
            tail = tail.index_copy(0, rows, chosen.to(tail.dtype))
        output = tail + head.gather(1, in_head.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes: (N, in_features) to (N, n_classes)."""
        head = self.head(input)
        log_head = F.log_softmax(head, dim=1)
        parts = [log_head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            cluster = log_head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(tail(input), dim=1) + cluster)
        return taeda.cat(parts, dim=1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row, as ``log_prob(input).argmax(1)`` but without all of them if it can."""
        best = self.head(input).argmax(dim=1)
        rare = taeda.nonzero(best >= self.shortlist_size).squeeze(-1)
        if rare.numel() == 0:
            return best
        return best.index_copy(0, rare, self.log_prob(input[rare]).argmax(dim=1))
