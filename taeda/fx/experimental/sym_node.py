"""Numbers of graphs, by the names under which programs import them."""

from __future__ import annotations

from taeda._schema.symbols import SymNode

__all__ = ["SymNode"]
