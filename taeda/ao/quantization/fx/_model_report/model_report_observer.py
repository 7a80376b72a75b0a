"""The observer behind the reports: ranges of batches, of all data, and how far the greatest value stands out."""

from __future__ import annotations

from typing import NoReturn

import taeda
from taeda import Tensor
from taeda.ao.quantization.observer import ObserverBase


class ModelReportObserver(ObserverBase):
    """Sees values and returns them.

    Args:
        ch_axis: the dimension of channels.
        comp_percentile: which quantile of a channel its greatest value is compared with, from 0 to 1.
    """

    epoch_activation_min: Tensor
    epoch_activation_max: Tensor
    min_val: Tensor
    max_val: Tensor
    comp_percentile: Tensor
    average_percentile_ratio: Tensor
    percentile_batches_tracked: Tensor
    constant_channels: Tensor

    def __init__(self, ch_axis: int = 1, comp_percentile: float = 0.9) -> None:
        super().__init__(taeda.qint8)
        self.num_batches_tracked = 0
        self.average_batch_activation_range = taeda.tensor(0.0)
        self.register_buffer("epoch_activation_min", taeda.tensor(float("inf")))
        self.register_buffer("epoch_activation_max", taeda.tensor(float("-inf")))
        self.ch_axis = ch_axis
        self.register_buffer("min_val", taeda.empty(0))
        self.register_buffer("max_val", taeda.empty(0))
        self.register_buffer("comp_percentile", taeda.tensor([comp_percentile]))
        self.register_buffer("average_percentile_ratio", taeda.empty(0))
        self.register_buffer("percentile_batches_tracked", taeda.empty(0, dtype=taeda.int32))
        self.register_buffer("constant_channels", taeda.empty(0, dtype=taeda.int32))

    def forward(self, x: Tensor) -> Tensor:
        """Sees a batch, (N, ...) with channels along ``ch_axis``, and returns it."""
        seen = x.detach().to(self.epoch_activation_min.dtype)
        self._calculate_range_stats(seen)
        self._calculate_min_max_stats(seen)
        self._calculate_percentile_stats(seen)
        return x

    def _calculate_range_stats(self, x_copy: Tensor) -> None:
        """The mean of the batches' ranges, and the range of all."""
        low, high = taeda.aminmax(x_copy)
        self.epoch_activation_min = taeda.minimum(self.epoch_activation_min, low)
        self.epoch_activation_max = taeda.maximum(self.epoch_activation_max, high)
        total = self.average_batch_activation_range * self.num_batches_tracked + (high - low)
        self.num_batches_tracked += 1
        self.average_batch_activation_range = total / self.num_batches_tracked

    def _channels(self, x: Tensor) -> Tensor:
        return x.movedim(self.ch_axis, 0).flatten(1)

    def _calculate_min_max_stats(self, x_copy: Tensor) -> None:
        """The range of each channel."""
        low, high = taeda.aminmax(self._channels(x_copy), dim=1)
        first = self.min_val.numel() == 0
        self.min_val = low if first else taeda.minimum(self.min_val, low)
        self.max_val = high if first else taeda.maximum(self.max_val, high)

    def _calculate_percentile_stats(self, x_copy: Tensor) -> None:
        """The mean, over batches in which not both are 0, of the greatest value by the quantile."""
        rows = self._channels(x_copy)
        below, above = rows.quantile(self.comp_percentile.to(rows), 1, interpolation="lower")[0], rows.amax(1)
        if self.average_percentile_ratio.numel() == 0:
            self.average_percentile_ratio = taeda.zeros_like(above)
            self.percentile_batches_tracked = taeda.zeros_like(above, dtype=taeda.int32)
            self.constant_channels = taeda.zeros_like(above, dtype=taeda.int32)
        ratio = above / below
        counts, mean, tracked = ~ratio.isnan(), self.average_percentile_ratio, self.percentile_batches_tracked
        updated = ((mean * tracked + ratio.nan_to_num()) / (tracked + 1)).nan_to_num()
        self.average_percentile_ratio = taeda.where(counts, updated, mean)
        self.percentile_batches_tracked = tracked + counts.int()
        self.constant_channels = self.constant_channels + (rows.amin(1) == above).int()

    def get_batch_to_epoch_ratio(self) -> Tensor:
        """The mean of the batches' ranges by the range of all. ValueError if that is 0 or nothing was seen."""
        whole = self.epoch_activation_max - self.epoch_activation_min
        if not bool(whole > 0) or not bool(whole.isfinite()):
            raise ValueError(f"ModelReportObserver: the values that it saw have no range, {float(whole)}")
        return self.average_batch_activation_range / whole

    def reset_batch_and_epoch_values(self) -> None:
        """Forgets the ranges of batches and of all data."""
        self.num_batches_tracked = 0
        self.average_batch_activation_range = taeda.tensor(0.0)
        self.epoch_activation_min = taeda.tensor(float("inf"))
        self.epoch_activation_max = taeda.tensor(float("-inf"))

    def calculate_qparams(self) -> NoReturn:  # type: ignore[override]
        """There are none."""
        raise Exception("ModelReportObserver: it observes for reports, and has no scale and zero point")
