"""Exported programs as bytes."""

from taeda._export.serde import serialize as serialize
