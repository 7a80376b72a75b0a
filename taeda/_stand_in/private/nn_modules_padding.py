"""A number for all dimensions or one for each."""

from taeda.nn.modules.utils import _ntuple, _pair, _quadruple

__all__ = ["_ntuple", "_pair", "_quadruple"]
