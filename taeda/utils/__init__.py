"""Tools around the tensor library: data loading, checkpointing, hooks. Subpackages load when first named."""

from __future__ import annotations
