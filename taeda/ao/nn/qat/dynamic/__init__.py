"""Float modules whose weights are rounded while training, for quantisation on the fly."""

from taeda.ao.nn.qat.dynamic.modules import Linear as Linear

__all__ = [
    "Linear",
]  # fmt: skip
