"""What a lookup in a table that is cut along its rows lies as."""

from __future__ import annotations

from taeda.distributed.tensor.placement_types import _MaskPartial as _MaskPartial
