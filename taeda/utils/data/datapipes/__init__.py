"""Datasets made of each other: chains of pipes that samples go through."""

from __future__ import annotations

from taeda.utils.data.datapipes import iter as iter
from taeda.utils.data.datapipes import map as map
