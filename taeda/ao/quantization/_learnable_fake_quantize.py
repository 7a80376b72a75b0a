"""A module that rounds as quantisation will, and learns scale and zero point (Esser et al., 2020, arXiv 1902.08153)."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.quantization.fake_quantize import FakeQuantizeBase, _check_range, _dtype_of
from taeda.ao.quantization.utils import is_per_channel, is_symmetric


class _LearnableFakeQuantize(FakeQuantizeBase):
    """Rounds to levels that an observer finds, or that are parameters and learn.

    Args:
        observer: the class of the observer.
        quant_min: the least quantised number.
        quant_max: the largest.
        scale: what the scale begins with.
        zero_point: what the zero point begins with.
        channel_len: how many channels have a scale of their own; one for all by default.
        use_grad_scaling: gradients of scale and zero point are divided by ``sqrt(X.numel() * quant_max)``.
        observer_kwargs: arguments of the observer.

    Raises:
        AssertionError: the range is empty or not one of the dtype, or ``channel_len`` is no number of channels.
    """

    static_enabled: Tensor
    learning_enabled: Tensor
    eps: Tensor

    def __init__(
        self, observer: Any, quant_min: int = 0, quant_max: int = 255, scale: float = 1.0, zero_point: float = 0.0,
        channel_len: int = -1, use_grad_scaling: bool = False, **observer_kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        if not quant_min < quant_max:
            raise AssertionError(
                f"_LearnableFakeQuantize: quant_min must be below quant_max; got {quant_min}, {quant_max}"
            )
        if channel_len != -1 and channel_len < 1:
            raise AssertionError(f"_LearnableFakeQuantize: channel_len must be positive; got {channel_len}")
        _check_range(quant_min, quant_max, _dtype_of(observer, observer_kwargs))
        self.quant_min, self.quant_max, self.use_grad_scaling = quant_min, quant_max, use_grad_scaling
        observer_kwargs.update(quant_min=quant_min, quant_max=quant_max)
        count = 1 if channel_len == -1 else channel_len
        self.scale = nn.Parameter(taeda.full((count,), float(scale)))
        self.zero_point = nn.Parameter(taeda.full((count,), float(zero_point)))
        self.activation_post_process = observer(**observer_kwargs)
        self.dtype, self.qscheme = self.activation_post_process.dtype, self.activation_post_process.qscheme
        self.ch_axis = getattr(self.activation_post_process, "ch_axis", -1)
        self.bitwidth = (quant_max - quant_min).bit_length()
        for name, value in (("static_enabled", 1), ("learning_enabled", 0)):
            self.register_buffer(name, taeda.tensor([value], dtype=taeda.uint8))
        self.register_buffer("eps", taeda.tensor([taeda.finfo(taeda.float32).eps]))

    def enable_param_learning(self) -> _LearnableFakeQuantize:
        """Scale and zero point learn from now on; nothing is watched."""
        return self.toggle_qparam_learning(True).toggle_fake_quant(True).toggle_observer_update(False)

    def enable_static_estimate(self) -> None:
        """Rounds by what is watched from now on."""
        self.toggle_qparam_learning(False).toggle_fake_quant(True).toggle_observer_update(True)

    def enable_static_observation(self) -> None:
        """Watches only from now on."""
        self.toggle_qparam_learning(False).toggle_fake_quant(False).toggle_observer_update(True)

    def toggle_observer_update(self, enabled: bool = True) -> _LearnableFakeQuantize:
        """Scale and zero point follow what is watched from now on, or do not."""
        self.static_enabled[0] = int(enabled)
        return self

    def enable_observer(self, enabled: bool = True) -> None:
        """As ``toggle_observer_update``."""
        self.toggle_observer_update(enabled)

    def toggle_qparam_learning(self, enabled: bool = True) -> _LearnableFakeQuantize:
        """Scale and zero point have gradients from now on, or have none."""
        self.learning_enabled[0] = int(enabled)
        self.scale.requires_grad_(enabled)
        self.zero_point.requires_grad_(enabled)
        return self

    def toggle_fake_quant(self, enabled: bool = True) -> _LearnableFakeQuantize:
        """Rounds from now on, or does not."""
        self.fake_quant_enabled[0] = int(enabled)
        return self

    def observe_quant_params(self) -> None:
        """Prints scale and zero point."""
        print(f"_LearnableFakeQuantize Scale: {self.scale.detach()}")
        print(f"_LearnableFakeQuantize Zero Point: {self.zero_point.detach()}")

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scale and zero point, the latter rounded, as they are now."""
        with taeda.no_grad():
            self.scale.clamp_(min=self.eps.item())
        zero_point = self.zero_point.detach().round().clamp(self.quant_min, self.quant_max).long()
        return self.scale.detach(), zero_point

    def forward(self, X: Tensor) -> Tensor:
        """Takes note of ``X``, if watching, and returns it rounded, if rounding."""
        with taeda.no_grad():
            if self.static_enabled[0] == 1:
                self.activation_post_process(X.detach())
                for kept, now in zip(
                    (self.scale, self.zero_point), self.activation_post_process.calculate_qparams(), strict=True
                ):
                    kept.copy_(now)
            else:
                self.scale.clamp_(min=self.eps.item())
            if self.fake_quant_enabled[0] == 1 and is_symmetric(self.qscheme):
                self.zero_point.zero_()
        if self.fake_quant_enabled[0] != 1:
            return X
        factor = (X.numel() * self.quant_max) ** -0.5 if self.use_grad_scaling and X.numel() else 1.0
        if is_per_channel(self.qscheme):
            return taeda.ops.aten._fake_quantize_learnable_per_channel_affine(
                X, self.scale, self.zero_point, self.ch_axis, self.quant_min, self.quant_max, factor
            )
        return taeda.ops.aten._fake_quantize_learnable_per_tensor_affine(
            X, self.scale, self.zero_point, self.quant_min, self.quant_max, factor
        )
