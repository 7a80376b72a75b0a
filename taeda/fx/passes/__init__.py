"""What walks over a graph to learn something from it."""

from taeda.fx.passes import shape_prop as shape_prop

__all__ = ["shape_prop"]
