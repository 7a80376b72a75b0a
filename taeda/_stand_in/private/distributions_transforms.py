"""What the module has from others."""

from taeda.distributions.utils import _sum_rightmost, lazy_property

__all__ = ["_sum_rightmost", "lazy_property"]
