"""``functorch.einops``."""

from __future__ import annotations

from taeda.func import rearrange as rearrange
