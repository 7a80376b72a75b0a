"""The first form of ``vmap``, which later programs replaced by ``torch.func.vmap``."""

from __future__ import annotations

from taeda.func._first_vmap import _vmap as _vmap
from taeda.func._first_vmap import vmap as vmap
