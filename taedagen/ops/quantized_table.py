"""Functions of one element on tensors of 8-bit integers: computed once for each integer, then looked up."""

from taedagen.opdef import *


@composite("quantized::_levels(Tensor qx) -> Tensor", files="quantized/table", samples=[])
def _levels(*_):
    """The numbers that the 256 integers of an 8-bit ``qx`` stand for, from the smallest on; of a qint32 its elements
    themselves."""


@composite("quantized::_look_up(Tensor qx, Tensor values, float scale, int zero_point) -> Tensor",
           files="quantized/table", samples=[])  # fmt: skip
def _look_up(*_):
    """``qx`` with the results ``values`` of its ``_levels``, quantised with the given scale and zero point."""


@kernel("quantized::_map(Tensor integers, Tensor table) -> Tensor", shape="dynamic", files="quantized/table",
        not_differentiable=True, batch="refused", samples=[])  # fmt: skip
def _map(integers, table):
    """The entry of ``table``, 256 of them, for each 8-bit integer, counted from the smallest."""
