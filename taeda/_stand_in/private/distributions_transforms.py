"""What the module has from others."""

from taeda.distributions.utils import lazy_property

__all__ = ["lazy_property"]
