"""Sliding blocks as columns, and back."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda.nn import functional as F
from taeda.nn.modules.module import Module

__all__ = ["Fold", "Unfold"]


class Fold(Module):
    """Sums sliding blocks, (N, C * kernel, blocks) or without N, into an image of ``output_size``.

    Args:
        output_size: (H, W) of the image.
        kernel_size, dilation, padding, stride: those of the `Unfold` that it reverses.
    """

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Unfold(Module):
    """The sliding blocks of (N, C, H, W) or (C, H, W) as columns: (N, C * kernel, blocks).

    Args:
        kernel_size: (height, width) of a block, or one number.
        dilation: steps between the elements of a block.
        padding: zeros at both ends of both dimensions.
        stride: steps between blocks.
    """

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
