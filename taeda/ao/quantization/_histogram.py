"""Histograms over ranges that grow, and the range whose quantisation errs least."""

from __future__ import annotations

import bisect

import taeda
from taeda import Tensor

FINER = 16  # parts that a bin is cut into before it goes to wider ones
_STEP = 1e-5  # of the whole weight, which the search cuts off at a time


def spread(histogram: Tensor, low: Tensor, high: Tensor, new_low: Tensor, new_high: Tensor) -> Tensor:
    """A histogram of ``low`` to ``high`` as one of as many bins over a range that includes it."""
    if low == new_low and high == new_high:
        return histogram
    bins = histogram.numel()
    if low == high:
        return taeda.histc(low, bins, min=new_low.item(), max=new_high.item()) * histogram.sum()
    parts = bins * FINER
    middles = taeda.linspace(low, high, parts + 1, device=histogram.device)[:-1] + 0.5 * ((high - low) / parts)
    borders = taeda.linspace(new_low, new_high, bins + 1, device=histogram.device)
    places = taeda.bucketize(middles, borders, right=True) - 1
    weights = histogram.repeat_interleave(FINER) / FINER
    return taeda.bincount(places.clamp(0, bins - 1), weights=weights, minlength=bins).to(histogram.dtype)


def _between(begin: Tensor, end: Tensor, density: Tensor) -> Tensor:
    """The integral of squared distances from a level, ``begin`` to ``end`` away from it."""
    return density * ((end * end * end - begin * begin * begin) / 3)


def error(histogram: Tensor, low: Tensor, high: Tensor, first: int, last: int, levels: int) -> float:
    """The squared error of ``levels`` levels over the bins from ``first`` to ``last``; what lies outside goes to its
    nearest level."""
    bins = histogram.numel()
    width = (high.item() - low.item()) / bins
    step = width * (last - first + 1) / levels
    if step == 0.0:
        return 0.0
    begins = (taeda.arange(bins, device=histogram.device) - first) * width
    ends = begins + width
    at_begin = taeda.div(begins, step, rounding_mode="floor").clamp(0, levels - 1)
    at_end = taeda.div(ends, step, rounding_mode="floor").clamp(0, levels - 1)
    density = histogram / width
    half = taeda.full((bins,), step / 2, device=histogram.device)
    norm = _between(begins - (at_begin + 0.5) * step, half, density)
    norm = norm + (at_end - at_begin - 1) * _between(-half, half, density)
    norm = norm + _between(-half, ends - (at_end * step + step / 2), density)
    return norm.sum().item()


def best_range(histogram: Tensor, low: Tensor, high: Tensor, levels: int) -> tuple[Tensor, Tensor]:
    """The range, within ``low`` to ``high``, at which a search ends that cuts off the emptier side, step by step, as
    long as the squared error falls."""
    bins = histogram.numel()
    width = (high - low) / bins
    total = histogram.sum().item()
    sums = histogram.cumsum(0).tolist()
    cut_low, cut_high, first, last, least = 0.0, 1.0, 0, bins - 1, float("inf")
    while cut_low < cut_high:
        next_low, next_high = cut_low + _STEP, cut_high - _STEP
        left = min(max(first, bisect.bisect_left(sums, next_low * total)), last)
        right = max(min(last, bisect.bisect_right(sums, next_high * total) - 1), first)
        begin, end = first, last
        if left - first > last - right:
            begin, cut_low = left, next_low
        else:
            end, cut_high = right, next_high
        if begin == first and end == last:
            continue
        now = error(histogram, low, high, begin, end, levels)
        if now > least:
            break
        least, first, last = now, begin, end
    return low + width * first, low + width * (last + 1)
