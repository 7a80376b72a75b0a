"""Float modules whose weights are rounded while training."""

from taeda.ao.nn.qat.modules import Conv1d as Conv1d
from taeda.ao.nn.qat.modules import Conv2d as Conv2d
from taeda.ao.nn.qat.modules import Conv3d as Conv3d
from taeda.ao.nn.qat.modules import Embedding as Embedding
from taeda.ao.nn.qat.modules import EmbeddingBag as EmbeddingBag
from taeda.ao.nn.qat.modules import Linear as Linear

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "Embedding", "EmbeddingBag", "Linear",
]  # fmt: skip
