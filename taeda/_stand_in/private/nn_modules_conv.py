"""A number for all dimensions or one for each."""

from taeda.nn.modules.utils import _pair, _single, _triple

__all__ = ["_pair", "_single", "_triple"]
